"""Checks 7 to 9: the three derivations run again in memory, compared with what is kept.

Each uses the very functions that wrote the entries, on the kept inputs.
"""

from __future__ import annotations

from dataclasses import replace

from ledger import __version__
from ledger.derive import Pins, decide_body, freeze_body, kept_as, read_plan, run_body
from ledger.errors import InputError, Problem
from ledger.model.entries import RunBody
from ledger.plancheck import freeze_notes
from ledger.units import number_of
from ledger.verify.banked import banked_problems, pins_again
from ledger.verify.kept import differences, done, frozen_of
from ledger.verify.pins import pin_problems
from ledger.verify.report import NotMade
from ledger.verify.subject import Subject


def freeze(subject: Subject) -> str:
    """Check 7."""
    problems = []
    prereg = subject.record.prereg_bytes()
    try:
        plan = read_plan(prereg)
    except InputError as error:
        raise error.at(f"{subject.record.id}/prereg.yaml") from None
    for key, entry in subject.freezes.items():
        pins = Pins(entry.body.code, entry.body.baselines, entry.body.tool, pins_again(subject, entry))
        replayed = freeze_body(prereg, plan, pins, freeze_notes(plan)).to_json()
        problems += list(differences(subject, key, replayed))
        problems += [*pin_problems(entry.body, subject.where(key)), *banked_problems(subject, key, entry)]
        if plan.id != subject.record.id:
            problems.append(
                Problem(
                    "wrong_id",
                    "the plan is of another record",
                    where=subject.where(key),
                    expected=subject.record.id,
                    found=plan.id,
                    hint="put the record back under its own name",
                )
            )
    if not subject.freezes:
        problems.append(
            Problem(
                "no_freeze",
                "there is no freeze entry",
                where=subject.record.id,
                expected="one",
                found="none",
                hint="bring it back, from git or from an archive",
            )
        )
    return done(problems, f"plan, {number_of(len(plan.decision.outcomes), 'outcome')}, pins")


def intake(subject: Subject) -> str:
    """Check 8."""
    frozen_of(subject)
    problems = []
    for key in subject.intakes:
        found = list(differences(subject, key, _taken_in_again(subject, key).to_json()))
        problems += [] if subject.cut_off(key) and found else found  # an amendment before it may be what is missing
    return done([*subject.intake_problems, *problems], f"{number_of(len(subject.intakes), 'run')} read again")


def _taken_in_again(subject: Subject, key: str) -> RunBody:
    if key not in subject.taken_in_again:
        subject.taken_in_again[key] = _derived(subject, key)
    return subject.taken_in_again[key]


def _derived(subject: Subject, key: str) -> RunBody:
    body = subject.runs[key].body
    resource = kept_as(body.run.digest["sha256"], body.run.size)  # both are check 5's business
    held = subject.protocol(key)
    run, at = subject.intakes[key].run, subject.runs[key].at
    return run_body(held.digest, held.freeze, run, resource, at, body.tool, held.since, held.fired)


def decision(subject: Subject) -> str:
    """Check 9. From the run files again, not from what the run entries say of them."""
    frozen_of(subject)
    again = {key: replace(one, body=_taken_in_again(subject, key)) for key, one in subject.intakes.items()}
    problems = []
    whole = {key: entry for key, entry in subject.decisions.items() if not subject.cut_off(key)}
    for key, entry in whole.items():
        held, before, seen = subject.protocol(key), subject.before(key), subject.ancestors(key)
        intakes = [one for digest_, one in again.items() if digest_ in seen]
        banked = subject.kept(held.freeze)
        replayed = decide_body(held.digest, held.freeze, intakes, entry.body.tool, before, banked)
        problems += list(differences(subject, key, replayed.to_json()))
    if len(whole) < len(subject.decisions) and not problems:
        raise NotMade("a decision was made on an entry that is missing (check 4)")
    words = ", ".join(entry.body.disposition for entry in subject.decisions.values()) or "none made yet"
    other = {entry.body.tool.version for entry in subject.decisions.values()} - {__version__}
    told = f" (in the words of version {', '.join(sorted(other))}, which were not held against any)" if other else ""
    return done(problems, f"decisions: {words}{told}")
