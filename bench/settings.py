"""Every setting a rung may carry: its type, range and default, checked by name.

It knows no file and no torch; :mod:`bench.spec` reads the plan, :mod:`bench.worker` obeys it.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bench.faults import SpecError

Scalar = str | int | float | bool | None
BYTES = 256  # the bundled model reads bytes
BUNDLED = "gpt"
FREE = "x_"


@dataclass(frozen=True)
class Settings:
    """One rung's settings with defaults filled in. ``batch`` and ``threads`` are per rank; sizes in bytes.

    ``workload`` is ``gpt`` or a team's own ``package.module:factory`` (see :mod:`bench.workload`), whose
    own settings start with ``x_`` and stand in ``free``.
    """

    workload: str = BUNDLED
    layers: int = 4
    width: int = 128
    heads: int = 4
    context: int = 128
    vocabulary: int = BYTES  # more than 256 rows cost time and memory, and only the first 256 are read
    batch: int = 8
    dtype: str = "fp32"
    dropout: float = 0.0
    optimizer: str = "adamw"
    lr: float = 1e-3
    weight_decay: float = 0.1
    clip_norm: float | None = None
    seed: int = 0
    checkpointing: str = "none"
    checkpoint_every: int = 2  # every_nth: layers 0, n, 2n, ...
    checkpoint_save_ops: str = "matmul"  # selective: a named policy, or operators joined by commas
    checkpoint_early_stop: bool = True
    checkpoint_rng: bool = True
    backward_chunks: int = 1
    allreduce: str = "once"
    threads: int = 1
    warmup_steps: int = 2  # DDP rebuilds its buckets in the second step
    memory_steps: int = 3
    memory_method: str = "auto"
    log_every: int = 1  # steps that one sample of a series in the run file covers
    device: str = "auto"
    perturb: str = "none"
    perturb_seed: int = 0
    memory_cap_bytes: int | None = None
    peer_timeout_s: int = 600  # a rank waits as long for another in one collective, as while rank 0 saves
    free: dict[str, Scalar] = field(default_factory=dict)


CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": ("fp32", "bf16", "fp64"),
    "optimizer": ("adamw", "adamw_zero1"),
    "checkpointing": ("none", "full", "every_nth", "selective"),
    "allreduce": ("once", "per_chunk"),
    "memory_method": ("auto", "vmhwm", "storages"),
    "device": ("auto", "cpu", "cuda"),
    "perturb": ("none", "ulp"),
}
RANGES: dict[str, tuple[int, int]] = {
    "layers": (1, 1024),
    "width": (1, 65536),
    "heads": (1, 1024),
    "context": (2, 1 << 20),
    "vocabulary": (BYTES, 1 << 20),
    "batch": (1, 65536),
    "seed": (0, (1 << 53) - 1),
    "checkpoint_every": (1, 1024),
    "backward_chunks": (1, 65536),
    "threads": (1, 1024),
    "warmup_steps": (1, 1000),
    "memory_steps": (0, 1000),
    "log_every": (1, 1_000_000),
    "perturb_seed": (0, (1 << 53) - 1),
    "memory_cap_bytes": (1, 1 << 50),
    "peer_timeout_s": (1, 86_400),
}
_REALS: dict[str, tuple[float, float, str]] = {
    "lr": (math.ulp(0.0), 10.0, "a number above 0, at most 10"),
    "dropout": (0.0, 0.99, "a number from 0 to 0.99"),
    "weight_decay": (0.0, 10.0, "a number from 0 to 10"),
    "clip_norm": (math.ulp(0.0), 1e9, "a number above 0, at most 1e9"),
}
_SWITCHES = ("checkpoint_early_stop", "checkpoint_rng")
_OPERATOR = r"[a-z0-9_]+\.[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?"
_DOTTED = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
_TEXTS: dict[str, tuple[str, str]] = {
    "workload": (rf"{BUNDLED}|{_DOTTED}:{_DOTTED}", "gpt or package.module:factory"),
    "checkpoint_save_ops": (
        rf"[a-z_]+|{_OPERATOR}(,{_OPERATOR})*",
        "a named policy (matmul, attention) or operators such as aten.mm,aten.bmm",
    ),
}
KNOWN = tuple(item.name for item in fields(Settings) if item.name != "free")
_GPT_ONLY = ("layers", "width", "heads", "context", "vocabulary")


def check_settings(raw: Mapping[str, Any]) -> Settings:
    """The settings of ``raw``, defaults filled in. Raises SpecError that names the first faulty key."""
    own = str(raw.get("workload", BUNDLED)) != BUNDLED
    for key in raw:
        if key not in KNOWN and not key.startswith(FREE):
            near = difflib.get_close_matches(key, KNOWN, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"a plug-in workload's own settings start with {FREE}"
            raise SpecError("unknown setting", where=key, expected=", ".join(KNOWN), found=key, hint=hint)
        if key.startswith(FREE) and not own:
            raise SpecError("a setting for a plug-in workload", where=key, expected="workload: package.module:factory")
        if key in _GPT_ONLY and own:
            hint = f"name your model's own setting {FREE}{key}"
            raise SpecError("a setting of the bundled model", where=key, expected="workload: gpt", hint=hint)
    free = {key: _check_free(key, value) for key, value in raw.items() if key.startswith(FREE)}
    checked = Settings(**{key: _check_one(key, raw[key]) for key in raw if key not in free}, free=free)
    _check_together(checked)
    return checked


def check_ladder(rungs: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SpecError where rungs (raw settings by id) that differ in chunks train with dropout.

    Each chunk draws its own masks, so the random stream changes with the number of chunks: gradients of one
    batch then differed by 0.38 to 0.44 (relative norm), where honest chunking differs by 5e-7. So their losses
    could not be compared. Values are taken as written: each rung's own check says whether they are values at all.
    """
    chunks = {name: raw.get("backward_chunks", 1) for name, raw in rungs.items()}
    dropping = any(raw.get("dropout", 0) for raw in rungs.values())
    if dropping and any(count != 1 for count in chunks.values()):
        raise SpecError(
            "dropout in a ladder that chunks the backward",
            where="dropout",
            expected="dropout: 0, or backward_chunks: 1 in all rungs",
            found=", ".join(f"{name}: {count} chunks" for name, count in chunks.items()),
            hint="the random stream depends on the number of chunks, so the losses would differ for that reason",
        )


def check_steps(settings: Settings, steps: int) -> None:
    """Raise SpecError where the rung's steps do not fill its last logging window: a short one is no sample."""
    if steps % settings.log_every:
        raise SpecError(
            "the steps do not fill the last logging window",
            where="log_every",
            expected=f"a divisor of the rung's steps ({steps})",
            found=str(settings.log_every),
            hint="a series holds one sample a window of log_every steps, and a short window would not be alike",
        )


def defaults_applied(raw: Mapping[str, Any]) -> str:
    """The settings that ``raw`` left to their defaults, as ``key=value`` joined by commas."""
    unused = {"free", *(_GPT_ONLY if raw.get("workload", BUNDLED) != BUNDLED else ())}
    defaults = asdict(Settings())
    return ",".join(f"{key}={value}" for key, value in defaults.items() if key not in raw and key not in unused)


def _check_free(key: str, value: Any) -> Scalar:
    if not re.fullmatch(FREE + r"[a-z][a-z0-9_]{0,60}", key):
        raise SpecError("not a name", where=key, expected=f"{FREE} and small letters, digits, _", found=key)
    if not isinstance(value, str | int | float | bool | None) or value in (math.inf, -math.inf) or value != value:
        raise SpecError("not a scalar", where=key, expected="text, a finite number or true/false", found=repr(value))
    return value


def _check_one(key: str, value: Any) -> Any:
    if key in CHOICES:
        if value not in CHOICES[key]:
            raise SpecError("not a choice", where=key, expected=" or ".join(CHOICES[key]), found=repr(value))
        return value
    if key in _TEXTS:
        pattern, expected = _TEXTS[key]
        if not isinstance(value, str) or len(value) > 1000 or not re.fullmatch(pattern, value):
            raise SpecError("not of this form", where=key, expected=expected, found=repr(value)[:200])
        return value
    if key in _SWITCHES:
        if not isinstance(value, bool):
            raise SpecError("wrong type", where=key, expected="true or false", found=repr(value))
        return value
    return _check_real(key, value) if key in _REALS else _check_whole(key, value)


def _check_real(key: str, value: Any) -> float:
    low, high, expected = _REALS[key]
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not low <= value <= high:
        raise SpecError("out of range", where=key, expected=expected, found=repr(value))
    return float(value)


def _check_whole(key: str, value: Any) -> int:
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
    if settings.dropout and settings.backward_chunks > 1:
        raise SpecError(
            "dropout with a chunked backward",
            where="dropout",
            expected="dropout: 0, or backward_chunks: 1",
            found=f"dropout {settings.dropout}, {settings.backward_chunks} chunks",
            hint="each chunk draws its own masks: the random stream, and so the gradient, depends on the chunks",
        )
    if settings.dropout and not settings.checkpoint_rng and settings.checkpointing != "none":
        raise SpecError(
            "dropout needs the random state in the recomputation",
            where="checkpoint_rng",
            expected="true",
            found="false",
            hint="without it a layer is recomputed under other masks and its gradient is wrong",
        )
