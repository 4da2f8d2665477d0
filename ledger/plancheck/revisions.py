"""Whether the code revisions of single rungs, and refs of baselines, can be pinned and compared, as far as the plan
alone tells.

Whether a ref is there, and whether its code differs, is asked of git when the plan is frozen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path

BUNDLED = "gpt"
"""The workload that the bundled harness runs where a plan names none of its own."""


def revision_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    rungs = {rung.id: rung for rung in plan.ladder.rungs}
    for place, baseline in enumerate(plan.baselines or ()):
        if baseline.ref is not None:
            yield from _of_this_clone(("baselines", place, "ref"), baseline.ref)
    for index, rung in enumerate(plan.ladder.rungs):
        path: Path = ("ladder", "rungs", index, "revision")
        if rung.revision is not None:
            yield from _of_this_clone((*path, "ref"), rung.revision.ref)
        if rung.revision is not None and plan.code is None:
            yield (
                path,
                Problem(
                    "revision_without_paths",
                    f"rung {rung.id} runs revision {rung.revision.ref}, and the plan pins no code",
                    expected="code.paths: what is under test, and what the revision changes",
                    found="no code:",
                    hint="add code: {paths: [...]}: without it no run could show which revision it ran",
                ),
            )
        elif rung.revision is not None:
            yield from _never_executed(plan, rung, path)
        repeated = rungs.get(rung.repeats or "")
        if repeated is not None and _ref(repeated) != _ref(rung):
            yield (
                path,
                Problem(
                    "repeat_differs",
                    f"{rung.id} repeats {repeated.id} with other code",
                    expected=_ref(repeated) or "no revision: the code checked out at freeze",
                    found=_ref(rung) or "no revision: the code checked out at freeze",
                    hint="a re-run runs the very code that it repeats",
                ),
            )


def _never_executed(plan: Prereg, rung: Rung, path: Path) -> Iterator[Fault]:
    """The bundled model imports nothing of what is pinned: both arms would run the same program."""
    paths = plan.code.paths if plan.code else ()
    settings = plan.workload.settings if plan.workload else {}
    workload = rung.flags.get("workload", settings.get("workload", BUNDLED))
    if plan.workload is None or workload != BUNDLED or any(_holds_harness(one) for one in paths):
        return
    under = ", ".join(f"{one.rstrip('/')}/" for one in paths)
    yield (
        path,
        Problem(
            "nothing_executed",
            f"rung {rung.id} runs another revision of {under}, and nothing under {under} is executed: the harness runs "
            "its bundled model, the same program in every arm",
            expected="a workload that is imported from code.paths",
            found=f"workload: {BUNDLED}",
            hint="name your own workload (workload: {settings: {workload: package.module:factory}}), or pin bench "
            "under code.paths where the harness itself is what differs",
        ),
    )


def _holds_harness(path: str) -> bool:
    """Whether the harness's own package is under a pinned path, or a part of it is."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return not parts or "bench" in parts


def _of_this_clone(path: Path, ref: str) -> Iterator[Fault]:
    """A ref that git resolves from what one clone did last names other commits in others, and tomorrow."""
    if "@{" in ref or re.match(r"[A-Z_]*_HEAD\b", ref):
        yield (
            path,
            Problem(
                "ref_of_one_clone",
                f"what {ref} names hangs on what was last done in one clone",
                expected="a commit, a tag or a branch, such as main or origin/main",
                found=ref,
                hint="name the commit: git rev-parse " + ref,
            ),
        )


def _ref(rung: Rung) -> str | None:
    return rung.revision.ref if rung.revision else None
