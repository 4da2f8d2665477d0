"""Arms beyond a rung with flags, in the words of a person: gates, selections, bundles, banked runs, revisions.

It is for eyes only: nothing is judged here, and nothing reads it back.
"""

from __future__ import annotations

from ledger.course.wording import rule_words
from ledger.model.arms import Banked, Bundle, BundleItem, Oracle, Revision, Select, Validity


def validity_words(own: Validity) -> str:
    """What must hold, of which arm, and what it would mean otherwise."""
    return f"{own.rung} is void unless {rule_words(own.when)} ({own.why})"


def score_words(own: Select) -> str:
    """The score that selects."""
    if own.metric is not None:
        return own.metric.replace("_", " ")
    return f"{own.statistic} over items of {own.items}"


def split_words(own: Select) -> str:
    """Which items select and which are left to confirm; empty where all of them select."""
    if own.split is None:
        return ""
    share = f"{100 * own.split.share:g} %"
    return f"about {share} of the items select (split by key, seed {own.split.seed}); only the others may confirm"


def select_words(own: Select) -> str:
    """Among which, by what, and how ties go."""
    split = f"; {split_words(own)}" if own.split else ""
    few = f"; with fewer than {own.at_least} that select it is unknown" if own.at_least else ""
    one = f"the one with the {own.choose} {score_words(own)}"
    return f"of {', '.join(own.among)} {one}; ties go to the first{split}{few}"


def oracle_words(own: Oracle) -> str:
    """What an item must pass to stay in."""
    return f"{own.check} on {own.rung} at most {own.at_most:g}"


def item_words(own: BundleItem) -> str:
    """One change of a bundle: its switch, and its oracle."""
    what = f" ({own.what})" if own.what else ""
    return f"{own.flag} = {_scalar(own.on)}, else {_scalar(own.off)}; stays in if {oracle_words(own.oracle)}{what}"


def bundle_words(own: Bundle) -> str:
    """What becomes of the arm where an item fails its oracle."""
    many = f"{len(own.items)} item{'' if len(own.items) == 1 else 's'}"
    if own.if_one_fails == "void":
        return f"{own.rung} carries {many}; if one fails its oracle, {own.rung} is void"
    least = f"; with fewer than {own.at_least} left, {own.rung} is void" if own.at_least > 1 else ""
    return f"{own.rung} carries {many}; one that fails its oracle is dropped{least}"


def banked_words(own: Banked) -> str:
    """Which run of which record, and of what class its numbers are here."""
    note = f": {own.note}" if own.note else ""
    return f"run {own.run[:12]} of {own.record}, {own.evidence_class.replace('_', ' ')}{note}"


def revision_words(own: Revision) -> str:
    """Which code a rung runs."""
    commit = f" (commit {own.commit[:12]} in the draft)" if own.commit else ""
    return f"{own.ref}{commit}{': ' + own.what if own.what else ''}"


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
