"""The order among a record's entries: which are heads, and whether parents and times can be as written.

It looks at entries whose bytes are already known to be sound, and reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ledger.errors import Problem
from ledger.store.envelope import PREFIX_DIGITS, Stored


def heads(stored: Iterable[Stored]) -> list[str]:
    """Digests, sorted, of the entries that no other entry names as a parent."""
    entries = list(stored)
    named = {parent for one in entries for parent in one.parents}
    return sorted({one.digest for one in entries} - named)


def in_order(stored: Iterable[Stored]) -> list[Stored]:
    """The entries by time; of one second, those that others follow first; then by digest."""
    entries = {one.digest: one for one in stored}
    depth: dict[str, int] = {}
    try:
        for digest in TopologicalSorter({key: one.parents for key, one in entries.items()}).static_order():
            parents = entries[digest].parents if digest in entries else ()
            depth[digest] = 1 + max((depth[parent] for parent in parents), default=0)
    except CycleError:
        pass  # a fault of its own, told by graph_problems
    return sorted(entries.values(), key=lambda one: (one.at, depth.get(one.digest, 0), one.digest))


def graph_problems(stored: Sequence[Stored], faulty: Iterable[str], prefix: str) -> list[Problem]:
    """Missing parents, times that run backwards, and cycles, in the order of ``stored``.

    ``faulty`` are names of entry files whose bytes are not sound; ``prefix`` goes before a name in ``where``.
    """
    known = {one.digest: one for one in stored}
    suspects = {name[-5 - PREFIX_DIGITS : -5]: name for name in faulty}
    problems = [p for one in stored for p in _parent_problems(one, known, suspects, prefix)]
    return problems + list(_cycle_problems(stored, known, prefix))


def _parent_problems(
    one: Stored, known: Mapping[str, Stored], suspects: Mapping[str, str], prefix: str
) -> Iterator[Problem]:
    for parent in one.parents:
        if parent not in known:
            yield _missing(prefix + one.name, parent, suspects.get(parent[:PREFIX_DIGITS]))
        elif known[parent].at > one.at:
            yield Problem(
                "time_backwards",
                "the entry is older than one it follows",
                where=f"{prefix}{one.name}: at",
                expected=f"{known[parent].at} or later, as its parent {known[parent].name} says",
                found=one.at,
                hint="a clock was wrong or a time was forged: record what happened in a new record",
            )


def _missing(where: str, parent: str, suspect: str | None) -> Problem:
    return Problem(
        "parent_missing",
        "an entry that this one follows is not here",
        where=f"{where}: parents",
        expected=f"the entry with sha256 {parent}",
        found=f"{suspect}, whose bytes are not sound" if suspect else "no such file",
        hint="bring the missing entry back, from git or from an archive",
    )


def _cycle_problems(stored: Sequence[Stored], known: Mapping[str, Stored], prefix: str) -> Iterator[Problem]:
    order = TopologicalSorter({one.digest: [p for p in one.parents if p in known] for one in stored})
    try:
        order.prepare()
    except CycleError as error:
        names = [known[digest].name for digest in error.args[1]]
        yield Problem(
            "cycle",
            "entries follow one another in a circle, which no order of writing can make",
            where=prefix + names[0],
            expected="each entry to follow only older ones",
            found=" <- ".join(names),
            hint="bring the true files back, from git or from an archive",
        )
