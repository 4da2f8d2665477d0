"""A contingency over made-up courses: which attempts of its arms count is settled by times alone, and by nobody.

What must count is worked out here again, from the times and steps that were drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.derive import decide_body, read_plan
from ledger.derive.events import contingency_body
from ledger.errors import StateError
from ledger.model.entries import DecideBody
from ledger.protocol import protocol
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, typed_run
from tests.flow.richer.screened import attempt
from tests.flow.richer.test_contingency_choice import COARSE

FROZEN = freeze_entry(read_plan(COARSE.encode()))
HELD = protocol((FREEZE, FROZEN), [(FREEZE, FROZEN)])
SLOW = 3.5


class Made(NamedTuple):
    """An attempt: minutes after 10:00, minutes that it took, seconds a step, whether it ran to its end."""

    rung: str
    began: int
    minutes: int
    step: float
    ended_well: bool

    @property
    def ended(self) -> int:
        return self.began + self.minutes

    def document(self) -> dict[str, Any]:
        clock = f"{10 + self.began // 60}:{self.began % 60:02d}"
        outcome = {"kind": "ok"} if self.ended_well else {"kind": "error"}
        return attempt(FREEZE, self.rung, clock, self.step, minutes=self.minutes, outcome=outcome)


attempts = st.builds(
    Made,
    st.sampled_from(["r0", "r0", "r1", "r2"]),
    st.integers(0, 90),
    st.integers(1, 30),
    st.sampled_from([2.4, SLOW]),
    st.sampled_from([True, True, True, False]),
)
courses = st.lists(attempts, max_size=7, unique_by=lambda one: one.began).map(sorted)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def called_for(course: list[Made], at: int) -> bool:
    """Whether the first whole control that had ended by then took more than 3 s a step."""
    controls = sorted((one for one in course if one.rung == "r0" and one.ended_well and one.ended <= at),
                      key=lambda one: one.began)  # fmt: skip
    return bool(controls) and controls[0].step == SLOW


def as_planned(course: list[Made]) -> list[Made]:
    """The arms' attempts that may count as planned: none after it was called for, unless one before it does."""
    found: list[Made] = []
    for one in sorted(course, key=lambda made: made.began):
        if one.rung != "r0" and one.ended_well and (found or not called_for(course, one.began)):
            found.append(one)
    return found


def decided(course: list[Made]) -> DecideBody:
    intakes = [intake(FROZEN, typed_run(one.document())) for one in course]
    return decide_body(FREEZE, FROZEN, intakes, TOOL, [(FREEZE, FROZEN)])


@quick
@given(courses, st.randoms())
def test_what_counts_is_settled_by_times_alone(course: list[Made], shuffle: Any) -> None:
    found = decided(course)
    expected = {}
    for one in as_planned(course):
        expected.setdefault(one.rung, f"{one.rung}-{10 + one.began // 60}{one.began % 60:02d}")
    counted = {run.rung: run.run_id for run in found.runs if run.standing == "counted" and run.rung != "r0"}
    assert counted == expected
    shuffle.shuffle(course)
    assert decided(course).to_json() == found.to_json()


@quick
@given(courses)
def test_an_arm_that_counts_is_never_measured_again_and_one_that_does_not_may_be(course: list[Made]) -> None:
    intakes = [intake(FROZEN, typed_run(one.document())) for one in course]
    came_to = "fired"
    try:
        contingency_body(HELD, "after_data", "coarse", intakes, TOOL)
    except StateError as error:
        came_to = error.problem.code
    called = called_for(course, 10**6)
    assert came_to == ("not_called_for" if not called else "too_late" if as_planned(course) else "fired")
