"""Several attempts of one rung: whether a frozen criterion leaves one out, and what pooled ones come to.

Losing a number never helps: an attempt whose criterion cannot be told keeps its rung from counting at all, and a pool
with an unknown in it is unknown, within the bounds that its attempts leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger import stats
from ledger.comparability import differences
from ledger.guards import evaluate_guard
from ledger.model.entries import RunBody
from ledger.model.guards import Guard
from ledger.model.ladder import Trigger
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardPoint, GuardTrace, GuardVerdict, RunStands, Truth
from ledger.model.values import Measured, Unknown, Value, measured, words
from ledger.triggers import read_trigger
from ledger.units import exact_text, parse_exact, parse_unit

_GUARD_ORDER: tuple[GuardVerdict, ...] = ("pass", "ambiguous", "unknown", "fail")


@dataclass(frozen=True)
class Judged:
    """What one attempt is good for by itself; ``open`` when a criterion would leave it out and cannot be told."""

    standing: RunStands
    why: str
    open: bool = False


def judge(plan: Prereg, body: RunBody) -> Judged:
    """Whether an attempt may count, before others of its rung are looked at."""
    if body.rejections:
        told = "; ".join(rejection.text for rejection in body.rejections)
        # Nobody broke the protocol by a run that was under way, or done, when a contingency fired.
        broken = any(rejection.code != "before_contingency" for rejection in body.rejections)
        return Judged("rejected" if broken else "excluded", told)
    if not body.complete:
        return Judged("incomplete", body.incomplete_because or "incomplete")
    consequences, outside = plan.ladder.consequences, outside_window(plan, body.began_at)
    if outside and consequences and consequences.out_of_window == "exclude":
        return Judged("excluded", outside)
    doubt: Judged | None = None
    for one in plan.ladder.exclude or ():
        trigger = read_trigger(one.when, plan.metrics)
        read = body.metrics.get(trigger.metric)
        value = read.value if read else Unknown(unknown="not_recorded")
        truth = fires(trigger, value)
        if truth == "true":
            return Judged("excluded", f"{one.when} ({trigger.metric} is {words(value)}): {one.why}")
        # Running out of memory is a fact about the rung; that it has no such number leaves nothing open.
        if truth == "unknown" and body.outcome.kind != "oom":
            doubt = doubt or Judged("excluded", f"whether {one.when} cannot be told: {words(value)}", open=True)
    return doubt or Judged("counted", "")


def outside_window(plan: Prereg, began_at: str) -> str | None:
    """That a run began on a day, UTC, outside the plan's run window, in words; None where it did not."""
    opens, closes = (plan.window.opens, plan.window.closes) if plan.window else (None, None)
    day = began_at[:10]
    if (opens is None or day >= opens) and (closes is None or day <= closes):
        return None
    window = f"{opens or 'any day'} to {closes or 'any day'}"
    return f"it began {began_at}, outside the run window ({window}, UTC)"


def fires(trigger: Trigger, value: Value) -> Truth:
    """Whether the comparison holds for ``value``, as far as its bounds tell."""
    limit = parse_exact(trigger.limit)
    low, high = ends(value)
    above = trigger.op in (">", ">=")
    strict = trigger.op in (">", "<")
    # The nearer end must clear the limit for true; for false, the farther one must fail to.
    if above:
        sure = low is not None and (low > limit if strict else low >= limit)
        never = high is not None and (high <= limit if strict else high < limit)
    else:
        sure = high is not None and (high < limit if strict else high <= limit)
        never = low is not None and (low >= limit if strict else low > limit)
    return "true" if sure else "false" if never else "unknown"


def ends(value: Value) -> tuple[Fraction | None, Fraction | None]:
    """The least and the most that a value can be, in base units; None where nothing is known."""
    if isinstance(value, Measured):
        return value.base, value.base
    if value.unit is None:
        return None, None
    scale = parse_unit(value.unit).scale
    low, high = (None if end is None else parse_exact(end) * scale for end in (value.at_least, value.at_most))
    return low, high


def pooled(plan: Prereg, runs: Sequence[Run], values: Sequence[Value], unit: str) -> Value:
    """The median over attempts that may be compared with the first; Unknown, within its bounds, if one is."""
    for other in runs[1:]:
        if apart := differences(plan, runs[0], other):
            detail = f"{runs[0].run_id} and {other.run_id} may not be pooled: {'; '.join(apart)}"
            return Unknown(unknown="not_comparable", detail=detail)
    bounds = [ends(value) for value in values]
    low, high = (_median([pair[end] for pair in bounds]) for end in (0, 1))
    missing = [(run, value) for run, value in zip(runs, values, strict=True) if isinstance(value, Unknown)]
    if not missing:
        return measured(stats.median([value.base for value in values if isinstance(value, Measured)]), unit)
    run, first = missing[0]
    known = {
        name: exact_text(end / parse_unit(unit).scale) for name, end in (("at_least", low), ("at_most", high)) if end
    }
    detail = (
        f"{len(missing)} of {len(values)} pooled attempts have no number: {run.run_id}: {first.detail or words(first)}"
    )
    return Unknown(unknown=first.unknown, detail=detail, unit=unit if known else None, **known)


def _median(numbers: Sequence[Fraction | None]) -> Fraction | None:
    known = [number for number in numbers if number is not None]
    return stats.median(known) if len(known) == len(numbers) else None


def guard_over(
    name: str, guard: Guard, plan: Prereg, attempts: Mapping[str, Sequence[Run]], absent: Mapping[str, Unknown]
) -> GuardTrace:
    """The guard over every attempt that counts: the first of each rung together, then the second, and so on.

    A rung with fewer attempts than another stays in with its last. The worst verdict is the guard's.
    """
    times = max((len(runs) for runs in attempts.values()), default=1)
    traces = [
        evaluate_guard(
            name, guard, plan, {**absent, **{rung: runs[min(nth, len(runs) - 1)] for rung, runs in attempts.items()}}
        )
        for nth in range(times)
    ]
    if len(traces) == 1:
        return traces[0]
    points = [_numbered(point, nth) for nth, trace in enumerate(traces, start=1) for point in trace.points]
    worst = max((trace.verdict for trace in traces), key=_GUARD_ORDER.index)
    return GuardTrace(name=name, verdict=worst, points=tuple(points))


def _numbered(point: GuardPoint, nth: int) -> GuardPoint:
    return point.model_copy(update={"what": f"attempt {nth}: {point.what}"})
