"""What a new run would need: a page reports, and licenses nothing.

It words what the plan and the entries say; whether a number may be reused is another question's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.comparability import DEFAULT_FACTS
from ledger.dossier.observed import Observed
from ledger.dossier.view import RecordView
from ledger.dossier.wording import scalar
from ledger.model.plan import Prereg
from ledger.model.run import Run


@dataclass(frozen=True)
class Need:
    """One thing a new run would need, and the particulars."""

    what: str
    particulars: tuple[str, ...] = ()


def needs(view: RecordView, plan: Prereg, observed: Observed) -> tuple[Need, ...]:
    """Everything a new run would need, from this record."""
    return tuple(_needs(view, plan, observed))


def _needs(view: RecordView, plan: Prereg, observed: Observed) -> Iterator[Need]:
    yield Need(
        "A record of its own, frozen before it starts. No run made outside a frozen plan can count.",
        (f"This one covers {len(plan.ladder.rungs)} rungs of {plan.ladder.steps} steps, and nothing else.",),
    )
    owner = f"{plan.owner.name} answers for this record." if plan.owner else "This record names no owner."
    yield Need("Somebody who answers for it and agrees to it.", (owner,))
    if plan.budget:
        yield Need(
            "Its own budget and gate.",
            (f"The gate of {plan.budget.gate} was for this ladder and carries nothing over.",),
        )
    yield Need("The code it would run, pinned.", tuple(_pins(view)))
    if plan.entry_conditions:
        conditions = tuple(f"{one.id}: {one.text}" for one in plan.entry_conditions)
        yield Need("Its entry conditions, checked again on the day.", conditions)
    yield Need(
        "For numbers comparable with these: the same facts, and a control run again beside them.",
        tuple(_facts(plan, observed)),
    )
    yield Need("A question inside the scope of the answer.", tuple(_scope(plan)))


def _pins(view: RecordView) -> Iterator[str]:
    freeze = view.freeze
    if freeze is None:
        yield "Nothing is pinned: this plan is not frozen."
        return
    pins = freeze.body.code
    commit = pins.commit if isinstance(pins.commit, str) else scalar_unknown(pins.commit.unknown)
    yield f"This record was frozen at commit {commit}."
    for path, digest in sorted(pins.paths.items()):
        yield f"{path} at git object {digest}"


def scalar_unknown(reason: str) -> str:
    """An unknown as a word inside a sentence."""
    return f"unknown ({reason.replace('_', ' ')})"


def _facts(plan: Prereg, observed: Observed) -> Iterator[str]:
    run: Run | None = next(iter(observed.counted.values()), None)
    if run is None:
        yield "No run counts, so there is nothing here to be compared with."
        return
    for name in plan.comparable or [one for one in DEFAULT_FACTS if one in run.facts]:
        yield f"{name} = {scalar(run.facts[name])}" if name in run.facts else f"{name}: not recorded here"


def _scope(plan: Prereg) -> Iterator[str]:
    scope = plan.scope
    yield (
        f"The answer applies to: {scope.applies_to}."
        if scope and scope.applies_to
        else "The plan does not say where its answer applies."
    )
    for rung in plan.ladder.rungs:
        if rung.role in ("record_only", "diagnosis"):
            yield f"{rung.id} ({rung.role.replace('_', ' ')}) informs and licenses nothing."
    for one in (scope.out_of_scope if scope else None) or ():
        yield f"Not asked: {one.item}."
