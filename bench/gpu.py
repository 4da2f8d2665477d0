"""Facts of the GPUs that the driver tells through ``nvidia-smi``, each Unknown with a reason where it cannot be read.

Asked only when a run uses CUDA. Its text has been parsed in tests and never met a real GPU.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Callable, Mapping
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
_LIMIT_S = 20
_NOT_TOLD = ("[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]", "")


def query() -> str:
    """What nvidia-smi prints, one line a GPU. Raises OSError or subprocess.SubprocessError."""
    call = ["nvidia-smi", f"--query-gpu=index,{','.join(FIELDS.values())}", "--format=csv,noheader"]
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


def parse(text: str) -> list[dict[str, str]]:
    """One dict of facts a GPU, with its ``index``. Raises ValueError for a line of another shape."""
    names = ("index", *FIELDS)
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
