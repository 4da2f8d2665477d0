"""Oracles whose attempts ended badly, or too late for the arm, or on another machine than it."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.arms import settle
from ledger.derive import decide_body
from ledger.model.run import Run
from tests.deciding import FREEZE, TOOL, Bend, freeze_entry, intake, run, typed_run
from tests.unit.test_bundles import BOTH, TWO, arm, bundle, bundled, on_arm, oracle_run

EARLY = {"began_at": "2026-08-11T09:00:00.000000Z", "ended_at": "2026-08-11T09:10:00.000000Z"}
BAD: dict[str, dict[str, Any]] = {
    "an error": {"outcome": {"kind": "error"}},
    "refused": {"outcome": {"kind": "refused"}},
    "killed": {"outcome": {"kind": "killed"}},
    "no save": {"counts": {"steps": 4, "eval": 1, "save": 0}},
}


def weighed(own: dict[str, Any], *runs: Run, bends: Bend | None = None) -> Any:
    """What is decided over these runs and the control's."""
    entry = freeze_entry(bundled(own, bends))
    return decide_body(FREEZE, entry, [intake(entry, one) for one in (run("r0"), *runs)], TOOL)


def early(pin: Any, **changes: Any) -> Run:
    """A first attempt of the oracles' rung, an hour before the other."""
    return oracle_run(pin=pin, **{"run_id": "r1-early", **EARLY, **changes})


@pytest.mark.parametrize("case", BAD)
def test_a_failure_in_an_attempt_that_ended_badly_leaves_the_item_open(case: str) -> None:
    """0.0032 first, 1e-9 in the attempt after it: the item is neither dropped nor kept."""
    body = weighed(TWO, early(0.0032, **BAD[case]), oracle_run(), arm(True, True, step=1.0))
    assert body.disposition == "INCONCLUSIVE"
    [branch] = body.branches
    assert (branch.verdict, branch.taken) == ("unknown", "what r2 may carry cannot be told")
    assert "pin_equal of r1-early is 0.0032, at most 1e-06 passes" in branch.why


@pytest.mark.parametrize("case", BAD)
def test_the_same_of_an_oracle_on_the_arm_itself(case: str) -> None:
    document = arm(True, True, 0, step=1.0, checks={"pin_equal": 0.0032, "fuse_equal": 0}).to_json()
    first = typed_run({**document, **BAD[case]})
    second = arm(True, True, 1, step=1.0, checks={"pin_equal": 1e-9, "fuse_equal": 0})
    body = weighed(bundle(on_arm("pin"), on_arm("fuse")), first, second)
    assert body.disposition == "INCONCLUSIVE"
    assert body.branches[0].taken == "what r2 may carry cannot be told"


def test_running_out_of_memory_lets_no_item_back_either() -> None:
    """That attempt is the rung's answer: what it found stays found, and what it did not cannot be told."""
    oom = {"kind": "oom", "rank": 0, "phase": "train", "step": 3, "message": "made up"}
    body = weighed(TWO, early(0.0032, outcome=oom), oracle_run(), arm(True, True, step=1.0))
    assert body.disposition == "INCONCLUSIVE"
    assert body.branches[0].why.startswith("pin dropped: its oracle pin_equal is 0.0032 on r1, at most 1e-06 passes; ")


def test_who_reported_it_is_told_where_it_does_not_count() -> None:
    body = weighed(TWO, early(0.0032, outcome={"kind": "error"}), oracle_run())
    assert "pin_equal of r1-early is 0.0032, at most 1e-06 passes, and that attempt does not" in body.branches[0].why


def test_a_pass_in_an_attempt_that_ended_badly_settles_nothing() -> None:
    """A short attempt that passes lets no later failure through, and stands for no attempt that counts."""
    short = early(1e-9, outcome={"kind": "killed"})
    assert weighed(TWO, short, oracle_run(pin=0.0032), arm(True, True)).branches[0].taken == "r2 runs without pin"
    assert weighed(TWO, short, arm(True, True)).branches[0].verdict == "unknown"


# the first attempt, and the verdict over it and a later one that passes
BEFORE: dict[str, tuple[Run, str]] = {
    "that does not report it": (early(None, outcome={"kind": "error"}), "true"),
    "that could not tell": (early({"unknown": "not_run"}, outcome={"kind": "error"}), "true"),
    "whose value is no number": (early({"unknown": "invalid"}, outcome={"kind": "error"}), "unknown"),
    "of other settings": (early(0.0032, settings={"lr": 0.001}), "true"),
    "that counts and does not report it": (early(None), "unknown"),
    "that counts and fails": (early(0.0032), "false"),
}


@pytest.mark.parametrize(("first", "verdict"), BEFORE.values(), ids=BEFORE)
def test_an_earlier_attempt(first: Run, verdict: str) -> None:
    assert weighed(TWO, first, oracle_run(), arm(True, True)).branches[0].verdict == verdict


def test_an_attempt_after_the_one_that_counts_has_no_say() -> None:
    later = oracle_run(
        pin=0.0032,
        run_id="r1-late",
        began_at="2026-08-11T10:30:00.000000Z",
        ended_at="2026-08-11T10:40:00.000000Z",
        outcome={"kind": "error"},
    )
    assert weighed(TWO, oracle_run(), later, arm(True, True)).disposition == "ADOPT"


# when the oracles' run began and ended, and whether the arm's of 12:00 counts
TIMES: dict[str, tuple[str, str, bool]] = {
    "ended as it began": ("11:50", "12:00", True),
    "was under way": ("11:50", "12:01", False),
    "came after": ("13:00", "13:10", False),
}


@pytest.mark.parametrize(("began", "ended", "counts"), TIMES.values(), ids=TIMES)
def test_an_arm_that_ran_before_its_oracle_had_ended_does_not_count(began: str, ended: str, counts: bool) -> None:
    times = {"began_at": f"2026-08-11T{began}:00.000000Z", "ended_at": f"2026-08-11T{ended}:00.000000Z"}
    body = weighed(TWO, oracle_run(**times), arm(True, True))
    [standing] = [one for one in body.runs if one.rung == "r2"]
    assert (standing.standing == "counted", body.disposition) == (counts, "ADOPT" if counts else "INCONCLUSIVE")
    if not counts:
        assert standing.why.startswith("its oracle had not ended when it began: it began 2026-08-11T12:00:00.000000Z")
        # A later attempt takes its place.
        nth = 2 if ended.startswith("13") else 1
        assert weighed(TWO, oracle_run(**times), arm(True, True), arm(True, True, nth)).disposition == "ADOPT"


def test_an_oracle_on_the_arm_itself_bars_no_attempt_of_it() -> None:
    first = arm(True, True, checks={"pin_equal": 0, "fuse_equal": 0})
    assert weighed(bundle(on_arm("pin"), on_arm("fuse")), first).disposition == "ADOPT"


def test_another_machine_is_told_and_bars_nothing() -> None:
    other = oracle_run(bends={("facts", "torch"): "2.14.0"})
    body = weighed(TWO, other, arm(True, True))
    assert body.disposition == "ADOPT"
    assert body.branches[0].why.endswith(
        "the oracle r1-a ran on another machine than r2-0: torch: r1 has '2.14.0', r2 has '2.13.0'"
    )
    assert "another machine" not in weighed(TWO, oracle_run(), arm(True, True)).branches[0].why


def test_settling_is_blind_to_what_does_not_count_unless_it_fails() -> None:
    frozen = bundled(TWO)
    failing, passing = oracle_run(pin=1, run_id="a", **EARLY), oracle_run(run_id="b", **EARLY)
    assert settle(frozen, {"r1": oracle_run()}, {"r1": [failing]})["r2"].settings is None
    assert settle(frozen, {"r1": oracle_run()}, {"r1": [passing]})["r2"].settings == BOTH
    assert settle(frozen, {}, {"r1": [passing]})["r2"].settings is None


def test_pooled_attempts_settle_when_the_last_of_them_has_ended() -> None:
    pooled: Bend = {("ladder", "attempts"): "pooled", ("ladder", "pool"): 2}
    late = {"run_id": "r1-b", "began_at": "2026-08-11T12:30:00.000000Z", "ended_at": "2026-08-11T12:40:00.000000Z"}
    arms = [arm(True, True, nth) for nth in (0, 1, 2)]
    control = run("r0", run_id="r0-b", began_at="2026-08-11T11:00:00.000000Z", ended_at="2026-08-11T11:10:00.000000Z")
    body = weighed(TWO, oracle_run(), oracle_run(**late), control, *arms, bends=pooled)
    assert {one.run_id: one.standing for one in body.runs if one.rung == "r2"} == {
        "r2-0": "excluded",
        "r2-1": "counted",
        "r2-2": "counted",
    }
