"""Reading a whole entries folder: what is sound, and every fault, without stopping at the first.

It writes nothing and reads no blob.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from ledger.errors import EnvironmentFault, InputError, IntegrityError, Problem
from ledger.store.disk import is_folder, read_bytes
from ledger.store.envelope import Stored, check_entry, entry_of_sidecar, is_entry_name, name_problem
from ledger.store.faults import shown, told
from ledger.store.graph import graph_problems, in_order

ENTRY_MAX_BYTES = 64 * 1024 * 1024


def scan_entries(record_id: str, folder: Path) -> tuple[list[Stored], list[Problem]]:
    """The sound entries in order (see graph.in_order), and every fault; two empty lists when there is no folder.

    Raises EnvironmentFault when the folder, or a file in it, cannot be read.
    """
    try:
        if not is_folder(folder):
            return [], []
    except IntegrityError as error:
        return [], list(error.problems)
    with told(folder, "list the entries"):
        names = sorted(os.listdir(folder))
    stored: list[Stored] = []
    problems: list[Problem] = []
    for name in names:
        one, found = _check(record_id, folder, name, names)
        stored += [one] if one else []
        problems += found
    if not any(map(is_entry_name, names)):
        problems.append(entries_gone(record_id, "empty", "bring them back, from git or from an archive"))
    stored = in_order(stored)
    sound = {one.name for one in stored}
    faulty = [name for name in names if is_entry_name(name) and name not in sound]
    return stored, problems + graph_problems(stored, faulty, f"{record_id}/entries/")


def entries_gone(record_id: str, how: str, hint: str) -> Problem:
    """The fault of a record that shows it once had entries; ``how`` is what its folder is now."""
    return Problem(
        "entries_missing",
        f"the record's entries are gone: its entries folder is {how}",
        where=f"{record_id}/entries",
        expected="at least one entry: the folder is made together with its first",
        found="no entry",
        hint=hint,
    )


def _check(record_id: str, folder: Path, name: str, beside: Collection[str]) -> tuple[Stored | None, list[Problem]]:
    where = f"{record_id}/entries/{shown(name)}"
    owner = entry_of_sidecar(name)
    if owner is None and not is_entry_name(name):
        return None, [name_problem(name, where)]
    try:
        data = read_bytes(folder / name, max_bytes=ENTRY_MAX_BYTES)
    except (InputError, IntegrityError, EnvironmentFault) as error:
        # A folder in a file's place shows that the record was changed; the rest is this machine's trouble.
        if isinstance(error, EnvironmentFault) and error.problem.code != "is_a_folder":
            raise
        return None, [replace(problem, where=where) for problem in error.problems]
    if owner is not None:
        return None, [] if owner in beside else [_orphan(where, owner)]
    return check_entry(record_id, name, data, where)


def _orphan(where: str, owner: str) -> Problem:
    what = "a signature or time stamp is here, and the entry it belongs to is not"
    hint = "bring the entry back, from git or from an archive"
    return Problem("sidecar_without_entry", what, where, f"the file {owner}", "no such file", hint)
