"""What a document may hold at one place, in words: read off the model's own JSON Schema, walked along a field's path.

It judges no value; pydantic does, and ``faults.py`` words what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from ledger.model import patterns

Path = tuple[int | str, ...]
Part = Mapping[str, Any]
_PLAIN = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping, name: value",
}
_MOST_FIELDS = 12


def parts_at(model: type[BaseModel], path: Path, document: Any) -> list[Part]:
    """Every part of the schema that may stand at ``path`` of ``document``; of a tagged union only the tagged one."""
    root = _schema(model)
    found = list(_arms(root, root, document))
    for step in path:
        document = _child(document, step)
        found = [arm for part in found for child in _below(part, step) for arm in _arms(child, root, document)]
    return found


def fields(parts: list[Part]) -> list[str]:
    """The names of the fields that may stand there, in the model's order."""
    return list(dict.fromkeys(name for part in parts for name in part.get("properties", ())))


def in_words(parts: list[Part]) -> str | None:
    """What may stand there: ``a number, or {"unknown": reason}``; None where the schema does not say."""
    words = list(dict.fromkeys(word for part in parts if (word := _words(part))))
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    # The longest last, so that it does not hide the others.
    return ", or ".join(sorted(words, key=lambda word: "{" in word)) or None


def asks_for(parts: list[Part], pattern: str) -> bool:
    """Whether text of that pattern may stand there."""
    return any(part.get("pattern") == pattern for part in parts)


@lru_cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _child(document: Any, step: int | str) -> Any:
    if isinstance(document, dict):
        return document.get(step)
    return document[step] if isinstance(document, list) and isinstance(step, int) else None


def _arms(part: Part, root: Part, document: Any) -> Iterator[Part]:
    """``part`` without references and unions: each thing that it may be."""
    if "$ref" in part:
        part = root["$defs"][part["$ref"].rpartition("/")[2]]
    arms = part.get("anyOf") or part.get("oneOf")
    if not arms:
        yield part
        return
    tag = part.get("discriminator")
    if tag and isinstance(document, dict) and (chosen := tag["mapping"].get(str(document.get(tag["propertyName"])))):
        arms = [{"$ref": chosen}]
    for arm in arms:
        yield from _arms(arm, root, document)


def _below(part: Part, step: int | str) -> Iterator[Part]:
    if isinstance(step, int):
        yield from ([part["items"]] if isinstance(part.get("items"), dict) else part.get("prefixItems", ())[step:][:1])
        return
    if step in part.get("properties", {}):
        yield part["properties"][step]
        return
    yield from part.get("patternProperties", {}).values()
    if isinstance(part.get("additionalProperties"), dict):
        yield part["additionalProperties"]


def _words(part: Part) -> str | None:
    if "const" in part or "enum" in part:
        values = part.get("enum", [part.get("const")])
        return ", ".join(_plain(value) for value in values[:-1]) + (" or " * (len(values) > 1)) + _plain(values[-1])
    if "pattern" in part:
        return patterns.WORDS.get(part["pattern"], "text")
    reasons = part.get("properties", {}).get("unknown")
    if reasons and "enum" in reasons and "unknown" in part.get("required", ()):
        return '{"unknown": reason}, the reason one of ' + ", ".join(reasons["enum"])
    if part.get("properties"):
        return f"the fields {_told(part)}"
    if isinstance(part.get("additionalProperties"), dict) or part.get("patternProperties"):
        return "a mapping by name, such as NAME: ..., and no list"
    return _PLAIN.get(str(part.get("type")))


def _told(part: Part) -> str:
    """The fields of an object, those that it must have first, and how little is enough."""
    known, must = list(part["properties"]), list(part.get("required", ()))
    others = [name for name in known if name not in must]
    shown = others[: max(0, _MOST_FIELDS - len(must))]
    more = f" and {len(others) - len(shown)} more" if len(others) > len(shown) else ""
    least = ", ".join(f"{name}: {_example(part['properties'][name])}" for name in must or known[:1])
    needed = f"{', '.join(must)} (needed)" if must else ""
    optional = f"{', '.join(shown)}{more}"
    return f"{'; '.join(one for one in (needed, optional) if one)}; such as {'{'}{least}{'}'}"


def _example(part: Part) -> str:
    """A value that may stand there, or dots."""
    if "const" in part or "enum" in part:
        return _plain(part.get("enum", [part.get("const")])[0])
    return {"boolean": "true", "integer": "1", "number": "1", "array": "[...]"}.get(str(part.get("type")), "...")


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
