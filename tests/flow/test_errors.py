"""Every bad input in the tables: which exit code, which error code, and the words that must be in the message.

That each error says what happened, what was expected, what was found and what to do, with no traceback, is
asserted by ``World.refused`` for every row; that nothing was changed, here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.worlds import PLAN, RECORD, World, run_file

Row = tuple[int, str, str]


def contents(root: Path) -> dict[str, bytes | None]:
    """Every path below ``root`` with its bytes; None for what is no small file."""
    found = sorted(root.rglob("*"))
    return {str(p): p.read_bytes() if p.is_file() and p.stat().st_size < 10**6 else None for p in found}


def sparse(path: Path) -> None:
    """A file of 200 MB that takes no room on the disk."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(200 * 10**6)


def changed(**changes: Any) -> Callable[[dict[str, Any]], bytes]:
    """The bytes of a sound run with ``changes``."""
    return lambda run: json.dumps({**run, **changes}).encode()


def samples(text: str) -> Callable[[dict[str, Any]], bytes]:
    """The bytes of a sound run whose step times are the JSON ``text``."""
    return lambda run: (
        json.dumps(run).encode().replace(b"[9000000000, 2400000000, 2400000000, 2400000000]", text.encode())
    )


RUNS: dict[str, tuple[bytes | Callable[[dict[str, Any]], bytes], Row]] = {
    "empty": (b"", (2, "json_syntax", "not valid JSON")),
    "null": (b"null", (2, "run_invalid", "does not fit")),
    "empty text": (b'""', (2, "run_invalid", "does not fit")),
    "a list": (b"[]", (2, "run_invalid", "does not fit")),
    "an empty object": (b"{}", (2, "run_invalid", "required field is missing")),
    "cut off": (lambda run: json.dumps(run).encode()[:-9], (2, "json_syntax", "not valid JSON")),
    "two documents": (lambda run: json.dumps(run).encode() * 2, (2, "json_syntax", "extra data")),
    "a key twice": (lambda run: b'{"record":1,"record":2}', (2, "json_duplicate_key", "appears twice")),
    "the token NaN": (samples("[1, 2, 3, NaN]"), (2, "json_not_finite", "NaN is not a JSON number")),
    "the token Infinity": (samples("[1, 2, 3, -Infinity]"), (2, "json_not_finite", "-Infinity")),
    "1e999": (samples("[1, 2, 3, 1e999]"), (2, "json_number_range", "1e999")),
    "5,000 digits": (samples(f"[1, 2, 3, {'9' * 5000}]"), (2, "json_number_range", "too large")),
    'the text "NaN"': (samples('[1, 2, 3, "NaN"]'), (2, "run_invalid", "does not fit")),
    'the text ""': (samples('[1, 2, 3, ""]'), (2, "run_invalid", "does not fit")),
    'the text "2.4"': (samples('[1, 2, 3, "2.4"]'), (2, "run_invalid", "does not fit")),
    "a null sample": (samples("[1, 2, 3, null]"), (2, "run_invalid", "does not fit")),
    "true for a number": (samples("[1, 2, 3, true]"), (2, "run_invalid", "does not fit")),
    "an unknown without a known reason": (samples('[1, 2, 3, {"unknown": "lazy"}]'), (2, "run_invalid", "fit")),
    "a byte order mark": (lambda run: b"\xef\xbb\xbf" + json.dumps(run).encode(), (2, "json_bom", "byte order mark")),
    "latin-1": (b'{"record": "\xe9"}', (2, "json_utf8", "UTF-8")),
    "half a character": (b'{"record": "\\ud800"}', (2, "json_surrogate", "half of a character")),
    "10,000 arrays": (b"[" * 10_000 + b"]" * 10_000, (2, "json_depth", "nest too deep")),
    "10,000 objects": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, (2, "json_depth", "nest too deep")),
    "a field too many": (changed(verdict="ADOPT"), (2, "run_invalid", "not known")),
    "a series without a definition": (changed(definitions={}), (2, "run_invalid", "no definition for loss_hex")),
    "a run id that is a path": (changed(run_id="../../x"), (2, "run_invalid", "does not fit")),
    "no such day": (changed(began_at="2026-02-30T00:00:00.000000Z"), (2, "run_invalid", "no such day")),
    "another format version": (changed(schema="ledger/run/v2"), (2, "newer_format", "another format version")),
    "no format version": (changed(schema="run"), (2, "run_invalid", "does not fit")),
    "another record": (changed(record="2026-08-flop"), (2, "no_such_record", "there is no record")),
    "a size past what JSON keeps": (
        changed(outcome={"kind": "oom", "requested_bytes": 2**60}),
        (2, "unsafe_integer", "past what every JSON reader keeps exact"),
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_bad_run_files(world: World, case: str) -> None:
    made, expected = RUNS[case]
    freeze = world.freeze()
    path = world.root / "bad.json"
    path.write_bytes(made(run_file(freeze)) if callable(made) else made)
    before = contents(world.record_path())
    code, error, problem = world.refused("ingest", path)
    assert (code, error) == expected[:2]
    assert expected[2] in problem["what"]
    assert contents(world.record_path()) == before
    world.ok("verify")


def test_the_way_out_of_a_newer_format(world: World) -> None:
    path = world.write_run({**run_file(world.freeze()), "schema": "ledger/run/v2"})
    problem = world.refused("ingest", path)[2]
    assert "pip install -U evidence-ledger" in problem["hint"]


def test_files_that_are_none(world: World) -> None:
    world.freeze()
    sparse(world.root / "big.json")
    (world.root / "folder").mkdir()
    os.mkfifo(world.root / "pipe")
    (world.root / "dangling").symlink_to("nowhere")
    expected: dict[str, Row] = {
        "big.json": (2, "too_large", "larger than what is read here"),
        "folder": (5, "is_a_folder", "is a directory"),
        "pipe": (2, "not_a_plain_file", "not a plain file"),
        "dangling": (5, "not_found", "no such file"),
        "absent.json": (5, "not_found", "no such file"),
        "x" * 300: (5, "name_too_long", "file name too long"),
        "folder/x/y": (5, "not_found", "no such file"),
        "big.json/x": (5, "not_a_folder", "not a directory"),
    }
    for name, row in expected.items():
        code, error, problem = world.refused("ingest", name)
        assert (code, error) == row[:2], name
        assert row[2] in problem["what"], name


def test_one_bad_file_does_not_keep_the_others_out(world: World) -> None:
    good = world.write_run(run_file(world.freeze()))
    world.clock = "2026-08-11T19:00:00Z"
    code, told = world.told("ingest", "absent.json", good)
    assert code == 5
    assert [one.get("error", one.get("outcome")) for one in told["runs"]] == ["not_found", "ok"]


PLANS: dict[str, tuple[bytes, Row]] = {
    "empty": (b"", (2, "plan_invalid", "the file is empty")),
    "null": (b"null\n", (2, "plan_invalid", "the file is empty")),
    "a list": (b"- a\n", (2, "plan_invalid", "does not fit")),
    "a tab": (b"a:\n\t- b\n", (2, "yaml_syntax", "")),
    "an open quote": (b'title: "x\n', (2, "yaml_syntax", "")),
    "an anchor": (PLAN.replace("title: ", "title: &a ").encode(), (2, "yaml_anchor", "")),
    "two documents": (PLAN.encode() + b"---\n" + PLAN.encode(), (2, "yaml_second_document", "")),
    "a key twice": (PLAN.encode() + b"title: again\n", (2, "yaml_duplicate_key", "")),
    "not a number": (PLAN.replace("steps: 4", "steps: .nan").encode(), (2, "yaml_not_finite", "")),
    "a byte order mark": (b"\xef\xbb\xbf" + PLAN.encode(), (2, "yaml_character", "")),
    "latin-1": (PLAN.encode() + b"# \xe9\n", (2, "yaml_utf8", "")),
    "1,000 lists": (b"a: " + b"[" * 1_000, (2, "yaml_depth", "")),
    "a bomb": (b"a: &a [x,x]\nb: &b [*a,*a]\n", (2, "yaml_anchor", "")),
    "another id": (PLAN.replace("id: 2026-08-flip", "id: 2026-08-flop").encode(), (2, "wrong_id", "folder name")),
    "another format version": (PLAN.replace("prereg/v1", "prereg/v2").encode(), (2, "newer_format", "another format")),
    "a field too many": (PLAN.encode() + b"force: true\n", (2, "plan_invalid", "not known")),
}


@pytest.mark.parametrize("case", PLANS)
def test_bad_plans(world: World, case: str) -> None:
    data, expected = PLANS[case]
    world.write_plan()
    (world.record_path() / "prereg.yaml").write_bytes(data)
    code, told = world.told("check", RECORD)
    assert (code, told["records"][0]["sound"]) == (2, False)
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error) == expected[:2]
    assert expected[2] in problem["what"]
    assert problem in told["records"][0]["problems"]
    assert contents(world.record_path()).keys() == {str(world.record_path() / "prereg.yaml")}
    for command in ("status", "render"):
        world.ok(command)


def test_plan_files_that_are_none(world: World) -> None:
    world.write_plan()
    plan = world.record_path() / "prereg.yaml"
    sparse(plan)
    assert world.refused("freeze", RECORD)[:2] == (2, "too_large")
    plan.unlink()
    assert world.refused("freeze", RECORD)[:2] == (3, "prereg_missing")
    plan.mkdir()
    assert world.refused("freeze", RECORD)[:2] == (5, "is_a_folder")
    plan.rmdir()
    plan.symlink_to("/etc/passwd")
    assert world.refused("freeze", RECORD)[:2] == (3, "symlink")


def test_another_id_is_told_with_its_line(world: World) -> None:
    world.write_plan(PLAN.replace("id: 2026-08-flip", "id: 2026-08-flop"))
    told = world.told("check", RECORD)[1]["records"][0]
    assert told["problems"][0]["where"] == "line 2, id"
    assert set(told["rules"]) == {"ADOPT", "RECORD-ONLY"}


def test_every_record_is_checked_whatever_the_others_are(world: World) -> None:
    world.write_plan()
    for slug in ("2026-09-empty", "2026-10-link"):
        world.ok("draft", slug)
        (world.root / "records" / slug / "prereg.yaml").unlink()
    (world.root / "records/2026-09-empty/prereg.yaml").write_bytes(b"")
    (world.root / "records/2026-10-link/prereg.yaml").symlink_to("/etc/passwd")
    code, told = world.told("check")
    assert code == 3
    assert [(one["record"], one["sound"]) for one in told["records"]] == [
        (RECORD, True),
        ("2026-09-empty", False),
        ("2026-10-link", False),
    ]
    assert told["records"][2]["error"] == "symlink"
    lines = world.ledger("check").stdout.splitlines()
    assert [line for line in lines if line in (RECORD, "2026-09-empty", "2026-10-link")] == [
        RECORD,
        "2026-09-empty",
        "2026-10-link",
    ]
    assert "2026-09-empty: refused: 1 error, 0 things to wait for, 0 notes" in lines


def test_the_bare_name_prints_the_help(world: World) -> None:
    result = world.ledger()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ledger [OPTIONS] COMMAND [ARGS]...")


MARKERS: dict[str, tuple[bytes | None, Row]] = {
    "empty": (b"", (3, "ledger_marker", "not as `ledger init` wrote it")),
    "not JSON": (b"hello", (3, "ledger_marker", "not as `ledger init` wrote it")),
    "10,000 arrays": (b"[" * 10_000, (3, "ledger_marker", "not as `ledger init` wrote it")),
    "another format version": (b'{"schema":"ledger/ledger/v2"}', (2, "newer_format", "newer version")),
    "gone": (None, (3, "ledger_marker", "not as `ledger init` wrote it")),
}


@pytest.mark.parametrize("case", MARKERS)
def test_bad_ledgers(decided: World, case: str) -> None:
    data, expected = MARKERS[case]
    marker = decided.root / "records" / "ledger.json"
    marker.unlink()
    if data is not None:
        marker.write_bytes(data)
    for command in (["status"], ["verify"], ["ingest", "x.json"], ["init"]):
        code, error, problem = decided.refused(*command)
        assert (code, error) == expected[:2], command
        assert expected[2] in problem["what"], command


def test_an_entry_of_a_newer_format(decided: World) -> None:
    entry = next(decided.record_path().glob("entries/*-decide-*"))
    value = {**json.loads(entry.read_bytes()), "schema": "ledger/entry/v2"}
    data = canonical_bytes(value)
    entry.unlink()
    entry.with_name(f"{entry.name[:-17]}{digest(data)[:12]}.json").write_bytes(data)
    code, error, problem = decided.refused("decide", RECORD)
    assert (code, error) == (3, "newer_format")
    assert "pip install -U evidence-ledger" in problem["hint"]
    assert decided.ledger("verify", RECORD).exit_code == 3
    assert decided.told("status")[1]["records"][0]["state"] == "unreadable"


ARGUMENTS: dict[str, tuple[list[str], Row]] = {
    "no command": (["frobnicate"], (2, "usage", "No such command")),
    "no such option": (["status", "--force"], (2, "usage", "No such option")),
    "an argument short": (["decide"], (2, "usage", "Missing argument")),
    "an id that climbs": (["draft", "../2026-08-x"], (2, "bad_record_id", "cannot be a record's id")),
    "an id in capitals": (["draft", "2026-08-Flip"], (2, "bad_record_id", "cannot be a record's id")),
    "an id with a line end": (["draft", "2026-08-x\n"], (2, "bad_record_id", "cannot be a record's id")),
    "an id in Greek": (["show", "2026-08-μ"], (2, "bad_record_id", "cannot be a record's id")),
    "a long id": (["show", "2026-08-" + "a" * 300], (2, "bad_record_id", "cannot be a record's id")),
    "an empty id": (["show", ""], (2, "bad_record_id", "cannot be a record's id")),
    "a misspelt id": (["show", "2026-08-flop"], (2, "no_such_record", "there is no record")),
    "no such template": (["draft", "2026-08-x", "--template", "../x"], (2, "no_such_template", "no template")),
    "an unknown outcome": (["gate", RECORD, "--require", "adopt"], (2, "no_such_outcome", "has no outcome")),
    "no outcome": (["gate", RECORD, "--require", ""], (2, "no_such_outcome", "has no outcome")),
    "a short head": (["verify", RECORD, "--head", "abc"], (2, "bad_head", "not a head digest")),
    "a head for all": (["verify", "--head", "0" * 64], (2, "head_of_one", "belongs to one record")),
    "an archive that is not there": (["verify", "x.tar"], (5, "not_found", "no such file")),
    "an archive that is a folder": (["verify", "folder.tar"], (5, "is_a_folder", "is a directory")),
    "a long archive name": (["verify", "a" * 300 + ".tar"], (5, "name_too_long", "name too long")),
    "init in a file": (["init", "file"], (5, "not_a_folder", "not a directory")),
    "init nowhere": (["init", "nowhere"], (5, "not_found", "no such file")),
    "an archive onto a folder": (["archive", RECORD, "-o", "folder.tar"], (5, "is_a_folder", "is a directory")),
    "an archive below a file": (["archive", RECORD, "-o", "file/x.tar"], (5, "in_the_way", "file exists")),
    "an archive onto the plan": (
        ["archive", RECORD, "-o", f"records/{RECORD}/prereg.yaml"],
        (2, "inside_records", "among the records"),
    ),
    "pages onto a file": (["render", "-o", "file"], (5, "in_the_way", "file exists")),
    "pages among the records": (["render", "-o", f"records/{RECORD}"], (2, "inside_records", "among the records")),
    "pages through a link": (["render", "-o", "link/x"], (2, "inside_records", "among the records")),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_bad_arguments(decided: World, case: str) -> None:
    args, expected = ARGUMENTS[case]
    (decided.root / "folder.tar").mkdir()
    (decided.root / "file").write_bytes(b"kept")
    (decided.root / "link").symlink_to(decided.record_path())
    before = contents(decided.root)
    code, error, problem = decided.refused(*args)
    assert (code, error) == expected[:2]
    assert expected[2].lower() in problem["what"].lower()
    assert contents(decided.root) == before


def test_a_misspelt_id_is_guessed(decided: World) -> None:
    assert f"did you mean {RECORD}?" in decided.refused("show", "2026-08-flop")[2]["hint"]
