"""States of a record, from entries made up to order: each line of the table is one record."""

from typing import Any

import pytest

from ledger.lifecycle import may_decide_again, standing, standing_decisions
from ledger.model.entries import DecideEntry, Entry, RunEntry
from ledger.model.plan import Prereg
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, plan, run
from tests.worlds import RECORD

DUE = plan({("due",): "2026-09-30"})
FROZEN = freeze_entry(DUE)

# Digests, as short names padded to their length.
Entries = list[tuple[str, Entry]]


def key(name: str) -> str:
    return name.encode().hex().ljust(64, "0")


def envelope(at: str, *parents: str) -> dict[str, Any]:
    return {"schema": "ledger/entry/v1", "record": RECORD, "at": at, "parents": tuple(map(key, parents))}


def froze() -> tuple[str, Entry]:
    return key("freeze"), FROZEN


def ran(rung: str, *parents: str, **changes: Any) -> tuple[str, Entry]:
    body = intake(FROZEN, run(rung, **changes)).body
    return key(rung), RunEntry(kind="run", body=body, **envelope("2026-08-11T19:00:00Z", *parents))


def decided(name: str, disposition: str, *parents: str) -> tuple[str, Entry]:
    body = {
        "freeze": FREEZE, "evidence": (), "disposition": disposition, "why": "made up", "trace": (), "runs": (),
        "tool": TOOL,
    }  # fmt: skip
    entry = {"kind": "decide", "body": body, **envelope("2026-08-12T09:00:00Z", *parents)}
    return key(name), DecideEntry.model_validate(entry)


ALL = [ran(rung, "freeze") for rung in ("r0", "r1", "r2", "c1", "c2", "c3")]
KILLED = {"outcome": {"kind": "killed"}}
EARLY = {"began_at": "2026-08-09T05:11:59.000000Z"}
BEFORE, LAST_DAY, AFTER = "2026-08-12", "2026-09-30", "2026-10-01"

# entries, day, state, disposition
STATES: dict[str, tuple[Entries, str, str, str | None]] = {
    "nothing yet": ([], BEFORE, "draft", None),
    "a draft past its due day": ([], AFTER, "overdue", None),
    "frozen": ([froze()], BEFORE, "frozen", None),
    "frozen on its due day": ([froze()], LAST_DAY, "frozen", None),
    "frozen the day after": ([froze()], AFTER, "overdue", None),
    "one rung ran": ([froze(), ALL[0]], BEFORE, "running", None),
    "every rung but one that was killed": ([froze(), *ALL[1:], ran("r0", **KILLED)], BEFORE, "running", None),
    "every rung but one run too early": ([froze(), *ALL[1:], ran("r0", **EARLY)], BEFORE, "running", None),
    "every rung": ([froze(), *ALL], BEFORE, "complete", None),
    "every rung, and no word of a result": ([froze(), *ALL], AFTER, "overdue", None),
    "decided": ([froze(), *ALL, decided("d", "ADOPT")], BEFORE, "decided", "ADOPT"),
    "decided, long ago": ([froze(), *ALL, decided("d", "ADOPT")], AFTER, "decided", "ADOPT"),
    "decided early": ([froze(), ALL[0], decided("d", "INCONCLUSIVE")], BEFORE, "decided", "INCONCLUSIVE"),
    "decided again, having seen the first": (
        [froze(), decided("d", "INCONCLUSIVE", "freeze"), decided("e", "ADOPT", "d")],
        BEFORE,
        "decided",
        "ADOPT",
    ),
    "seen through a run in between": (
        [froze(), decided("d", "INCONCLUSIVE", "freeze"), ran("r0", "d"), decided("e", "ADOPT", "r0")],
        BEFORE,
        "decided",
        "ADOPT",
    ),
    "two branches decided the same": (
        [froze(), decided("d", "ADOPT", "freeze"), decided("e", "ADOPT", "freeze")],
        BEFORE,
        "decided",
        "ADOPT",
    ),
    "two branches decided otherwise": (
        [froze(), decided("d", "ADOPT", "freeze"), decided("e", "RECORD-ONLY", "freeze")],
        BEFORE,
        "contested",
        None,
    ),
    "contested past its due day": (
        [froze(), decided("d", "ADOPT", "freeze"), decided("e", "RECORD-ONLY", "freeze")],
        AFTER,
        "contested",
        None,
    ),
    "contested, then joined": (
        [froze(), decided("d", "ADOPT"), decided("e", "INCONCLUSIVE"), decided("f", "ADOPT", "d", "e")],
        BEFORE,
        "decided",
        "ADOPT",
    ),
}


@pytest.mark.parametrize(("entries", "day", "state", "disposition"), STATES.values(), ids=STATES)
def test_state(entries: Entries, day: str, state: str, disposition: str | None) -> None:
    found = standing(DUE, entries, day)
    assert (found.state, found.disposition) == (state, disposition)
    assert (found.decide is None) == (disposition is None)
    assert found.freeze == (key("freeze") if entries else None)


@pytest.mark.parametrize(
    ("entries", "day", "overdue"),
    [
        ([froze()], LAST_DAY, False),
        ([froze()], AFTER, True),
        ([froze(), decided("d", "ADOPT")], AFTER, False),
        ([froze(), decided("d", "ADOPT"), decided("e", "VOID")], AFTER, True),
    ],
)
def test_silence_after_the_due_day_is_visible(entries: Entries, day: str, overdue: bool) -> None:
    assert standing(DUE, entries, day).overdue is overdue


def test_without_a_due_day_nothing_is_overdue() -> None:
    assert standing(plan(), [froze()], "2099-01-01").state == "frozen"


def test_rungs_that_wait() -> None:
    found = standing(DUE, [froze(), ALL[2], ALL[0], ran("r1", **KILLED)], BEFORE)
    assert (found.complete_rungs, found.waiting_rungs) == (("r0", "r2"), ("r1", "c1", "c2", "c3"))


def test_a_conditional_rung_is_not_waited_for() -> None:
    conditional: Prereg = plan({("ladder", "rungs", 5, "run_if"): "loss_overlay is ambiguous"})
    found = standing(conditional, [froze(), *ALL[:-1]], BEFORE)
    assert (found.state, found.waiting_rungs) == ("complete", ())


def test_a_plan_that_cannot_be_read_is_a_draft() -> None:
    assert standing(None, [], BEFORE).state == "draft"


def test_standing_decisions_are_those_no_later_one_has_seen() -> None:
    entries = [froze(), decided("d", "INCONCLUSIVE", "freeze"), decided("e", "ADOPT", "d"), decided("f", "VOID")]
    assert [found for found, _ in standing_decisions(entries)] == [key("e"), key("f")]


@pytest.mark.parametrize(
    ("disposition", "again"), [("INCONCLUSIVE", True), ("ADOPT", False), ("RECORD-ONLY", False), ("VOID", False)]
)
def test_only_what_lacked_something_is_decided_again(disposition: str, again: bool) -> None:
    entry = decided("d", disposition)[1]
    assert isinstance(entry, DecideEntry)
    assert may_decide_again(entry) is again
