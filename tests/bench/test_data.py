"""The corpus, its digest, and the order a seed gives."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bench.data import IGNORED, Corpus, Order, load_corpus, make_batch, make_order


def _tree(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def test_corpus_by_hand(tmp_path: Path) -> None:
    kept = {"b.py": b"two", "a/z.py": b"one"}
    left_out = {
        "site-packages/x.py": b"no",
        "test/t.py": b"no",
        "notes.txt": b"no",
        "_sysconfigdata_x.py": b"no",
    }
    corpus = load_corpus(_tree(tmp_path, kept | left_out))
    assert corpus.data == b"onetwo"
    assert corpus.digest == hashlib.sha256(b"a/z.py\x003\x00oneb.py\x003\x00two").hexdigest()


def test_a_moved_byte_changes_the_digest(tmp_path: Path) -> None:
    one = load_corpus(_tree(tmp_path / "one", {"a.py": b"xy", "b.py": b"z"}))
    other = load_corpus(_tree(tmp_path / "other", {"a.py": b"x", "b.py": b"yz"}))
    assert one.data == other.data
    assert one.digest != other.digest


def test_this_interpreter_has_enough() -> None:
    assert len(load_corpus().data) > 1_000_000


def test_order_depends_on_seed_and_purpose_only() -> None:
    first = make_order(7, 50, 16, (0, 1000), "train")
    assert first == make_order(7, 50, 16, (0, 1000), "train")
    others = [make_order(8, 50, 16, (0, 1000), "train"), make_order(7, 50, 16, (0, 1000), "eval")]
    assert len({first.digest, *(order.digest for order in others)}) == 3
    assert make_order(7, 20, 16, (0, 1000), "train").offsets == first.offsets[:20]


def test_order_digest_by_hand() -> None:
    assert Order((3, 5), (2, 1)).digest == hashlib.sha256(b"3,2\n5,1\n").hexdigest()


def test_order_stays_inside_and_is_ragged() -> None:
    order = make_order(0, 500, 16, (100, 200), "train")
    assert min(order.offsets) >= 100
    assert max(order.offsets) + 16 + 1 <= 200
    assert set(order.lengths) == set(range(8, 17))


def test_too_small_a_corpus() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        make_order(0, 1, 16, (0, 16), "train")


def test_batch_by_hand() -> None:
    torch = pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    corpus, order = Corpus(bytes(range(10)), ""), Order((0, 4, 2), (3, 2, 1))
    batch = make_batch(corpus, order, 1, 2, 3, "cpu")
    assert torch.equal(batch.inputs, torch.tensor([[4, 5, 6], [2, 3, 4]]))
    assert torch.equal(batch.labels, torch.tensor([[5, 6, IGNORED], [3, IGNORED, IGNORED]]))
