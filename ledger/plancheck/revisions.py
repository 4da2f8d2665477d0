"""Whether the code revisions of single rungs can be pinned and compared, as far as the plan alone tells.

Whether a ref is there, and whether its code differs, is asked of git when the plan is frozen.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path


def revision_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    rungs = {rung.id: rung for rung in plan.ladder.rungs}
    for index, rung in enumerate(plan.ladder.rungs):
        path: Path = ("ladder", "rungs", index, "revision")
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


def _ref(rung: Rung) -> str | None:
    return rung.revision.ref if rung.revision else None
