"""Facts of GPUs, from text made by hand as nvidia-smi prints it: those of a machine, and those of each rank's own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from typing import Any

import pytest

from bench.gpu import AFTER, FIELDS, after_facts, gpu_facts, over_ranks, own_facts

# As `nvidia-smi --query-gpu=... --format=csv,noheader` prints: a space after each comma.
TWO = (
    "0, 550.54.15, GPU-aaaa1111, NVIDIA H100 80GB HBM3, 700.00 W, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz, Enabled, On\n"
    "1, 550.54.15, GPU-bbbb2222, NVIDIA H100 80GB HBM3, 650.00 W, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz, Enabled, On\n"
)
BARE = "0, 550.54.15, GPU-aaaa1111, NVIDIA GeForce, [N/A], 210 MHz, 405 MHz, 2100 MHz, 9501 MHz, [N/A], Disabled\n"


def facts(text: str, visible: str | None = None) -> dict[str, Any]:
    return gpu_facts(True, lambda: text, {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})


def test_what_all_gpus_share_is_told_once() -> None:
    told = facts(TWO)
    assert told["driver_version"] == "550.54.15"
    assert told["gpu_names"] == "NVIDIA H100 80GB HBM3"
    assert told["gpu_uuid"] == "GPU-aaaa1111; GPU-bbbb2222"
    assert told["gpu_power_limit"] == "700.00 W; 650.00 W"
    assert (told["gpu_clock_sm"], told["gpu_clock_sm_max"], told["gpu_ecc"]) == ("345 MHz", "1980 MHz", "Enabled")


VISIBLE: dict[str, tuple[str, str]] = {
    "one by number": ("1", "GPU-bbbb2222"),
    "both, in this order": ("1,0", "GPU-bbbb2222; GPU-aaaa1111"),
    "by the beginning of a uuid": ("GPU-bb", "GPU-bbbb2222"),
    "up to a number that is none": ("0,-1,1", "GPU-aaaa1111"),
}


@pytest.mark.parametrize("case", VISIBLE)
def test_only_visible_gpus_count(case: str) -> None:
    visible, wanted = VISIBLE[case]
    assert facts(TWO, visible)["gpu_uuid"] == wanted


def _absent() -> str:
    raise FileNotFoundError(2, "No such file or directory", "nvidia-smi")


def _stuck() -> str:
    raise subprocess.TimeoutExpired("nvidia-smi", 20)


UNREAD: dict[str, tuple[Any, str]] = {
    "no such program": (_absent, "No such file"),
    "it hangs": (_stuck, "timed out after 20 seconds"),
    "another shape": (lambda: "0, 550.54.15\n", "2 fields where 11 were asked for"),
    "no GPU": (lambda: "\n", "no GPU"),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_cannot_be_read_is_unknown(case: str) -> None:
    ask, words = UNREAD[case]
    told = gpu_facts(True, ask, {})
    assert set(told) == set(FIELDS)
    for fact in told.values():
        assert fact["unknown"] == "unreadable"
        assert words in fact["detail"]


def test_a_gpu_that_does_not_tell_everything() -> None:
    told = facts(BARE)
    assert told["gpu_power_limit"] == {"unknown": "unreadable", "detail": "nvidia-smi says [N/A]"}
    assert told["gpu_clock_memory_max"] == "9501 MHz"
    assert facts(TWO, "")["gpu_uuid"]["detail"] == "nvidia-smi: CUDA_VISIBLE_DEVICES= names none of its GPUs"


def test_each_rank_tells_its_own_gpu() -> None:
    told = [own_facts(uuid, lambda: TWO) for uuid in ("bbbb2222", "GPU-aaaa1111")]  # torch leaves the prefix out
    whole = over_ranks(told)
    assert (whole["gpu_uuid"], whole["gpu_power_limit"]) == ("GPU-bbbb2222; GPU-aaaa1111", "650.00 W; 700.00 W")
    assert whole["gpu_names"] == "NVIDIA H100 80GB HBM3"
    assert set(whole) == set(FIELDS)
    assert over_ranks([{}, {}]) == {}


LOST: dict[str, tuple[str | None, str]] = {
    "not listed": ("cccc3333", "it lists no GPU cccc3333"),
    "torch is too old to tell": (None, "torch does not tell which GPU it is"),
}


@pytest.mark.parametrize("case", LOST)
def test_one_rank_without_a_gpu_to_name_makes_it_unknown(case: str) -> None:
    uuid, words = LOST[case]
    whole = over_ranks([own_facts("aaaa1111", lambda: TWO), own_facts(uuid, lambda: TWO)])
    assert whole["gpu_uuid"] == {"unknown": "unreadable", "detail": f"nvidia-smi: {words}"}


def test_clocks_at_the_end_each_by_itself() -> None:
    def ask(fields: Iterable[str]) -> str:
        answers = {"clocks.sm": "1410 MHz", "clocks.mem": "2619 MHz"}
        uuid, field = fields
        assert uuid == "uuid"
        if field not in answers:
            raise subprocess.CalledProcessError(2, "nvidia-smi")
        return f"0, GPU-aaaa1111, {answers[field]}\n1, GPU-bbbb2222, 1980 MHz\n"

    told = after_facts("aaaa1111", ask)
    assert set(told) == set(AFTER)
    assert (told["gpu_clock_sm_after"], told["gpu_clock_memory_after"]) == ("1410 MHz", "2619 MHz")
    assert told["gpu_throttle_after"]["unknown"] == "unreadable"


def test_on_a_cpu_nothing_is_asked() -> None:
    told = gpu_facts(False, _absent, {})
    assert {fact["unknown"] for fact in told.values()} == {"not_applicable"}
