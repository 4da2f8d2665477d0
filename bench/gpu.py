"""Facts of the GPUs that the driver tells through ``nvidia-smi``, each Unknown with a reason where it cannot be read.

Asked only when a run uses CUDA. Its text has been parsed in tests and never met a real GPU.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

# Fact name by the field of `nvidia-smi --query-gpu` (nvidia-smi --help-query-gpu); units as nvidia-smi prints them.
FIELDS = {
    "driver_version": "driver_version",
    "gpu_uuid": "uuid",
    "gpu_names": "name",
    "gpu_power_limit": "power.limit",
    "gpu_clock_sm": "clocks.sm",
    "gpu_clock_memory": "clocks.mem",
    "gpu_clock_sm_max": "clocks.max.sm",
    "gpu_clock_memory_max": "clocks.max.mem",
    "gpu_ecc": "ecc.mode.current",
    "gpu_persistence": "persistence_mode",
}
# The same of what is read again when training ends: a GPU that throttled then is a slower one than it says.
AFTER = {
    "gpu_clock_sm_after": "clocks.sm",
    "gpu_clock_memory_after": "clocks.mem",
    "gpu_throttle_after": "clocks_throttle_reasons.active",
}
_LIMIT_S = 20
_NOT_TOLD = ("[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]", "")


def query(fields: Iterable[str] = FIELDS.values()) -> str:
    """What nvidia-smi prints, one line a GPU. Raises OSError or subprocess.SubprocessError."""
    call = ["nvidia-smi", f"--query-gpu=index,{','.join(fields)}", "--format=csv,noheader"]
    done = subprocess.run(call, capture_output=True, timeout=_LIMIT_S, check=True, stdin=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace")


def gpu_facts(
    is_cuda: bool, ask: Callable[[], str] = query, environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The facts of the visible GPUs of this machine; where GPUs differ, each one's in the order torch numbers them."""
    if not is_cuda:
        return {name: {"unknown": "not_applicable", "detail": "a CPU run"} for name in FIELDS}
    try:
        rows = chosen(parse(ask()), environment.get("CUDA_VISIBLE_DEVICES"))
    except (OSError, subprocess.SubprocessError, ValueError) as fault:
        why = f"nvidia-smi: {fault}"[:300]
        return {name: {"unknown": "unreadable", "detail": why} for name in FIELDS}
    return {name: _joined(name, rows) for name in FIELDS}


def own_facts(uuid: str | None, ask: Callable[[], str] = query) -> dict[str, Any]:
    """The facts of the GPU whose ``uuid`` torch tells, for :func:`over_ranks`; each Unknown where it is not listed."""
    return _of_one(uuid, ask, FIELDS)


def after_facts(uuid: str | None, ask: Callable[[Iterable[str]], str] = query) -> dict[str, Any]:
    """The same of :data:`AFTER`, each asked for by itself: a driver that lacks one field answers nothing."""
    found: dict[str, Any] = {}
    for name, field in AFTER.items():
        asked = {"gpu_uuid": "uuid", name: field}
        found[name] = _of_one(uuid, lambda asked=asked: ask(asked.values()), asked)[name]  # type: ignore[misc]
    return found


def _of_one(uuid: str | None, ask: Callable[[], str], asked: Mapping[str, str]) -> dict[str, Any]:
    try:
        rows = [row for row in parse(ask(), asked) if uuid and row["gpu_uuid"].removeprefix("GPU-") == _bare(uuid)]
        if len(rows) != 1:
            raise ValueError(f"it lists no GPU {uuid}" if uuid else "torch does not tell which GPU it is")
    except (OSError, subprocess.SubprocessError, ValueError) as fault:
        return {name: {"unknown": "unreadable", "detail": f"nvidia-smi: {fault}"[:300]} for name in asked}
    return {name: _joined(name, rows) for name in asked}


def _bare(uuid: str) -> str:
    return uuid.removeprefix("GPU-")


def over_ranks(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Facts of every rank's own GPU: once where they are alike, else each rank's in order; one Unknown stands for all.

    Empty where no rank has a GPU.
    """
    found: dict[str, Any] = {}
    for name in told[0] if told else ():
        unknown = next((one[name] for one in told if isinstance(one[name], dict)), None)
        texts = [str(one[name]) for one in told]
        found[name] = unknown or (texts[0] if len(set(texts)) == 1 else "; ".join(texts))
    return found


def parse(text: str, asked: Iterable[str] = FIELDS) -> list[dict[str, str]]:
    """One dict of facts a GPU, with its ``index``. Raises ValueError for a line of another shape."""
    names = ("index", *asked)
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{len(row)} fields where {len(names)} were asked for: {', '.join(row)[:80]}")
    if not rows:
        raise ValueError("no GPU in its answer")
    return [dict(zip(names, row, strict=True)) for row in rows]


def chosen(rows: list[dict[str, str]], visible: str | None) -> list[dict[str, str]]:
    """The rows that CUDA_VISIBLE_DEVICES names, in its order: numbers, or the beginnings of uuids.

    Numbers agree with torch's because the harness sets CUDA_DEVICE_ORDER=PCI_BUS_ID. As CUDA does, it stops at the
    first name that fits nothing. Raises ValueError where none is left.
    """
    if visible is None:
        return rows
    found: list[dict[str, str]] = []
    for name in (part.strip() for part in visible.split(",")):
        is_uuid = name.startswith("GPU-")
        row = next((r for r in rows if (r["gpu_uuid"].startswith(name) if is_uuid else r["index"] == name)), None)
        if row is None:
            break
        found.append(row)
    if not found:
        raise ValueError(f"CUDA_VISIBLE_DEVICES={visible} names none of its GPUs")
    return found


def _joined(name: str, rows: list[dict[str, str]]) -> Any:
    told = [row[name] for row in rows]
    if all(text in _NOT_TOLD for text in told):
        return {"unknown": "unreadable", "detail": f"nvidia-smi says {told[0] or 'nothing'}"}
    return told[0] if len(set(told)) == 1 else "; ".join(told)
