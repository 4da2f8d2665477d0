"""Real bytes that any machine has, and the order in which a seed serves them.

The bytes are the Python standard library's own sources. Nothing is downloaded and nothing is timed here.
"""

from __future__ import annotations

import hashlib
import os
import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

IGNORED = -100  # the label that cross_entropy leaves out
_SKIPPED = {"site-packages", "dist-packages", "test", "tests", "__pycache__"}


def sources(root: Path | None = None) -> Iterator[tuple[str, bytes]]:
    """(POSIX path, bytes) of each ``*.py`` below the standard library, sorted by path.

    Left out: installed packages, tests (not every distribution ships them) and ``_sysconfigdata*``,
    which the build of the interpreter writes.
    """
    root = root or Path(sysconfig.get_path("stdlib"))
    names: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        here = Path(folder).relative_to(root)
        names += [(here / name).as_posix() for name in files if _is_source(name)]
    for name in sorted(names):
        yield name, (root / name).read_bytes()


def _is_source(name: str) -> bool:
    return name.endswith(".py") and not name.startswith("_sysconfigdata")


@dataclass(frozen=True)
class Corpus:
    """All the bytes in one piece, and a sha256 over each file's path, length and bytes."""

    data: bytes
    digest: str


def load_corpus(root: Path | None = None) -> Corpus:
    """Read the sources; raises OSError where they cannot be read."""
    hasher, parts = hashlib.sha256(), []
    for name, data in sources(root):
        hasher.update(f"{name}\0{len(data)}\0".encode() + data)
        parts.append(data)
    return Corpus(b"".join(parts), hasher.hexdigest())


@dataclass(frozen=True)
class Order:
    """Where each sample starts and how many of its tokens count, for ``samples`` samples."""

    offsets: tuple[int, ...]
    lengths: tuple[int, ...]

    @property
    def digest(self) -> str:
        """sha256 over ``offset,length`` lines: equal exactly when the same bytes come in the same order."""
        lines = (f"{a},{b}\n" for a, b in zip(self.offsets, self.lengths, strict=True))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def make_order(seed: int, samples: int, context: int, span: tuple[int, int], purpose: str) -> Order:
    """The order a seed gives: starts anywhere in ``span``, and half to all of ``context`` tokens valid.

    ``span`` is (first, past the last) byte of the corpus; ``purpose`` separates warm, train and eval draws.

    Ragged lengths matter: with equal counts in every chunk a mean of means equals the right loss, and the
    commonest chunking fault would not show. ``random.Random(int).random()`` is stable over Python versions.
    """
    room = span[1] - span[0] - context
    if room < 1:
        raise ValueError(f"the corpus part has {span[1] - span[0]} bytes and a sample needs {context + 1}")
    word = hashlib.sha256(f"{purpose}/{seed}".encode()).digest()[:8]
    draw = random.Random(int.from_bytes(word, "big"))
    offsets, lengths = [], []
    for _ in range(samples):
        offsets.append(span[0] + int(draw.random() * room))
        lengths.append(context // 2 + int(draw.random() * (context - context // 2 + 1)))
    return Order(tuple(offsets), tuple(lengths))


class GptBatch(NamedTuple):
    """``inputs`` and ``labels``: int64, [batch, context]; labels past a sample's length are IGNORED."""

    inputs: torch.Tensor
    labels: torch.Tensor


def make_batch(corpus: Corpus, order: Order, first: int, count: int, context: int, device: str) -> GptBatch:
    """Samples ``first .. first + count`` of the order, on ``device``."""
    import torch

    rows = [corpus.data[order.offsets[i] : order.offsets[i] + context + 1] for i in range(first, first + count)]
    tokens = torch.frombuffer(bytearray(b"".join(rows)), dtype=torch.uint8).view(count, context + 1).long()
    labels = tokens[:, 1:].clone()
    for row in range(count):
        labels[row, order.lengths[first + row] :] = IGNORED
    return GptBatch(tokens[:, :-1].contiguous().to(device), labels.to(device))
