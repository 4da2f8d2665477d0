"""Reads the CPU peak of a training step by the kernel's mark, by allocator events and by storages, for some shapes.

Not a test module: test_peaks.py starts it in the environment of a memory pass. The reference is torch's own
allocator, through the memory events of torch.profiler: every allocation and release with its size.
"""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import replace
from typing import Any

import torch
from forked import ranks
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import ProfilerActivity, profile

from bench.checkpointing import Checkpointing, warm_checkpointing
from bench.gpt import make_gpt
from bench.memory import CPU_PEAK, CpuMeter, Value, vmhwm_fault
from bench.optimizer import build_optimizer
from bench.settings import Settings
from bench.step import step_plan, train_step
from bench.storages import StorageMeter
from bench.workload import Request

SHAPES = {
    "deep": Settings(layers=12, width=64, heads=2, context=128, batch=20),
    "wide": Settings(layers=2, width=256, heads=4, context=128, batch=8),
    "long": Settings(layers=3, width=96, heads=3, context=512, batch=4),
}
# Most tensors are of 128 KiB and of 64 KiB: one page of rounding is 3.1% and 6.2% of them.
SMALL = {
    "128KiB": Settings(layers=12, width=64, heads=2, context=64, batch=8),
    "64KiB": Settings(layers=12, width=64, heads=2, context=64, batch=4),
}
TINY = Settings(layers=1, width=64, heads=2, context=128, batch=8)
KINDS = ("none", "selective", "full")


def events_peak(profiled: profile) -> int:
    """Most bytes at once above what was held when profiling began."""
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


def read_peaks(settings: Settings) -> dict[str, Value | str]:
    """The three readings of one configuration, in bytes."""
    work = make_gpt(Request(settings, 0, 1, 1))
    model = work.build_model()
    Checkpointing(settings, work.layers(model))
    wrapped = DDP(model, gradient_as_bucket_view=True)
    optimizer, batch = build_optimizer(settings, wrapped), work.batch("train", 0)
    warm_checkpointing("cpu")
    step = functools.partial(train_step, work, wrapped, optimizer, batch, step_plan(settings))
    step()
    step()
    optimizer.zero_grad(set_to_none=True)
    meter = CpuMeter()
    meter.prepare()
    step()
    optimizer.zero_grad(set_to_none=True)
    meter.settle()
    seen = []
    for _ in range(2):
        meter.open()
        step()
        seen.append(meter.close()[CPU_PEAK])
    optimizer.zero_grad(set_to_none=True)
    storages = StorageMeter()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        storages.open()
        step()
        counted = storages.close()[CPU_PEAK]
    kernel = vmhwm_fault() or max(seen, key=lambda value: value if isinstance(value, int) else 0)
    return {"kernel": kernel, "events": events_peak(profiled), "storages": counted}


def main(small: bool) -> None:
    said: dict[str, Any] = {}
    for name, shape in {**SHAPES, **(SMALL if small else {})}.items():
        for kind in KINDS:
            said[f"{name} {kind}"] = ranks(1, functools.partial(read_peaks, replace(shape, checkpointing=kind)))
    for kind in ("none", "full"):
        said[f"tiny {kind}"] = ranks(1, functools.partial(read_peaks, replace(TINY, checkpointing=kind)))
    print(json.dumps(said))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("--small" in sys.argv)
