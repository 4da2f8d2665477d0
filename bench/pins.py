"""Which committed code the run came from: the commit, each path's git object, and whether it was changed.

Reads only, and only the repository that holds the current folder; no outside text becomes an option.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

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
