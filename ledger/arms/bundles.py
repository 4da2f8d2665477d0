"""Bundles: which changes an arm still carries once each was held to its own oracle, and so which attempts count.

An oracle that cannot be told leaves the arm unknown: losing a check never lets an item through, nor drops one. Nothing
is run here; what the next attempt must be given is told to whoever runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ledger.arms.oracles import Besides, Runs, Told, attempts_of, carries, not_passed, oracle_told, own_check
from ledger.comparability import other_machine
from ledger.model.arms import Bundle, BundleItem
from ledger.model.base import Scalar, same_scalar
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown


@dataclass(frozen=True)
class Settled:
    """What an arm must carry.

    ``settings``: the bundle's flags that an attempt must have to count; None where the arm is void or cannot be told.
    ``unknown``: why it is void (``invalid``) or cannot be told yet; None where it is settled.
    ``to_run``: the flags to give to the next attempt; None where none should be made (void, or another rung's oracle
    comes first). It differs from ``settings`` only where the arm's own first attempt is to report an oracle.
    ``after``: the oracles on other rungs, which must have ended when an attempt began, for it to count.
    ``own``: the items whose oracles are the arm's own checks, which an attempt that carries them must pass itself.
    """

    bundle: str
    settings: Mapping[str, Scalar] | None
    unknown: Unknown | None
    to_run: Mapping[str, Scalar] | None
    branch: Branch
    after: tuple[Told, ...] = ()
    own: tuple[BundleItem, ...] = ()

    def wrong(self, run: Run) -> str | None:
        """Why an attempt does not count for what it carries, when it began, or what its own checks came to, in words;
        None when it may count."""
        if self.settings is None:
            return None if self.unknown is None else str(self.unknown.detail)
        return self.unlike(run) or self.fails(run)

    def fails(self, run: Run) -> str | None:
        """Which own checks of the items that it carries an attempt did not pass, with the figures; None if none."""
        told = [(item, own_check(item, run)) for item in self.own if carries(run, item)]
        found = [not_passed(item, run, point) for item, point in told if point.verdict != "pass"]
        return f"it carries what its own check does not pass: {'; '.join(found)}" if found else None

    def unlike(self, run: Run) -> str | None:
        """Why an attempt is not what the bundle came to, or began too early, in words; None where it is."""
        apart = [
            f"{flag} is {_found(run, flag)} where bundle {self.bundle} came to {wanted!r}"
            for flag, wanted in (self.settings or {}).items()
            if flag not in run.settings or not same_scalar(run.settings[flag], wanted)
        ]
        if apart:
            return f"{'; '.join(apart)} ({self.branch.why})"
        late = max(self.after, key=lambda one: one.ended, default=None)
        if late is None or run.began_at >= late.ended:
            return None
        oracle = f"{late.item.oracle.check} on {late.item.oracle.rung}"
        return f"its oracle had not ended when it began: it began {run.began_at}, and {oracle} ended at {late.ended}"


def settle(plan: Prereg, runs: Runs, besides: Besides | None = None) -> dict[str, Settled]:
    """What each arm with a bundle must carry, by rung: the arm, and every rung that repeats it.

    A rung that ``runs`` lacks was not run; ``besides`` has attempts that do not count. Total: whatever the runs hold,
    an oracle passes, fails or cannot be told.
    """
    found: dict[str, Settled] = {}
    for name, bundle in (plan.bundles or {}).items():
        told = _told(plan, bundle, runs, besides or {})
        own = _first_passes(plan, bundle, _settled(name, bundle, told), runs)
        # A rung that repeats the arm reports no oracle: it waits until the arm is settled.
        again = replace(own, to_run=own.settings, after=tuple(one for one in told if one.ended), own=())
        found |= dict.fromkeys(plan.repeated(bundle.rung), again)
        found[bundle.rung] = _with_machines(plan, bundle, own, told, runs)
    return found


def _told(plan: Prereg, bundle: Bundle, runs: Runs, besides: Besides) -> list[Told]:
    """Each item's oracle, in order; those on the arm itself by attempts that those on other rungs let count."""
    rest = [item for item in bundle.items if item.oracle.rung != bundle.rung]
    told = {item.id: oracle_told(plan, bundle, item, runs, besides, lambda _: True) for item in rest}
    ended = max((one.ended for one in told.values()), default="")
    wanted = {
        one.item.flag: one.item.off if one.point.verdict == "fail" else one.item.on
        for one in told.values()
        if one.point.verdict != "unknown"
    }

    def fit(run: Run) -> bool:
        alike = all(flag in run.settings and same_scalar(run.settings[flag], on) for flag, on in wanted.items())
        return alike and run.began_at >= ended

    own = [item for item in bundle.items if item.id not in told]
    told |= {item.id: oracle_told(plan, bundle, item, runs, besides, fit) for item in own}
    return [told[item.id] for item in bundle.items]


def _first_passes(plan: Prereg, bundle: Bundle, own: Settled, runs: Runs) -> Settled:
    """Unknown where an attempt that would count does not pass its own checks: no later one takes its place."""
    made = [run for run in attempts_of(runs.get(bundle.rung)) if own.unlike(run) is None]
    made = made[: plan.ladder.pool_of if plan.ladder.pools else 1] if own.settings is not None else []
    if (why := next((why for run in made if (why := own.fails(run)) is not None), None)) is None:
        return own
    taken = f"what {bundle.rung} may carry cannot be told"
    branch = own.branch.model_copy(update={"verdict": "unknown", "taken": taken, "why": f"{own.branch.why}; {why}"})
    return Settled(own.bundle, None, _because("ambiguous", branch), None, branch)


def _settled(name: str, bundle: Bundle, told: Sequence[Told]) -> Settled:
    failed = [one.item for one in told if one.point.verdict == "fail"]
    open_ = [one for one in told if one.point.verdict == "unknown"]
    why = "; ".join(one.words for one in told)
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
        first = all(one.waits for one in open_)
        return Settled(name, None, _because("ambiguous", branch), carried if first else None, branch)
    whole = "its one item" if left == 1 else f"all {left} items"
    dropped = f"without {', '.join(item.id for item in failed)}" if failed else f"with {whole}"
    taken = f"{bundle.rung} runs {dropped}"
    branch = Branch(kind="bundle", id=name, verdict="false" if failed else "true", taken=taken, why=why)
    after = tuple(one for one in told if _elsewhere(bundle, one))
    checked = tuple(one.item for one in told if not _elsewhere(bundle, one))
    return Settled(name, carried, None, carried, branch, after, checked)


def _because(reason: str, branch: Branch) -> Unknown:
    detail = f"{branch.taken} (bundle {branch.id}): {branch.why}"
    return Unknown.model_validate({"unknown": reason, "detail": detail})


def _elsewhere(bundle: Bundle, told: Told) -> bool:
    return told.item.oracle.rung != bundle.rung


def _with_machines(plan: Prereg, bundle: Bundle, own: Settled, told: Sequence[Told], runs: Runs) -> Settled:
    """With what is not alike of the machines of an oracle and of the arm told: whoever reads it judges of that."""
    arm = next((run for run in attempts_of(runs.get(bundle.rung)) if own.wrong(run) is None), None)
    apart = list(dict.fromkeys(_machines(bundle, told, arm))) if arm is not None and own.settings is not None else []
    if not apart:
        return own
    return replace(own, branch=own.branch.model_copy(update={"why": "; ".join([own.branch.why, *apart])}))


def _machines(bundle: Bundle, told: Sequence[Told], arm: Run) -> Iterator[str]:
    for one in told:
        for run in one.by if _elsewhere(bundle, one) else ():
            if apart := other_machine(run, arm):
                yield f"the oracle {run.run_id} ran on another machine than {arm.run_id}: {'; '.join(apart)}"


def _found(run: Run, flag: str) -> str:
    return repr(run.settings[flag]) if flag in run.settings else "not stated"
