"""Whether a plan's stages are sound: each rung in one of them, in ladder order, each opened by a rule that can fail.

Whether a stage opens is judged in ``ledger/course/stages.py``, when there are runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.course.stages import stage_of
from ledger.errors import Problem
from ledger.model.course import Proceed
from ledger.model.plan import Prereg
from ledger.plancheck.rules import purpose_faults, read_rule
from ledger.plancheck.structure import OWN_NAME, Fault, Path, few, unknown_name
from ledger.references import Namespace
from ledger.rules import faults, references


def stage_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    if plan.stages is None:
        return
    misplaced = list(_places(plan))
    yield from misplaced
    for index, stage in enumerate(plan.stages):
        path: Path = ("stages", index)
        last = index == len(plan.stages) - 1
        if last and stage.proceed is not None:
            yield (
                (*path, "proceed"),
                Problem(
                    "nothing_to_open",
                    f"no stage follows {stage.id}, and it says what opens the next",
                    expected="proceed: on each stage but the last",
                    found=f"when: {stage.proceed.when}",
                    hint="drop it: what the last stage shows is for the outcomes to decide",
                ),
            )
        elif not last and stage.proceed is None:
            yield (
                path,
                Problem(
                    "no_proceed",
                    f"nothing says when the stage after {stage.id} opens",
                    expected="proceed: {when: a rule, otherwise: an outcome}",
                    found="no proceed:",
                    hint="say what must hold of it, or make the two one stage",
                ),
            )
        elif stage.proceed is not None and not misplaced:
            yield from _proceed(plan, index, stage.proceed, (*path, "proceed"))


def _places(plan: Prereg) -> Iterator[Fault]:
    """Each rung in exactly one stage, and the stages in the order of the ladder."""
    stages = plan.stages or ()
    ladder = [rung.id for rung in plan.ladder.rungs]
    seen: dict[str, str] = {}
    for index, stage in enumerate(stages):
        if stage.id in [other.id for other in stages[:index]]:
            what = f"two stages are named {stage.id}"
            hint = "give each its own name"
            yield (
                ("stages", index, "id"),
                Problem("duplicate_id", what, expected=OWN_NAME, found=stage.id, hint=hint),
            )
        for place, rung in enumerate(stage.rungs):
            path: Path = ("stages", index, "rungs", place)
            if rung not in ladder:
                yield path, unknown_name("rung", rung, ladder)
            elif seen.get(rung, stage.id) != stage.id:
                what, hint = f"{rung} is in stage {seen[rung]}, and in stage {stage.id}", "let it run in one of them"
                yield path, Problem("in_two_stages", what, expected="each rung in one stage", found=rung, hint=hint)
            seen.setdefault(rung, stage.id)
    if left := [rung for rung in ladder if rung not in seen]:
        yield (
            ("stages",),
            Problem(
                "in_no_stage",
                f"{few(left)}: a rung of no stage would never run",
                expected="each rung of the ladder in one stage",
                found=few(left),
                hint="name it under the rungs: of the stage that it runs in",
            ),
        )
    if len(stages) == 1:
        what = "one stage alone opens nothing"
        yield ("stages",), Problem("one_stage", what, expected="two or more", found="one", hint="drop stages:")
    yield from _order(plan, seen)


def _order(plan: Prereg, seen: dict[str, str]) -> Iterator[Fault]:
    """A rung that runs only if a guard is ambiguous runs after the others anyway, wherever it stands."""
    latest, before = 0, ""
    for index, rung in enumerate(plan.ladder.rungs):
        if rung.run_if is not None or rung.id not in seen:
            continue
        place = stage_of(plan, rung.id)
        if place < latest:
            yield (
                ("ladder", "rungs", index),
                Problem(
                    "stages_out_of_order",
                    f"{rung.id} is of stage {seen[rung.id]} and comes after {before}, which is of a later one",
                    expected="the rungs of each stage before those of the next",
                    found=f"{before}, then {rung.id}",
                    hint="move it up in the ladder, or into the later stage",
                ),
            )
        latest, before = (place, rung.id) if place >= latest else (latest, before)


def _proceed(plan: Prereg, place: int, own: Proceed, path: Path) -> Iterator[Fault]:
    names, outcomes = Namespace(plan), {one.name: one for one in plan.decision.outcomes}
    if own.otherwise not in outcomes:
        yield (*path, "otherwise"), unknown_name("outcome", own.otherwise, outcomes)
    elif outcomes[own.otherwise].changes_something:
        yield (
            (*path, "otherwise"),
            Problem(
                "adopts_by_a_stage",
                f"{own.otherwise} adopts, and the record would close with it where the stage's rule does not hold",
                expected="an outcome that adopts nothing",
                found=own.otherwise,
                hint="what adopts is decided by its own rule, on all that the plan asks",
            ),
        )
    expr, problems = read_rule(own.when, names)
    yield from (((*path, "when"), problem) for problem in problems)
    if expr is None:
        return
    refs = references(expr)
    yield from purpose_faults(refs, names, (*path, "when"))
    later = {ref: rung for ref in refs for rung in names.looked_at(ref) if stage_of(plan, rung) > place}
    for ref, rung in later.items():
        yield (
            (*path, "when"),
            Problem(
                "looks_ahead",
                f"the rule refers to {ref}, and {rung} is of a later stage, which has not run when it is judged",
                expected="rungs and reads of this stage and earlier ones",
                found=ref,
                hint=f"leave it out, or let {rung} run in this stage",
            ),
        )
    stage = (plan.stages or ())[place].id
    proofs = faults([(f"stage {stage}", expr)], names.types, signed=names.signed, ordered=names.ordered)
    yield from (((*path, "when"), problem) for problem in proofs)
