"""Make a plan immutable: refuse whatever would make its word worth less, then write the freeze entry.

The order of refusals is fixed: state, errors in the plan, what it still waits for, then banked runs, code, baselines.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger import vcs
from ledger.actions.banked import find_banked, kept_with
from ledger.actions.check import check_bytes
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.actions.revisions import with_revisions
from ledger.actions.supersede import check_superseded, mark_superseded
from ledger.derive import Pins, freeze_body
from ledger.errors import InputError, LedgerError, Problem, StateError
from ledger.model.entries import CodePin, PinnedBaseline
from ledger.model.plan import Baseline, Prereg
from ledger.model.values import Unknown
from ledger.plancheck import freeze_notes
from ledger.store import Ledger, Record, Stored


def freeze(ledger: Ledger, record: Record, at: str, by: Mapping[str, str] | None, *, commit: bool = False) -> Stored:
    """The freeze entry of ``record``, written at ``at`` (UTC, whole seconds).

    A plan that supersedes another record marks it so, last of all; if that was cut off, freezing again completes it.
    ``commit`` also commits the record to git. Raises InputError for an unsound plan and StateError for one that is
    not ready, each with every reason; after an error nothing was written.
    """
    with record.lock():
        loaded = Loaded(record)
        if loaded.frozen is not None and (stored := _completed(ledger, loaded, at, by)) is not None:
            return stored
        if loaded.frozen is not None:
            raise StateError(
                "already_frozen",
                f"{record.id} is frozen already",
                where=record.id,
                expected="a draft",
                found=f"freeze {loaded.frozen.digest}",
                hint="a changed plan is a new record: ledger draft NEW-ID",
            )
        plan = _sound_plan(record.id, loaded.prereg, at[:10])
        old = check_superseded(ledger, plan.supersedes) if plan.supersedes else None
        repo = vcs.open_repo(ledger.root)
        if commit and repo is None:
            raise StateError(
                "not_in_git",
                "there is no git repository to commit to",
                where=str(ledger.root),
                expected="a ledger inside a git repository",
                found="none around it",
                hint="git init, or freeze without --commit",
            )
        found = find_banked(ledger, plan)
        banked = {name: one.kept.pin for name, one in found.items()} or None
        pins = Pins(with_revisions(_code(plan, repo), plan, repo), _baselines(plan, repo), THIS_TOOL, banked)
        body = freeze_body(loaded.prereg, plan, pins, freeze_notes(plan))
        with kept_with(record, found):
            stored = record.append("freeze", at, body.to_json(), by)
        if old is not None:
            mark_superseded(old, plan, stored, at, by)
    if commit and repo is not None:
        own = [
            record.path,
            *([old.path] if old else []),
            *(ledger.root / name for name in ("records/ledger.json", ".gitattributes", ".gitignore")),
        ]
        repo.commit(
            [path for path in own if path.exists()],
            f"Freeze {record.id}\n\nfreeze {stored.digest}",
        )
    return stored


def _completed(ledger: Ledger, loaded: Loaded, at: str, by: Mapping[str, str] | None) -> Stored | None:
    """The freeze entry there is, when the record it supersedes did not know of it yet and now does."""
    if loaded.frozen is None or loaded.plan is None or loaded.plan.supersedes is None:
        return None
    stored = next(one for one in loaded.stored if one.digest == loaded.frozen.digest)
    marked = mark_superseded(ledger.record(loaded.plan.supersedes.record), loaded.plan, stored, at, by)
    return stored if marked else None


def _sound_plan(record_id: str, prereg: bytes, today: str) -> Prereg:
    checked = check_bytes(record_id, prereg, ask_harness=True, today=today)
    if errors := checked.of("error"):
        raise InputError.of(errors)
    if blockers := checked.of("blocker"):
        raise StateError.of(blockers)
    assert checked.plan is not None  # a plan that does not read is an error above
    return checked.plan


def _code(plan: Prereg, repo: vcs.Repo | None) -> CodePin:
    paths = list(plan.code.paths) if plan.code else []
    if repo is None:
        if paths:
            raise StateError(
                "not_in_git",
                "the plan pins code, and there is no git repository here",
                where="code.paths",
                expected="a git repository that holds these paths",
                found=", ".join(paths),
                hint="git init and commit the code, or drop code: from the plan",
            )
        outside = Unknown(unknown="not_applicable", detail="the ledger is not in a git repository")
        return CodePin(commit=outside, tree=outside)
    return _pinned(paths, repo)


def _pinned(paths: list[str], repo: vcs.Repo) -> CodePin:
    head = repo.head()
    if head is None:
        if paths:
            raise StateError(
                "no_commit",
                "the repository has no commit yet",
                where="code.paths",
                expected="a commit that holds these paths",
                found="none",
                hint="commit the code first",
            )
        unborn = Unknown(unknown="missing", detail="the repository has no commit yet")
        return CodePin(commit=unborn, tree=unborn)
    if paths and (dirty := repo.dirty_paths(paths)):
        raise StateError(
            "dirty",
            "the pinned paths have uncommitted changes",
            where="code.paths",
            expected="a clean tree there",
            found=", ".join(dirty[:10]) + (f" and {len(dirty) - 10} more" if len(dirty) > 10 else ""),
            hint="commit them, or put them away, and freeze again",
        )
    objects = {path: repo.tree_of(head.commit, path) for path in paths}
    absent = [path for path, found in objects.items() if found is None]
    if absent:
        raise StateError(
            "pin_missing",
            "a pinned path is not in HEAD",
            where="code.paths",
            expected="a committed path",
            found=", ".join(absent),
            hint="commit it, or correct code.paths",
        )
    return CodePin(commit=head.commit, tree=head.tree, paths={path: str(found) for path, found in objects.items()})


def _baselines(plan: Prereg, repo: vcs.Repo | None) -> tuple[PinnedBaseline, ...]:
    """Each baseline's ref at then-HEAD; every one that cannot be pinned, in one error."""
    pinned: list[PinnedBaseline] = []
    problems: list[Problem] = []
    for index, baseline in enumerate(plan.baselines or ()):
        if baseline.ref is None:
            continue
        try:
            pinned.append(_pin(baseline, repo))
        except LedgerError as error:
            problems += error.at(f"baselines[{index}]").problems
    if problems:
        raise StateError.of(problems)
    return tuple(pinned)


def _pin(baseline: Baseline, repo: vcs.Repo | None) -> PinnedBaseline:
    ref = str(baseline.ref)
    if repo is None:
        raise StateError(
            "not_in_git",
            f"baseline {baseline.name} names a ref, and there is no git repository here",
            expected="a git repository",
            found="none around the ledger",
            hint="freeze inside the repository, or drop the ref",
        )
    old = repo.resolve(baseline.commit) if baseline.commit else None
    return PinnedBaseline(name=baseline.name, ref=ref, old=old, new=repo.resolve(ref))
