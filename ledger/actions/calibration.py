"""Every prediction of a ledger, with what came of it.

Records that cannot be read are named, never passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.actions.reading import Loaded
from ledger.calibration import Calibration, Prediction, calibrate
from ledger.errors import LedgerError, Problem
from ledger.lifecycle import contest, retirement, standing_decisions
from ledger.store import Ledger
from ledger.units import fraction_of


def calibration(ledger: Ledger) -> tuple[Calibration, list[Prediction], list[Problem]]:
    """The calibration over all frozen records, each prediction, and why a record could not be read."""
    predictions: list[Prediction] = []
    problems: list[Problem] = []
    for record_id in ledger.record_ids():
        try:
            predictions += predictions_of(Loaded(ledger.record(record_id)))
        except LedgerError as error:
            problems += error.at(record_id).problems
    return calibrate(predictions), predictions, problems


def predictions_of(loaded: Loaded) -> Iterator[Prediction]:
    """The predictions of one record; none of a draft, whose predictions can still change."""
    if loaded.frozen is None:
        return
    deciding = standing_decisions(loaded.entries)
    decided = deciding[-1][1].body.expectations if deciding and not contest(deciding) else {}
    retired = retirement(loaded.entries) is not None
    for one in loaded.frozen.plan.expectations or ():
        confidence = fraction_of(one.confidence)
        yield Prediction(loaded.record.id, one.id, confidence, decided.get(one.id, "open"), retired)
