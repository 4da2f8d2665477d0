"""Whether follow-ups and consequences say something that can come about.

What a decision obliges to is ``ledger/course/follow_ups.py``'s to say, and what a flaw leads to ``flaws.py``'s there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.decision import INCONCLUSIVE, VOID
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, unknown_name


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
