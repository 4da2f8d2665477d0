"""The committed JSON Schemas are those of the models, and both judge one corpus of documents alike.

pydantic validates; ``jsonschema`` is for those who read the schemas. What JSON Schema cannot say is listed with the
reason, so that the two never drift apart unseen.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ledger.derive import kept_as
from ledger.errors import InputError
from ledger.model.base import Strict, load
from ledger.model.entries import EntryDocument, RunEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.schemas import schemas
from tests.deciding import (
    FREEZE,
    GONE,
    PLAN,
    SETTINGS,
    TAKEN_IN_AT,
    TOOL,
    Bend,
    bent,
    decide,
    freeze_entry,
    ladder,
    plan,
)
from tests.deciding import intake as taken_in
from tests.golden.generate import schema_files
from tests.worlds import RECORD, oom_run, run_file

ROOT = Path(__file__).resolve().parents[2]
ENVELOPE: dict[str, Any] = {
    "schema": "ledger/entry/v1", "record": RECORD, "parents": ("e" * 64,), "at": TAKEN_IN_AT, "by": {"name": "T"},
}  # fmt: skip


def _run_entry() -> dict[str, Any]:
    body = taken_in(freeze_entry(plan()), ladder()[0]).body
    return RunEntry(kind="run", body=body, **ENVELOPE).to_json()


def _decide_entry() -> dict[str, Any]:
    body = decide(plan(), ladder()).to_json()
    return {**ENVELOPE, "parents": ["e" * 64], "kind": "decide", "body": body}


SOUND: dict[str, dict[str, Any]] = {
    "plan": PLAN,
    "run": run_file(FREEZE, settings=SETTINGS["r0"]),
    "out of memory": oom_run(FREEZE),
    "freeze": freeze_entry(plan()).to_json(),
    "taken in": _run_entry(),
    "decide": _decide_entry(),
}
SCHEMA_OF = {"plan": "prereg-v1", "run": "run-v1", "out of memory": "run-v1"}


def by_pydantic(kind: str, document: Mapping[str, Any]) -> bool:
    models: dict[str, type[Strict]] = {"prereg-v1": Prereg, "run-v1": Run, "entry-v1": EntryDocument}
    stem = SCHEMA_OF.get(kind, "entry-v1")
    try:
        load(models[stem], {"entry": document} if stem == "entry-v1" else document, kind="document")
    except InputError:
        return False
    return True


VALIDATORS = {
    stem: jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for stem, schema in schemas().items()
}


def by_schema(kind: str, document: Mapping[str, Any]) -> bool:
    return bool(VALIDATORS[SCHEMA_OF.get(kind, "entry-v1")].is_valid(json.loads(json.dumps(document))))


@pytest.mark.parametrize("kind", SOUND)
def test_sound_documents_pass_both(kind: str) -> None:
    assert by_pydantic(kind, SOUND[kind])
    assert by_schema(kind, SOUND[kind])


STEPS = ("ranks", 0, "series", "step_ns")
LOSS = ("ranks", 0, "series", "loss_hex")

# kind of document, bends of the sound one, whether it is still sound
CORPUS: dict[str, tuple[str, Bend, bool]] = {
    "an unknown field": ("plan", {("quesion",): "what?"}, False),
    "a field missing": ("plan", {("question",): GONE}, False),
    "another version": ("plan", {("schema",): "ledger/prereg/v2"}, False),
    "an id without a month": ("plan", {("id",): "2026-actckpt"}, False),
    "an id in capitals": ("plan", {("id",): "2026-08-Actckpt"}, False),
    "a blank title": ("plan", {("title",): "  "}, False),
    "a number for a title": ("plan", {("title",): 3}, False),
    "a due day": ("plan", {("due",): "2026-09-30"}, True),
    "a due day that is not there": ("plan", {("due",): "2026-02-30"}, False),
    "a due time": ("plan", {("due",): "2026-09-30T00:00:00Z"}, False),
    "an unknown role": ("plan", {("ladder", "rungs", 0, "role"): "baseline"}, False),
    "no rungs": ("plan", {("ladder", "rungs"): []}, False),
    "steps of zero": ("plan", {("ladder", "steps"): 0}, False),
    "steps as text": ("plan", {("ladder", "steps"): "4"}, False),
    "steps that are true": ("plan", {("ladder", "steps"): True}, False),
    "half a step": ("plan", {("ladder", "steps"): 4.5}, False),
    "a window of nothing": ("plan", {("metrics", "step_time", "window"): "last 0"}, False),
    "a metric with a hyphen": ("plan", {("metrics", "step-time"): PLAN["metrics"]["step_time"]}, False),
    "a value stated as a range": (
        "plan",
        {("decision", "examples", 0, "given", "r0.step_time"): {"at_least": "2.2 s", "at_most": "2.5 s"}},
        True,
    ),
    "a value stated as null": ("plan", {("decision", "examples", 0, "given", "r0.step_time"): None}, False),
    "a quantity with an unknown unit": ("plan", {("budget", "gate"): "2 GPUh"}, False),
    "a quantity without its number": ("plan", {("budget", "gate"): "GPU-h"}, False),
    "a load that is unknown": ("plan", {("budget", "load"): "unknown"}, True),
    "a step that is unknown": ("plan", {("budget", "step"): "unknown"}, False),
    "no devices": ("plan", {("budget", "devices"): 0}, False),
    "an unknown kind of guard": ("plan", {("guards", "loss_overlay", "kind"): "vibes"}, False),
    "a band of no width": ("plan", {("guards", "loss_overlay", "band"): {"absolute": 0}}, False),
    "a limit below zero": ("plan", {("guards", "gradients", "checks", "chunks_equal", "at_most"): -1}, False),
    "an outcome in small letters": ("plan", {("decision", "outcomes", 0, "name"): "adopt"}, False),
    "otherwise: false": ("plan", {("decision", "outcomes", 1, "otherwise"): False}, False),
    "otherwise: 1": ("plan", {("decision", "outcomes", 1, "otherwise"): 1}, False),
    "no outcome": ("plan", {("decision", "outcomes"): []}, False),
    "a rule of 2001 characters": ("plan", {("decision", "outcomes", 0, "when"): "r2.a <= 1" + " " * 1992}, False),
    "no class accepted": ("plan", {("decision", "accepts"): []}, False),
    "a class nobody knows": ("plan", {("decision", "accepts"): ["hearsay"]}, False),
    "a condition met or not known": ("plan", {("entry_conditions", 0, "met"): "unknown"}, True),
    "a condition met by hearsay": ("plan", {("entry_conditions", 0, "met"): "yes"}, False),
    "a setting that is a list": ("plan", {("ladder", "rungs", 0, "flags", "checkpointing"): ["none"]}, False),
    "a confidence above one": ("plan", {("expectations", 0, "confidence"): 1.01}, False),
    "a confidence of one": ("plan", {("expectations", 0, "confidence"): 1}, True),
    "a run_if that is no such thing": ("plan", {("ladder", "rungs", 5, "run_if"): "when in doubt"}, False),
    "a null for a number": ("run", {(*STEPS, 0): None}, False),
    "a number nobody has": ("run", {(*STEPS, 0): {"unknown": "not_recorded"}}, True),
    "a number unknown for no reason": ("run", {(*STEPS, 0): {"unknown": "because"}}, False),
    "a number unknown, with a value": ("run", {(*STEPS, 0): {"unknown": "invalid", "value": 3}}, False),
    "text for a number": ("run", {(*STEPS, 0): "9000000000"}, False),
    "a NaN by its word": ("run", {(*LOSS, 0): "nan"}, True),
    "a NaN by another word": ("run", {(*LOSS, 0): "NaN"}, False),
    "a float in capitals": ("run", {(*LOSS, 0): "0X1.0P+1"}, False),
    "an integer past 2**53": ("run", {(*STEPS, 0): 2**60}, True),
    "a digest cut short": ("run", {("freeze",): "f" * 63}, False),
    "a digest in capitals": ("run", {("freeze",): "F" * 64}, False),
    "an outcome nobody knows": ("run", {("outcome", "kind"): "fine"}, False),
    "a time without its fraction": ("run", {("began_at",): "2026-08-11T10:00:00Z"}, False),
    "a time of another zone": ("run", {("began_at",): "2026-08-11T10:00:00.000000+00:00"}, False),
    "a fact that is a list": ("run", {("facts", "torch"): ["2.13.0"]}, False),
    "a fact that is null": ("run", {("facts", "torch"): None}, False),
    "a fact that is not known": ("run", {("facts", "torch"): {"unknown": "unreadable"}}, True),
    "a commit of no hex digits": ("run", {("code", "commit"): "HEAD"}, False),
    "counts below zero": ("run", {("counts", "steps"): -1}, False),
    "a run id with a slash": ("run", {("run_id",): "../r0"}, False),
    "a limit of bytes": ("out of memory", {("outcome", "limits", "memory.reserved"): 1}, True),
    "a limit that is text": ("out of memory", {("outcome", "limits", "memory.reserved"): "80 GiB"}, False),
    "a kind of entry nobody knows": ("freeze", {("kind",): "thaw"}, False),
    "a body of another kind": ("freeze", {("kind",): "run"}, False),
    "an entry with a fraction of a second": ("freeze", {("at",): "2026-08-09T05:12:00.000000Z"}, False),
    "a parent that is no digest": ("freeze", {("parents",): ["main"]}, False),
    "somebody without a name": ("taken in", {("by",): {"email": "t@example.org"}}, False),
    "a rejection nobody knows": ("taken in", {("body", "rejections"): [{"code": "ugly", "text": "it is"}]}, False),
    "a metric without its class": ("taken in", {("body", "metrics", "step_time", "class"): GONE}, False),
    "a metric that is a bare number": ("taken in", {("body", "metrics", "step_time", "value"): 2.4}, False),
    "a metric with a float": ("taken in", {("body", "metrics", "step_time", "value", "value"): 2.4}, False),
    "a metric of a third": ("taken in", {("body", "metrics", "step_time", "value", "value"): "1/3"}, True),
    "a metric divided by zero": ("taken in", {("body", "metrics", "step_time", "value", "value"): "1/0"}, False),
    "a verdict nobody knows": ("decide", {("body", "trace", 0, "verdict"): "maybe"}, False),
    "evidence that is no digest": ("decide", {("body", "evidence", 0): "run.json"}, False),
    "a step before the first": ("decide", {("body", "guards", 0, "points", 0, "step"): -1}, False),
    "a tool without a version": ("decide", {("body", "tool"): {"name": TOOL.name}}, False),
    "a decision of no disposition": ("decide", {("body", "disposition"): GONE}, False),
}


@pytest.mark.parametrize(("kind", "bends", "sound"), CORPUS.values(), ids=CORPUS)
def test_both_judge_alike(kind: str, bends: Bend, sound: bool) -> None:
    document = bent(SOUND[kind], bends)
    assert (by_pydantic(kind, document), by_schema(kind, document)) == (sound, sound)


TWO_SOURCES = "one of two fields: the schema lists both as optional, and the model has the last word"
CROSS_FIELD = "one field judged by another"
UNIT = "the unit table, with its products and quotients, is the program's"
CALENDAR = "jsonschema checks date-time only with a package of its own; the model asks the calendar"
WORD = "a name that the pattern allows and the rule language keeps for itself"

# What the models refuse and JSON Schema lets pass: kind, bends, why the schema cannot say it
BEYOND_SCHEMA: dict[str, tuple[str, Bend, str]] = {
    "a metric of two sources": ("plan", {("metrics", "step_time", "value"): "peak"}, TWO_SOURCES),
    "a metric of none": ("plan", {("metrics", "step_time", "series"): GONE}, TWO_SOURCES),
    "a rule and a default": ("plan", {("decision", "outcomes", 0, "otherwise"): True}, TWO_SOURCES),
    "two bands": ("plan", {("guards", "loss_overlay", "band", "bitwise"): True}, TWO_SOURCES),
    "a kill of two triggers": ("plan", {("kill", 0, "on"): "oom_loop"}, TWO_SOURCES),
    "a range of nothing": ("plan", {("decision", "examples", 0, "given", "r0.step_time"): {}}, TWO_SOURCES),
    "a series without a window": ("plan", {("metrics", "step_time", "window"): GONE}, CROSS_FIELD),
    "a default with a guard": ("plan", {("decision", "outcomes", 1, "requires"): ["gradients"]}, CROSS_FIELD),
    "an outcome every record has": ("plan", {("decision", "outcomes", 0, "name"): "VOID"}, WORD),
    "a rung named like an operator": ("plan", {("ladder", "rungs", 1, "id"): "and"}, WORD),
    "a unit nobody knows": ("plan", {("metrics", "step_time", "unit"): "sec"}, UNIT),
    "a unit in the wrong case": ("plan", {("metrics", "vram_alloc_peak", "unit"): "gib"}, UNIT),
    "an hour that is not there": ("freeze", {("at",): "2026-08-09T25:12:00Z"}, CALENDAR),
    "a day that is not there": ("run", {("began_at",): "2026-02-30T10:00:00.000000Z"}, CALENDAR),
    "a series nobody defined": ("run", {("definitions", "step_ns"): GONE}, CROSS_FIELD),
    "a bound without a unit": (
        "taken in",
        {("body", "metrics", "step_time", "value"): {"unknown": "oom", "at_least": "80"}},
        CROSS_FIELD,
    ),
    "bounds the wrong way round": (
        "run",
        {(*STEPS, 0): {"unknown": "invalid", "at_least": 2, "at_most": 1}},
        CROSS_FIELD,
    ),
    "four as 4.0": ("plan", {("ladder", "steps"): 4.0}, "JSON Schema counts 4.0 as an integer"),
    "a line break after an id": (
        "run",
        {("rung",): "r0\n"},
        "Python's $ matches before a last line break; ECMA's does not",
    ),
}


@pytest.mark.parametrize(("kind", "bends", "reason"), BEYOND_SCHEMA.values(), ids=BEYOND_SCHEMA)
def test_what_the_schema_cannot_say_the_model_still_refuses(kind: str, bends: Bend, reason: str) -> None:
    document = bent(SOUND[kind], bends)
    assert not by_pydantic(kind, document)
    assert by_schema(kind, document), f"the schema can say it after all: move it to CORPUS ({reason})"


# --- the committed files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", schema_files())
def test_committed_schema_is_the_generated_one(name: str) -> None:
    committed = (ROOT / name).read_text(encoding="utf-8")
    assert committed == schema_files()[name], f"{name} is not what the models give; run: make schemas"


def test_no_other_schema_is_committed() -> None:
    assert {f"schemas/{path.name}" for path in (ROOT / "schemas").iterdir()} == set(schema_files())


@pytest.mark.parametrize("stem", schemas())
def test_schema_names_itself_and_its_version(stem: str) -> None:
    schema = schemas()[stem]
    jsonschema.Draft202012Validator.check_schema(schema)
    kind, version = stem.split("-")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:evidence-ledger:schema:{stem}"
    assert schema["x-format-version"] == f"ledger/{kind}/{version}"


def _parts(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each object type with its path, and each of its fields."""
    if "properties" in schema:
        yield path, schema
        for name, field in schema["properties"].items():
            yield f"{path}.{name}", field
    for name, definition in schema.get("$defs", {}).items():
        yield from _parts(definition, name)


@pytest.mark.parametrize("stem", schemas())
def test_every_type_and_field_has_a_description(stem: str) -> None:
    parts = dict(_parts(schemas()[stem], stem))
    assert [path for path, part in parts.items() if not str(part.get("description", "")).strip()] == []
    assert len(parts) > 30


@pytest.mark.parametrize("stem", schemas())
def test_no_type_takes_fields_it_does_not_know(stem: str) -> None:
    open_types = [
        path
        for path, part in _parts(schemas()[stem], stem)
        if "properties" in part and part.get("additionalProperties")
    ]
    assert open_types == []
    objects = [part for _, part in _parts(schemas()[stem], stem) if "properties" in part]
    assert all(part["additionalProperties"] is False for part in objects)


def test_a_blob_name_fits_the_schema() -> None:
    assert by_schema("taken in", bent(SOUND["taken in"], {("body", "run"): kept_as("0" * 64, 2).to_json()}))
