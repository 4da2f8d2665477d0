"""Strict YAML: what a plain scalar means, what is refused and where, and the places of values."""

from typing import Any

import pytest

from ledger.errors import InputError
from ledger.strictyaml import parse

# The YAML 1.2 core schema, and the traps of YAML 1.1 that it avoids.
MEANS: dict[str, Any] = {
    "30": 30, "-1": -1, "+7": 7, "0": 0, "0o17": 15, "0x1f": 31,
    "1.5": 1.5, "-0.5": -0.5, ".5": 0.5, "1e5": 100000.0, "1.": 1.0, "6.02E+23": 6.02e23,
    "true": True, "True": True, "FALSE": False, "null": None, "~": None, "": None, "Null": None,
    "NO": "NO", "yes": "yes", "on": "on", "off": "off", "tRUE": "tRUE", "nULL": "nULL",
    "2026-11-02": "2026-11-02", "2026-11-02T03:04:05Z": "2026-11-02T03:04:05Z", "1:30": "1:30",
    "1_000": "1_000", "0b11": "0b11", "1.2.3": "1.2.3", "1e": "1e", "e5": "e5", ".": ".", "nan": "nan",
    "63 GiB": "63 GiB", "2 < 3": "2 < 3", "1.02 * r0.x": "1.02 * r0.x",
    "'30'": "30", '"true"': "true", '""': "", '"\\x41\\n"': "A\n",
}  # fmt: skip

# name: (document, code, line, column)
REFUSED: dict[str, tuple[bytes, str, int, int]] = {
    "anchor": (b"a: &x 1", "yaml_anchor", 1, 4),
    "anchor on a list": (b"a: &x\n  - 1", "yaml_anchor", 1, 4),
    "alias": (b"a: *x", "yaml_alias", 1, 4),
    "a standard tag": (b"a: !!str 1", "yaml_tag", 1, 4),
    "a private tag": (b"a:\n  - !run {x: 1}", "yaml_tag", 2, 5),
    "a bare tag": (b"a: ! 1", "yaml_tag", 1, 4),
    "a python tag": (b'a: !!python/object/apply:os.system ["x"]', "yaml_tag", 1, 4),
    "merge key": (b"a: 1\n<<: {b: 2}", "yaml_merge_key", 2, 1),
    "number as key": (b"a: {1: x}", "yaml_key_not_text", 1, 5),
    "true as key": (b"true: x", "yaml_key_not_text", 1, 1),
    "nothing as key": (b"? \n: 1", "yaml_key_not_text", 1, 2),
    "list as key": (b"? [a]\n: 1", "yaml_key_not_text", 1, 3),
    "duplicate key": (b"a: 1\nb: 2\na: 3", "yaml_duplicate_key", 3, 1),
    "duplicate key, quoted": (b'{a: 1, "a": 2}', "yaml_duplicate_key", 1, 8),
    "second document": (b"a: 1\n---\nb: 2", "yaml_second_document", 2, 1),
    "version directive": (b"%YAML 1.1\n---\na: 1", "yaml_directive", 2, 1),
    "tag directive": (b"%TAG ! tag:x,2000:\n---\na: 1", "yaml_directive", 2, 1),
    "not a number": (b"a: .nan", "yaml_not_finite", 1, 4),
    "infinity": (b"a: [1, -.inf]", "yaml_not_finite", 1, 8),
    "overflow": (b"a: 1e400", "yaml_number_range", 1, 4),
    "underflow": (b"a: 1e-400", "yaml_number_range", 1, 4),
    "1,001 digits": (b"a: " + b"1" * 1001, "yaml_number_range", 1, 4),
    "1,001 hexadecimal digits": (b"a: 0x" + b"f" * 1001, "yaml_number_range", 1, 4),
    "a number that begins with zero": (b"a: 012", "yaml_ambiguous_number", 1, 4),
    "byte order mark": (b"\xef\xbb\xbfa: 1", "yaml_character", 1, 1),
    "NUL": (b"a: b\x00", "yaml_character", 1, 5),
    "a bell": (b"a: 1\r\nb: \x07", "yaml_character", 2, 4),
    "a line separator": ("a: b\u2028c".encode(), "yaml_character", 1, 5),
    "an escaped NUL": (b'a: "\\0"', "yaml_character", 1, 4),
    "an escaped terminal code": (b'a: "\\e[2J"', "yaml_character", 1, 4),
    "an escaped lone surrogate": (b'a: "\\ud800"', "yaml_character", 1, 4),
    "an escape past Unicode": (b'a: 1\nb: "\\Uffffffff"', "yaml_syntax", 2, 2),
    "not UTF-8": ("é: 1\n".encode() + b"b: \xff", "yaml_utf8", 2, 4),
    "UTF-16": ("a: 1".encode("utf-16"), "yaml_utf8", 1, 1),
    "a tab for indentation": (b"a:\n\t- 1", "yaml_syntax", 2, 1),
    "an open list": (b"a: [1, 2", "yaml_syntax", 1, 9),
    "two colons": (b"a: b: c", "yaml_syntax", 1, 5),
    "33 lists": (b"[" * 33 + b"]" * 33, "yaml_depth", 1, 33),
    "10,000 lists": (b"[" * 10_000, "yaml_depth", 1, 33),
    "33 mappings": (b"".join(b" " * i + b"a:\n" for i in range(40)), "yaml_depth", 33, 33),
}

PLAN = b"""\
id: 2026-11-demo   # a comment
ladder:
  steps: 30
  rungs:
    - {id: r0, flags: {ckpt: none}}
    - id: r1
      flags:
        ckpt: full
text: |
  one
   two
"""


@pytest.mark.parametrize("text", MEANS)
def test_a_scalar_means_what_the_core_schema_says(text: str) -> None:
    value = parse(f"a: {text}\n".encode()).value["a"]
    assert (type(value), value) == (type(MEANS[text]), MEANS[text])


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_code_place_and_caret(name: str) -> None:
    data, code, line, column = REFUSED[name]
    with pytest.raises(InputError) as caught:
        parse(data)
    problem = caught.value.problem
    assert (problem.code, problem.where) == (code, f"line {line} column {column}")
    assert problem.picture is None or problem.picture.split("\n")[1].strip(" ") == "^"


def test_the_value_of_a_whole_document() -> None:
    assert parse(PLAN).value == {
        "id": "2026-11-demo",
        "ladder": {
            "steps": 30,
            "rungs": [{"id": "r0", "flags": {"ckpt": "none"}}, {"id": "r1", "flags": {"ckpt": "full"}}],
        },
        "text": "one\n two\n",
    }


def test_every_value_has_its_place() -> None:
    document = parse(PLAN)
    assert document.positions["ladder", "steps"] == (3, 10)
    assert document.positions["ladder", "rungs", 0, "flags", "ckpt"] == (5, 30)
    assert document.positions["ladder", "rungs", 1] == (6, 7)
    assert document.key_positions["ladder", "rungs", 1, "flags"] == (7, 7)
    assert document.positions[()] == (1, 1)


def test_an_absent_value_is_placed_at_the_nearest_part_that_should_hold_it() -> None:
    document = parse(PLAN)
    assert document.where(("ladder", "rungs", 1, "role")) == "line 6 column 7"
    assert document.where(("ladder", "on_oom")) == "line 2 column 1"
    assert document.where(("budget",)) == "line 1 column 1"


def test_a_picture_has_the_line_and_a_caret_under_the_column() -> None:
    assert parse(PLAN).picture(("ladder", "steps")) == "  steps: 30\n         ^"


def test_a_picture_of_a_long_line_shows_the_part_around_the_caret() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"abc: [" + b"x, " * 100 + b"*y]")
    line, caret = str(caught.value.problem.picture).split("\n")
    assert len(line) <= 100
    assert line[caret.index("^")] == "*"


def test_a_duplicate_key_tells_where_the_first_is() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"rungs:\n  - id: r1\n    id: r2\n")
    assert caught.value.problem.picture == "    id: r2\n    ^"
    assert caught.value.problem.hint == "it is first at line 2 column 5; keep one of the two"


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only a comment\n", b"---\n"])
def test_a_document_without_content_is_nothing(data: bytes) -> None:
    assert parse(data).value is None
    assert parse(data).where(("id",)) in ("line 1 column 1", "line 2 column 1")  # where text could begin


def test_line_ends_of_other_systems_are_read_and_counted() -> None:
    document = parse(b"a: 1\r\nb: 2\r\n")
    assert document.value == {"a": 1, "b": 2}
    assert document.where(("b",)) == "line 2 column 4"


def test_size_limit() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"#" * (256 * 1024 + 1))
    assert (caught.value.problem.code, caught.value.problem.found) == ("yaml_size", "262145 bytes")


# Up to 64 KiB of each: long enough to show a quadratic scan, short enough for a quick suite.
HOSTILE = {
    "open lists": b"[" * 65536,
    "open mappings": b"{" * 65536,
    "open lists on lines": b"[\n" * 32768,
    "complex keys": b"? " * 32768,
    "nested sequences": b"- " * 32768,
    "quotes": b"'" * 65535,
    "anchors": b"&a " * 21845,
    "open text": b'"' + b"\\n" * 32000,
    "a number of digits": b"a: " + b"9" * 65000,
    "colons": b": " * 32768,
    "a long directive": b"%YAML 1." + b"9" * 65000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        parse(HOSTILE[name])
