"""How a record may proceed, in the words of a person: stages, contingencies, follow-ups, kill rules, and which way.

It is for eyes only: nothing is judged here, and nothing reads it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.errors import RuleError
from ledger.model.course import Branch, Contingency, FollowUp, Stage
from ledger.model.decision import Outcome
from ledger.model.entries import DecideBody
from ledger.model.ladder import Consequences, Kill, Search
from ledger.model.plan import Prereg
from ledger.rules import in_words, parse
from ledger.verdict import clause_words

WAYS = {
    "stage": {"true": "opened", "false": "closed"},
    "validity": {"true": "stands", "false": "void"},
    "bundle": {"true": "whole", "false": "item dropped"},
    "selection": {"true": "chosen", "false": "none chosen"},
    "contingency": {"true": "called for", "false": "not called for"},
    "kill": {"true": "ran on", "false": "killed"},
}
"""What became of each kind of branch, in a word or two; ``unknown`` is that word for all of them."""

_FLAWS = {
    "missing": ("a rung that was never run", {"inconclusive": "its numbers are unknown"}),
    "incomplete": ("an attempt that is incomplete", {"exclude": "it does not count"}),
    "killed": ("an attempt that was killed", {"exclude": "it does not count"}),
    "out_of_order": ("rungs out of order", {"tell": "it is told"}),
    "out_of_window": ("a run outside the run window", {"tell": "it is told", "exclude": "it does not count"}),
}


def way_of(branch: Branch) -> str:
    """What became of it, in a word or two."""
    if branch.kind == "bundle" and " is void" in branch.taken:
        return "void"
    return WAYS[branch.kind].get(branch.verdict, "unknown")


def why_beyond(branch: Branch) -> str:
    """What a branch says of why besides its clauses; all of it where it has none."""
    found = "; ".join(clause_words(clause) for clause in branch.clauses or ())
    return branch.why.removeprefix(found).removeprefix(": ").removeprefix("; ") if found else branch.why


def closing_branch(body: DecideBody) -> Branch | None:
    """The branch that closed the record before its outcomes were tried; None where an outcome was reached."""
    ways = (one for one in body.branches or () if one.verdict != "true")
    return next((one for one in ways if body.why == f"{one.taken}: {one.why}"), None)


def labelled(disposition: str, labels: Iterable[str] | None) -> str:
    """``ADOPT [5k-screen]``: an outcome with what it is called because of the contingencies that had fired."""
    return " ".join([disposition, *(f"[{label}]" for label in labels or ())])


def headline(body: DecideBody) -> str:
    """``DROP: killed at stage 1 of 2 (screen), 1.5 of 6.0 GPU-h spent``; the outcome alone if nothing closed it."""
    closed, name = closing_branch(body), labelled(body.disposition, body.labels)
    return f"{name}: {closed.taken}" if closed else name


def rule_words(rule: str) -> str:
    """A rule as a sentence without a full stop; the rule itself where it does not read."""
    try:
        return in_words(parse(rule))
    except RuleError:
        return rule


def outcome_rule(outcome: Outcome) -> str:
    """An outcome's condition as the plan has it."""
    return outcome.when or (f"records {', '.join(outcome.records)}" if outcome.records else "otherwise")


def outcome_words(outcome: Outcome) -> str:
    """An outcome's condition for a person."""
    if outcome.when is not None:
        return rule_words(outcome.when)
    if outcome.records is None:
        return "otherwise"
    when = "decided when each was measured or ran out of memory, and adopts nothing"
    return f"records {', '.join(outcome.records)}: {when}"


def stage_words(plan: Prereg, stage: Stage) -> str:
    """Which rungs it runs, and what must hold for the next one to open."""
    text = f"runs {', '.join(stage.rungs)}"
    if stage.proceed is None:
        return text
    ids = [one.id for one in plan.stages or ()]
    after = ids[ids.index(stage.id) + 1 :][:1] or ["the next stage"]
    return (
        f"{text}; {after[0]} opens only if {rule_words(stage.proceed.when)}; "
        f"if not, the record closes with {stage.proceed.otherwise}"
    )


def trigger_words(own: Contingency) -> str:
    """What calls for a contingency."""
    if own.when.rule is not None:
        return rule_words(own.when.rule)
    return f"the projected total is above {own.when.projected_above}"


def change_words(own: Contingency) -> str:
    """What its rungs run then."""
    settings = ", ".join(f"{key} = {_scalar(value)}" for key, value in (own.then.settings or {}).items())
    steps = f" {own.then.steps} steps" if own.then.steps is not None else ""
    many = "runs" if len(own.then.rungs) == 1 else "run"
    return f"{_listed(own.then.rungs)} {many}{steps}{f' with {settings}' if settings else ''}"


def contingency_words(own: Contingency) -> str:
    """When it fires, what changes, and what the result is called then."""
    return f"if {trigger_words(own)}: {change_words(own)}, labelled {own.label} ({own.why})"


def follow_up_words(own: FollowUp) -> str:
    """What must be done, after which outcome, before what, and by when."""
    before = f", before {own.before}" if own.before else ""
    due = f", by {own.due}" if own.due else ""
    return f"after {_listed(own.after, 'or')}{before}{due}: {own.text}"


def search_words(own: Search) -> str:
    """What is searched, from where, and what counts as fitting."""
    return (
        f"the largest {own.vary} that fits, from {own.start} downwards by {own.method}; it fits where {own.fits} "
        "and it did not run out of memory; it licenses nothing"
    )


def kill_words(kill: Kill) -> str:
    """What stops the ladder, or the rungs that are held to a reference curve."""
    if kill.against is None:
        return kill.when or str(kill.on).replace("_", " ")
    own = kill.against
    worse = "above" if own.better == "lower" else "below"
    span = f" for {own.in_a_row} samples in a row" if own.in_a_row > 1 else ""
    each = f" (a sample covers {own.every} steps)" if own.every else ""
    since = f" from step {own.from_step} on" if own.from_step else ""
    gives = f"; the record closes with {kill.gives}" if kill.gives else ""
    return (
        f"{own.series} of {_listed(kill.rungs or (), 'or')} more than {own.worse_by} {worse} that of "
        f"{own.reference} at the same step{span}{since}{each} stops that rung{gives}"
    )


def consequence_words(own: Consequences) -> Iterator[str]:
    """What each flaw of the ladder's course leads to."""
    for flaw, (what, words) in _FLAWS.items():
        leads_to = getattr(own, flaw)
        yield f"{what}: {words.get(leads_to, 'the record is VOID')}"


def _listed(names: Iterable[str], last: str = "and") -> str:
    *others, end = [*names] or [""]
    return f"{', '.join(others)} {last} {end}" if others else end


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
