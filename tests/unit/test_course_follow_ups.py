"""Follow-ups that a decision obliges: open, done or overdue, read off made-up entries."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.course.follow_ups import owed, refusal, still_open
from ledger.model.base import load
from ledger.model.entries import Entry, EntryDocument
from ledger.model.plan import Prereg
from ledger.plancheck import check_plan
from tests.deciding import FREEZE, TOOL, decide, ladder, plan, without

FOLLOW_UPS = {
    "transfer": {
        "text": "Check that it transfers to the large run.",
        "after": ["ADOPT"],
        "before": "the first launch",
        "due": "2026-09-01",
    },
    "tell": {"text": "Tell the team.", "after": ["ADOPT", "RECORD-ONLY"]},
    "again": {"text": "Find out what was missing.", "after": ["INCONCLUSIVE"]},
}
OWING = plan({("follow_ups",): FOLLOW_UPS})
A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


def entry(kind: str, body: Any, *parents: str) -> Entry:
    """An entry of that kind on the day after the runs."""
    document = {
        "schema": "ledger/entry/v1", "kind": kind, "record": OWING.id, "parents": sorted(parents),
        "at": "2026-08-12T10:00:00Z", "body": body,
    }  # fmt: skip
    return load(EntryDocument, {"entry": document}, kind="entry").entry


def decided(frozen: Prereg = OWING, *lost: str) -> Any:
    return decide(frozen, without(ladder(), *lost)).to_json()


def done(name: str, deciding: str, *parents: str) -> Entry:
    body = {
        "freeze": FREEZE, "phase": "after_data", "decide": deciding, "follow_up": name, "result": "It does.",
        "evidence": {"class": "local_observation"}, "tool": TOOL.to_json(),
    }  # fmt: skip
    return entry("followup", body, *parents)


ADOPTED = (A, entry("decide", decided()))
OPEN = (B, entry("decide", decided(OWING, "r2")))
WITHDRAWN = (
    D,
    entry("withdraw", {"freeze": FREEZE, "phase": "after_data", "reason": "w", "tool": TOOL.to_json()}, A),
)

CASES: dict[str, tuple[list[tuple[str, Entry]], str, dict[str, str]]] = {
    "nothing decided": ([], "2026-08-20", {}),
    "adopted": ([ADOPTED], "2026-08-20", {"transfer": "open", "tell": "open"}),
    "on the day it is due": ([ADOPTED], "2026-09-01", {"transfer": "open", "tell": "open"}),
    "a day later": ([ADOPTED], "2026-09-02", {"transfer": "overdue", "tell": "open"}),
    "done": ([ADOPTED, (C, done("transfer", A, A))], "2026-09-02", {"transfer": "done", "tell": "open"}),
    "inconclusive": ([OPEN], "2026-08-20", {"again": "open"}),
    "inconclusive, then adopted": (
        [OPEN, (C, done("again", B, B)), (A, entry("decide", decided(), C))],
        "2026-08-20",
        {"transfer": "open", "tell": "open"},
    ),
    "two branches that disagree": (
        [ADOPTED, (B, entry("decide", {**decided(), "disposition": "VOID"}))], "2026-08-20", {},
    ),
    "withdrawn": ([ADOPTED, WITHDRAWN], "2026-08-20", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_owed(case: str) -> None:
    entries, today, states = CASES[case]
    assert {one.name: one.state for one in owed(OWING, entries, today)} == states


def test_words_and_what_is_left() -> None:
    found = owed(OWING, [ADOPTED, (C, done("tell", A, A))], "2026-09-02")
    assert [one.words for one in found] == [
        "done: Tell the team",
        "overdue: Check that it transfers to the large run, before the first launch, due 2026-09-01",
    ]
    assert [one.name for one in still_open(found)] == ["transfer"]
    assert found[0].done == C


REFUSED: dict[str, tuple[str, list[tuple[str, Entry]], str | None]] = {
    "owed": ("transfer", [ADOPTED], None),
    "no such": ("transfr", [ADOPTED], "unknown_follow_up"),
    "not decided": ("transfer", [], "not_decided"),
    "not owed": ("again", [ADOPTED], "not_owed"),
    "withdrawn": ("transfer", [ADOPTED, WITHDRAWN], "not_decided"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    name, entries, code = REFUSED[case]
    problem = refusal(OWING, name, entries)
    assert (problem.code if problem else None) == code


def test_no_plan_owes_nothing_that_it_does_not_say() -> None:
    assert owed(plan(), [ADOPTED], "2026-09-02") == []
    assert owed(None, [ADOPTED], "2026-09-02") == []


def test_an_outcome_that_there_is_not() -> None:
    bent = plan({("follow_ups",): {"x": {"text": "t", "after": ["ADOPTED", "VOID"]}}})
    [problem] = [one for one in check_plan(bent) if one.severity == "error"]
    assert (problem.code, problem.found, problem.hint) == ("unknown_outcome", "ADOPTED", "did you mean ADOPT?")
