"""Every run accounted for: which attempt of each rung counts, and why each other one does not.

The policy is the plan's (``ladder.attempts``), frozen before data; the order of attempts is when they began, not
when somebody chose to take them in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger.model.entries import RunBody
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import RunStanding, RunStands
from ledger.model.values import Sourced, Unknown


@dataclass(frozen=True)
class Intake:
    """One run entry, with the run file it was derived from."""

    digest: str
    body: RunBody
    run: Run


@dataclass(frozen=True)
class Account:
    """What each run counts for, and the run that counts for each rung."""

    standings: tuple[RunStanding, ...]
    counted: dict[str, Intake]
    absent: dict[str, Unknown]

    def rejected(self, rung: str) -> list[RunStanding]:
        """The runs of a rung that were rejected."""
        return [one for one in self.standings if one.rung == rung and one.standing == "rejected"]


def account(plan: Prereg, intakes: Sequence[Intake]) -> Account:
    """Sort every run into counted, excluded, incomplete or rejected."""
    counted: dict[str, Intake] = {}
    standings: list[RunStanding] = []
    for one in sorted(intakes, key=_began):
        standing, why = _standing(one.body, counted)
        if standing == "counted":
            counted[one.body.rung] = one
        standings.append(
            RunStanding(entry=one.digest, run_id=one.body.run_id, rung=one.body.rung, standing=standing, why=why)
        )
    absent = {rung.id: _absent(rung.id, standings) for rung in plan.ladder.rungs if rung.id not in counted}
    return Account(tuple(standings), counted, absent)


def _began(intake: Intake) -> tuple[str, str, str]:
    """When the attempt began; the rest only settles ties, so that no order of intake shows."""
    return intake.body.began_at, intake.body.run_id, intake.digest


def _standing(body: RunBody, counted: dict[str, Intake]) -> tuple[RunStands, str]:
    if body.rejections:
        return "rejected", "; ".join(rejection.text for rejection in body.rejections)
    if not body.complete:
        return "incomplete", body.incomplete_because or "incomplete"
    if body.rung in counted:
        first = counted[body.rung].body
        return "excluded", f"{first.run_id} is the first complete attempt (it began {first.began_at})"
    return "counted", "first complete attempt"


def _absent(rung: str, standings: Sequence[RunStanding]) -> Unknown:
    """Why a rung has no run that counts."""
    own = [standing for standing in standings if standing.rung == rung]
    if not own:
        return Unknown(unknown="not_run", detail=f"{rung} was not run")
    return Unknown(unknown="not_counted", detail=f"{rung}: {own[-1].standing}: {own[-1].why}")


def sourced(account: Account, plan: Prereg, rung: str, metric: str) -> Sourced:
    """A rung's metric from the run that counts; Unknown with the reason when there is none, or its class is not
    one that the plan accepts."""
    intake = account.counted.get(rung)
    if intake is None:
        return Sourced(value=account.absent[rung], evidence_class="unclassified")
    found = intake.body.metrics[metric]
    if found.evidence_class not in plan.decision.accepts:
        detail = f"{found.evidence_class} is not a class of evidence that this plan accepts"
        return Sourced(
            value=Unknown(unknown="not_counted", detail=detail),
            evidence_class=found.evidence_class,
            entry=intake.digest,
        )
    return Sourced(value=found.value, evidence_class=found.evidence_class, entry=intake.digest)
