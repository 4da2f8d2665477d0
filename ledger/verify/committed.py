"""Checks 12 and 13: what only a witness outside the record's folder can tell, namely that nothing was taken away.

Git's own objects are read; no program that the repository's settings name is run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger import vcs
from ledger.errors import IntegrityError, Problem
from ledger.store import Record, read_bytes, shown
from ledger.verify.report import NOT_COMMITTED

_WRITE_ONCE = ("entries/", "blobs/")


def committed(repo: vcs.Repo, record: Record) -> str | None:
    """Check 12: what git holds of the record, or None when it holds nothing of it."""
    held = repo.committed_files(record.path)
    past = repo.removed_in_history(record.path)
    if not held and not past.removals:
        return None
    root = repo.relative(record.path) + "/"
    on_disk = {
        path.relative_to(record.path).as_posix(): repo.blob_id(read_bytes(path))
        for path in sorted(record.path.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    at_head = {name.removeprefix(root): blob for name, blob in held.items()}
    problems = [
        *_against_head(record, at_head, on_disk),
        *_against_past(record, past, root, at_head, on_disk),
    ]
    if problems:
        raise IntegrityError.of(problems)
    later = len(set(on_disk) - set(at_head))
    held_words = f"{len(at_head)} file{'' if len(at_head) == 1 else 's'} as committed"
    return held_words + (f", {later} file{'' if later == 1 else 's'} {NOT_COMMITTED}" if later else "")


def _against_head(record: Record, at_head: dict[str, str], on_disk: dict[str, str]) -> Iterator[Problem]:
    frozen = any(name.startswith("entries/") for name in at_head)
    for name, blob in sorted(at_head.items()):
        if name not in on_disk:
            yield Problem(
                "committed_missing",
                "a file that git holds is not there",
                where=f"{record.id}/{shown(name)}",
                expected=f"git object {blob}",
                found="no such file",
                hint=f"git checkout -- records/{record.id}",
            )
        elif on_disk[name] != blob and (frozen or name != "prereg.yaml"):
            yield Problem(
                "committed_differs",
                "a file is not as git holds it",
                where=f"{record.id}/{shown(name)}",
                expected=f"git object {blob}",
                found=f"git object {on_disk[name]}",
                hint=f"git diff -- records/{record.id}",
            )


def _against_past(
    record: Record, past: vcs.Past, root: str, at_head: dict[str, str], on_disk: dict[str, str]
) -> Iterator[Problem]:
    """Entries, and the blobs they name, are write-once for ever: a commit that took one away is found even when HEAD
    agrees. A blob that no entry names was left by an intake that was cut off, and may go."""
    entries = [one.data for one in record.scan()[0]]
    for removal in past.removals:
        name = removal.path.removeprefix(root)
        if not name.startswith(_WRITE_ONCE) or on_disk.get(name) == removal.blob or name in at_head:
            continue
        if name.startswith("blobs/") and not any(name[-64:].encode() in data for data in entries):
            continue
        yield Problem(
            "removed_in_history",
            f"a commit {removal.how} a write-once file",
            where=f"{record.id}/{shown(name)}",
            expected=f"git object {removal.blob}, as it was before commit {removal.commit[:12]}",
            found=f"git object {on_disk[name]}" if name in on_disk else "no such file",
            hint=f"bring it back: git checkout {removal.commit[:12]}^ -- records/{record.id}/{shown(name)}",
        )


def head(record: Record, wanted: str) -> str:
    """Check 13: a published head digest (or its first 12 digits or more) is an entry of this record."""
    found = [one.digest for one in record.scan()[0] if one.digest.startswith(wanted)]
    if len(found) != 1:
        raise IntegrityError(
            "head_missing",
            "the published head is not an entry of this record",
            where=record.id,
            expected=wanted,
            found="no such entry",
            hint="an entry was removed, or the head belongs to another record",
        )
    return f"entry {found[0]}"
