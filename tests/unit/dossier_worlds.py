"""Record views for the page tests: one a disposition, and drafts. No test lives here.

Runs are made up and known to be; the entries are derived from them as the program would.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ledger.accounting import Intake
from ledger.canonical import canonical_bytes, digest
from ledger.derive import Pins, decide_body, freeze_body, run_body
from ledger.dossier import EntryView, RecordView
from ledger.errors import Problem
from ledger.lifecycle import standing
from ledger.model.base import load
from ledger.model.entries import CodePin, DecideEntry, FreezeEntry, PinnedBaseline, RunEntry, Tool
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import Note
from ledger.model.values import Resource
from tests.unit.dossier_plans import draft_data, plan_data
from tests.unit.dossier_runs import BENCH, COMMIT, GIB, run

AS_OF = "2026-11-20T09:00:00Z"
FROZEN_AT = "2026-11-03T08:12:00Z"
TREE = "6a4b45e0" * 5
TOOL = Tool(name="evidence-ledger", version="0.1.0")


def plan(record: str, title: str, **more: Any) -> Prereg:
    """The same, typed."""
    return load(Prereg, plan_data(record, title, **more), kind="plan")


@dataclass
class World:
    """A record being put together, entry by entry."""

    plan: Prereg
    entries: list[EntryView] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)

    def add(self, at: str, entry: Any) -> str:
        """Keep an entry; returns its digest."""
        data = canonical_bytes(entry.to_json())
        name = f"{at.replace('-', '').replace(':', '')}-{entry.kind}-{digest(data)[:12]}.json"
        self.entries.append(EntryView(name, digest(data), entry, len(data)))
        return digest(data)

    def envelope(self, at: str) -> dict[str, Any]:
        """What every entry has."""
        parents = (self.entries[-1].digest,) if self.entries else ()
        return {
            "schema": "ledger/entry/v1",
            "record": self.plan.id,
            "parents": parents,
            "at": at,
            "by": {"name": "A. Engineer", "email": "a.engineer@example.org"},
        }

    def freeze(self) -> str:
        """Freeze the plan."""
        pins = Pins(
            code=CodePin(commit=COMMIT, tree=TREE, paths={"bench": BENCH}),
            baselines=(PinnedBaseline(name="trunk-60k", ref="main", old="913fdc4", new=COMMIT),),
            tool=TOOL,
        )
        notes = (Note(code="one_run_a_rung", text="One run a rung: variation between runs is not measured."),)
        body = freeze_body(canonical_bytes(self.plan.to_json()), self.plan, pins, notes)
        return self.add(FROZEN_AT, FreezeEntry(kind="freeze", body=body, **self.envelope(FROZEN_AT)))

    def ingest(self, run: Run, at: str) -> str:
        """Take a run in."""
        data = canonical_bytes(run.to_json())
        resource = Resource(name="run.json", digest={"sha256": digest(data)}, size=len(data))
        body = run_body(self.entries[0].digest, self.frozen, run, resource, at, TOOL)
        entry = self.add(at, RunEntry(kind="run", body=body, **self.envelope(at)))
        self.runs[entry] = run
        return entry

    def decide(self, at: str = "2026-11-05T20:15:00Z") -> str:
        """Apply the frozen rule."""
        bodies = {one.digest: one.entry.body for one in self.entries if isinstance(one.entry, RunEntry)}
        intakes = [Intake(key, bodies[key], run) for key, run in self.runs.items()]
        body = decide_body(self.entries[0].digest, self.frozen, intakes, TOOL)
        return self.add(at, DecideEntry(kind="decide", body=body, **self.envelope(at)))

    @property
    def frozen(self) -> FreezeEntry:
        """The freeze entry."""
        entry = self.entries[0].entry
        assert isinstance(entry, FreezeEntry)
        return entry

    def view(self, *, problems: tuple[Problem, ...] = (), as_of: str = AS_OF) -> RecordView:
        """The finished view."""
        pairs = [(one.digest, one.entry) for one in self.entries]
        return RecordView(
            id=self.plan.id,
            plan=self.plan,
            frozen=bool(self.entries),
            standing=standing(self.plan, pairs, as_of[:10]),
            entries=tuple(self.entries),
            runs=dict(self.runs),
            problems=problems,
            as_of=as_of,
        )


def adopt() -> RecordView:
    """Every clause holds; one attempt was cut off and one came second."""
    world = World(plan("2026-11-recompute-small", "Recomputing activations on the small trunk"))
    freeze = world.freeze()
    record = world.plan.id
    world.ingest(run(record, freeze, "r0", 2.40, 73 * GIB + 858993459), "2026-11-05T18:40:00Z")
    cut = run(
        record,
        freeze,
        "r1",
        3.02,
        None,
        name="r1-20261105T190000Z-c0de",
        steps=11,
        outcome={"kind": "killed", "phase": "train", "step": 11, "message": "signal 9"},
        began="2026-11-05T18:40:00.000000Z",
        ended="2026-11-05T18:48:00.000000Z",
    )
    world.ingest(cut, "2026-11-05T18:50:00Z")
    world.ingest(
        run(
            record,
            freeze,
            "r1",
            3.05,
            57 * GIB,
            loss_off=0.003,
            began="2026-11-05T19:00:00.000000Z",
            ended="2026-11-05T19:20:00.000000Z",
        ),
        "2026-11-05T19:21:00Z",
    )
    world.ingest(
        run(
            record,
            freeze,
            "r2",
            2.42,
            57 * GIB + 365072220,
            loss_off=0.006,
            began="2026-11-05T19:30:00.000000Z",
            ended="2026-11-05T19:50:00.000000Z",
        ),
        "2026-11-05T19:51:00Z",
    )
    world.ingest(
        run(
            record,
            freeze,
            "r2",
            2.41,
            57 * GIB + 365072220,
            name="r2-20261105T195500Z-5ec0",
            began="2026-11-05T19:55:00.000000Z",
            ended="2026-11-05T20:10:00.000000Z",
        ),
        "2026-11-05T20:11:00Z",
    )
    world.decide()
    return world.view()


def record_only() -> RecordView:
    """The candidate ran out of memory: its time is unknown, and its peak is at least the limit in force."""
    world = World(plan("2026-11-recompute-flip", "Recomputing activations on the large trunk"))
    freeze = world.freeze()
    record = world.plan.id
    world.ingest(run(record, freeze, "r0", 2.40, 73 * GIB + 858993459), "2026-11-05T18:40:00Z")
    world.ingest(
        run(
            record,
            freeze,
            "r1",
            3.05,
            57 * GIB,
            loss_off=0.003,
            began="2026-11-05T19:00:00.000000Z",
            ended="2026-11-05T19:20:00.000000Z",
        ),
        "2026-11-05T19:21:00Z",
    )
    oom = {
        "kind": "oom",
        "rank": 1,
        "phase": "train",
        "step": 7,
        "message": "out of memory: tried to allocate 2.50 GiB",
        "requested_bytes": 2684354560,
        "limits": {"cuda.peak_allocated_bytes": 79 * GIB + 161061273},
    }
    world.ingest(
        run(
            record,
            freeze,
            "r2",
            2.55,
            None,
            steps=7,
            outcome=oom,
            began="2026-11-05T19:30:00.000000Z",
            ended="2026-11-05T19:36:00.000000Z",
        ),
        "2026-11-05T19:51:00Z",
    )
    world.decide()
    return world.view()


def inconclusive() -> RecordView:
    """The candidate's run has no peak, so the rule cannot be judged; its numbers stay as description."""
    world = World(plan("2026-10-recompute-retry", "Recomputing activations, second machine"))
    freeze = world.freeze()
    record = world.plan.id
    world.ingest(run(record, freeze, "r0", 2.31, 72 * GIB), "2026-11-05T18:40:00Z")
    world.ingest(
        run(
            record,
            freeze,
            "r1",
            2.94,
            57 * GIB,
            facts={"gpu_model": "another accelerator"},
            began="2026-11-05T19:00:00.000000Z",
            ended="2026-11-05T19:20:00.000000Z",
        ),
        "2026-11-05T19:21:00Z",
    )
    world.ingest(
        run(
            record,
            freeze,
            "r2",
            2.33,
            None,
            loss_off=0.004,
            nan_at=21,
            began="2026-11-05T19:30:00.000000Z",
            ended="2026-11-05T19:50:00.000000Z",
        ),
        "2026-11-05T19:51:00Z",
    )
    world.decide()
    return world.view()


def void() -> RecordView:
    """The control began before the plan was frozen; its run is kept, shown, and never counts."""
    world = World(plan("2026-10-recompute-early", "Recomputing activations, first attempt"))
    freeze = world.freeze()
    record = world.plan.id
    early = run(
        record,
        freeze,
        "r0",
        2.40,
        73 * GIB,
        name="r0-20261101T100000Z-0bad",
        began="2026-11-01T10:00:00.000000Z",
        ended="2026-11-01T10:20:00.000000Z",
    )
    world.ingest(early, "2026-11-05T18:40:00Z")
    world.ingest(
        run(
            record,
            freeze,
            "r2",
            2.42,
            57 * GIB,
            began="2026-11-05T19:30:00.000000Z",
            ended="2026-11-05T19:50:00.000000Z",
        ),
        "2026-11-05T19:51:00Z",
    )
    world.decide()
    return world.view()


def overdue() -> RecordView:
    """Frozen, one rung run, and the due date has passed in silence."""
    world = World(plan("2026-09-silent", "Fused normalisation on the small trunk", due="2026-11-10"))
    freeze = world.freeze()
    world.ingest(run(world.plan.id, freeze, "r0", 2.40, 73 * GIB), "2026-11-05T18:40:00Z")
    return world.view()


def draft() -> RecordView:
    """The activation-checkpointing case as a rich draft, with what check says of it."""
    one = load(Prereg, draft_data(), kind="plan")
    problems = (
        Problem(
            "over_gate",
            "the cost estimate is above the plan's own gate",
            where="line 96, budget.gate",
            expected="at most 2 GPU-h",
            found="at least 2.1333 GPU-h before loads, which are unknown",
            hint="lower steps or the expected step time, or ask for a larger gate",
        ),
        Problem(
            "entry_condition_unmet",
            "entry condition launch-scheduled is not met",
            where="entry_conditions[1].met",
            expected="true",
            found="false",
            hint="freeze when it is met",
            severity="blocker",
        ),
        Problem(
            "rule_shape",
            "the rule reads two ways",
            where="line 1 column 20",
            picture="r2.step_time <= 1.02 * r0.step_time\n                   ^",
            severity="warning",
        ),
    )
    return World(one).view(problems=problems, as_of="2026-08-10T09:00:00Z")


def every_view() -> list[RecordView]:
    """All worlds."""
    return [adopt(), record_only(), inconclusive(), void(), overdue(), draft()]
