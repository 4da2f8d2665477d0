"""Whether windows and spacings of series fit: a window no longer than a rung, one spacing a series.

A series is logged a step at a time unless ``every`` says how many steps a sample covers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.plan import Prereg
from ledger.model.reads import SeriesRead
from ledger.plancheck.structure import Fault, Path


def window_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    most = max(plan.ladder.steps_of(rung.id) for rung in plan.ladder.rungs)
    for name, metric in plan.metrics.items():
        if metric.series is not None:
            yield from _too_long(("metrics", name), name, (metric.window, metric.samples, metric.every), most)
    for name, read in (plan.reads or {}).items():
        if isinstance(read, SeriesRead) and read.rung not in (plan.banked or {}):  # it has its own length
            steps = plan.ladder.steps_of(read.rung)
            yield from _too_long(("reads", name), name, (read.window, read.samples, read.every), steps)
    yield from _spacing(plan)


def _too_long(path: Path, name: str, own: tuple[str | None, int | None, int | None], steps: int) -> Iterator[Fault]:
    window, samples, every = own[0], own[1], own[2] or 1
    if (samples or 1) * every <= steps:
        return
    each = f" of {every} steps each" if every > 1 else ""
    fits = steps // every
    yield (
        (*path, "window" if fits else "every"),
        Problem(
            "window_too_long",
            f"the window of {name} is longer than a rung, so {name} could only be unknown",
            expected=f"at most last {fits}{each}" if fits else f"samples of at most {steps} steps",
            found=f"{window}{each}",
            hint="shorten the window, or train more steps",
        ),
    )


def _spacing(plan: Prereg) -> Iterator[Fault]:
    """Two spacings of one series: a run file has one, so what asks for the other could only be unknown."""
    seen: dict[str, tuple[int, str]] = {}
    for path, series, every in _asked(plan):
        own = every or 1
        first, where = seen.setdefault(series, (own, _dotted(path)))
        if own != first:
            yield (
                (*path, "every"),
                Problem(
                    "two_spacings",
                    f"{series} is read as one sample every {own} steps here, and every {first} in {where}",
                    expected=f"every: {first}" if first > 1 else "no every:",
                    found=f"every: {own}" if own > 1 else "no every:",
                    hint="a run file has one spacing a series: use the one that the harness logs",
                ),
            )


def _asked(plan: Prereg) -> Iterator[tuple[Path, str, int | None]]:
    for name, metric in plan.metrics.items():
        if metric.series is not None:
            yield ("metrics", name), metric.series, metric.every
    for name, read in (plan.reads or {}).items():
        if isinstance(read, SeriesRead):
            yield ("reads", name), read.series, read.every
    for name, guard in (plan.guards or {}).items():
        if guard.kind == "overlay":
            yield ("guards", name), guard.series, guard.every
    for index, kill in enumerate(plan.kill or ()):
        if kill.against is not None:
            yield ("kill", index, "against"), kill.against.series, kill.against.every


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
