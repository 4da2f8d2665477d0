"""What an archive of one record holds, and where.

``<id>/README.txt``, ``<id>/manifest-sha256.txt``, ``<id>/record/...`` (the record's folder, byte for byte) and
``<id>/dossier/...`` (its pages as of its newest entry). Everything follows from the record alone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping

from ledger.archive import tar
from ledger.archive.manifest import NAME as MANIFEST
from ledger.archive.manifest import manifest

README = """\
This is the archive of one pre-registered experiment: {id}

What is in it
  record/prereg.yaml   the plan, as it was frozen
  record/entries/      what happened, one immutable JSON file an entry; the last part of each
                       file's name is the beginning of the sha256 of its bytes
  record/blobs/        raw inputs, byte for byte, each named by its sha256
  dossier/             pages to read in any browser; a view, not evidence

How to check it with nothing but coreutils
  tar -xf {id}.tar && cd {id} && sha256sum -c manifest-sha256.txt

Packed by evidence-ledger {version}, which writes these pages byte for byte again.

How to check every step (pip install evidence-ledger)
  ledger verify {id}.tar

An archive proves that its parts agree with each other. That it is the one that was published is proven by
comparing its sha256, or its newest entry ({head}), with what was published elsewhere.
"""


def pack(
    record_id: str, record: Mapping[str, bytes], pages: Mapping[str, bytes], head: str, at: str, version: str
) -> bytes:
    """The archive's bytes.

    ``record`` and ``pages`` are files by path inside their folders; ``at`` is the newest entry's time, which every
    file gets; ``version`` is that of the program that made the pages.
    """
    inside = {
        "README.txt": README.format(id=record_id, head=head, version=version).encode(),
        **{f"record/{name}": data for name, data in record.items()},
        **{f"dossier/{name}": data for name, data in pages.items()},
    }
    inside[MANIFEST] = manifest(inside)
    mtime = int(dt.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp())
    return tar.build({f"{record_id}/{name}": data for name, data in inside.items()}, mtime)


def unpack(data: bytes, where: str) -> tuple[str, dict[str, bytes]]:
    """The record id and the files by path below the archive's folder. Raises IntegrityError as ``tar.read``."""
    files = tar.read(data, where)
    root = next(iter(files)).partition("/")[0]
    return root, {name.partition("/")[2]: content for name, content in files.items()}


def packed_by(files: Mapping[str, bytes]) -> str | None:
    """The version that says it packed the archive, if its README names one."""
    found = re.search(rb"^Packed by evidence-ledger (\S+),", files.get("README.txt", b""), re.MULTILINE)
    return found[1].decode("ascii", "replace") if found else None


def part(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files of one folder of the archive, by path inside it."""
    return {name.removeprefix(folder + "/"): data for name, data in files.items() if name.startswith(folder + "/")}
