"""A rule as JSON, as the freeze entry keeps it: typed, every number exact and in base units.

A number is ``{"op": "number", "value": "67645734912", "unit": "B", "written": "63 GiB", "type": "data"}``: ``value``
has the text of ``units.exact_text``, and ``written``, which must say the same amount, is there so that a trace shows
the rule as its author wrote it. A flat chain is ``{"op": "chain", "signs": ["+", "-"], "of": [a, b, c], "type": ...}``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ledger.errors import InputError, RuleError
from ledger.rules.checker import Types, dimension_of, require_types
from ledger.rules.printer import number_text
from ledger.rules.syntax import (
    MAX_DEPTH,
    And,
    Call,
    Chain,
    Compare,
    Comparison,
    Expr,
    Negate,
    Not,
    Number,
    Or,
    Ref,
    Sign,
    Step,
)
from ledger.units import base_unit, exact_text, parse_exact, parse_quantity, parse_unit


def ast_json(expr: Expr, types: Types) -> dict[str, Any]:
    """``expr`` as JSON data: strings, lists, objects. Raises RuleError when it does not type-check."""
    require_types(expr, types)
    return _written(expr, types)


def _written(expr: Expr, types: Types) -> dict[str, Any]:
    def below(*parts: Expr) -> list[dict[str, Any]]:
        return [_written(part, types) for part in parts]

    match expr:
        case Or(parts) | And(parts):
            return {"op": "or" if isinstance(expr, Or) else "and", "of": below(*parts), "type": "bool"}
        case Not(operand):
            return {"op": "not", "of": below(operand), "type": "bool"}
        case Compare(op, left, right):
            return {"op": op, "of": below(left, right), "type": "bool"}
        case _:
            return {**_number(expr, below), "type": dimension_of(expr, types).name}


def _number(expr: Expr, below: Callable[..., list[dict[str, Any]]]) -> dict[str, Any]:
    match expr:
        case Number():
            unit = base_unit(expr.dimension).symbol
            return {"op": "number", "value": exact_text(expr.base), "unit": unit, "written": number_text(expr)}
        case Ref(name, attr):
            return {"op": "ref", "name": name, "attr": attr}
        case Negate(operand):
            return {"op": "negate", "of": below(operand)}
        case Chain(first, rest):
            signs = [step.sign for step in rest]
            return {"op": "chain", "signs": signs, "of": below(first, *(step.operand for step in rest))}
        case Call(function, arguments):
            return {"op": function, "of": below(*arguments)}
        case _:
            raise ValueError("a condition is no number in a checked rule")


def from_json(data: Any) -> Expr:
    """The tree that ``ast_json`` wrote. Raises RuleError ``bad_ast`` for anything else.

    The stored types are not trusted: check the tree with ``check_types`` before it decides anything.
    """
    return _read(data, "", MAX_DEPTH)


_FIELDS = {"number": {"value", "unit", "written"}, "ref": {"name", "attr"}, "chain": {"of", "signs"}}
_COUNTS = {"not": (1, 1), "negate": (1, 1), "abs": (1, 1), **dict.fromkeys(("<=", "<", ">=", ">"), (2, 2))}
_MANY = (2, 2000)
_OPS = {*_FIELDS, *_COUNTS, "and", "or", "min", "max"}


def _read(data: Any, path: str, levels: int) -> Expr:
    if levels == 0:
        raise _bad(path, f"at most {MAX_DEPTH} levels", "more")
    op = data.get("op") if isinstance(data, dict) else None
    if not isinstance(op, str) or op not in _OPS:
        raise _bad(path, f"an object whose op is one of {', '.join(sorted(_OPS))}", _short(data))
    fields = _FIELDS.get(op, {"of"}) | {"op", "type"}
    if set(data) != fields or not isinstance(data["type"], str):
        raise _bad(path, f"the fields {', '.join(sorted(fields))}", ", ".join(sorted(map(str, data))))
    if op == "number":
        return _read_number(data, path)
    if op == "ref":
        return Ref(_name(data, "name", path), _name(data, "attr", path))
    parts = data["of"]
    least, most = _COUNTS.get(op, _MANY)
    if not isinstance(parts, list) or not least <= len(parts) <= most:
        raise _bad(path, f"{least} to {most} parts" if most > least else f"{least} parts", _short(parts))
    read = tuple(_read(part, f"{path}.of[{i}]", levels - 1) for i, part in enumerate(parts))
    return _read_chain(data, read, path) if op == "chain" else _build(op, read)


def _build(op: str, parts: tuple[Expr, ...]) -> Expr:
    match op:
        case "and":
            return And(parts)
        case "or":
            return Or(parts)
        case "not":
            return Not(parts[0])
        case "negate":
            return Negate(parts[0])
        case "abs" | "min" | "max":
            return Call(op, parts)
        case _:
            return Compare(cast(Comparison, op), parts[0], parts[1])


def _read_chain(data: dict[str, Any], parts: tuple[Expr, ...], path: str) -> Expr:
    signs = data["signs"]
    alike = isinstance(signs, list) and (all(s in ("+", "-") for s in signs) or all(s in ("*", "/") for s in signs))
    if not alike or len(signs) != len(parts) - 1:
        raise _bad(f"{path}.signs", "one sign fewer than parts, all of + - or all of * /", _short(signs))
    steps = (Step(cast(Sign, sign), part) for sign, part in zip(signs, parts[1:], strict=True))
    return Chain(parts[0], tuple(steps))


def _read_number(data: dict[str, Any], path: str) -> Expr:
    found = _short([data["value"], data["unit"], data["written"]])
    try:
        value, unit, written = parse_exact(data["value"]), parse_unit(data["unit"]), parse_quantity(data["written"])
    except (InputError, TypeError, AttributeError):
        raise _bad(path, "an exact number, its base unit, and the number as written, as text", found) from None
    if value < 0 or unit.scale != 1:
        raise _bad(path, "a number that is not negative, in a base unit", found)
    if (written.base, written.unit.dimension) != (value, unit.dimension):
        raise _bad(path, "the same amount in base units and as written", found)
    return Number(written.value, written.unit.symbol)


def _name(data: dict[str, Any], field: str, path: str) -> str:
    text = data[field]
    if not isinstance(text, str) or not (text.isascii() and text.isidentifier()):
        raise _bad(f"{path}.{field}", "a name of letters, digits and _", _short(text))
    return text


def _bad(path: str, expected: str, found: str) -> RuleError:
    return RuleError(
        "bad_ast", "the stored rule is not a rule's tree", where=path.lstrip(".") or "the rule",
        expected=expected, found=found,
        hint="the stored rule was not written by this program, or was changed: run ledger verify",
    )  # fmt: skip


def _short(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 80 else text[:77] + "..."
