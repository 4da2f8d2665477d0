"""Whether follow-ups, consequences and days say something that can come about.

What a decision obliges to is ``ledger/course/follow_ups.py``'s to say, and what a flaw leads to ``flaws.py``'s there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.course import FollowUp
from ledger.model.decision import INCONCLUSIVE, VOID
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path, unknown_name


def days_gone(plan: Prereg, today: str) -> Iterator[Fault]:
    """Each day that was over before ``today`` (YYYY-MM-DD) and by which something must still be done: a blocker.

    Not among the faults of a plan by itself: what is known of it must not hang on the day.
    """
    days: list[tuple[Path, str | None, str]] = [
        (("due",), plan.due, "the decision must come"),
        (("window", "closes"), plan.window.closes if plan.window else None, "every run must have begun"),
    ]
    days += [(("follow_ups", name, "due"), own.due, f"{name} must be done") for name, own in _follow_ups(plan)]
    for path, day, what in days:
        if day is not None and day < today:
            yield (
                path,
                Problem(
                    "day_gone",
                    f"the day by which {what} is over before the plan is frozen",
                    expected=f"{today} or later",
                    found=day,
                    hint="state a day that is still to come, or none",
                    severity="blocker",
                ),
            )


def _follow_ups(plan: Prereg) -> list[tuple[str, FollowUp]]:
    return sorted((plan.follow_ups or {}).items())


def owed_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    known = [*(one.name for one in plan.decision.outcomes), INCONCLUSIVE, VOID]
    for name, own in (plan.follow_ups or {}).items():
        for place, outcome in enumerate(own.after):
            if outcome not in known:
                yield ("follow_ups", name, "after", place), unknown_name("outcome", outcome, known)
    consequences, window = plan.ladder.consequences, plan.window
    closed = window is not None and (window.opens or window.closes)
    if consequences is not None and consequences.out_of_window != "tell" and not closed:
        yield (
            ("ladder", "consequences", "out_of_window"),
            Problem(
                "no_window",
                "no run can be outside a run window that the plan does not have",
                expected="window: with opens:, closes: or both",
                found="none",
                hint="state the window, or drop this consequence",
            ),
        )
    if window is not None and window.opens and window.closes and window.opens > window.closes:
        yield (
            ("window", "closes"),
            Problem(
                "window_closed",
                "the run window closes before it opens",
                expected=f"{window.opens} or later",
                found=window.closes,
                hint="mend one of the two days",
            ),
        )
