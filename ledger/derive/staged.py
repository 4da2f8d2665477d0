"""Which attempts may count in the course that a record takes: none from before what its rung runs was changed, and none
of a stage that was not open when it began.

It is told before the first complete attempt is chosen: one that came too early never stands in the way of one that
did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ledger.accounting import Account, Intake, account
from ledger.course import Fired, judged_on, outdated, too_early
from ledger.model.entries import RunBody
from ledger.model.plan import Prereg


@dataclass(frozen=True)
class Staged:
    """The runs of a record under its plan, and the contingencies that fired.

    ``unfollowed`` gives, by run entry, why an attempt ran the plan as it was when it should not have.
    """

    plan: Prereg
    intakes: Sequence[Intake]
    fired: Sequence[Fired] = ()
    unfollowed: Mapping[str, str] = field(default_factory=dict)

    def account(self, barred: Mapping[str, str] | None = None) -> Account:
        """Every run accounted for, without those that ``barred`` names, by run entry, each with why."""
        left_out = {**self._outdated(), **(barred or {})}
        for place in range(1, len(self.plan.stages or ())):
            accounted = account(self.plan, self.intakes, left_out)
            own = [one for one in self.intakes if one.body.rung in (self.plan.stages or ())[place].rungs]
            left_out |= {one.digest: why for one in own if (why := self.out_of_time(accounted, one)) is not None}
            left_out |= self._late(place, account(self.plan, self.intakes, left_out))
        return account(self.plan, self.intakes, left_out)

    def out_of_time(self, accounted: Account, one: Intake) -> str | None:
        """Why an attempt came before its stage was open, as ``accounted`` has the earlier ones, or before its rung was
        changed; None if it did not."""
        return self._changed_since(one) or too_early(self.plan, _bodies(accounted), one.body)

    def _changed_since(self, one: Intake) -> str | None:
        return outdated(self.fired, one.body, one.run) or self.unfollowed.get(one.digest)

    def _outdated(self) -> dict[str, str]:
        return {one.digest: why for one in self.intakes if (why := self._changed_since(one)) is not None}

    def _late(self, place: int, accounted: Account) -> dict[str, str]:
        """Attempts of earlier stages that ended after the stage at ``place`` had opened: its rule did not see them."""
        own = (self.plan.stages or ())[place]
        began = [one.body for rung in own.rungs for one in accounted.pools.get(rung, ())]
        if not began:
            return {}
        first = min(began, key=lambda body: body.began_at)
        return {
            one.digest: f"it ended {one.body.ended_at}, after stage {own.id} had opened with {first.run_id}"
            for rung in judged_on(self.plan, place)
            for one in accounted.pools.get(rung, ())
            if one.body.ended_at > first.began_at
        }


def _bodies(accounted: Account) -> dict[str, list[RunBody]]:
    return {rung: [one.body for one in pool] for rung, pool in accounted.pools.items()}
