"""One change to the bytes of an archive or to how it is packed, and the exact numbered checks that must find it.

Whatever is not a file's contents is check 1's; a file's contents are check 2's, and are looked at all the same.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable

import pytest

from ledger import archive as packing
from ledger.errors import IntegrityError
from tests.tamper.archives import NAME, failed, packed, unpacked
from tests.worlds import RECORD, World


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
