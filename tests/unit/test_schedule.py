"""What a ladder runs next, on made-up attempts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger.derive import read_plan
from ledger.errors import InputError
from ledger.model import load
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.schedule import Attempted, fired, spending, turns
from ledger.triggers import read_trigger
from tests.worlds import PLAN, run_file

F = "f" * 64
BUDGET = "budget: {gate: 1 GPU-h, devices: 4, load: 60 s, step: 10 s}\n"
AMBIGUOUS = """\
guards:
  overlay:
    kind: overlay
    control: r0
    rungs: [r2]
    band: {absolute: 0.5}
    ambiguous: {above: 1, up_to: 4}
"""


def plan(text: str = PLAN, ladder: str = "", extra: str = "") -> Prereg:
    """The sound plan, with lines added to its ladder and at its end."""
    return read_plan(text.replace("  steps: 4\n", f"  steps: 4\n{ladder}").encode() + extra.encode())


def attempt(rung: str, *, complete: bool = True, **changes: Any) -> Attempted:
    """An attempt of ten minutes."""
    return Attempted(load(Run, run_file(F, rung, **changes), kind="run"), complete)


def order(plan: Prereg, *attempted: Attempted) -> list[str]:
    """Ids of the rungs still to be run, in order."""
    return [turn.rung.id for turn in turns(plan, attempted) if turn.left_out is None]


def test_the_ladder_runs_in_its_order_and_goes_on_where_it_stopped() -> None:
    assert order(plan()) == ["r0", "r2"]
    assert order(plan(), attempt("r0")) == ["r2"]
    assert order(plan(), attempt("r0"), attempt("r2")) == []


def test_an_incomplete_attempt_leaves_its_turn() -> None:
    assert order(plan(), attempt("r0", complete=False)) == ["r0", "r2"]


def test_rounds_run_forth_and_back() -> None:
    three = plan(ladder="  rounds: 3\n")
    assert order(three) == ["r0", "r2", "r2", "r0", "r0", "r2"]
    assert order(three, attempt("r0"), attempt("r2"), attempt("r2", run_id="b")) == ["r0", "r0", "r2"]


@pytest.mark.parametrize("ladder", ["  rounds: 1000\n", "  attempts: pooled\n  pool: 1000\n"])
def test_a_rung_runs_at_most_a_thousand_times(ladder: str) -> None:
    assert len(order(plan(ladder=ladder))) == 2000
    done = [attempt(rung, run_id=f"{rung}-{nth}") for rung in ("r0", "r2") for nth in range(998)]
    assert order(plan(ladder=ladder), *done) == ["r0", "r2", "r2", "r0"]
    for absurd in ("1001", "100000000"):
        with pytest.raises(InputError) as caught:
            plan(ladder=ladder.replace("1000", absurd))
        assert (caught.value.problem.expected, caught.value.problem.found) == ("less than or equal to 1000", absurd)


def conditional() -> Prereg:
    """With a calibration rung that runs only if the overlay is ambiguous: beyond 0.5, within 2."""
    rung = (
        "    - {id: r0aa, role: calibration, repeats: r0, run_if: overlay is ambiguous, flags: {checkpointing: none}}\n"
    )
    return plan(PLAN.replace("decision:\n", f"{rung}decision:\n", 1), extra=AMBIGUOUS)


@pytest.mark.parametrize(
    ("last_loss", "waiting"),
    [(1.4, []), (1.6, ["r0aa"]), (3.1, [])],
    ids=["inside the band", "ambiguous", "outside the zone"],
)
def test_a_calibration_rung_runs_only_if_its_guard_is_ambiguous(last_loss: float, waiting: list[str]) -> None:
    both = attempt("r0"), attempt("r2", losses=[4.0, 3.0, 2.0, last_loss])
    assert order(conditional(), *both) == waiting


def test_a_condition_is_judged_after_the_other_rungs() -> None:
    left = turns(conditional(), [attempt("r0")])
    assert [turn.rung.id for turn in left] == ["r2", "r0aa"]
    assert "judged after the other rungs" in str(left[1].left_out)


def test_spending_counts_loads_and_projects_at_the_mean_of_what_was_spent() -> None:
    # Two attempts of 600 s on 4 devices are 4800 device seconds; two more make 9600, and the gate is 3600.
    spent = spending(plan(extra=BUDGET), [attempt("r0"), attempt("r2")], remaining=["r0", "r2"])
    assert spent is not None
    assert (spent.spent, spent.projected, spent.gate) == (4800, 9600, 3600)
    assert spent.over


def test_before_the_first_attempt_the_plans_own_estimate_is_projected() -> None:
    # One rung: 60 s load and 4 steps of 10 s, on 4 devices.
    spent = spending(plan(extra=BUDGET), [], remaining=["r0", "r2"])
    assert spent is not None
    assert (spent.spent, spent.projected) == (0, 2 * 4 * 100)
    assert not spent.over


def test_without_a_budget_nothing_is_projected() -> None:
    assert spending(plan(), [], remaining=["r0", "r2"]) is None


def test_a_kill_condition_that_fired_is_told_with_its_run() -> None:
    killed = attempt("r0", complete=False, outcome={"kind": "killed", "kill": 0})
    with_kill = plan(extra="kill:\n  - {when: vram_alloc_peak > 78 GiB}\n")
    assert fired(with_kill, [killed]) == "vram_alloc_peak > 78 GiB fired in r0-a"
    assert fired(with_kill, [attempt("r0")]) is None


def test_an_event_that_fired_is_told_by_its_name() -> None:
    message = "the frozen kill condition non_finite_loss was met: the loss is nan"
    killed = attempt("r0", complete=False, outcome={"kind": "killed", "message": message})
    assert fired(plan(extra="kill:\n  - {on: non_finite_loss}\n"), [killed]) == "non_finite_loss fired in r0-a"
    assert fired(plan(), [killed]) is None


def test_a_trigger_is_resolved_to_base_units() -> None:
    found = read_trigger("vram_alloc_peak <= 71 GiB", plan().metrics)
    assert (found.source, found.phase, found.op) == ("memory.lifetime_peak_allocated", "train", "<=")
    assert (Fraction(found.limit), found.unit) == (71 * 2**30, "B")
    assert read_trigger("step_time > 3500 ms", plan().metrics).limit == "3.5"


@pytest.mark.parametrize(
    ("text", "code"),
    {
        "no comparison": ("step_time", "bad_comparison"),
        "equality": ("step_time == 3 s", "bad_comparison"),
        "a misspelt metric": ("step_tim > 3 s", "unknown_metric"),
        "another unit": ("step_time > 3 GiB", "unit_clash"),
        "a bare number": ("step_time > 3", "unit_clash"),
        "an unknown unit": ("step_time > 3 sec", "unknown_unit"),
    }.values(),
)
def test_a_bad_trigger_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trigger(text, plan().metrics)
    assert caught.value.problem.code == code
