"""``ledger calibration``: how well predictions came true, over all records."""

from __future__ import annotations

import click

from ledger.actions.calibration import calibration as calibrate_ledger
from ledger.calibration import ENOUGH, Calibration, to_json
from ledger.cli.output import columns, here, json_option, put, put_json, say, tell
from ledger.errors import ExitCode
from ledger.model.values import words
from ledger.units import exact_text


@click.command()
@json_option
@click.pass_context
def calibration(ctx: click.Context, as_json: bool) -> None:
    """How well the predictions of all records came true: counts, Brier score (0 is best), and a reliability table."""
    found, predictions, problems = calibrate_ledger(here())
    if as_json:
        each = [
            {"record": one.record, "id": one.id, "confidence": exact_text(one.confidence), "came": one.came}
            | ({"retired": True} if one.retired else {})
            for one in predictions
        ]
        put_json({**to_json(found), "predictions": each, "problems": [one.to_dict() for one in problems]})
    else:
        _print(found)
        tell(problems)
    ctx.exit(int(ExitCode.INTEGRITY) if problems else 0)


def _print(found: Calibration) -> None:
    put(f"scored {found.scored}: {found.came_true} came true, {found.scored - found.came_true} did not")
    put(f"apart: {found.unknown} unknown, {found.open} open, {found.retired} of records that do not stand")
    put(f"Brier score {words(found.brier)}" + (f"   n too small: fewer than {ENOUGH}" if found.too_small else ""))
    rows = [
        [
            f"{exact_text(one.low)} to {exact_text(one.high)}",
            str(one.count),
            words(one.confidence),
            words(one.came_true),
        ]
        for one in found.bins
        if one.count
    ]
    if rows:
        put(columns(rows, ["confidence", "count", "mean", "came true"]))
    else:
        say("no prediction was scored yet; write some under expectations: before you freeze")
