"""The phases of one rank, in order, each leaving its seconds, peaks and values in the journal.

What a step is stands in :mod:`bench.step`; how a failure is recorded, in :mod:`bench.worker`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from bench.checkpointing import Checkpointing, warm_checkpointing
from bench.clock import seconds
from bench.device import Device, device_facts, memory_method
from bench.identity import facts_after, identity, shared_facts
from bench.job import Job
from bench.journal import Journal
from bench.memory import CPU_PEAK, CUDA_ALLOCATED, CUDA_RESERVED, CpuCap, CudaCap, Peaks
from bench.optimizer import build_optimizer, forget, gather_state, state_bytes
from bench.oracle import Oracle
from bench.saving import differing, state_of, write_checkpoint
from bench.state import State
from bench.step import evaluate, global_loss, step_plan, train_step
from bench.steplog import StepLog
from bench.weights import DTYPES, parameters_digest, perturb_by_one_ulp, weights_digest
from bench.workload import (
    Batch,
    Request,
    ScoresItems,
    checked_batch,
    checked_facts,
    checked_items,
    find_factory,
    make_workload,
)


class Rank:
    """One rank's model, data and meters through all phases."""

    def __init__(self, job: Job, folder: Path, journal: Journal, state: State, device: Device) -> None:
        self.job, self.folder, self.journal, self.state, self.device = job, folder, journal, state, device
        self.settings = job.settings
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.method = memory_method(job)
        self.meter, self.peaks = device.meter(job.kind, self.method), Peaks()
        self.plan = step_plan(self.settings)
        state.room, state.peaks = device.room(), self.peaks
        self.began = time.perf_counter()

    def _value(self, phase: str, name: str, value: Any) -> None:
        self.journal.write("value", phase=phase, name=name, value=value)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self.state.phase, self.state.step = name, None
        self.journal.write("phase", phase=name)
        began = time.perf_counter()
        yield
        self._value(name, "seconds", seconds(time.perf_counter() - began))
        for peak, value in self.peaks.of(name).items():
            self._value(name, peak, value)

    def _batch(self, purpose: str, step: int) -> Batch:
        return self.device.to_device(checked_batch(self.work.batch(purpose, step), self.settings))

    def init(self) -> None:
        """Data, model, optimizer, and the facts that identify them."""
        with self._phase("init"):
            self.factory, origin = find_factory(self.settings.workload)
            request = Request(self.settings, self.rank, self.world, self.job.ladder_steps)
            self.work = make_workload(self.factory, request)
            make_workload(self.factory, replace(request, tiny=True))  # the oracle's, at the end: it fails here or never
            facts = origin()
            facts |= shared_facts(self.job, self.device, facts) | checked_facts(self.work, self.settings.workload)
            torch.manual_seed(self.settings.seed)
            model = self.work.build_model().to(device=self.device.name, dtype=DTYPES[self.settings.dtype])
            facts["warm_start_digest"] = weights_digest(model)
            if self.settings.perturb == "ulp":
                perturb_by_one_ulp(model, self.settings.perturb_seed)
            self.checkpointing = Checkpointing(self.settings, self.work.layers(model))
            ids = [self.device.index] if self.device.is_cuda else None
            self.model = DistributedDataParallel(model, device_ids=ids, gradient_as_bucket_view=True)
            self.optimizer = build_optimizer(self.settings, self.model)
            facts |= identity(self.settings, model) | self.checkpointing.facts()
            facts |= {"memory_method": self.method} if self.job.kind == "memory" else {}
            self.journal.write("facts", facts=device_facts(self.device, self.settings) | facts)

    def warm(self) -> None:
        """The first checkpoint() calls and some steps, the same in every rung, then back to the warm start.

        The calls import compiler machinery (seconds, tens of MiB), the first step makes optimizer state and
        the second rebuilds DDP's buckets: left to a measured step, each would count as the rung's own.
        """
        with self._phase("warm"):
            # On the host: a second copy on the device would make warm's peak one that train never has.
            start = {name: weight.to("cpu", copy=True) for name, weight in self.model.module.state_dict().items()}
            warm_checkpointing(self.device.name)
            if self.device.is_cuda:
                self.meter.open()  # from here on, the peak is that of steps
            for step in range(self.settings.warmup_steps):
                self._warm_step(step)
            saved = self.checkpointing.saved_calls(self.settings.warmup_steps)
            if self.job.kind == "memory" or self.device.is_cuda:
                self.meter.prepare()
                if self.device.is_cuda:
                    self._limit()  # before the step in which the allocator grows again, not after it
                self._warm_step(self.settings.warmup_steps)
            if self.job.kind == "memory":
                self.start = start  # kept: freed now, its small parts would leave holes in the heap again
            self.model.module.load_state_dict(start)
            forget(self.optimizer)
            self.optimizer.zero_grad(set_to_none=True)
        del start
        self.journal.write("facts", facts={"optimizer_state_bytes_rank": state_bytes(self.optimizer)} | saved)
        self._batch("train", 0)  # what a workload reads or draws once is not the first step's
        # Each rank draws masks of its own; the measured steps draw the same whatever the warm phase drew.
        torch.manual_seed((self.settings.seed * self.world + self.rank) % (1 << 63))
        self.meter.settle()
        if not self.device.is_cuda:
            self._limit()

    def _warm_step(self, step: int) -> None:
        self.state.step = step
        global_loss(train_step(self.work, self.model, self.optimizer, self._batch("warm", step), self.plan)).item()

    def _limit(self) -> None:
        """Read what the device can give, and put the plan's cap on."""
        if self.state.room is not None:
            self.state.room.read()
        cap = self.settings.memory_cap_bytes
        if cap is None:
            return
        if self.device.is_cuda:
            limited = CudaCap(torch.cuda, self.device.index, cap)
            names = (CUDA_ALLOCATED, CUDA_RESERVED)
            self.state.cap, self.state.limits = limited, dict.fromkeys(names, limited.limit)
        elif self.job.kind == "memory":
            # The timing pass's malloc keeps freed memory mapped: a limit there would fail what really fits.
            self.state.cap, self.state.limits = CpuCap(cap), {CPU_PEAK: cap}

    @contextmanager
    def _window(self) -> Iterator[None]:
        self.meter.open()
        yield
        self.peaks.take(self.state.phase, self.meter.close())

    def train(self) -> None:
        """The measured steps, from the warm start."""
        log = StepLog(self.journal, self.device)
        dist.barrier()
        with self._phase("train"):
            for step in range(self.job.steps):
                self.measured_step(step, log)
            log.finish()
        if self.job.kind == "timing":  # no memory of the host is measured in it
            own = {"end_digest": parameters_digest(self.model.module)}
            self.journal.write("facts", facts=own | facts_after(self.device))

    def measured_step(self, step: int, log: StepLog) -> None:
        """One step with everything the harness does around it: what the overhead benchmark holds against a bare one."""
        self.state.step = step
        batch = self._batch("train", step)
        self.meter.open()
        lap = self.device.lap()
        share = train_step(self.work, self.model, self.optimizer, batch, self.plan)
        lap.stop()
        window = self.meter.close()
        self.peaks.take("train", window)
        # Alone it would be the identity, at half a millisecond of CPU with cold caches.
        log.push(lap, share if self.world == 1 else global_loss(share), window)

    def eval(self) -> None:
        """The held-out loss, once for each eval the plan asks for, on fresh batches; then items, if scored."""
        if not self.job.evals:
            return
        total = 0.0
        with self._phase("eval"):
            for index in range(self.job.evals):
                batch = self._batch("eval", index)
                with self._window():
                    total += evaluate(self.work, self.model, batch, self.plan.autocast).item()
        loss = total / self.job.evals
        self._value("eval", "loss", loss if math.isfinite(loss) else {"unknown": "invalid", "detail": loss.hex()})
        self.journal.write("count", name="eval", value=self.job.evals)
        if self.rank == 0 and self.job.kind == "timing" and isinstance(self.work, ScoresItems):
            self._score(self.work)

    def _score(self, work: ScoresItems) -> None:
        self.model.eval()
        with torch.no_grad():
            tables = checked_items(work.items(self.model.module, self.device.name), self.settings.workload)
            for table, items in tables.items():
                scores = [float(v) if math.isfinite(v) else {"unknown": "invalid"} for v in items.values]
                whole = {"keys": items.keys, "values": scores, "unit": items.unit}
                self.journal.write("items", table=table, definition=items.definition, **whole)
        self.model.train()  # type: ignore[no-untyped-call]

    def save(self) -> None:
        """Rank 0 writes weights and optimizer state and flushes them to disk; the others wait for it."""
        if not self.job.saves:
            return
        path, size, gathering = self.folder / "checkpoint.pt", 0, 0.0
        with self._phase("save"):
            for _ in range(self.job.saves):
                with self._window():
                    took = gather_state(self.optimizer)
                    gathering += took or 0.0
                    if self.rank == 0:
                        size = write_checkpoint(path, state_of(self.model.module, self.optimizer))
                    dist.barrier()
        self._value("save", "bytes", size)
        whole = {"unknown": "not_applicable", "detail": "the optimizer's state is not sharded"}
        self._value("save", "consolidate_seconds", whole if took is None else seconds(gathering))
        self.journal.write("count", name="save", value=self.job.saves)
        if self.rank == 0:
            found = differing(path, state_of(self.model.module, self.optimizer))
            self.journal.write("check", name="reload_equal", value=found)
            path.unlink()

    def check(self) -> None:
        """Run totals, then the gradient oracle (timing pass only; no cap, no meter)."""
        self.state.leave()
        self._value("run", "seconds", seconds(time.perf_counter() - self.began))
        for peak, value in self.peaks.of("run").items():
            self._value("run", peak, value)
        if self.job.kind != "timing":
            return
        oracle = Oracle(self.factory, self.settings, self.device.name)
        self._check("chunks_equal", oracle.chunks_equal())
        self._check("checkpointing_bitwise", oracle.checkpointing_bitwise())
        self.journal.write("facts", facts={"oracle_ragged": oracle.ragged()})

    def _check(self, name: str, value: float | None) -> None:
        if value is None:
            said: Any = {"unknown": "not_applicable", "detail": "the workload names no layers to checkpoint"}
        else:
            said = value if math.isfinite(value) else {"unknown": "invalid"}
        if self.rank == 0:
            self.journal.write("check", name=name, value=said)
