"""Check 15, made on request: the first training steps of each counted run, made again here, give the losses it kept.

The harness makes them; this compares. Losses that agree to the last bit show that the run came of these settings and
this seed; losses that differ are a fault only where nothing that may change a rounding differs as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ledger.accounting import account
from ledger.actions.given import RUN_MAX_BYTES
from ledger.actions.revisions import Place
from ledger.errors import EnvironmentFault, IntegrityError, Problem, StateError
from ledger.harness import Harness, find_harness
from ledger.model.entries import FreezeEntry
from ledger.model.ladder import Rung
from ledger.model.run import Run, UnknownFact
from ledger.verify.kept import frozen_of
from ledger.verify.report import Check, NotMade, run_check
from ledger.verify.subject import Subject

SERIES = "loss_hex"
DEVICE = "cpu"
MAY_DIFFER = (
    *("torch", "threads", "world_size", "blas", "cpu_capability", "cpu_model", "platform", "determinism"),
    *("dataset_digest", "workload_file_digest", "workload_source_digest"),
)
"""Facts on which the last bits of a loss may honestly depend: with one of them apart, a difference shows nothing."""


@dataclass(frozen=True)
class Replayed:
    """What became of one run's first steps; ``found`` tells the difference where there is one."""

    run_id: str
    verdict: Literal["same", "differs", "not comparable"]
    words: str
    problem: Problem | None = None


PlaceOf = Callable[[FreezeEntry, Rung], Place]


def replay_check(subject: Subject, *, steps: int, place: PlaceOf) -> Check:
    """Check 15 for the first ``steps`` steps; the harness runs in the ``place`` of each rung, where its code is.

    Runs that were asked for the same are held against one making of their steps. How many gave the same losses is
    told before anything else. Skipped, with the reason for each run, where none could be compared.
    """
    return run_check("replay", partial(_all, subject, steps, place))


def _all(subject: Subject, steps: int, place: PlaceOf) -> str:
    frozen_of(subject)
    counted = _counted(subject)
    if not counted:
        raise NotMade("no run counts")
    try:
        harness = find_harness()
    except EnvironmentFault as error:
        raise NotMade(error.problem.what) from None
    made = _Made(subject, steps, harness, place)
    told = [_one(subject, key, made) for key in counted]
    if problems := [one.problem for one in told if one.problem]:
        raise IntegrityError.of(problems)
    same = sum(one.verdict == "same" for one in told)
    words = f"{same} of {len(told)} runs shown to be the same: {'; '.join(_together(told))}"
    if not same:
        raise NotMade(words)
    return words


def _together(told: list[Replayed]) -> Iterator[str]:
    """The runs in words, those alike together."""
    by_words: dict[str, list[str]] = {}
    for one in told:
        by_words.setdefault(one.words, []).append(one.run_id)
    for words, names in by_words.items():
        yield f"{', '.join(names)}: {words}"


def _counted(subject: Subject) -> list[str]:
    """The run entries that count: by the newest decision, and before there is one by the plan."""
    if subject.decisions:
        newest = max(subject.decisions.values(), key=lambda entry: entry.at)
        return [one.entry for one in newest.body.runs if one.standing == "counted" and one.entry in subject.intakes]
    _, freeze = frozen_of(subject)
    standings = account(freeze.body.plan, list(subject.intakes.values())).standings
    return [one.entry for one in standings if one.standing == "counted"]


@dataclass
class _Made:
    """The steps made again so far, one answer of the harness for all runs that were asked for the same."""

    subject: Subject
    steps: int
    harness: Harness
    place: PlaceOf
    _answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, key: str) -> dict[str, Any]:
        """The answer for one run entry. Raises EnvironmentFault or StateError where there can be none."""
        run = self.subject.intakes[key].run
        facts = (run.facts.get("world_size"), run.facts.get("steps_planned"))
        asked = repr((run.rung, sorted(run.settings.items()), facts, run.counts.steps))
        if asked not in self._answers:
            self._answers[asked] = self._again(key, run)
        return self._answers[asked]

    def _again(self, key: str, run: Run) -> dict[str, Any]:
        freeze = self.subject.stored_of(run.freeze)
        held = frozen_of(self.subject)[1]
        where = self.place(held, next(rung for rung in held.body.plan.ladder.rungs if rung.id == run.rung))
        data = self.subject.record.blob(self.subject.runs[key].body.run.digest["sha256"], max_bytes=RUN_MAX_BYTES)
        with tempfile.TemporaryDirectory(prefix="ledger-replay-") as given:
            entry, file = Path(given, freeze.name), Path(given, "run.json")
            entry.write_bytes(freeze.data)
            file.write_bytes(data)
            return self.harness.replay(entry, run.rung, file, self.steps, where.folder, where.environment)


def _one(subject: Subject, key: str, made: _Made) -> Replayed:
    run = subject.intakes[key].run
    if why := _cannot(run):
        return Replayed(run.run_id, "not comparable", why)
    try:
        return compared(run, made.of(key), f"{subject.where(key)}: {run.run_id}")
    except (EnvironmentFault, StateError) as error:
        return Replayed(run.run_id, "not comparable", f"not comparable: {error.problem.what}: {error.problem.found}")
    except (KeyError, TypeError, AttributeError):
        words = "not comparable: the harness answered in a form that is not known here"
        return Replayed(run.run_id, "not comparable", words)


def _cannot(run: Run) -> str | None:
    """Why a run's steps are not made again at all."""
    if run.facts.get("device") != DEVICE:
        return f"not comparable: it ran on {_said(run.facts.get('device'))}, and steps are made again on {DEVICE} only"
    if not run.ranks or not all(rank.series.get(SERIES) for rank in run.ranks):
        return f"not comparable: it has no series {SERIES}"
    return None


def compared(run: Run, answer: Mapping[str, Any], where: str) -> Replayed:
    """The run's losses against those of ``ledger-bench replay``; ``where`` names the run in a problem."""
    facts, again = answer["facts"], answer["loss_hex"]
    spacing = answer["steps_per_sample"]
    first = f"first {answer['steps']} steps"
    then, here = run.harness.source_digest, facts["harness_source_digest"]
    same_source = then == here
    aside = f" (the harness's source is not the one that ran: {_short(then)} then, {_short(here)} here)"
    aside = "" if same_source else aside
    found = _difference(run, again)
    if found is None:
        return Replayed(run.run_id, "same", f"{first} give the same losses, bit for bit{aside}")
    rank, sample, kept, made = found
    step = f"step {sample}" if spacing == 1 else f"steps {sample * spacing} to {(sample + 1) * spacing - 1}"
    losses = f"{step}, rank {rank}: {kept} then, {made} here"
    apart = list(_apart(run, facts))
    if apart or not same_source:
        why = "; ".join([*apart, *([] if same_source else ["the harness's source"])])
        words = f"not comparable: other losses ({losses}), and not alike: {why}{aside}"
        return Replayed(run.run_id, "not comparable", words)
    problem = Problem(
        "steps_differ",
        f"its {first}, made again, give other losses, and nothing that may change a rounding differs",
        where=f"{where}: {SERIES} of {step}, rank {rank}",
        expected=made,
        found=kept,
        hint="they are not the losses of these settings, this seed and this data: find out where the run file is from",
    )
    return Replayed(run.run_id, "differs", losses, problem)


def _difference(run: Run, again: list[list[str]]) -> tuple[int, int, str, str] | None:
    """The first sample that differs, over ranks: rank, sample, the run's and the one made here."""
    found = []
    for rank in run.ranks:
        made = again[rank.rank] if rank.rank < len(again) else []
        kept = [str(sample) for sample in rank.series[SERIES]][: max(map(len, again), default=0)]
        pairs = [*zip(kept, made, strict=False), *((sample, "none") for sample in kept[len(made) :])]
        apart = next((index for index, (one, other) in enumerate(pairs) if not _equal(one, other)), None)
        if apart is not None:
            found.append((apart, rank.rank, *pairs[apart]))
    if not found:
        return None
    sample, number, kept_there, made_there = min(found)
    return number, sample, kept_there, made_there


def _equal(one: str, other: str) -> bool:
    """The same number to the last bit, however its zeros are written; NaN is like NaN."""
    try:
        return float.fromhex(one).hex() == float.fromhex(other).hex()
    except (ValueError, OverflowError):
        return one == other


def _apart(run: Run, facts: Mapping[str, Any]) -> Iterator[str]:
    for name in MAY_DIFFER:
        then, here = run.facts.get(name), facts.get(name)
        if (then is not None or here is not None) and then != here:
            yield f"{name} {_said(then)} then, {_said(here)} here"


def _said(fact: object) -> str:
    if fact is None or isinstance(fact, UnknownFact):
        return "unknown"
    return str(fact)


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "unknown"
