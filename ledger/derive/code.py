"""Whether a run had the code that its rung was frozen with: what was checked out at freeze, or its own revision.

Git's object ids are compared, never names of branches or commits: another commit with the same objects is the same
code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledger.model.entries import FreezeEntry
from ledger.model.ladder import Rung
from ledger.model.run import Run, UnknownFact

OUTSIDE = "installed: "
"""How the bundled harness begins the fact ``workload_file`` of a plug-in that lies outside the folder it ran in."""


def pinned_code(freeze: FreezeEntry, rung: Rung) -> Mapping[str, str] | None:
    """Git object id of each pinned path for ``rung``; None when it runs a revision that the entry does not pin."""
    if rung.revision is None:
        return freeze.body.code.paths
    own = (freeze.body.code.revisions or {}).get(rung.id)
    return own.paths if own else None


def wrong_code(freeze: FreezeEntry, rung: Rung, run: Run) -> Iterator[str]:
    """Each way in which the code that ran is not the rung's, in words."""
    pins = pinned_code(freeze, rung)
    told = _told(freeze, rung)
    if pins is None:
        yield f"{told}the freeze entry pins no code for it"
        return
    for path, pinned in sorted(pins.items()):
        if wrong := _wrong_pin(path, pinned, run):
            yield told + wrong
    file = run.facts.get("workload_file")
    if told and isinstance(file, str) and file.startswith(OUTSIDE):
        yield f"{told}its workload came from outside the code that was checked out ({file})"


def _told(freeze: FreezeEntry, rung: Rung) -> str:
    """Which code the rung runs, in front of what is wrong with it; nothing where all rungs run the same."""
    if rung.revision is not None:
        own = (freeze.body.code.revisions or {}).get(rung.id)
        commit = f" (commit {own.commit[:12]})" if own else ""
        return f"{rung.id} runs revision {rung.revision.ref}{commit}: "
    if any(one.revision for one in freeze.body.plan.ladder.rungs):
        return f"{rung.id} runs the code checked out at freeze: "
    return ""


def _wrong_pin(path: str, pinned: str, run: Run) -> str | None:
    seen = run.code.paths.get(path)
    if seen is None or isinstance(seen.object, UnknownFact) or isinstance(seen.dirty, UnknownFact):
        near = next((one for one in run.code.paths if one != path and one.strip("/") == path.strip("/")), None)
        if near is not None:
            return f"{path}: the run recorded {near}; the plan pins {path}, and the key must be the same"
        return f"{path}: frozen at {pinned}, and the run did not record what it ran"
    if seen.object != pinned:
        return f"{path}: frozen at {pinned}, the run had {seen.object}"
    if seen.dirty:
        return f"{path}: the run had uncommitted changes on top of {pinned}"
    return None
