"""What of check 7 is about pins of git objects: each one that the plan asks for is there, and no other.

Whether git holds such objects is not asked: an archive has no git.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.entries import FreezeBody


def pin_problems(body: FreezeBody, where: str) -> Iterator[Problem]:
    """What the pins of a freeze entry name otherwise than its plan; ``where`` is the entry."""
    plan = body.plan
    paths = list(plan.code.paths) if plan.code else []
    rungs = [rung.id for rung in plan.ladder.rungs if rung.revision is not None]
    baselines = [one.name for one in plan.baselines or () if one.ref is not None]
    yield from _differ(f"{where}: body.code.paths", paths, list(body.code.paths))
    yield from _differ(f"{where}: body.code.revisions", rungs, list(body.code.revisions or {}))
    yield from _differ(f"{where}: body.baselines", baselines, [one.name for one in body.baselines])


def _differ(where: str, asked: list[str], pinned: list[str]) -> Iterator[Problem]:
    if sorted(asked) != sorted(pinned):
        yield Problem(
            "pins_differ",
            "the freeze entry does not pin what the plan asks for",
            where=where,
            expected=f"a pin of each of {', '.join(asked)}" if asked else "none",
            found=", ".join(pinned) or "none",
            hint="this program writes no such thing: bring the true files back, from git or from an archive",
        )
