"""Gates over several arms, over made-up numbers: one fixed point, whatever the order of gates, and never the bolder.

Gates look at their own arm and at others, in chains and in circles.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.derive import decide_body
from ledger.derive.freeze import read_plan
from ledger.model.entries import DecideBody, FreezeEntry
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, typed_run
from tests.worlds import PLAN, run_file

ARMS = ("r0", "r2", "r3", "r4")
GATES = {
    "a": ("r0", "r0.step_time <= 3 s"),
    "b": ("r2", "r2.step_time <= 1.5 * r0.step_time"),
    "c": ("r3", "r3.step_time <= 1.5 * r2.step_time or r3.step_time <= 1 s"),
    "d": ("r4", "r4.step_time <= 1.5 * r3.step_time"),
    "e": ("r3", "r3.step_time <= 1.5 * r4.step_time"),
}
DECISION = """\
decision:
  outcomes:
    - {name: ADOPT, when: r4.step_time <= 2 s or r2.step_time <= 2 s}
    - {name: KEEP, otherwise: true}
"""


@cache
def entry(order: tuple[str, ...]) -> FreezeEntry:
    """The plan of the tests with two more arms, and these gates in this order."""
    text = PLAN[: PLAN.index("decision:")] + "".join(
        f"    - {{id: {rung}, role: candidate, flags: {{checkpointing: full}}}}\n" for rung in ("r3", "r4")
    )
    text += "validity:\n"
    text += "".join(f'  {name}: {{rung: {GATES[name][0]}, when: "{GATES[name][1]}", why: x}}\n' for name in order)
    return freeze_entry(read_plan((text + DECISION).encode()))


def decided(times: Mapping[str, Any], order: tuple[str, ...] = tuple(GATES)) -> DecideBody:
    """What is decided over one run an arm with that step time; None: it was not run."""
    frozen, runs = entry(order), []
    for rung, step in times.items():
        steps = [9.0, *([step] * 3 if isinstance(step, float) else [2.0, step, 2.0])]
        settings_ = {"checkpointing": "none" if rung == "r0" else "full"}
        if step is not None:
            runs.append(intake(frozen, typed_run(run_file(FREEZE, rung, step_s=steps, settings=settings_))))
    return decide_body(FREEZE, frozen, runs, TOOL)


def verdicts(body: DecideBody) -> dict[str, str]:
    """What each gate came to."""
    return {one.id: one.verdict for one in body.branches or () if one.kind == "validity"}


UNREAD = {"unknown": "not_recorded"}
times = st.fixed_dictionaries(dict.fromkeys(ARMS, st.sampled_from([0.5, 2.0, 2.4, 3.5, 6.0, UNREAD, None])))
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(times, st.permutations(sorted(GATES)))
def test_the_order_of_gates_has_no_say(chosen: dict[str, Any], order: list[str]) -> None:
    one, other = decided(chosen), decided(chosen, tuple(order))
    assert verdicts(one) == verdicts(other)
    assert one.disposition == other.disposition


@quick
@given(times, st.lists(st.tuples(st.sampled_from(ARMS), st.sampled_from([UNREAD, None])), min_size=1, max_size=2))
def test_losing_evidence_never_strengthens(chosen: dict[str, Any], lost: list[tuple[str, Any]]) -> None:
    """No gate is told that could not be before, and no other outcome comes out."""
    left = {**chosen, **{rung: what if chosen[rung] is not None else None for rung, what in lost}}
    before, after = decided(chosen), decided(left)
    was = verdicts(before)
    assert all(verdict in (was[name], "unknown") for name, verdict in verdicts(after).items())
    assert after.disposition in (before.disposition, "INCONCLUSIVE")


# what each arm's step took, and what each gate comes to: "t", "f" or "?" for a, b, c, d and e
FIXED: dict[str, tuple[dict[str, Any], str]] = {
    "all stand": (dict.fromkeys(ARMS, 2.0), "ttttt"),
    "the anchor is void, and all that lean on it follow": ({**dict.fromkeys(ARMS, 2.0), "r0": 3.5}, "f????"),
    "one link of the chain is void": ({"r0": 2.0, "r2": 3.5, "r3": 2.0, "r4": 2.0}, "tf???"),
    "what settles a gate without the void arm still does": ({"r0": 2.0, "r2": 3.5, "r3": 0.5, "r4": 0.5}, "tfttt"),
    # r4 fails d: e, which leans on it, cannot be told; nor then can d, which leans on e's arm.
    "two that lean on each other, one of them void": ({"r0": 2.0, "r2": 2.0, "r3": 2.0, "r4": 6.0}, "ttt??"),
    # r3 fails c, whatever e, its other gate, comes to; what leans on r3 follows.
    "an arm's other gate is no reason against its own": ({"r0": 2.0, "r2": 2.0, "r3": 6.0, "r4": 2.0}, "ttf??"),
}


@pytest.mark.parametrize(("chosen", "wanted"), FIXED.values(), ids=FIXED)
def test_gates_come_to(chosen: dict[str, Any], wanted: str) -> None:
    found = verdicts(decided(chosen))
    assert "".join({"true": "t", "false": "f", "unknown": "?"}[found[name]] for name in "abcde") == wanted
