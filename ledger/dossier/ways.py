"""Which way a record went, and what its plan left open, as the templates word and colour it.

It words what entries and plans say; the judging was done before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledger.arms.wording import bundle_words, oracle_words, score_words, split_words
from ledger.course.wording import (
    change_words,
    closing_branch,
    consequence_words,
    headline,
    kill_words,
    outcome_rule,
    rule_words,
    trigger_words,
    way_of,
    why_beyond,
)
from ledger.model.course import Branch

KINDS = {
    "stage": "Stage",
    "validity": "Validity gate",
    "bundle": "Bundle",
    "selection": "Selection",
    "contingency": "Contingency",
    "kill": "Kill rule",
}


def tone(branch: Branch) -> str:
    """The colour class of a branch; each that was taken has the same weight, and one not called for has less."""
    if branch.kind == "contingency":
        return {"true": "inconclusive", "false": "none"}.get(branch.verdict, "inconclusive")
    return {"true": "keeps", "false": "void"}.get(branch.verdict, "inconclusive")


FILTERS: dict[str, Callable[..., Any]] = {
    "branch_kind": KINDS.__getitem__,
    "way": way_of,
    "way_tone": tone,
    "beyond": why_beyond,
    "closing": closing_branch,
    "headline": headline,
    "rule_words": rule_words,
    "outcome_rule": outcome_rule,
    "trigger_words": trigger_words,
    "change_words": change_words,
    "kill_words": kill_words,
    "consequence_words": consequence_words,
    "bundle_words": bundle_words,
    "oracle_words": oracle_words,
    "score_words": score_words,
    "split_words": split_words,
}
