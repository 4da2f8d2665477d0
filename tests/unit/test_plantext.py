"""A plan's text rewritten: what changes changes, comments and layout of the rest stay."""

from ledger.derive import read_plan
from ledger.plantext import in_comments, rewritten
from tests.worlds import PLAN

TEXT = PLAN.replace("ladder:\n", "# why 4: the cache is warm after one\nladder:\n", 1) + "notes: 'kept: as is'\n"


def test_nothing_asked_for_nothing_changed() -> None:
    assert rewritten(TEXT.encode(), read_plan(TEXT.encode()).to_json()).decode() == _block(TEXT)


def test_own_id_and_what_it_supersedes() -> None:
    wanted = read_plan(TEXT.encode()).to_json() | {
        "id": "2026-09-next",
        "supersedes": {"record": "2026-08-flip", "head": "a" * 64},
    }
    text = rewritten(TEXT.encode(), wanted).decode()
    added = f"id: 2026-09-next\nsupersedes:\n  record: 2026-08-flip\n  head: {'a' * 64}\n"
    assert text == _block(TEXT).replace("id: 2026-08-flip\n", added, 1)
    assert read_plan(text.encode()).to_json() == wanted


def test_a_field_taken_away_and_one_changed() -> None:
    wanted = read_plan(TEXT.encode()).to_json() | {"title": "Another: one"}
    del wanted["notes"]
    text = rewritten(TEXT.encode(), wanted).decode()
    assert "notes:" not in text
    assert read_plan(text.encode()).title == "Another: one"
    assert "# why 4" in text


def _block(text: str) -> str:
    """The text as the writer lays it out: the plan of these tests is laid out so already."""
    return text


def test_commands_in_comments_name_the_new_record_and_prose_keeps_the_old_one() -> None:
    text = (
        "# then: ledger check 2026-08-a, and ledger freeze 2026-08-a-b\n"
        "# 2026-08-a was too small\n"
        "title: ledger check 2026-08-a\n"
    )
    assert in_comments(text, "2026-08-a", "2026-09-c") == (
        "# then: ledger check 2026-09-c, and ledger freeze 2026-08-a-b\n"
        "# 2026-08-a was too small\n"
        "title: ledger check 2026-08-a\n"
    )
