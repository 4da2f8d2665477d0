"""Orders: what the ledger tells the harness beyond the freeze entry, such as a contingency that has fired.

The plan declared them before data, and the ledger checks at intake that the run did what they say; nothing here
judges whether they were called for.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.faults import SpecError
from bench.strict import optional, parse, read_bytes, take, whole

SCHEMA = "ledger/orders/v1"
MAX_BYTES = 1024 * 1024
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PARTS = ("steps", "settings", "label")
_HINT = "give the file that the ledger wrote for this freeze"


@dataclass(frozen=True)
class Change:
    """What one rung runs instead: ``settings`` go on top of its own, ``steps`` replace its own."""

    steps: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    label: str | None = None


@dataclass(frozen=True)
class Orders:
    """The changes by rung, and the reference curves as written; ``data`` are the file's own bytes."""

    rungs: dict[str, Change] = field(default_factory=dict)
    curves: list[Any] | None = None
    data: bytes = field(default=b"", repr=False)

    def settings_of(self, rung: str) -> dict[str, Any]:
        """What goes on top of the rung's own settings; nothing where it is not named."""
        return self.rungs.get(rung, Change()).settings

    def facts(self, rung: str) -> dict[str, Any]:
        """The facts that a run under these orders states; none without orders."""
        if not self.data:
            return {}
        label = self.rungs.get(rung, Change()).label
        return {"orders_digest": hashlib.sha256(self.data).hexdigest(), **({"orders_label": label} if label else {})}


NONE = Orders()


def read_orders(path: Path, freeze: str, rung: str) -> Orders:
    """The orders at ``path`` for ``rung`` under the freeze with that digest.

    Raises SpecError for a file of another form, another freeze, or one that has nothing to say of the rung;
    EnvironmentFault for one that cannot be read. Whether the settings are settings is :mod:`bench.spec`'s to say.
    """
    data = read_bytes(path, "the orders", MAX_BYTES)
    try:
        return _orders(parse(data, _HINT), data, freeze, rung)
    except SpecError as fault:
        fault.where = f"{path}: {fault.where}" if fault.where else str(path)
        raise


def _orders(told: Any, data: bytes, freeze: str, rung: str) -> Orders:
    for part, wanted in (("schema", SCHEMA), ("freeze", freeze)):
        found = take(told, part, str)
        if found != wanted:
            what = "not orders" if part == "schema" else "orders for another freeze"
            raise SpecError(what, where=part, expected=wanted, found=found, hint=_HINT)
    _only(told, ("schema", "freeze", "rungs", "curves"))
    rungs = {name: _change(one, f"rungs.{name}.") for name, one in optional(told, "rungs", dict).items()}
    curves = optional(told, "curves", list) or None
    if rung not in rungs and curves is None:
        hint = "run it without --orders, or give orders that name it"
        raise SpecError("no order for this rung", where="rungs", expected=rung, found=", ".join(rungs), hint=hint)
    return Orders(rungs, curves, data)


def _change(told: Any, where: str) -> Change:
    try:
        _only(told, _PARTS)
        steps = None if told.get("steps") is None else whole(told, "steps", 1)
        label = None if told.get("label") is None else take(told, "label", str)
        if label is not None and not _LABEL.fullmatch(label):
            raise SpecError("not a label", where="label", expected="letters, digits, . _ -", found=repr(label)[:80])
        return Change(steps, optional(told, "settings", dict), label)
    except SpecError as fault:
        fault.where = where + fault.where if fault.where else where.rstrip(".")
        raise


def _only(told: Any, known: tuple[str, ...]) -> None:
    if not isinstance(told, dict):
        raise SpecError("wrong type", expected="an object", found=repr(told)[:80])
    for name in told:
        if name not in known:
            raise SpecError("an unknown part", where=name, expected=", ".join(known), found=name)
