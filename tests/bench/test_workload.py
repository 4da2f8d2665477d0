"""A plug-in is found, checked and named by its bytes; each fault of it is one clear refusal."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

import torch
from torch import Tensor, nn

from bench.checkpointing import Checkpointing, operators
from bench.examples.bigram import BigramWorkload, make
from bench.failure import Refused
from bench.gpt import make_gpt
from bench.settings import Settings, check_settings
from bench.workload import (
    REQUIRED,
    Items,
    Request,
    ScoresItems,
    checked_batch,
    checked_facts,
    checked_items,
    find_factory,
    make_workload,
)

SOURCE = b"from own_parts import make\n"
PARTS = b"def make(request):\n    return None\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with a plug-in of two modules, forgotten again afterwards."""
    (tmp_path / "own_model.py").write_bytes(SOURCE)
    (tmp_path / "own_parts.py").write_bytes(PARTS)
    (tmp_path / "broken.py").write_text("import torch\n1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_plug_in_is_found_in_the_current_folder_and_named_by_its_bytes(folder: Path) -> None:
    factory, origin = find_factory("own_model:make")
    assert factory(None) is None  # type: ignore[arg-type]
    facts = origin()
    both = b"own_model.py\x00%d\x00%sown_parts.py\x00%d\x00%s" % (len(SOURCE), SOURCE, len(PARTS), PARTS)
    assert facts == {
        "workload": "own_model:make",
        "workload_file": "own_model.py",
        "workload_file_digest": hashlib.sha256(SOURCE).hexdigest(),
        "workload_source_digest": hashlib.sha256(both).hexdigest(),
    }


REFUSED = {
    "no such module": ("absent_model:make", "importing absent_model"),
    "a module that fails": ("broken:make", "ZeroDivisionError: division by zero"),
    "no such name": ("own_model:build", "has no callable build"),
    "a name that is no function": ("own_model:__name__", "has no callable __name__"),
    "a module without a file": ("sys:exit", "no source file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_found_is_refused(folder: Path, case: str) -> None:
    name, words = REFUSED[case]
    with pytest.raises(Refused, match=words) as caught:
        find_factory(name)
    assert str(caught.value).count("\n") == 0


def request(**settings: Any) -> Request:
    return Request(check_settings({"workload": "a:b", "batch": 4, **settings}), 0, 1, 2)


def test_a_factory_that_fails_or_makes_too_little_is_refused() -> None:
    with pytest.raises(Refused, match="its factory failed: ValueError: x_width must be"):
        make_workload(make, request(x_width="wide"))  # type: ignore[arg-type]
    with pytest.raises(Refused, match="int lacks build_model, layers, batch, loss_sum, valid_tokens, facts"):
        make_workload(lambda _request: 7, request())  # type: ignore[arg-type, return-value]


def test_facts_batches_and_items_are_checked() -> None:
    work = make(request())
    assert checked_facts(work, "a:b")["bigram_width"] == 32
    work.facts = lambda: {"dataset_digest": "abc"}  # type: ignore[method-assign]
    with pytest.raises(Refused, match="dataset_digest as 64 hex digits"):
        checked_facts(work, "a:b")
    with pytest.raises(Refused, match=r"tensors of 4 samples each, not \[3\]"):
        checked_batch((torch.zeros(3, 2),), Settings(batch=4))
    bad = {"twice": Items(("a", "a"), (1.0, 2.0), "1", "x"), "loss_hex": Items((), (), "1", "x")}
    for table, items in bad.items():
        with pytest.raises(Refused, match=table):
            checked_items({table: items}, "a:b")


@pytest.mark.parametrize("factory", [make, make_gpt])
def test_the_bundled_model_and_the_example_offer_the_same(factory: Any) -> None:
    asked = Request(Settings(layers=1, width=16, heads=2, context=16, batch=4), 0, 2, 3)
    work = make_workload(factory, asked)
    assert all(callable(getattr(work, name)) for name in REQUIRED)
    model, batch = work.build_model(), checked_batch(work.batch("train", 1), asked.settings)
    halves = [work.loss_sum(model, tuple(part[i : i + 2] for part in batch)).item() for i in (0, 2)]
    assert work.loss_sum(model, batch).item() == pytest.approx(sum(halves), rel=1e-5)
    other = make_workload(factory, Request(asked.settings, 1, 2, 3))
    assert not torch.equal(batch[0], other.batch("train", 1)[0])  # ranks share a batch and do not repeat it
    assert other.facts()["data_order_digest"] == work.facts()["data_order_digest"]
    tokens = {int(work.valid_tokens(tuple(part[i : i + 1] for part in batch))) for i in range(4)}
    assert len(tokens) > 1  # ragged
    assert isinstance(work, ScoresItems) == isinstance(work, BigramWorkload)


class Stack(nn.Module):
    """Four layers of one product and one tanh each."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4, bias=False), nn.Tanh()) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


WRAPPED = {
    "none": ({}, "none", None),
    "full": ({}, "4 of 4", "save layer inputs only"),
    "every_nth": ({"checkpoint_every": 3}, "2 of 4", "save layer inputs only"),
    "selective": ({"checkpoint_save_ops": "aten.mm"}, "4 of 4", "save aten.mm"),
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_which_layers_are_checkpointed_and_what_they_keep(kind: str) -> None:
    flags, layers, policy = WRAPPED[kind]
    model = Stack()
    names = list(model.state_dict())
    done = Checkpointing(Settings(checkpointing=kind, **flags), list(model.layers))
    model(torch.ones(2, 4)).sum().backward()
    assert list(model.state_dict()) == names
    if kind == "none":
        assert done.facts()["checkpoint_layers"]["unknown"] == "not_applicable"
        return
    assert (done.facts()["checkpoint_layers"], done.facts()["checkpoint_policy"]) == (layers, policy)
    # Four products a step, each kept once and not counted again in the recomputation.
    kept = {"checkpoint_saved_calls": "aten.mm.default=4"} if kind == "selective" else {}
    assert done.saved_calls(steps=1) == kept


def test_a_policy_that_keeps_nothing_shows() -> None:
    model = Stack()
    done = Checkpointing(Settings(checkpointing="selective", checkpoint_save_ops="aten.bmm"), list(model.layers))
    model(torch.ones(2, 4)).sum().backward()
    assert done.saved_calls(steps=1) == {"checkpoint_saved_calls": "none"}


def test_what_cannot_be_checkpointed_is_refused() -> None:
    with pytest.raises(Refused, match="names no layers"):
        Checkpointing(Settings(checkpointing="full"), [])
    with pytest.raises(Refused, match=r"no operator 'aten\.nothing_like_it'"):
        operators("aten.nothing_like_it")
    with pytest.raises(Refused, match="no policy 'matmull'"):
        operators("matmull")
