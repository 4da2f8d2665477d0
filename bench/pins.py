"""Which committed code the run came from: the commit, each path's git object, and whether it was changed.

Reads only, and only the repository that holds the current folder; no outside text becomes an option.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

from bench.faults import SpecError

_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_LIMIT_S = 30


class _GitFailed(Exception):
    """Git is not there, or said no."""


def _git(folder: Path, *arguments: str) -> str:
    env = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    env |= {
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    call = ["git", "--no-pager", *_SAFE, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(call, env=env, capture_output=True, timeout=_LIMIT_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise _GitFailed(str(fault)) from None
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _GitFailed(words[0] if words else f"git {arguments[0]} ended with {done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n")


def _try(folder: Path, *arguments: str) -> Any:
    try:
        return _git(folder, *arguments)
    except _GitFailed as fault:
        return {"unknown": "unreadable", "detail": str(fault)}


def top_of(folder: Path) -> Path | None:
    """The top folder of the checkout around ``folder``; None outside one."""
    top = _try(folder, "rev-parse", "--show-toplevel")
    return None if isinstance(top, dict) else Path(top).resolve()


def code_pins(folder: Path, paths: tuple[str, ...]) -> dict[str, Any]:
    """``{"commit", "paths": {path: {"object", "dirty"}}}``; what git cannot tell is Unknown with its words.

    ``dirty`` counts staged, unstaged and untracked files under the path, ignored ones left out.
    """
    top = _try(folder, "rev-parse", "--show-toplevel")
    if isinstance(top, dict):
        return {"commit": top, "paths": {path: {"object": top, "dirty": top} for path in paths}}
    root = Path(top)
    return {
        "commit": _try(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
        "paths": {path: _pin(root, path) for path in paths},
    }


def frozen_pins(body: dict[str, Any], rung: str) -> dict[str, str] | None:
    """Git object id of each path that ``rung`` was frozen with, its own revision's where it has one; None: no pins.

    ``body`` is a freeze entry's. Raises SpecError for a revision that the entry does not pin.
    """
    code = body.get("code")
    rungs = body["plan"]["ladder"]["rungs"]
    own = next((item.get("revision") for item in rungs if item.get("id") == rung), None)
    if own is not None:
        pinned = ((code or {}).get("revisions") or {}).get(rung)
        if not isinstance(pinned, dict):
            what = "the entry pins no code for a rung that runs a revision of its own"
            raise SpecError(what, where=f"body.code.revisions.{rung}", expected="its paths", found="nothing")
        code = pinned
    paths = code.get("paths") if isinstance(code, dict) else None
    return dict(paths) if isinstance(paths, dict) else None


def frozen_commit(body: dict[str, Any], rung: str) -> str:
    """The commit that ``rung`` was frozen with, or a word for it where the entry knows none."""
    code = body.get("code") or {}
    commit = (code.get("revisions") or {}).get(rung, code).get("commit")
    return commit if isinstance(commit, str) else "COMMIT"


def check_code(folder: Path, pins: dict[str, str] | None, rung: str, commit: str = "COMMIT") -> None:
    """Raise SpecError where ``folder`` has other code than ``pins``, or changed code: such a run would never count.

    What git cannot tell is let be: it is put down in the run file, and judged when that is taken in.
    """
    for path, pinned in (pins or {}).items():
        found = _pin_in(folder, path)
        if isinstance(found["object"], str) and found["object"] != pinned:
            raise SpecError(
                f"rung {rung} was frozen with other code than is checked out here",
                where=f"{path} in {folder}",
                expected=f"git object {pinned}",
                found=f"git object {found['object']}",
                hint=f"run it in a checkout of what was frozen: git worktree add --detach DIR {commit}",
            )
        if found["dirty"] is True:
            raise SpecError(
                f"the code that rung {rung} was frozen with has uncommitted changes here",
                where=f"{path} in {folder}",
                expected=f"git object {pinned} as it was committed",
                found="changed or untracked files",
                hint="commit or put them away (git status shows them); a run of changed code would never count",
            )


def _pin_in(folder: Path, path: str) -> dict[str, Any]:
    top = _try(folder, "rev-parse", "--show-toplevel")
    return {"object": top, "dirty": top} if isinstance(top, dict) else _pin(Path(top), path)


def _pin(root: Path, path: str) -> dict[str, Any]:
    # HEAD: in front keeps a path from being read as an option; a trailing slash would name nothing.
    found = _try(root, "rev-parse", "--verify", "--quiet", f"HEAD:{path.rstrip('/')}")
    status = _try(root, "status", "--porcelain", "-z", "--untracked-files=all", "--", f":(literal){path}")
    return {"object": found, "dirty": status if isinstance(status, dict) else bool(status)}


def code_facts(folder: Path, paths: tuple[str, ...]) -> dict[str, Any]:
    """``code_tree``: the tree of HEAD; ``code_diff_digest``: sha256 of what the pinned paths differ from it by.

    ``none`` is no difference. Without pinned paths all tracked files count, and untracked ones do not.
    """
    top = _try(folder, "rev-parse", "--show-toplevel")
    if isinstance(top, dict):
        return {"code_tree": top, "code_diff_digest": top}
    root = Path(top)
    try:
        digest: Any = _diff_digest(root, tuple(f":(literal){path}" for path in paths))
    except (_GitFailed, OSError) as fault:
        digest = {"unknown": "unreadable", "detail": str(fault)}
    return {"code_tree": _try(root, "rev-parse", "--verify", "--quiet", "HEAD^{tree}"), "code_diff_digest": digest}


def _diff_digest(root: Path, named: tuple[str, ...]) -> str:
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--full-index")
    text = _git(root, "diff", *plain, "HEAD", "--", *named)
    hasher = hashlib.sha256(text.encode("utf-8", "surrogateescape"))
    listed = _git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *named) if named else ""
    untracked = sorted(name for name in listed.split("\0") if name)
    for name in untracked:
        path = root / name
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        hasher.update(f"\0{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return hasher.hexdigest() if text or untracked else "none"
