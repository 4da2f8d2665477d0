"""What was observed, arranged for a page: numbers a rung, every run, the facts of the machines.

It takes numbers from entries as they stand and judges nothing; two runs are set against each other only where the
ledger says that they may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ledger.apart import incomparable_pairs
from ledger.dossier.facts import Fact, facts_of
from ledger.dossier.recorded import Search, searches
from ledger.dossier.settings import Setting, settings_of
from ledger.dossier.view import RecordView
from ledger.dossier.wording import Shown, column_places, percent, shown
from ledger.model.entries import RunEntry
from ledger.model.ladder import Metric, Rung
from ledger.model.plan import Prereg
from ledger.model.run import Definition, Run
from ledger.model.trace import RunStanding
from ledger.model.values import Measured, Sourced, Unknown

NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Cell:
    """One number of the table; ``against`` is its distance from the control, when the two may be compared."""

    metric: str
    value: Shown
    evidence_class: str
    entry: str
    against: str = ""


@dataclass(frozen=True)
class Row:
    """One rung's numbers; ``out`` says in a word why they enter no rule although they are there.

    ``entry`` is the run that counts; a rung that ``searched`` has probes in place of numbers.
    """

    rung: Rung
    cells: tuple[Cell, ...]
    entry: str = ""
    out: str = ""
    searched: bool = False


@dataclass(frozen=True)
class Reason:
    """Why numbers of one rung are unknown, each reason once with the metrics that it is the reason for."""

    rung: str
    metrics: tuple[str, ...]
    detail: str
    bounds: str


@dataclass(frozen=True)
class Table:
    """Rung by metric, with the count of what is not known and of why runs may not be compared."""

    metrics: dict[str, Metric]
    rows: tuple[Row, ...]
    unknown: int
    total: int
    control: str
    apart: tuple[str, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why values are unknown, in the order of the rows; a search has probes, and no such value."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for row in self.rows:
            if row.searched:
                continue
            for cell in row.cells:
                if cell.value.detail:
                    found.setdefault((row.rung.id, cell.value.detail, cell.value.bounds), []).append(cell.metric)
        return tuple(Reason(key[0], tuple(names), *key[1:]) for key, names in found.items())


@dataclass(frozen=True)
class RunRow:
    """One run, what it counts for and why; a rejected run has all of it too."""

    entry: str
    run: Run | None
    body: RunEntry
    standing: str
    why: str


@dataclass(frozen=True)
class Observed:
    """Everything of the region."""

    table: Table
    runs: tuple[RunRow, ...]
    counted: dict[str, Run]
    tally: dict[str, int]
    shared: tuple[Fact, ...]
    differing: tuple[Fact, ...]
    settings: tuple[Setting, ...]
    definitions: dict[str, Definition]
    reads: int = 0
    reads_unknown: int = 0
    searches: tuple[Search, ...] = ()

    @property
    def values(self) -> int:
        """Numbers of the table and named reads, together."""
        return self.table.total + self.reads

    @property
    def unknown(self) -> int:
        """How many of those are unknown."""
        return self.table.unknown + self.reads_unknown


def observe(view: RecordView, plan: Prereg) -> Observed:
    """The observed region of a record that has a plan."""
    standings = _standings(view)
    runs = tuple(_run_row(digest, entry, view, standings) for digest, entry in view.run_entries)
    counted = {row.body.body.rung: row.run for row in runs if row.standing == "counted" and row.run}
    shared, differing = facts_of(plan, [row.run for row in runs if row.run is not None])
    reads = [one.value for one in (view.decisions[-1][1].body.reads or {}).values()] if view.decisions else []
    return Observed(
        table=_table(plan, values_of(view, plan), runs, _void(view, plan)),
        runs=runs,
        counted=counted,
        tally={name: sum(row.standing == name for row in runs) for name in _STANDINGS},
        shared=shared,
        differing=differing,
        settings=settings_of(plan, [(row.entry, row.run) for row in runs if row.standing == "counted" and row.run]),
        definitions=_definitions(plan, counted),
        reads=len(reads),
        reads_unknown=sum(isinstance(one, Unknown) for one in reads),
        searches=searches(
            plan, {row.body.body.rung: row.run for row in runs if row.standing == "incomplete" and row.run} | counted
        ),
    )


def _void(view: RecordView, plan: Prereg) -> set[str]:
    """The arms that a validity gate made void, by the decision that stands."""
    branches = view.decisions[-1][1].body.branches or () if view.decisions else ()
    gates = plan.validity or {}
    return {
        gates[one.id].rung for one in branches if one.kind == "validity" and one.verdict == "false" and one.id in gates
    }


_STANDINGS = ("counted", "excluded", "incomplete", "rejected", NOT_SEEN)


def values_of(view: RecordView, plan: Prereg) -> Mapping[str, Sourced]:
    """Numbers by ``rung.metric``: those of the decision where one stands, else as the runs count today."""
    if view.decisions:
        return view.decisions[-1][1].body.descriptive
    found = view.evidence
    return found.observed if found else {}


def _standings(view: RecordView) -> dict[str, RunStanding]:
    """What each run counts for: as the standing decision says, else by the plan's policy as of now."""
    if view.decisions:
        return {one.entry: one for one in view.decisions[-1][1].body.runs}
    found = view.evidence
    return {one.entry: one for one in found.accounted.standings} if found else {}


def _run_row(digest: str, entry: RunEntry, view: RecordView, standings: Mapping[str, RunStanding]) -> RunRow:
    standing = standings.get(digest)
    run = view.runs.get(digest)
    if standing is not None:
        return RunRow(digest, run, entry, standing.standing, standing.why)
    why = "taken in after the decision" if view.decisions else "its run file could not be read"
    return RunRow(digest, run, entry, NOT_SEEN, why)


def _table(plan: Prereg, values: Mapping[str, Sourced], runs: Sequence[RunRow], void: set[str]) -> Table:
    counting = {row.body.body.rung: row for row in reversed(runs) if row.standing == "counted"}
    counted = {rung: row.run for rung, row in counting.items() if row.run}
    missing = Sourced(value=Unknown(unknown="not_stated"), evidence_class="unclassified")
    control = next((rung.id for rung in plan.ladder.rungs if rung.role == "control"), "")
    pairs = incomparable_pairs(plan, counted, control)
    columns = {name: [values.get(f"{r.id}.{name}", missing) for r in plan.ladder.rungs] for name in plan.metrics}
    places = {name: column_places([s.value for s in columns[name]], m.unit) for name, m in plan.metrics.items()}
    rows = []
    for index, rung in enumerate(plan.ladder.rungs):
        comparable = rung.id != control and frozenset((rung.id, control)) not in pairs
        cells = [
            _cell(
                name,
                metric,
                columns[name][index],
                places[name],
                values.get(f"{control}.{name}") if comparable else None,
            )
            for name, metric in plan.metrics.items()
        ]
        out = "" if rung.id in counting or not any(c.value.known for c in cells) else "not counted"
        rows.append(
            Row(
                rung,
                tuple(cells),
                entry=counting[rung.id].entry if rung.id in counting else "",
                out="void" if out and rung.id in void else out,
                searched=rung.id in counted and bool(counted[rung.id].probes),
            )
        )
    told = [not row.searched for row in rows]
    every = [one for column in columns.values() for one, wanted in zip(column, told, strict=True) if wanted]
    unknown = sum(isinstance(one.value, Unknown) for one in every)
    return Table(dict(plan.metrics), tuple(rows), unknown, len(every), control, tuple(pairs.values()))


def _cell(name: str, metric: Metric, one: Sourced, places: int | None, control: Sourced | None) -> Cell:
    against = ""
    value = one.value
    if control is not None and isinstance(value, Measured) and isinstance(control.value, Measured):
        base = control.value.base
        if base and control.evidence_class == one.evidence_class:
            against = percent((value.base - base) / abs(base))
    return Cell(name, shown(value, metric.unit, places=places), one.evidence_class, one.entry or "", against)


def _definitions(plan: Prereg, counted: Mapping[str, Run]) -> dict[str, Definition]:
    """By metric, how its source was measured, from the first counted run that says so."""
    found: dict[str, Definition] = {}
    for name, metric in plan.metrics.items():
        source = metric.series or str(metric.value)
        said = [run.definitions[source] for run in counted.values() if source in run.definitions]
        if said:
            found[name] = said[0]
    return found
