"""One change to an archive, and the exact numbered checks that must find it; in the end, forgers who know the format.

Whatever is not a file's contents is check 1's; a file's contents are check 2's, and are looked at all the same.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger import archive as packing
from ledger.actions.packing import pack_record
from ledger.archive import tar
from ledger.archive.manifest import manifest
from ledger.errors import IntegrityError
from ledger.store import Record
from tests.tamper.test_forged import rewrite
from tests.worlds import RECORD, World, copy_of

NAME = f"{RECORD}.tar"
Files = dict[str, bytes]


@pytest.fixture(scope="session")
def data(sound: World, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound archive."""
    world = copy_of(sound, tmp_path_factory.mktemp("packed"))
    world.ok("archive", RECORD)
    return (world.root / NAME).read_bytes()


@pytest.fixture
def outside(tmp_path: Path) -> World:
    """A folder that is no ledger: a stranger's."""
    return World(tmp_path)


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


def test_sound(outside: World, data: bytes) -> None:
    assert failed(outside, data) == ([], "[]")
    assert packed(*unpacked(data)) == data


def regions(data: bytes) -> dict[str, list[int]]:
    """Offsets by what lies there: first, middle and last byte of each file, and of what is around it."""
    found: dict[str, list[int]] = {"header": [], "contents": [], "padding": [], "end": []}
    last = 0
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        for one in opened.getmembers():
            start, end = one.offset_data, one.offset_data + one.size
            last = -(-end // 512) * 512
            found["header"] += [one.offset, one.offset + 100, one.offset + 130, one.offset + 150, start - 1]
            found["contents"] += [start, (start + end) // 2, end - 1]
            found["padding"] += [end, last - 1] if last > end else []
    ends = (last, last + 511, last + 512, last + 1024, len(data) - 1)
    found["end"] = [offset for offset in ends if offset < len(data)]  # after two empty blocks there may be nothing
    return found


def flipped(data: bytes, offset: int) -> bytes:
    """The data with one bit changed."""
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize("region", ["header", "padding", "end"])
def test_one_bit_around_the_files(outside: World, data: bytes, region: str, third: int) -> None:
    for offset in regions(data)[region][third::3]:
        numbers, words = failed(outside, flipped(data, offset))
        assert numbers == [1], offset
        assert NAME in words


@pytest.mark.parametrize("third", range(3))
def test_one_bit_of_any_file(outside: World, data: bytes, third: int) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        members = {one.offset_data: one for one in opened.getmembers() if one.size}
    for offset in regions(data)["contents"][third::3]:
        name = next(one.name for start, one in members.items() if start <= offset < start + one.size)
        numbers, words = failed(outside, flipped(data, offset))
        inside = name.partition("/")[2]
        assert 2 in numbers
        assert 1 not in numbers
        assert (11 in numbers) == inside.startswith(("dossier/", "README")), name
        assert inside in words


@pytest.mark.parametrize("start", range(4))
def test_no_bit_is_free(data: bytes, start: int) -> None:
    """A denser sweep through the library: no byte of the file can be changed without checks 1 or 2 seeing it."""
    for offset in range(start * 97, len(data), 4 * 97):
        with pytest.raises(IntegrityError):
            packing.check_manifest(packing.unpack(flipped(data, offset), NAME)[1], NAME)


CUT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(10240),
    "one byte": lambda data: b"x",
    "text": lambda data: b"hello\n" * 1000,
    "a header": lambda data: data[:512],
    "half": lambda data: data[: len(data) // 2],
    "all but a byte": lambda data: data[:-1],
    "without its end": lambda data: data[: len(data) - 10240],
    "a byte more": lambda data: data + b"\0",
    "a block more": lambda data: data + bytes(512),
    "a note behind": lambda data: data + b"note",
    "twice": lambda data: data * 2,
    "compressed": gzip.compress,
    "another order": lambda data: resorted(data),
}


def resorted(data: bytes) -> bytes:
    """The same members, last first, as any tar program would read them."""
    files, mtime = unpacked(data)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as opened:
        for name in sorted(files, reverse=True):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(files[name]), mtime
            opened.addfile(info, io.BytesIO(files[name]))
    return out.getvalue()


@pytest.mark.parametrize("case", CUT)
def test_cut_and_lengthened(outside: World, data: bytes, case: str) -> None:
    found, words = failed(outside, CUT[case](data))
    assert found == [1]
    assert ("gunzip it first" in words) == (case == "compressed")


def member(name: str, kind: bytes = tarfile.REGTYPE, **fields: object) -> tarfile.TarInfo:
    """A tar member of one byte, or of none when it is no file."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = 1 if kind == tarfile.REGTYPE else 0
    for key, value in fields.items():
        setattr(info, key, value)
    return info


MEMBERS: dict[str, list[tarfile.TarInfo]] = {
    "a link": [member(f"{RECORD}/x", tarfile.SYMTYPE, linkname="/etc/passwd")],
    "a hard link": [member(f"{RECORD}/x", tarfile.LNKTYPE, linkname=f"{RECORD}/README.txt")],
    "a folder": [member(f"{RECORD}/x", tarfile.DIRTYPE)],
    "a device": [member(f"{RECORD}/x", tarfile.CHRTYPE)],
    "a pipe": [member(f"{RECORD}/x", tarfile.FIFOTYPE)],
    "a file of the oldest kind": [member(f"{RECORD}/x", tarfile.AREGTYPE)],
    "an absolute path": [member("/tmp/x")],
    "a path upwards": [member(f"{RECORD}/../../x")],
    "a path through dots": [member(f"{RECORD}/./x")],
    "two slashes": [member(f"{RECORD}//x")],
    "a backslash": [member(f"{RECORD}/a\\b")],
    "another folder": [member("2026-08-flop/x")],
    "no folder": [member("x")],
    "no name": [member("")],
    "a file twice": [member(f"{RECORD}/README.txt")],
    "a file below a file": [member(f"{RECORD}/README.txt/x")],
    "a long name": [member(f"{RECORD}/" + "x/" * 120 + "x")],
    "a name that is no text": [member(f"{RECORD}/\udcff\x1b[2J")],
    "another owner": [member(f"{RECORD}/zz", uid=1000)],
    "another mode": [member(f"{RECORD}/zz", mode=0o755)],
    "a time before 1970": [member(f"{RECORD}/zz", mtime=-1)],
    "a size below zero": [member(f"{RECORD}/zz", size=-512)],
    "a terabyte of nothing": [member(f"{RECORD}/zz", tarfile.GNUTYPE_SPARSE, size=2**40)],
}


@pytest.mark.parametrize("fmt", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["gnu", "pax"])
@pytest.mark.parametrize("case", MEMBERS)
def test_members_that_no_archive_has(outside: World, data: bytes, case: str, fmt: int) -> None:
    end = regions(data)["end"][0]
    blocks = b"".join(info.tobuf(fmt, "utf-8", "surrogateescape") + b"x" + bytes(511) for info in MEMBERS[case])
    numbers, words = failed(outside, data[:end] + blocks + bytes(-(end + len(blocks)) % 10240 + 10240))
    assert numbers == [1]
    assert "\x1b" not in words
    assert outside.ledger("verify", NAME).exit_code == 3


def test_a_header_forged_with_its_checksum(outside: World, data: bytes) -> None:
    """Mode, owner and time say nothing here, and yet no byte of them is free."""
    for start, value in ((100, b"0000755\0"), (108, b"0001000\0"), (136, b"00000000001\0"), (265, b"root\0")):
        block = bytearray(data[:512])
        block[start : start + len(value)] = value
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        assert failed(outside, bytes(block) + data[512:])[0] == [1], start


CHANGES: dict[str, tuple[Callable[[Files], object], list[int]]] = {
    "a page": (lambda f: edit(f, f"dossier/{RECORD}.html", b"ADOPT", b"AD0PT"), [11]),
    "a page's twin": (lambda f: edit(f, f"dossier/{RECORD}.json", b"ADOPT", b"VOID"), [11]),
    "the index": (lambda f: edit(f, "dossier/index.html", b"ADOPT", b"VOID"), [11]),
    "the words to a stranger": (lambda f: edit(f, "README.txt", b"evidence-ledger", b"evil-ledger"), [11]),
    "a page less": (lambda f: f.pop(f"{RECORD}/dossier/index.json"), [11]),
    "a page more": (lambda f: f.update({f"{RECORD}/dossier/more.html": b"x"}), [11]),
    "a file more": (lambda f: f.update({f"{RECORD}/NOTES": b"x"}), [11]),
    "a file named as the folder": (lambda f: f.update({f"{RECORD}/records": b"x"}), [11]),
    "a file below a file": (lambda f: f.update({f"{RECORD}/record/prereg.yaml/x": b"x"}), [1]),
    "the plan": (lambda f: edit(f, "record/prereg.yaml", b"1.02", b"1.03"), [6, 7]),
    "a stray in the record": (lambda f: f.update({f"{RECORD}/record/notes.txt": b"x"}), [3]),
    "a blob less": (lambda f: f.pop(next(n for n in f if "/blobs/" in n)), [5, 8, 9]),
    "the freeze less": (lambda f: f.pop(next(n for n in f if "-freeze-" in n)), [4, 6, 7]),
    "a run less": (lambda f: f.pop(next(n for n in f if "-run-" in n)), [4]),
    "the record less": (lambda f: [f.pop(n) for n in list(f) if "/record/" in n], [6, 7, 8, 9, 10, 14]),
    "a decision": (lambda f: edit(f, next(n for n in f if "-decide-" in n), b"ADOPT", b"VOID"), [4]),
}


def edit(files: Files, name: str, old: bytes, new: bytes) -> None:
    """Replace some bytes of a file."""
    path = name if name in files else f"{RECORD}/{name}"
    assert old in files[path]
    files[path] = files[path].replace(old, new)


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_with_a_manifest_that_agrees(outside: World, data: bytes, case: str) -> None:
    change, numbers = CHANGES[case]
    files, mtime = unpacked(data)
    change(files)
    found, words = failed(outside, packed(files, mtime))
    # Pages cannot be made again from a record that does not read, and then check 11 is not made.
    assert [number for number in found if number != 11] == [number for number in numbers if number != 11]
    assert (11 in found) == (11 in numbers)
    assert words != "[]"


def test_a_manifest_of_another_form(outside: World, data: bytes) -> None:
    files, mtime = unpacked(data)
    path = f"{RECORD}/manifest-sha256.txt"
    lines = files[path].splitlines(keepends=True)
    forms = {
        "another order": b"".join(reversed(lines)),
        "a line twice": b"".join(lines) + lines[-1],
        "no line end": files[path][:-1],
        "a line of its own": files[path] + b"# fine\n",
        "empty": b"",
    }
    for case, form in forms.items():
        assert 2 in failed(outside, tar.build({**files, path: form}, mtime))[0], case
    del files[path]
    assert failed(outside, tar.build(files, mtime))[0] == [2]


def forged(sound: World, root: Path, change: Callable[[World], object]) -> bytes:
    """An archive that the program itself would write of a record after ``change``, pages and manifest and all."""
    world = copy_of(sound, root / "forge")
    change(world)
    record = Record(world.root / "records", RECORD)
    return pack_record(record, record.entries()[-1].digest)


def test_a_forged_decision_packed_by_the_program_itself(sound: World, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    data = forged(sound, tmp_path, lambda w: rewrite(w, "decide", lambda e: e["body"].update(disposition="VOID")))
    numbers, words = failed(World(tmp_path / "stranger"), data)
    assert numbers == [9]
    assert "body.disposition" in words
    assert '\\"ADOPT\\"' in words


def test_the_newest_entry_left_out_is_found_by_its_published_head(sound: World, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    outside = World(tmp_path / "stranger")
    head = sound.told("log", RECORD)[1]["heads"][0]
    data = forged(sound, tmp_path, lambda w: next(w.record_path().glob("entries/*-decide-*")).unlink())
    assert failed(outside, data) == ([], "[]")
    assert "not checked: 12 committed, 13 head" in outside.ok("verify", NAME).stdout
    assert failed(outside, data, "--head", head)[0] == [13]


def test_an_archive_under_another_name(outside: World, data: bytes) -> None:
    """The file may be called anything; the folder inside it may not."""
    (outside.root / "x").write_bytes(data)
    outside.ok("verify", "x")
    files, mtime = unpacked(data)
    (outside.root / "x").unlink()
    for root, numbers in {"2026-08-flop": [4, 6, 7, 8, 9, 10, 14], "Flip": [1]}.items():
        moved = {root + name[len(RECORD) :]: content for name, content in files.items()}
        assert set(numbers) <= set(failed(outside, packed(moved, mtime))[0]), root
