"""``ledger simulate``: how well a plan can tell what it asks, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click

from ledger.actions.simulate import Asked
from ledger.actions.simulate import simulate as simulate_record
from ledger.cli.output import columns, here, json_option, put, put_json, say
from ledger.errors import InputError
from ledger.model.power import PowerTable
from ledger.model.values import Measured, words
from ledger.units import parse_quantity


@click.command()
@click.argument("record_id", metavar="ID")
@click.option(
    "--from", "runs", multiple=True, type=click.Path(path_type=Path), help="Take the noise from this run file's steps; "
    "several of the control also show how runs differ. Of a paired read, from two run files' items.",
)  # fmt: skip
@click.option("--noise", metavar="PERCENT", help="Let each run vary as a whole, by this standard deviation.")
@click.option("--block", type=click.IntRange(1), help="Steps resampled together; by default the cube root of how many.")
@click.option("--draws", type=click.IntRange(100, 20000), help="Simulated ladders an effect; 400 by default.")
@click.option("--seed", type=click.IntRange(0), help="Seed: the same one gives the same table.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the table as a picture to this SVG file.")
@json_option
def simulate(
    record_id: str,
    runs: tuple[Path, ...],
    noise: str | None,
    block: int | None,
    draws: int | None,
    seed: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """The chance of each outcome of ID as the true effect of the candidate varies: a projection, not a measurement.

    The noise is the plan's own (power:), or --noise, or that of a run of the control; both --from and --noise add up.
    """
    asked = Asked(runs, _share(noise), block, draws, seed)
    table = simulate_record(here().record(record_id), asked)
    if output is not None:
        from ledger.dossier.power_chart import power_svg
        from ledger.store import write_file

        write_file(output, power_svg(table))
        say(f"wrote {output}")
    if as_json:
        put_json({"record": record_id, **table.to_json()})
        return
    for line in table_lines(table):
        put(line)


def _share(text: str | None) -> Fraction | None:
    """``2``, ``2%`` or ``2 %`` as a share."""
    if text is None:
        return None
    quantity = parse_quantity(text)
    share = quantity.base if quantity.unit.symbol == "%" else quantity.value / 100
    if quantity.unit.symbol not in ("%", "1") or not 0 <= share < 1:
        raise InputError(
            "bad_noise", f"--noise cannot be {text}", expected="a percentage from 0 to below 100", found=text
        )
    return share


def table_lines(table: PowerTable) -> Iterator[str]:
    """The table, and what it comes to, for a terminal."""
    yield f"projection: {table.draws} simulated ladders an effect, seed {table.seed}"
    yield f"  {table.model}"
    names = list(table.rows[0].chances) if table.rows else []
    rows = [[words(row.effect), *(words(row.chances[name]) if name in row.chances else "0 %" for name in names)]
            for row in table.rows]  # fmt: skip
    yield columns(rows, [f"true effect on {table.varies}", *names])
    yield f"{_margin(table)}; A/A half-band {words(table.half_band)}"
    if isinstance(table.smallest, Measured):
        yield f"{table.detects} is reached in 80 % of ladders or more {_from(table, table.smallest)}"
    else:
        yield f"no smallest effect is stated: {table.smallest.detail}"


def _margin(table: PowerTable) -> str:
    if isinstance(table.margin, Measured):
        return f"margin {words(table.margin)}"
    return f"no margin: {table.margin.detail}"


def _from(table: PowerTable, smallest: Measured) -> str:
    """From which effect on, and towards which side, the watched outcome is reached often."""
    beyond = [(row.effect.base > smallest.base, row.chances.get(table.detects)) for row in table.rows
              if isinstance(row.effect, Measured)]  # fmt: skip
    often = [above for above, chance in beyond if isinstance(chance, Measured) and chance.base >= Fraction(4, 5)]
    side = " or more" if often and all(often) else " or less"
    return f"at a true effect of {words(smallest)}{side}"
