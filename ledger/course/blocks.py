"""What a plan holds besides its ladder, metrics, guards and rule, as labelled lines for a terminal.

A plan that has none of it gives no line.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.arms import wording as arms
from ledger.course import wording as course
from ledger.model.plan import Prereg
from ledger.model.reads import Quoted
from ledger.model.values import StatedRange


def block_lines(plan: Prereg) -> Iterator[tuple[str, str]]:
    """A label such as ``stage screen`` and what it says, in the order in which it comes to bear."""
    for rung in plan.ladder.rungs:
        if rung.revision is not None:
            yield f"code of {rung.id}", arms.revision_words(rung.revision)
        if rung.steps is not None:
            yield f"steps of {rung.id}", f"{rung.steps}, where the ladder has {plan.ladder.steps}"
        if rung.search is not None:
            yield f"search of {rung.id}", course.search_words(rung.search)
    yield from ((f"banked {name}", arms.banked_words(own)) for name, own in (plan.banked or {}).items())
    for name, bundle in (plan.bundles or {}).items():
        yield f"bundle {name}", arms.bundle_words(bundle)
        yield from ((f"  item {item.id}", arms.item_words(item)) for item in bundle.items)
    yield from ((f"validity {name}", arms.validity_words(own)) for name, own in (plan.validity or {}).items())
    yield from ((f"select {name}", arms.select_words(own)) for name, own in (plan.select or {}).items())
    yield from ((f"stage {one.id}", course.stage_words(plan, one)) for one in plan.stages or ())
    yield from ((f"contingency {name}", course.contingency_words(c)) for name, c in (plan.contingencies or {}).items())
    for one in plan.kill or ():
        if one.against is not None:
            yield "kill", course.kill_words(one)
        else:
            yield "kill of the ladder", f"{course.kill_words(one)}, in any rung, closes it"
    if plan.ladder.consequences is not None:
        yield "consequences", "; ".join(course.consequence_words(plan.ladder.consequences))
    elif plan.window is not None and (plan.window.opens or plan.window.closes):
        yield "a run outside the run window", "it is told, and counts"
    for name, read in (plan.reads or {}).items():
        yield from ((f"beside {name}", quoted_words(one)) for one in read.beside or ())
    for claim in plan.expectations or ():
        words = f"{course.rule_words(claim.claim)}, with confidence {claim.confidence:g}: {claim.text}"
        yield f"expectation {claim.id}", words
    yield from ((f"follow-up {name}", course.follow_up_words(own)) for name, own in (plan.follow_ups or {}).items())


def quoted_words(one: Quoted) -> str:
    """A number quoted beside a read, with its class; no rule can refer to it."""
    source = f", from {one.source}" if one.source else ""
    kind = one.kind.replace("_", " ")
    return f"{kind} {stated(one.value)}, {one.evidence_class.replace('_', ' ')}: {one.what}{source}; in no rule"


def stated(value: object) -> str:
    """A value as somebody stated it."""
    if not isinstance(value, StatedRange):
        return str(value)
    return " to ".join(end for end in (value.at_least, value.at_most) if end is not None) or "unknown"
