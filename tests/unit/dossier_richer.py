"""Record views in which plans are richer than one ladder: every block, every kind of branch. No test lives here.

Runs are made up. The record that closes at its first stage is derived as the program would; of the other, the branches
are written by hand, so that each way, taken or not, stands on one page whatever else decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.dossier import RecordView
from ledger.model.arms import PinnedRevision
from ledger.model.base import load
from ledger.model.course import Branch
from ledger.model.entries import CodePin, DecideBody, DecideEntry, FreezeEntry
from ledger.model.events import ContingencyBody, ContingencyEntry, FollowUpBody, FollowUpEntry
from ledger.model.plan import Evidence, Prereg
from ledger.model.run import Run
from ledger.model.trace import Clause
from ledger.protocol import protocol
from ledger.verdict import clause_words
from tests.unit import dossier_worlds as worlds
from tests.unit.dossier_richer_plan import OUTCOMES, richer_data
from tests.unit.dossier_runs import BENCH, COMMIT, GIB, run

RICHER, CLOSED = "2026-11-richer", "2026-11-closed"
KERNELS, FUSED = "5f3c11aa" * 5, "91ab20ce" * 5
STEPS = {"r0": 2.40, "r1": 2.41, "r2": 2.41, "r3": 2.36}


class RicherWorld(worlds.World):
    """A world that also pins revisions, and writes the events of a richer plan."""

    def freeze(self) -> str:
        """Freeze, with the code of r1 and r3 resolved."""
        super().freeze()
        entry = self.frozen
        revisions = {
            "r1": PinnedRevision(
                ref="kernels", old="5f3c11aa", commit=KERNELS, tree=worlds.TREE, paths={"bench": BENCH}
            ),
            "r3": PinnedRevision(ref="fused-rope", commit=FUSED, tree=worlds.TREE, paths={"bench": BENCH}),
        }
        code = CodePin(commit=COMMIT, tree=worlds.TREE, paths={"bench": BENCH}, revisions=revisions)
        self.entries.clear()
        return self.add(
            entry.at,
            FreezeEntry(kind="freeze", body=entry.body.model_copy(update={"code": code}), **self.envelope(entry.at)),
        )

    def decided(self) -> DecideBody:
        """What the derivation gives for the runs there are."""
        bodies = {one.digest: one.entry.body for one in self.entries if one.digest in self.runs}
        intakes = [Intake(key, bodies[key], run) for key, run in self.runs.items()]
        before = [(one.digest, one.entry) for one in self.entries]
        return decide_body(self.entries[0].digest, self.frozen, intakes, worlds.TOOL, before)

    @property
    def frozen(self) -> FreezeEntry:
        """The freeze entry with the plan as it stands, contingencies that fired included."""
        pairs = [(one.digest, one.entry) for one in self.entries]
        return protocol((pairs[0][0], super().frozen), pairs).freeze


def _run(world: worlds.World, freeze: str, rung: str, hour: int, step_s: float | None = None) -> Run:
    times = {"began": f"2026-11-05T{hour}:00:00.000000Z", "ended": f"2026-11-05T{hour}:22:30.000000Z"}
    seconds = step_s or STEPS[rung]
    made = run(world.plan.id, freeze, rung, seconds, 57 * GIB, name=f"{rung}-{hour}", **times).to_json()
    settings = {"r2": {"fused_norm": True, "fast_rope": False}}.get(rung, {})
    off = {"r0": 0.0, "r1": 0.0, "r2": -0.2, "r3": -0.1}[rung]
    tables = {name: {"keys": ["a", "b", "c", "d"], "values": [1 + off, 2 + off, 3 + off, 4 + off]} for name in TABLES}
    unit = {"unit": "1", "definition": "loss of one item", "method": "made up", "scope": "one item"}
    definitions = {**made["definitions"], **dict.fromkeys(TABLES, unit)}
    if rung == "r3":  # from step 10 on, 0.8 above what it would have been
        for rank in made["ranks"]:
            losses = [float.fromhex(one) for one in rank["series"]["loss_hex"]]
            rank["series"]["loss_hex"] = [(x + 0.8 * (step >= 10)).hex() for step, x in enumerate(losses)]
    commit = {"r1": KERNELS, "r3": FUSED}.get(rung, COMMIT)
    checks = {**made["checks"], "rope_equal": {"value": 0.02, "definition": "largest difference of a rotation"}}
    changed = {"checks": checks, "items": tables, "definitions": definitions, "settings": made["settings"] | settings}
    return load(Run, {**made, **changed, "code": {**made["code"], "commit": commit}}, kind="run")


TABLES = ("target_loss", "anchor_loss")


def _plan(record: str, **more: Any) -> Prereg:
    return load(Prereg, richer_data(record, **more), kind="plan")


def closed() -> RecordView:
    """The screen's rule is false: the record closes at stage 1, and the second stage never opens.

    Two runs of 22.5 minutes on two devices: 2 * 0.375 * 2 = 1.5 of 6 GPU-h.
    """
    plain = {"bundles": None, "validity": None, "select": None, "reads": None, "kill": None, "contingencies": None}
    decision = {"outcomes": [{"name": "ADOPT", "when": "r2.vram_alloc_peak <= 63 GiB"}, OUTCOMES[1]]}
    world = RicherWorld(_plan(CLOSED, title="A screen that did not pass", **plain, decision=decision))
    freeze = world.freeze()
    for hour, rung in ((17, "r0"), (18, "r1")):
        world.ingest(_run(world, freeze, rung, hour, {"r1": 2.52}.get(rung)), f"2026-11-05T{hour}:40:00Z")
    world.decide()
    return world.view()


def branches(held: Clause, missed: Clause, open_: Clause) -> tuple[Branch, ...]:
    """One of each kind and way; the clauses are one that holds, one that does not, and one that is unknown."""
    told: list[tuple[Any, ...]] = [
        ("stage", "screen", "true", "stage 2 of 2 (main) opens", clause_words(held), held),
        ("bundle", "kernels", "false", "r2 runs without fast-rope", ORACLES, None),
        ("validity", "floor", "true", "r2 stands", clause_words(held), held),
        ("validity", "anchor", "false", "r3 is void", f"{clause_words(missed)}: {NOT_REPRODUCED}", missed),
        (
            "selection",
            "best",
            "true",
            "r2 is best",
            "lowest loss: r2 3.473, r1 3.473; of the two r2 is listed first",
            None,
        ),
        ("contingency", "too_dear", "true", FEWER, "the projected total, 7.100 GPU-h, is above 6 GPU-h", None),
        ("contingency", "unstable", "unknown", "whether it is called for cannot be told", clause_words(open_), open_),
        ("kill", "r3", "false", "r3 was killed", "loss_hex of r3 was 3.200 at step 14, more than 0.5 above r0", None),
    ]
    keys = ("kind", "id", "verdict", "taken", "why", "clauses")
    return tuple(load(Branch, dict(zip(keys, _plain(one), strict=True)), kind="branch") for one in told)


FEWER = "r2 and r3 run 30 steps, labelled 30-step-screen"
NOT_REPRODUCED = "the known anchor was not reproduced"
ORACLES = (
    "fused-norm kept: its oracle chunks_equal is 3.100e-16 on r1, at most 1e-06 passes; "
    "fast-rope dropped: its oracle rope_equal is 0.02 on r1, at most 1e-06 passes"
)


def _plain(one: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*one[:5], [one[5].to_json()] if one[5] else None)


def richer() -> RecordView:
    """Every block, every kind of branch, a fired contingency, and follow-ups done, open and overdue."""
    world = RicherWorld(_plan(RICHER))
    freeze = world.freeze()
    keys = [
        world.ingest(_run(world, freeze, rung, hour), f"2026-11-05T{hour}:40:00Z")
        for hour, rung in enumerate(("r0", "r1"), start=16)
    ]
    every = branches(*_clauses(world))
    fired = next(one for one in every if one.kind == "contingency" and one.verdict == "true")
    body = ContingencyBody(
        freeze=freeze,
        phase="after_data",
        tool=worlds.TOOL,
        contingency="too_dear",
        label="30-step-screen",
        found=fired,
        evidence=tuple(sorted(keys)),
    )
    at = "2026-11-05T17:50:00Z"
    world.add(at, ContingencyEntry(kind="contingency", body=body, **world.envelope(at)))
    for hour, rung in ((18, "r2"), (19, "r3")):
        world.ingest(_run(world, freeze, rung, hour), f"2026-11-05T{hour}:40:00Z")
    decided = world.decided().model_copy(
        update={
            "branches": every,
            "disposition": "ADOPT-WITH-COST",
            "labels": ("30-step-screen",),
            "why": "every clause of its rule holds",
        }
    )
    at = "2026-11-05T20:15:00Z"
    decide = world.add(at, DecideEntry(kind="decide", body=decided, **world.envelope(at)))
    done = FollowUpBody(
        freeze=freeze,
        phase="after_data",
        tool=worlds.TOOL,
        decide=decide,
        follow_up="tell_anchor",
        result="They agreed on 6 November.",
        evidence=load(Evidence, {"class": "local_observation", "link": "https://example.org/mail"}, kind="evidence"),
    )
    at = "2026-11-06T10:00:00Z"
    world.add(at, FollowUpEntry(kind="followup", body=done, **world.envelope(at)))
    return replace(world.view(), plan=world.frozen.body.plan)


def _clauses(world: RicherWorld) -> tuple[Clause, Clause, Clause]:
    """A comparison that holds, one that fails by 3 %, and one that is unknown."""
    held, missed = (_first(body) for body in (world.decided(), closed().decisions[-1][1].body))
    unknown = {"unknown": "not_run", "detail": "r3 was not run"}
    told = {**missed.to_json(), "text": "r1.loss > 9", "verdict": "unknown", "left": unknown, "margin": unknown}
    told |= {"margin_relative": unknown, "derivation": "unknown > 9", "operands": [], "reason": "r3 was not run"}
    return held, missed, load(Clause, told, kind="clause")


def _first(body: DecideBody) -> Clause:
    return next(one.clauses[0] for one in body.branches or () if one.kind == "stage" and one.clauses)


def every_view() -> list[RecordView]:
    """Both, and the richer one as a draft."""
    drafted = worlds.World(_plan("2026-12-richer-draft")).view()
    return [richer(), closed(), replace(drafted, as_of="2026-11-20T09:00:00Z")]
