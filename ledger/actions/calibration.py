"""Every prediction of a ledger, with what came of it.

Records that cannot be read are named, never passed over in silence.
"""

from __future__ import annotations

from ledger.actions.reading import Loaded
from ledger.calibration import Calibration, Prediction, calibrate, predictions_of
from ledger.errors import LedgerError, Problem
from ledger.store import Ledger


def calibration(ledger: Ledger) -> tuple[Calibration, list[Prediction], list[Problem]]:
    """The calibration over all frozen records, each prediction, and why a record could not be read."""
    predictions: list[Prediction] = []
    problems: list[Problem] = []
    for record_id in ledger.record_ids():
        try:
            loaded = Loaded(ledger.record(record_id))
            # A draft's predictions can still change.
            if loaded.frozen is not None:
                predictions += predictions_of(record_id, loaded.frozen.plan, loaded.entries)
        except LedgerError as error:
            problems += error.at(record_id).problems
    return calibrate(predictions), predictions, problems
