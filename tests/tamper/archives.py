"""An archive in a test's hands: its files, packed again, and what verify finds in it."""

from __future__ import annotations

import io
import json
import tarfile

from ledger.archive import tar
from ledger.archive.manifest import manifest
from tests.worlds import RECORD, World

NAME = f"{RECORD}.tar"
Files = dict[str, bytes]


def failed(outside: World, data: bytes, *args: str) -> tuple[list[int], str]:
    """The numbers of the checks that fail on ``data`` as an archive, and the text of all their problems."""
    (outside.root / NAME).write_bytes(data)
    code, told = outside.told("verify", NAME, *args)
    checks = [check for check in told["reports"][0]["checks"] if check["verdict"] == "fail"]
    assert code == (3 if checks else 0)
    assert told["verified"] is not bool(checks)
    for check in checks:
        assert all({"what", "where", "expected", "found", "hint"} <= set(one) for one in check["problems"]), check
    assert [path.name for path in outside.root.iterdir()] == [NAME], "nothing was unpacked here"
    return [check["number"] for check in checks], json.dumps([check["problems"] for check in checks])


def unpacked(data: bytes) -> tuple[Files, int]:
    """The files of an archive by their whole path, and the time that all of them have."""
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        members = opened.getmembers()
        return {one.name: opened.extractfile(one).read() for one in members}, int(members[0].mtime)  # type: ignore[union-attr]


def packed(files: Files, mtime: int) -> bytes:
    """An archive of ``files``, with a manifest that agrees."""
    inside = {name.partition("/")[2]: content for name, content in files.items() if "manifest-" not in name}
    root = next(iter(files)).partition("/")[0]
    return tar.build({**files, f"{root}/manifest-sha256.txt": manifest(inside)}, mtime)
