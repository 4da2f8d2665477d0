"""The phases of one rank, in order, each leaving its seconds, peaks and values in the journal.

What a step is stands in :mod:`bench.step`; how a failure is recorded, in :mod:`bench.worker`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from bench import oracle
from bench.data import Batch, Corpus, Order, load_corpus, make_batch, make_order
from bench.device import Device, device_facts
from bench.job import Job
from bench.journal import Journal
from bench.memory import CPU_PEAK, CUDA_ALLOCATED, CUDA_RESERVED, CpuCap, CudaCap, Peaks
from bench.model import (
    AUTOCAST,
    CHECKPOINT_OPTIONS,
    build_model,
    perturb_by_one_ulp,
    tensor_bytes,
    weights_digest,
)
from bench.state import State
from bench.step import StepPlan, evaluate, global_loss, train_step
from bench.steplog import StepLog

BETAS, WEIGHT_DECAY = (0.9, 0.95), 0.1


class Rank:
    """One rank's model, data and meters through all phases."""

    def __init__(self, job: Job, folder: Path, journal: Journal, state: State, device: Device) -> None:
        self.job, self.folder, self.journal, self.state, self.device = job, folder, journal, state, device
        self.settings = job.settings
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.meter, self.peaks = device.meter(job.kind), Peaks()
        chunks, per_chunk = self.settings.backward_chunks, self.settings.allreduce == "per_chunk"
        self.plan = StepPlan(chunks, per_chunk, AUTOCAST.get(self.settings.dtype))
        self.began = time.perf_counter()

    def _value(self, phase: str, name: str, value: Any) -> None:
        self.journal.write("value", phase=phase, name=name, value=value)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self.state.phase, self.state.step = name, None
        self.journal.write("phase", phase=name)
        began = time.perf_counter()
        yield
        self._value(name, "seconds", time.perf_counter() - began)
        for peak, value in self.peaks.of(name).items():
            self._value(name, peak, value)

    def _batch(self, corpus: Corpus, order: Order, step: int) -> Batch:
        first = (step * self.world + self.rank) * self.settings.batch
        return make_batch(corpus, order, first, self.settings.batch, self.settings.context, self.device.name)

    def _order(self, purpose: str, steps: int) -> Order:
        # Eval reads the last tenth of the corpus, which training never touches.
        size = len(self.corpus.data)
        span = (size * 9 // 10, size) if purpose == "eval" else (0, size * 9 // 10)
        samples = steps * self.world * self.settings.batch
        return make_order(self.settings.seed, samples, self.settings.context, span, purpose)

    def init(self) -> None:
        """Data, model, optimizer, and the facts that identify them."""
        with self._phase("init"):
            self.corpus = load_corpus()
            self.order = self._order("train", self.job.ladder_steps)
            model = build_model(self.settings, self.device.name)
            warm_start = weights_digest(model)
            if self.settings.perturb == "ulp":
                perturb_by_one_ulp(model, self.settings.perturb_seed)
            ids = [self.device.index] if self.device.is_cuda else None
            self.model = DistributedDataParallel(model, device_ids=ids, gradient_as_bucket_view=True)
            self.optimizer = torch.optim.AdamW(
                self.model.parameters(), lr=self.settings.lr, betas=BETAS, weight_decay=WEIGHT_DECAY
            )
            facts = device_facts(self.device, self.settings) | self._identity(model, warm_start)
            self.journal.write("facts", facts=facts)

    def _identity(self, model: torch.nn.Module, warm_start: str) -> dict[str, Any]:
        return {
            "world_size": self.world,
            "seed": self.settings.seed,
            "dataset_digest": self.corpus.digest,
            "dataset_bytes": len(self.corpus.data),
            "data_order_digest": self.order.digest,
            "warm_start_digest": warm_start,
            "start_digest": weights_digest(model),
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "optimizer": f"AdamW,betas={BETAS[0]}/{BETAS[1]},weight_decay={WEIGHT_DECAY}",
            "checkpoint_options": CHECKPOINT_OPTIONS,
        }

    def warm(self) -> None:
        """The first checkpoint() call and some steps, the same in every rung, then back to the warm start.

        The call imports compiler machinery (seconds, tens of MiB), the first step makes optimizer state and
        the second rebuilds DDP's buckets: left to a measured step, each would count as the rung's own.
        """
        with self._phase("warm"):
            start = {name: weight.clone() for name, weight in self.model.module.state_dict().items()}
            x = torch.ones(2, 2, requires_grad=True, device=self.device.name)
            checkpoint(torch.nn.functional.gelu, x, use_reentrant=False).sum().backward()
            order = self._order("warm", self.settings.warmup_steps)
            for step in range(self.settings.warmup_steps):
                self.state.step = step
                batch = self._batch(self.corpus, order, step)
                global_loss(train_step(self.model, self.optimizer, batch, self.plan)).item()
            self.model.module.load_state_dict(start)
            for state in self.optimizer.state.values():
                for tensor in state.values():
                    tensor.zero_()
            self.optimizer.zero_grad(set_to_none=True)
        self.meter.settle()
        self._cap()

    def _cap(self) -> None:
        cap = self.settings.memory_cap_bytes
        if cap is None:
            return
        if self.device.is_cuda:
            limited = CudaCap(torch.cuda, self.device.index, cap)
            self.state.cap, self.state.limits = (
                limited,
                dict.fromkeys((CUDA_ALLOCATED, CUDA_RESERVED), limited.limit),
            )
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
                self.state.step = step
                batch = self._batch(self.corpus, self.order, step)
                self.meter.open()
                lap = self.device.lap()
                share = train_step(self.model, self.optimizer, batch, self.plan)
                lap.stop()
                window = self.meter.close()
                self.peaks.take("train", window)
                log.push(lap, global_loss(share), window)
            log.finish()

    def eval(self) -> None:
        """The held-out loss, once for each eval the plan asks for, on fresh batches."""
        if not self.job.evals:
            return
        order, losses = self._order("eval", self.job.evals), []
        with self._phase("eval"):
            for number in range(self.job.evals):
                batch = self._batch(self.corpus, order, number)
                with self._window():
                    losses.append(evaluate(self.model, batch, self.plan.autocast))
            loss = float(torch.stack(losses).mean().item())
        finite = loss == loss and abs(loss) != float("inf")
        self._value("eval", "loss", loss if finite else {"unknown": "invalid", "detail": loss.hex()})
        self.journal.write("count", name="eval", value=self.job.evals)

    def save(self) -> None:
        """Rank 0 writes weights and optimizer state and flushes them to disk; the others wait for it."""
        if not self.job.saves:
            return
        path, size = self.folder / "checkpoint.pt", 0
        with self._phase("save"):
            for _ in range(self.job.saves):
                with self._window():
                    if self.rank == 0:
                        size = self._write(path)
                    dist.barrier()
        self._value("save", "bytes", size)
        self.journal.write("count", name="save", value=self.job.saves)
        if self.rank == 0:
            self.journal.write("check", name="reload_equal", value=self._differing(path))
            path.unlink()

    def _saved(self) -> dict[str, Any]:
        return {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict()}

    def _write(self, path: Path) -> int:
        with path.open("wb") as file:
            torch.save(self._saved(), file)
            file.flush()
            os.fsync(file.fileno())
            return file.tell()

    def _differing(self, path: Path) -> int:
        back = torch.load(path, map_location="cpu", weights_only=True)
        kept = self._saved()
        pairs = [(kept["model"][name], back["model"].get(name)) for name in kept["model"]]
        for key, state in kept["optimizer"]["state"].items():
            other = back["optimizer"]["state"].get(key, {})
            pairs += [(tensor, other.get(name)) for name, tensor in state.items()]
        return sum(b is None or tensor_bytes(a) != tensor_bytes(b) for a, b in pairs)

    def check(self) -> None:
        """Run totals, then the gradient oracle (timing pass only; no cap, no meter)."""
        self.state.lift()
        self._value("run", "seconds", time.perf_counter() - self.began)
        for peak, value in self.peaks.of("run").items():
            self._value("run", peak, value)
        if self.job.kind != "timing":
            return
        for name in ("chunks_equal", "checkpointing_bitwise"):
            value = getattr(oracle, name)(self.settings, self.device.name)
            if self.rank == 0:
                self.journal.write("check", name=name, value=value if value != float("inf") else {"unknown": "invalid"})
