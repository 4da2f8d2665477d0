"""Bundles: which changes an arm still carries once each was held to its own oracle, and so which attempts count.

An oracle that cannot be told leaves the arm unknown: losing a check never lets an item through, nor drops one. Nothing
is run here; what the next attempt must be given is told to whoever runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ledger.guards import oracle_point
from ledger.model.arms import Bundle, BundleItem
from ledger.model.base import Scalar, same_scalar
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardPoint
from ledger.model.values import Measured, Unknown, words
from ledger.units import fraction_of

Runs = Mapping[str, Run | Sequence[Run] | Unknown]
"""By rung: the run that counts, all its attempts that may count in the order in which they began, or why there is none.

Of the arm itself every such attempt is wanted: an item's oracle may be in one that was made before another was dropped.
"""


@dataclass(frozen=True)
class Settled:
    """What an arm must carry.

    ``settings``: the bundle's flags that an attempt must have to count; None where the arm is void or cannot be told.
    ``unknown``: why it is void (``invalid``) or cannot be told yet; None where it is settled.
    ``to_run``: the flags to give to the next attempt; None where none should be made (void, or another rung's oracle
    comes first). It differs from ``settings`` only where the arm's own first attempt is to report an oracle.
    """

    bundle: str
    settings: Mapping[str, Scalar] | None
    unknown: Unknown | None
    to_run: Mapping[str, Scalar] | None
    branch: Branch

    def wrong(self, run: Run) -> str | None:
        """Why an attempt does not count for what it carries, in words; None when it may count."""
        if self.settings is None:
            return None if self.unknown is None else str(self.unknown.detail)
        apart = [
            f"{flag} is {_found(run, flag)} where bundle {self.bundle} came to {wanted!r}"
            for flag, wanted in self.settings.items()
            if flag not in run.settings or not same_scalar(run.settings[flag], wanted)
        ]
        return f"{'; '.join(apart)} ({self.branch.why})" if apart else None


def settle(plan: Prereg, runs: Runs) -> dict[str, Settled]:
    """What each arm with a bundle must carry, by rung: the arm, and every rung that repeats it.

    A rung that ``runs`` lacks was not run. Total: whatever the runs hold, an oracle passes, fails or cannot be told.
    """
    found: dict[str, Settled] = {}
    for name, bundle in (plan.bundles or {}).items():
        own = _settled(plan, name, bundle, runs)
        # A rung that repeats the arm reports no oracle: it waits until the arm is settled.
        found |= dict.fromkeys(plan.repeated(bundle.rung), replace(own, to_run=own.settings))
        found[bundle.rung] = own
    return found


def _settled(plan: Prereg, name: str, bundle: Bundle, runs: Runs) -> Settled:
    points = {item.id: _oracle(plan, bundle, item, runs) for item in bundle.items}
    failed = [item for item in bundle.items if points[item.id].verdict == "fail"]
    open_ = [item for item in bundle.items if points[item.id].verdict == "unknown"]
    why = "; ".join(_words(item, points[item.id]) for item in bundle.items)
    left = len(bundle.items) - len(failed)
    if (failed and bundle.if_one_fails == "void") or left < bundle.at_least:
        few = f": {left} of its items left, at least {bundle.at_least} asked for"
        taken = f"{bundle.rung} is void{few if bundle.if_one_fails == 'drop' else ''}"
        branch = Branch(kind="bundle", id=name, verdict="false", taken=taken, why=why)
        return Settled(name, None, _because("invalid", branch), None, branch)
    carried = {item.flag: item.off if item in failed else item.on for item in bundle.items}
    if open_:
        taken = f"what {bundle.rung} may carry cannot be told"
        branch = Branch(kind="bundle", id=name, verdict="unknown", taken=taken, why=why)
        first = all(_waits_for_arm(bundle, item, runs) for item in open_)
        return Settled(name, None, _because("ambiguous", branch), carried if first else None, branch)
    dropped = f"without {', '.join(item.id for item in failed)}" if failed else f"with all {left} items"
    taken = f"{bundle.rung} runs {dropped}"
    branch = Branch(kind="bundle", id=name, verdict="false" if failed else "true", taken=taken, why=why)
    return Settled(name, carried, None, carried, branch)


def _because(reason: str, branch: Branch) -> Unknown:
    detail = f"{branch.taken} (bundle {branch.id}): {branch.why}"
    return Unknown.model_validate({"unknown": reason, "detail": detail})


def _oracle(plan: Prereg, bundle: Bundle, item: BundleItem, runs: Runs) -> GuardPoint:
    """The item's check on the attempt that counts for its oracle; the worst of them where attempts are pooled."""
    rung, found = item.oracle.rung, runs.get(item.oracle.rung)
    limit = fraction_of(item.oracle.at_most)
    attempts = _attempts(found)
    if rung == bundle.rung:
        attempts = tuple(run for run in attempts if _carries(run, item))
    if not attempts:
        absent = Unknown(unknown="not_run", detail=f"{rung} has no run with it that counts")
        return oracle_point(rung, item.oracle.check, limit, found if isinstance(found, Unknown) else absent)
    seen = attempts[: plan.ladder.pool_of] if plan.ladder.pools else attempts[:1]
    points = [oracle_point(rung, item.oracle.check, limit, run) for run in seen]
    return max(points, key=lambda point: ("pass", "unknown", "fail").index(point.verdict))


def _waits_for_arm(bundle: Bundle, item: BundleItem, runs: Runs) -> bool:
    """Whether the oracle is in the arm's own first attempt with the item, and that is still to be made."""
    own = item.oracle.rung == bundle.rung
    return own and not any(_carries(run, item) for run in _attempts(runs.get(bundle.rung)))


def _attempts(found: Run | Sequence[Run] | Unknown | None) -> tuple[Run, ...]:
    if found is None or isinstance(found, Unknown):
        return ()
    return (found,) if isinstance(found, Run) else tuple(found)


def _carries(run: Run, item: BundleItem) -> bool:
    return item.flag in run.settings and same_scalar(run.settings[item.flag], item.on)


def _found(run: Run, flag: str) -> str:
    return repr(run.settings[flag]) if flag in run.settings else "not stated"


def _words(item: BundleItem, point: GuardPoint) -> str:
    oracle = f"its oracle {item.oracle.check}"
    if not isinstance(point.worst, Measured):
        return f"{item.id} open: {oracle} on {item.oracle.rung} is unknown ({point.reason})"
    exact = point.worst.value
    figure = exact if len(exact) <= 12 else words(point.worst)
    kept = "kept" if point.verdict == "pass" else "dropped"
    return f"{item.id} {kept}: {oracle} is {figure} on {item.oracle.rung}, at most {item.oracle.at_most} passes"
