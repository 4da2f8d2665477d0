"""Every setting a rung may carry: its type, range and default, checked by name.

It knows no file and no torch; :mod:`bench.spec` reads the plan, :mod:`bench.worker` obeys it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from bench.faults import SpecError

VOCABULARY = 256  # the model reads bytes


@dataclass(frozen=True)
class Settings:
    """One rung's settings with defaults filled in. ``batch`` and ``threads`` are per rank; sizes in bytes."""

    layers: int = 4
    width: int = 128
    heads: int = 4
    context: int = 128
    vocabulary: int = VOCABULARY
    batch: int = 8
    dtype: str = "fp32"
    lr: float = 1e-3
    seed: int = 0
    checkpointing: str = "none"
    backward_chunks: int = 1
    allreduce: str = "once"
    threads: int = 1
    warmup_steps: int = 2  # DDP rebuilds its buckets in the second step
    memory_steps: int = 3
    device: str = "auto"
    perturb: str = "none"
    perturb_seed: int = 0
    memory_cap_bytes: int | None = None


CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": ("fp32", "bf16", "fp64"),
    "checkpointing": ("none", "full"),
    "allreduce": ("once", "per_chunk"),
    "device": ("auto", "cpu", "cuda"),
    "perturb": ("none", "ulp"),
}
RANGES: dict[str, tuple[int, int]] = {
    "layers": (1, 1024),
    "width": (1, 65536),
    "heads": (1, 1024),
    "context": (2, 1 << 20),
    "vocabulary": (VOCABULARY, VOCABULARY),
    "batch": (1, 65536),
    "seed": (0, (1 << 53) - 1),
    "backward_chunks": (1, 65536),
    "threads": (1, 1024),
    "warmup_steps": (1, 1000),
    "memory_steps": (0, 1000),
    "perturb_seed": (0, (1 << 53) - 1),
    "memory_cap_bytes": (1, 1 << 50),
}
KNOWN = tuple(field.name for field in fields(Settings))


def check_settings(raw: Mapping[str, Any]) -> Settings:
    """The settings of ``raw``, defaults filled in. Raises SpecError that names the first faulty key."""
    for key in raw:
        if key not in KNOWN:
            near = difflib.get_close_matches(key, KNOWN, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "remove it, or move it out of workload.settings"
            raise SpecError("unknown setting", where=key, expected=", ".join(KNOWN), found=key, hint=hint)
    checked = Settings(**{key: _check_one(key, value) for key, value in raw.items()})
    _check_together(checked)
    return checked


def defaults_applied(raw: Mapping[str, Any]) -> str:
    """The settings that ``raw`` left to their defaults, as ``key=value`` joined by commas."""
    defaults = asdict(Settings())
    return ",".join(f"{key}={value}" for key, value in defaults.items() if key not in raw)


def _check_one(key: str, value: Any) -> Any:
    if key in CHOICES:
        if value not in CHOICES[key]:
            raise SpecError("not a choice", where=key, expected=" or ".join(CHOICES[key]), found=repr(value))
        return value
    if key == "lr":
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not math.isfinite(value) or not 0 < value <= 10:
            raise SpecError("out of range", where=key, expected="a number above 0, at most 10", found=repr(value))
        return float(value)
    low, high = RANGES[key]
    expected = f"a whole number from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError("wrong type", where=key, expected=expected, found=repr(value))
    if not low <= value <= high:
        raise SpecError("out of range", where=key, expected=expected, found=repr(value))
    return value


def _check_together(settings: Settings) -> None:
    if settings.width % settings.heads:
        raise SpecError(
            "width is not a multiple of heads",
            where="heads",
            expected=f"a divisor of width ({settings.width})",
            found=str(settings.heads),
        )
    if settings.backward_chunks > settings.batch:
        raise SpecError(
            "more chunks than samples",
            where="backward_chunks",
            expected=f"at most batch ({settings.batch})",
            found=str(settings.backward_chunks),
            hint="a chunk holds at least one sample of this rank's batch",
        )
