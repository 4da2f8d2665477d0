"""Checks 3 to 6: every byte of the record's folder against what names it.

No meaning is looked at here.
"""

from __future__ import annotations

from ledger.canonical import digest
from ledger.errors import IntegrityError, Problem
from ledger.store import entry_of_sidecar, shown
from ledger.units import number_of
from ledger.verify.subject import Subject

_EMPTIED = "if taking a run in was cut off, ingest that run file again; else remove the folder"


def places(subject: Subject) -> str:
    """Check 3."""
    record = subject.record
    sidecars = (
        [f"entries/{path.name}" for path in sorted(record.entries_dir.glob("*")) if entry_of_sidecar(path.name)]
        if record.entries_dir.is_dir()
        else []
    )
    blobs_named = [entry.body.run.digest["sha256"] for entry in subject.runs.values()]
    emptied = {f"blobs/{blob[:2]}/" for blob in blobs_named} | {"blobs/"}  # whose blob is gone is told by check 5
    left = {path for path in record.stray_files() if not blobs_named or path not in emptied}
    strays = sorted({*left, *sidecars})
    if strays:
        raise IntegrityError.of([_stray(f"{record.id}/{shown(path)}", path in sidecars) for path in strays])
    return "no other file"


def _stray(where: str, sidecar: bool) -> Problem:
    return Problem(
        "stray_file",
        "something lies in the record that no entry of this format brings",
        where=where,
        expected="prereg.yaml, entries and blobs only",
        found=_kind(where, sidecar),
        hint=_EMPTIED if where.endswith("/") else "move it out of the record",
    )


def _kind(where: str, sidecar: bool) -> str:
    if sidecar:
        return "a signature or time stamp, which this version can neither make nor check"
    return "an empty folder" if where.endswith("/") else "another file"


def entries(subject: Subject) -> str:
    """Check 4."""
    if subject.entry_problems:
        raise IntegrityError.of(subject.entry_problems)
    return f"{number_of(len(subject.stored), 'entry')}, heads {', '.join(head[:12] for head in subject.heads)}"


def blobs(subject: Subject) -> str:
    """Check 5."""
    read = {subject.runs[key].body.run.digest["sha256"] for key in subject.intakes}
    sound, problems = subject.record.blobs.scan(read)
    resources = subject.named_blobs
    named = {resource.digest["sha256"]: key for key, resource in resources}
    named_sizes = {resource.digest["sha256"]: resource.size for _, resource in resources}
    damaged = {problem.where for problem in problems}
    for blob, entry in sorted(named.items()):
        where = f"{subject.record.id}/blobs/{blob[:2]}/{blob}"
        if blob not in sound and where not in damaged:
            problems.append(
                Problem(
                    "blob_missing",
                    "a raw input is not there",
                    where=where,
                    expected=f"the file that {subject.where(entry)} names",
                    found="no such file",
                    hint="bring it back, from git or from an archive",
                )
            )
        elif blob in sound and (size := subject.record.blobs.path(blob).stat().st_size) != named_sizes[blob]:
            problems.append(
                Problem(
                    "blob_size",
                    "an entry states another size for its raw input",
                    where=where,
                    expected=f"{named_sizes[blob]} bytes",
                    found=f"{size} bytes",
                    hint="the entry was forged: bring the true one back, from git or from an archive",
                )
            )
    unnamed = sorted(set(sound) - set(named))
    for blob in () if subject.missing else unnamed:
        problems.append(
            Problem(
                "blob_unnamed",
                "a raw input is there that no entry names",
                where=f"{subject.record.id}/blobs/{blob[:2]}/{blob}",
                expected="a run entry for it, or a freeze entry that banks it",
                found="none",
                hint="if taking it in was cut off, ingest that run file again; else remove it",
            )
        )
    if problems:
        raise IntegrityError.of(problems)
    of_missing = f", {len(unnamed)} that only a missing entry may name" if unnamed else ""
    return f"{len(sound)} raw inputs{of_missing}"


def plan(subject: Subject) -> str:
    """Check 6."""
    found = digest(subject.record.prereg_bytes())
    expected = {entry.body.prereg.digest["sha256"] for entry in subject.freezes.values()}
    where = f"{subject.record.id}/prereg.yaml"
    if not expected:
        raise IntegrityError(
            "no_freeze",
            "no freeze entry can be read, so the plan cannot be held against one",
            where=where,
            expected="a freeze entry that names its sha256",
            found="none",
            hint="bring the freeze entry back, from git or from an archive",
        )
    if expected != {found}:
        raise IntegrityError(
            "plan_changed",
            "the frozen plan's file was changed",
            where=where,
            expected=f"sha256 {', '.join(sorted(expected))}",
            found=f"sha256 {found}",
            hint="bring the frozen file back, from git or from an archive",
        )
    return f"sha256 {found}"
