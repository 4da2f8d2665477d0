"""Whether what a rank left has the shape in which this harness writes it; what has not is damaged, and is not used.

It judges no number: a shape is which parts there are, and of which kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from bench.definitions import DEFINITIONS

Test = Callable[[Any], bool]
OUTCOMES = ("ok", "oom", "timeout", "error", "refused")
"""The kinds that a rank itself can leave."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _measured(value: Any) -> bool:
    """A number, or an Unknown with its reason."""
    return _number(value) or (isinstance(value, dict) and _text(value.get("unknown")))


def _series(value: Any) -> bool:
    """A sample of each series, by the name of the series."""
    return isinstance(value, dict) and all(name in DEFINITIONS and _sample(name, one) for name, one in value.items())


def _sample(name: str, value: Any) -> bool:
    if not name.endswith("_hex"):
        return _measured(value)
    try:
        float.fromhex(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _limits(value: Any) -> bool:
    return isinstance(value, dict) and all(_whole(one) for one in value.values())


_LINES: dict[str, dict[str, Test]] = {
    "facts": {"facts": _object},
    "phase": {"phase": _text},
    "step": {"series": _series},
    "value": {"phase": _text, "name": _text, "value": _measured},
    "check": {"name": _text, "value": _measured},
    "count": {"name": _text, "value": _whole},
    "items": {"table": _text, "keys": _list, "values": _list, "unit": _text, "definition": _text},
    "probe": {"probe": lambda value: isinstance(value, dict) and isinstance(value.get("measured"), dict)},
}
_OUTCOME: dict[str, Test] = {
    **dict.fromkeys(("rank", "step"), _whole),
    **dict.fromkeys(("requested_bytes", "allocated_bytes", "reserved_bytes", "cap_bytes"), _whole),
    **dict.fromkeys(("phase", "message"), _text),
    **dict.fromkeys(("at", "began"), _number),
    "limits": _limits,
}


def is_line(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether it is a line of a journal; one of a kind that is not known here is, and nothing reads it."""
    if not isinstance(value, dict) or not _text(value.get("is")):
        return False
    return all(part in value and test(value[part]) for part, test in _LINES.get(value["is"], {}).items())


def is_outcome(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether it is what a rank writes of its end."""
    if not isinstance(value, dict) or value.get("kind") not in OUTCOMES:
        return False
    timed = value["kind"] == "ok" or "at" in value
    return timed and all(test(value[part]) for part, test in _OUTCOME.items() if part in value)
