"""What a plan's contingencies may not say: two that clash, an arm like the control, a name that stands twice."""

from __future__ import annotations

import pytest

from ledger.derive import read_plan
from ledger.errors import Problem
from ledger.plancheck import check_plan
from tests.flow.richer.screened import PLAN


def two(first: str, second: str) -> str:
    """A plan with two contingencies that change these."""
    return PLAN + (
        "contingencies:\n"
        f"  one: {{when: {{rule: r0.step_time > 3 s}}, then: {first}, label: one, why: Made up.}}\n"
        f"  two: {{when: {{rule: r0.step_time > 4 s}}, then: {second}, label: two, why: Made up.}}\n"
    )


def errors(text: str) -> list[Problem]:
    return [one for one in check_plan(read_plan(text.encode())) if one.severity == "error"]


OTHER = "{rungs: [r1], settings: {chunks: 2}}"

# case: what each changes, and the codes that it gives
CHANGES: dict[str, tuple[str, str, list[str]]] = {
    "sound": ("{rungs: [r2], settings: {chunks: 2}}", OTHER, []),
    "the same of one rung": ("{rungs: [r1], steps: 3}", "{rungs: [r1, r2], steps: 3}", []),
    "steps in one, a setting in the other": ("{rungs: [r1, r2], steps: 3}", OTHER, []),
    "other steps of one rung": ("{rungs: [r1, r2], steps: 3}", "{rungs: [r1], steps: 2}", ["contingencies_clash"]),
    "two values of one setting": ("{rungs: [r1], settings: {chunks: 3}}", OTHER, ["contingencies_clash"]),
    "another number is no other value": ("{rungs: [r1], settings: {chunks: 2.0}}", OTHER, []),
    "an arm becomes the control": ("{rungs: [r2], settings: {checkpointing: none}}", OTHER, ["arm_as_control"]),
    "an arm and the control alike": (
        "{rungs: [r0, r2], settings: {checkpointing: both}}", OTHER, ["arm_as_control"],
    ),
    "seed of one that is compared": ("{rungs: [r2], settings: {seed: 3}}", OTHER, ["made_incomparable"]),
    "seed of all": ("{rungs: [r0, r1, r2], settings: {seed: 3}}", OTHER, []),
    "a rung twice": ("{rungs: [r2, r2], settings: {chunks: 2}}", OTHER, ["named_twice"]),
    "nothing": ("{rungs: [r2], settings: {checkpointing: full}}", OTHER, ["changes_nothing"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_what_contingencies_change(case: str) -> None:
    first, second, codes = CHANGES[case]
    found = errors(two(first, second))
    assert sorted({one.code for one in found}) == codes
    for one in found:
        assert one.expected, one
        assert one.found, one
        assert one.hint, one


def test_a_clash_names_the_rung_and_both() -> None:
    (found,) = errors(two("{rungs: [r1, r2], steps: 3}", "{rungs: [r1], steps: 2}"))
    assert found.what == "one has r1 run 3 steps, and two 2 steps: once both fire, no run of r1 could count"
    assert found.where == "contingencies.two.then"


# case: what is written instead of what
TWICE: dict[str, tuple[str, str]] = {
    "rungs of a stage": ("rungs: [r0, r1]", "rungs: [r0, r1, r1]"),
    "varied settings": ("ladder:\n", "scope: {varies: [checkpointing, checkpointing]}\nladder:\n"),
    "facts to compare": ("ladder:\n", "comparable: [device, torch, device]\nladder:\n"),
    "outcomes of a follow-up": ("budget:", "follow_ups: {tell: {text: Tell., after: [ADOPT, ADOPT]}}\nbudget:"),
    "rungs of a kill rule": (
        "budget:",
        "kill:\n  - {against: {series: step_ns, reference: r0, worse_by: 1 s, better: lower}, rungs: [r2, r2]}\n"
        "budget:",
    ),
}


@pytest.mark.parametrize("case", TWICE)
def test_a_name_that_stands_twice(case: str) -> None:
    old, new = TWICE[case]
    assert old in PLAN
    found = errors(PLAN.replace(old, new, 1))
    assert [one.code for one in found] == ["named_twice"], found


def test_a_long_ladder_is_not_told_rung_by_rung() -> None:
    more = "".join(f"    - {{id: m{n}, role: diagnosis, flags: {{checkpointing: m{n}}}}}\n" for n in range(300))
    text = PLAN.replace("    - {id: r2,", more + "    - {id: r2,", 1)
    text = text.replace("rungs: [r0, r1]", "rungs: [r0, r1, " + ", ".join(f"m{n}" for n in range(300)) + "]")
    text = text.replace("    - {given: {r0.step_time: 2.4 s, r1.step_time: 3 s}, gives: DROP}\n", "")
    hints = [
        found.hint for found in errors(text) if found.what == "no worked example closes the record at stage screen"
    ]
    assert hints == [
        "add one that gives DROP, with values of r0, r1, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 290 more only"
    ]
    stray = errors(text.replace("{id: confirm, rungs: [r2]}", "{id: confirm, rungs: [r2, m300]}"))
    (expected,) = [found.expected for found in stray if found.code == "unknown_rung"]
    assert expected == "one of m0, m1, m10, m100, m101, m102, m103, m104, m105, m106, m107, m108 and 291 more"
