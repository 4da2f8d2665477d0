"""Documents as typed values: what they refuse and in which words, and the small arithmetic they carry."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from ledger.errors import InputError
from ledger.model.base import Strict, field_path, load, load_bytes, place, same_scalar
from ledger.model.decision import Outcome
from ledger.model.entries import EntryDocument
from ledger.model.ladder import Metric
from ledger.model.patterns import WORDS as PATTERN_WORDS
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.schemas import schemas
from ledger.model.values import Measured, StatedRange, Unknown, Value, measured, words
from tests.deciding import FREEZE, GONE, PLAN, Bend, bent, freeze_entry, plan, run
from tests.worlds import run_file

# --- values -----------------------------------------------------------------------------------------------------

BASE: dict[str, tuple[str, str, Fraction]] = {
    "GiB": ("63", "GiB", Fraction(67645734912)),
    "GB": ("63", "GB", Fraction(63 * 10**9)),
    "a ratio": ("32/15", "GPU-h", Fraction(7680)),
    "below zero": ("-1.5", "ms", Fraction(-3, 2000)),
    "a share": ("10", "%", Fraction(1, 10)),
}


@pytest.mark.parametrize(("value", "unit", "base"), BASE.values(), ids=BASE)
def test_measured_in_base_units_and_back(value: str, unit: str, base: Fraction) -> None:
    assert Measured(value=value, unit=unit).base == base
    assert measured(base, unit) == Measured(value=value, unit=unit)


WORDS: dict[str, tuple[Value, str | None, str]] = {
    "measured": (Measured(value="2.4", unit="s"), None, "2.400 s"),
    "in another unit": (Measured(value="2.4", unit="s"), "ms", "2400 ms"),
    "unknown": (Unknown(unknown="not_run"), None, "unknown (not run)"),
    "a lower bound": (
        Unknown(unknown="oom", at_least="80", unit="GiB"),
        None,
        "unknown (out of memory, at least 80.00 GiB)",
    ),
    "two bounds, in another unit": (
        Unknown(unknown="not_stated", at_least="2.2", at_most="2.5", unit="s"),
        "ms",
        "unknown (not stated, at least 2200 ms, at most 2500 ms)",
    ),
}


@pytest.mark.parametrize(("value", "unit", "text"), WORDS.values(), ids=WORDS)
def test_words(value: Value, unit: str | None, text: str) -> None:
    assert words(value, unit=unit) == text


def test_an_unknown_value_carries_no_number_in_json() -> None:
    assert Unknown(unknown="not_run").to_json() == {"unknown": "not_run"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1, 1.0, True), (True, 1, False), (True, True, True), ("1", 1, False), (0, False, False), (0.1, 0.1, True)],
)
def test_same_scalar(one: Any, other: Any, same: bool) -> None:
    assert same_scalar(one, other) is same
    assert same_scalar(other, one) is same


# --- what cannot exist ------------------------------------------------------------------------------------------

SERIES = {"series": "step_ns", "statistic": "median", "window": "last 3", "unit": "s"}
VALUE = {"value": "peak", "phase": "train", "unit": "GiB"}

# model, data, a word of the message
IMPOSSIBLE: dict[str, tuple[type[Strict], dict[str, Any], str]] = {
    "a bound without a unit": (Unknown, {"unknown": "oom", "at_least": "80"}, "a bound needs a unit"),
    "bounds the wrong way round": (
        Unknown,
        {"unknown": "oom", "at_least": "81", "at_most": "80.5", "unit": "GiB"},
        "at_least is above at_most",
    ),
    "a range of nothing": (StatedRange, {}, "give at_least, at_most or unknown"),
    "a range of two kinds": (StatedRange, {"at_least": "1 s", "at_most": "2 GiB"}, "count different things"),
    "a range the wrong way round": (StatedRange, {"at_least": "1 s", "at_most": "2 ms"}, "at_least is above at_most"),
    "a number divided by zero": (Measured, {"value": "1/0", "unit": "s"}, "an exact number as text"),
    "a measured NaN": (Measured, {"value": "nan", "unit": "s"}, "an exact number as text"),
    "a unit nobody knows": (Measured, {"value": "1", "unit": "Gib"}, "did you mean"),
    "a metric of two sources": (Metric, {**SERIES, "value": "peak"}, "exactly one source"),
    "a metric of none": (Metric, {"unit": "s"}, "exactly one source"),
    "a series without a window": (Metric, {**SERIES, "window": None}, "needs a statistic and a window"),
    "a series of a phase": (Metric, {**SERIES, "phase": "train"}, "no phase"),
    "a value without a phase": (Metric, {**VALUE, "phase": None}, "needs a phase"),
    "a value with a statistic": (Metric, {**VALUE, "statistic": "max"}, "no statistic or window"),
    "an outcome with a rule and a default": (
        Outcome,
        {"name": "ADOPT", "when": "a.b < 1", "otherwise": True},
        "exactly one of when",
    ),
    "an outcome with neither": (Outcome, {"name": "ADOPT"}, "exactly one of when"),
    "a default with a guard": (
        Outcome,
        {"name": "KEEP", "otherwise": True, "requires": ["loss"]},
        "otherwise takes no guards",
    ),
    "an outcome every record has": (Outcome, {"name": "VOID", "when": "a.b < 1"}, "every record has"),
}


@pytest.mark.parametrize(("model", "data", "word"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_does_not_exist(model: type[Strict], data: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as caught:
        load(model, data, kind="part")
    assert word in str([problem.to_dict() for problem in caught.value.problems])


OVERLAY = ("guards", "loss_overlay")
PLANS: dict[str, tuple[Bend, str]] = {
    "two bands": ({(*OVERLAY, "band", "bitwise"): True}, "name exactly one band"),
    "no band": ({(*OVERLAY, "band"): {}}, "name exactly one band"),
    "re-runs without a factor": ({(*OVERLAY, "band", "factor"): GONE}, "needs a factor"),
    "a factor of a stated band": ({(*OVERLAY, "band"): {"absolute": 1, "factor": 4}}, "belong to a band from re-runs"),
    "a zone of no width": ({(*OVERLAY, "band"): {"bitwise": True}}, "a bitwise band has no width"),
    "a kill of two triggers": ({("kill", 1, "when"): "vram_alloc_peak > 1 GiB"}, "exactly one trigger"),
    "a rung named like a word of the rule": ({("ladder", "rungs", 0, "id"): "not"}, "a word of the rule language"),
    "a day that is not there": ({("due",): "2026-02-30"}, "no such day"),
    "a blank title": ({("title",): " "}, "text that is not blank"),
    "no metrics": ({("metrics",): {}}, "at least 1"),
    "a confidence above one": ({("expectations", 0, "confidence"): 1.5}, "less than or equal to 1"),
    "no class accepted": ({("decision", "accepts"): []}, "at least 1"),
    "one outcome": ({("decision", "outcomes", 1): GONE}, "at least 2"),
}


@pytest.mark.parametrize(("bends", "word"), PLANS.values(), ids=PLANS)
def test_a_plan_that_cannot_be_is_refused(bends: Bend, word: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(bends)
    assert word in str([problem.to_dict() for problem in caught.value.problems])


RUNS: dict[str, tuple[Bend, str]] = {
    "a series nobody defined": ({("definitions", "loss_hex"): GONE}, "no definition for loss_hex"),
    "a value nobody defined": ({("ranks", 0, "phases", "eval"): {"peak": 1}}, "no definition for peak"),
    "a rank twice": ({("ranks", 1): {"rank": 0, "device": "cpu"}}, "the same rank stands twice"),
    "a null for a number": ({("ranks", 0, "series", "step_ns", 0): None}, "step_ns"),
    "a truth for a number": ({("ranks", 0, "series", "step_ns", 0): True}, "step_ns"),
    "text for a number": ({("ranks", 0, "series", "step_ns", 0): "3.5"}, "step_ns"),
    "a minute that is not there": ({("began_at",): "2026-08-11T10:61:00.000000Z"}, "no such day or time"),
    "a time without its fraction": ({("began_at",): "2026-08-11T10:00:00Z"}, "began_at"),
    "bounds the wrong way round": (
        {("ranks", 0, "series", "step_ns", 0): {"unknown": "invalid", "at_least": 2, "at_most": 1}},
        "at_least is above at_most",
    ),
}


@pytest.mark.parametrize(("bends", "word"), RUNS.values(), ids=RUNS)
def test_a_run_that_cannot_be_is_refused(bends: Bend, word: str) -> None:
    with pytest.raises(InputError) as caught:
        run(bends=bends)
    assert word in str([problem.to_dict() for problem in caught.value.problems])


def test_a_document_does_not_change_after_it_is_made() -> None:
    with pytest.raises(ValidationError):
        plan().title = "another"


# --- reading ----------------------------------------------------------------------------------------------------


def test_every_fault_is_told_with_its_place() -> None:
    data = bent(PLAN, {("quesion",): "what?", ("ladder", "rungs", 1, "role"): "dignosis", ("title",): GONE})
    with pytest.raises(InputError) as caught:
        load(Prereg, data, kind="plan")
    told = {problem.where: (problem.what, problem.found) for problem in caught.value.problems}
    assert told == {
        "title": ("a required field is missing", "nothing"),
        "quesion": ("this field is not known", '"what?"'),
        "ladder.rungs[1].role": ("the value does not fit", '"dignosis"'),
    }
    assert {problem.code for problem in caught.value.problems} == {"plan_invalid"}


def test_a_value_that_could_be_of_several_types_is_told_once() -> None:
    with pytest.raises(InputError) as caught:
        plan({("guards", "gradients", "checks", "chunks_equal", "at_most"): "tiny"})
    (problem,) = caught.value.problems
    assert problem.where == "guards.gradients.checks.chunks_equal.at_most"
    assert (problem.expected, problem.found) == ("a number", '"tiny"')


STEP_TIME = ("metrics", "step_time")
OUTCOMES = ("decision", "outcomes")

# bends, and of the one problem: where, what, expected, what to do
TOLD: dict[str, tuple[Bend, tuple[str, str, str | None, str | None]]] = {
    "a number for a window": (
        {(*STEP_TIME, "window"): 20},
        ("metrics.step_time.window", "the value does not fit", "text: all, or last N, such as last 20", None),
    ),
    "a number for a quantity": (
        {("budget", "gate"): 10},
        (
            "budget.gate",
            "the value does not fit",
            "a quantity with its unit, such as 63 GiB, 3.2 s or 10 min",
            None,
        ),
    ),
    "nothing for a title": (
        {("title",): None},
        (
            "title",
            "the value does not fit",
            "text that is not blank",
            "write a value after the name, or leave the field out if it is not needed",
        ),
    ),
    "a number for a title": (
        {("title",): 2026},
        ("title", "the value does not fit", "text that is not blank", 'write it in quotes: "2026"'),
    ),
    "text for a rung": (
        {("ladder", "rungs", 0): "r0"},
        (
            "ladder.rungs[0]",
            "the value does not fit",
            "the fields id, role (needed); flags, steps, repeats, run_if, search, revision, note; such as "
            "{id: ..., role: control}",
            None,
        ),
    ),
    "a list of metrics": (
        {("metrics",): [{"name": "step_time"}]},
        (
            "metrics",
            "the value does not fit",
            "a mapping by name, such as NAME: ..., and no list",
            "write NAME: VALUE lines there, without the dashes that make it a list",
        ),
    ),
    "small letters for an outcome": (
        {(*OUTCOMES, 0, "name"): "adopt"},
        (
            "decision.outcomes[0].name",
            "the value does not fit",
            "capitals, digits and dashes, such as RECORD-ONLY",
            None,
        ),
    ),
    "a dash in a rung": (
        {("ladder", "rungs", 2, "id"): "r-2"},
        (
            "ladder.rungs[2].id",
            "the value does not fit",
            "letters, digits and _, not a digit first, such as r0 or heap_q",
            None,
        ),
    ),
    "month 13": (
        {("id",): "2026-13-flip"},
        (
            "id",
            "the value does not fit",
            "year, month (01 to 12) and a slug of small letters and digits, such as 2026-08-actckpt-flip",
            None,
        ),
    ),
    "no such day": (
        {("due",): "2026-02-30"},
        ("due", "no such day or time in the calendar", "a day as year-month-day, such as 2026-08-11", None),
    ),
    "a part that contradicts itself": (
        {(*STEP_TIME, "statistic"): GONE},
        ("metrics.step_time", "a series needs a statistic and a window, and no phase", None, None),
    ),
    "a misspelt kind": (
        {("guards", "loss_overlay", "kind"): "overlap"},
        ("guards.loss_overlay.kind", "the value does not fit", "one of overlay, oracle", "did you mean overlay?"),
    ),
    "one of two outcomes is wrong, and the list is not counted": (
        {(*OUTCOMES, 1): {"name": "KEEP", "otherwise": False}},
        (
            "decision.outcomes[1].otherwise",
            "only true can stand here; leave the field out otherwise",
            "true",
            None,
        ),
    ),
}


@pytest.mark.parametrize(("bends", "expected"), TOLD.values(), ids=TOLD)
def test_what_is_wanted_is_told_in_words(bends: Bend, expected: tuple[str, str, str | None, str | None]) -> None:
    with pytest.raises(InputError) as caught:
        plan(bends)
    (problem,) = caught.value.problems
    assert (problem.where, problem.what, problem.expected, problem.hint) == expected


# an unknown field, and what was meant
MEANT: dict[str, tuple[Bend, str | None]] = {
    "at the top": ({("decison",): {}}, "did you mean decision?"),
    "in a map of metrics": ({(*STEP_TIME, "across_rank"): "max"}, "did you mean across_ranks?"),
    "in a list": ({("ladder", "rungs", 0, "flag"): {}}, "did you mean flags?"),
    "in one kind of guard": ({("guards", "loss_overlay", "contrl"): "r0"}, "did you mean control?"),
    "an alias": ({("rides",): {"record": "x", "as": "y", "records": "z"}}, "did you mean record?"),
    "like nothing": ({("xyzzy",): 1}, "remove it, or check its spelling and its place"),
}


@pytest.mark.parametrize(("bends", "hint"), MEANT.values(), ids=MEANT)
def test_an_unknown_field_is_guessed(bends: Bend, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(bends)
    assert [(one.what, one.hint) for one in caught.value.problems] == [("this field is not known", hint)]


def test_a_unit_nobody_knows_is_told_with_those_there_are() -> None:
    for field in (("budget", "gate"), (*STEP_TIME, "unit")):
        with pytest.raises(InputError) as caught:
            plan({field: "10 Min" if field[0] == "budget" else "Min"})
        (problem,) = caught.value.problems
        assert "s, ms, us, ns, min, h" in str(problem.expected)
        assert problem.hint == "did you mean 'min'?"


@pytest.mark.parametrize("sample", [None, "NaN", ""])
def test_what_is_no_number_is_told_to_be_unknown_with_a_reason(sample: str | None) -> None:
    with pytest.raises(InputError) as caught:
        run(bends={("ranks", 0, "series", "step_ns", 0): sample})
    (problem,) = caught.value.problems
    assert str(problem.expected).startswith("a number, or ")
    assert '{"unknown": reason}, the reason one of not_run, oom,' in str(problem.expected)


def test_a_tag_is_not_taken_for_the_field_of_that_name() -> None:
    read = {"kind": "series", "rung": "r0", "series": "step_ns", "statistic": "max", "windo": "all", "unit": "s"}
    with pytest.raises(InputError) as caught:
        plan({("reads",): {"p99": read}})
    told = {problem.where: problem.hint for problem in caught.value.problems}
    assert told == {"reads.p99.window": None, "reads.p99.windo": "did you mean window?"}


def _patterns(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (part["pattern"],) if isinstance(part.get("pattern"), str) else ()
        yield from part.get("patternProperties", {})
    for child in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _patterns(child)


def test_every_pattern_of_a_document_has_words() -> None:
    assert set(_patterns(schemas())) <= set(PATTERN_WORDS)


def test_a_place_is_a_line_and_a_path() -> None:
    positions = {("ladder",): (3, 1), ("ladder", "rungs", 0): (5, 7)}
    assert place(("ladder", "rungs", 0, "id"), positions) == "line 5, ladder.rungs[0].id"
    assert place(("ladder", "steps"), positions) == "line 3, ladder.steps"
    assert place(("title",), positions) == "title"
    assert place(("title",), {**positions, (): (1, 1)}) == "line 1, title"
    assert place((), positions) is None
    assert field_path(("ladder", "rungs", 0, "id")) == "ladder.rungs[0].id"


def test_what_is_found_is_told_in_short() -> None:
    with pytest.raises(InputError) as caught:
        load(Prereg, {**PLAN, "id": "x" * 500}, kind="plan")
    assert len(str(caught.value.problem.found)) == 120


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'"text"'])
def test_bytes_that_are_no_document_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        load_bytes(Run, data, kind="run")


def test_documents_survive_their_own_json() -> None:
    assert load(Prereg, plan().to_json(), kind="plan") == plan()
    entry = freeze_entry(plan())
    assert load(EntryDocument, {"entry": entry.to_json()}, kind="entry").entry == entry
    assert load(Run, run().to_json(), kind="run") == run()


def test_integers_past_2_53_are_kept_exact_in_a_run() -> None:
    large = 2**53 + 1
    read = run(bends={("ranks", 0, "series", "step_ns", 0): large})
    assert read.ranks[0].series["step_ns"][0] == large


def test_a_metric_knows_its_window() -> None:
    assert load(Metric, SERIES, kind="metric").samples == 3
    assert load(Metric, {**SERIES, "window": "all"}, kind="metric").samples is None
    assert load(Metric, VALUE, kind="metric").samples is None


@pytest.mark.parametrize(
    ("data", "adopts"),
    [
        ({"when": "a.b < 1"}, True),
        ({"otherwise": True}, False),
        ({"when": "a.b < 1", "adopts": False}, False),
        ({"otherwise": True, "adopts": True}, True),
    ],
)
def test_an_outcome_with_a_rule_adopts_unless_it_says_otherwise(data: dict[str, Any], adopts: bool) -> None:
    assert load(Outcome, {"name": "ONE", **data}, kind="outcome").changes_something is adopts


def test_the_runs_of_the_other_worlds_are_sound() -> None:
    assert load(Run, run_file(FREEZE), kind="run").rung == "r0"
