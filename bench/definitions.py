"""What every number in run.json means: unit, definition, method and scope, in one table.

A name is emitted only with its entry here; the harness computes no statistic that decides. What the facts are stands
in :mod:`bench.factbook`.
"""

from __future__ import annotations

_PHASE = "one rank, one phase"
_STEP = "one rank, one step"
_UNRUN = "of the rank's own device (this path has never run on a GPU)"

_RESERVED_BOUND = (
    "out of memory: at least the limit in force, the cap or what the device could give, for the allocator needed more "
    "than that, bytes lost to fragmentation counted in; where not the allocator but CUDA or a library beside it ran "
    "out, at least the peak seen until then"
)
_ALLOCATED_BOUND = (
    "out of memory: at least the peak seen until then and, where the allocator ran out, what tensors held and what was "
    "asked for besides (oom_needed_bytes), but never more than the limit in force; fragmentation fills no tensor"
)


def _entry(unit: str, scope: str, definition: str, method: str) -> dict[str, str]:
    return {"unit": unit, "definition": definition, "method": method, "scope": scope}


DEFINITIONS: dict[str, dict[str, str]] = {
    "step_ns": _entry(
        "ns",
        _STEP,
        "one training step: clear gradients, count global tokens, forward and backward of all chunks with "
        "their all-reduce, clipping, optimizer update; fetching the batch and reporting the loss are left out",
        "CPU: perf_counter_ns around it; CUDA: two events on the current stream (never run on a GPU)",
    ),
    "step_cpu_ns": _entry(
        "ns",
        _STEP,
        "CPU time that all threads of this process spent during the step (CPU runs only)",
        "process_time_ns around it; a busy machine disturbs it less than wall time",
    ),
    "loss_hex": _entry(
        "1",
        _STEP,
        "mean cross-entropy over the valid tokens of all ranks, before the update of that step",
        "token sums in the model's precision, all-reduced in float64, written by float.hex",
    ),
    "window.cpu.vmhwm_delta_bytes": _entry(
        "B",
        "one rank, one step of the memory pass",
        "highest resident memory of the process in the step above its resident memory after warm",
        "as cpu.vmhwm_delta_bytes, which is the largest of these",
    ),
    "window.cuda.peak_allocated_bytes": _entry(
        "B",
        _STEP,
        "most bytes in tensors at once during the step",
        f"torch.cuda.max_memory_allocated, reset before the step, {_UNRUN}",
    ),
    "window.cuda.peak_reserved_bytes": _entry(
        "B",
        _STEP,
        "most bytes held by the caching allocator during the step",
        f"torch.cuda.max_memory_reserved, reset before the step, {_UNRUN}",
    ),
    "seconds": _entry(
        "s",
        _PHASE,
        "wall time of the phase on this rank, waiting for other ranks included",
        "perf_counter in the timing pass; phase run: from the process group's start to before the oracle",
    ),
    "warm_seconds": _entry(
        "s",
        "one rank, one run",
        "wall time of the warm phase: two checkpoint() calls and warmup_steps steps, then the reset",
        "perf_counter in the timing pass",
    ),
    "cpu.vmhwm_delta_bytes": _entry(
        "B",
        _PHASE,
        "highest resident memory of the process in the phase above its resident memory after warm: "
        "activations, logits and transients, not weights or optimizer state; not an allocator's count",
        "a separate short pass (memory_steps steps) under MALLOC_MMAP_THRESHOLD_=65536, after one step more and with "
        "the heap's free room filled: 5 written to /proc/self/clear_refs before each window, VmHWM after it; the "
        "largest, less VmRSS at the baseline. Blocks of 64 KiB and more are whole pages with their header, so that a "
        "power of two takes a page too many (131072 + 16 bytes: 135168). Against torch's own events that made +4.0% "
        "and +4.2% where most tensors were of 64 KiB, -1.9% to +1.6% of 128 KiB, and at most 1% from 1 MiB on. Where "
        "tensors are that small, memory_method: storages counts them alone",
    ),
    "cuda.peak_allocated_bytes": _entry(
        "B",
        _PHASE,
        f"most bytes in tensors at once during the phase (phase run: in any phase after warm); {_ALLOCATED_BOUND}",
        f"running maximum of windows of torch.cuda.max_memory_allocated {_UNRUN}",
    ),
    "cuda.peak_reserved_bytes": _entry(
        "B",
        _PHASE,
        "most bytes held by the caching allocator during the phase (phase run: in any phase after warm); "
        f"{_RESERVED_BOUND}",
        f"running maximum of windows of torch.cuda.max_memory_reserved {_UNRUN}",
    ),
    "loss": _entry(
        "1",
        "all ranks, one run",
        "mean cross-entropy on held-out bytes after the last step, the mean over the evals",
        "as loss_hex, without a backward, on the last tenth of the corpus, which training never reads",
    ),
    "consolidate_seconds": _entry(
        "s",
        _PHASE,
        "wall time of bringing a sharded optimizer's state together on rank 0, all saves added up; part of the "
        "save phase's seconds",
        "perf_counter around ZeroRedundancyOptimizer.consolidate_state_dict",
    ),
    "bytes": _entry(
        "B",
        "one rank, one save",
        "size of the checkpoint file that this rank wrote: weights and optimizer state; only rank 0 writes",
        "file position after torch.save and fsync",
    ),
}

_STORAGES = (
    "fallback where the kernel's high-water mark cannot be had: a separate short pass (memory_steps steps) under a "
    "dispatch mode that counts the bytes of tensor storages as operators make and drop them; no workspace inside an "
    "operator, nothing outside torch; not comparable with VmHWM"
)
OTHER_METHODS: dict[str, dict[str, str]] = {"storages": {"cpu.vmhwm_delta_bytes": _STORAGES}}
"""How a name was measured where ``facts.memory_method`` says otherwise: runs of two methods are not compared."""


def definition_of(name: str, memory_method: object = None) -> dict[str, str]:
    """The entry of ``name``, with the method that was really used."""
    entry = DEFINITIONS[name]
    method = OTHER_METHODS.get(str(memory_method), {}).get(name)
    return entry | {"method": method} if method else entry


PHASES: dict[str, str] = {
    "init": "data, model, optimizer, and the facts that identify them; only its seconds are measured",
    "warm": "two checkpoint() calls and warmup_steps training steps, the same in every rung (in the memory pass and on "
    "CUDA one more after the allocator was brought to rest), then weights, moments and gradients as before: what "
    "happens once is no step's own. Running out of memory here bounds the peak of train, whose steps it makes",
    "settle": "end of warm: the CPU's memory pass fills the heap's free room, CUDA waits for its queued work; then the "
    "baseline is taken and the plan's cap put on. On CUDA, before the last warm step: the allocator's cache is "
    "emptied, the room of the device read and the cap put on, which the allocator then grows into again",
    "baseline": "resident memory (VmRSS) of the rank after warm and settle, from which CPU peaks are counted; on CUDA "
    "peaks are counted from nothing, so that weights and optimizer state are in them",
    "train": "the measured steps, from the warm start: each timed and its memory window opened and closed around it; "
    "in the memory pass it is told as phase memory where it fails",
    "eval": "the held-out loss, as often as the plan asks, each in a memory window; then items, if the workload scores",
    "save": "weights and optimizer state written by rank 0 and flushed, as often as the plan asks, each in a memory "
    "window; then read back and compared (reload_equal), which counts in no value",
    "run": "every phase after warm; in values only: the largest window of any phase, and seconds from the process "
    "group's start to before check",
    "check": "caps are off and nothing is measured: totals are written and the gradient oracle runs (timing pass). "
    "Running out of memory here bounds nothing",
    "done": "every rank has met the others once more and left outcome ok; the processes end without taking the group "
    "down, the parent writes run.json",
    "memory": "not a phase of a rank but a pass: on CPU, before the timing pass and under another malloc setting, init "
    "to save with memory_steps steps, for peaks only; a failure in its train is told as phase memory",
    "timing": "the other pass: init to check with all steps, for times, losses and checks; on CUDA peaks too",
}
"""Where a rank or an attempt can be, in the order in which it gets there."""

CHECKS: dict[str, str] = {
    "chunks_equal": "relative norm of (this rung's gradient - the true gradient) on a tiny fp64 clone with "
    "ragged labels: the rung's has its chunks, all-reduce mode and checkpointing under DDP, the true one is "
    "all ranks' samples in one plain backward; the largest over ranks; about 1e-16 when right",
    "checkpointing_bitwise": "largest absolute difference between gradients without checkpointing and with this "
    "rung's kind of it (full where it has none) at its chunks, dtype and dropout, on a tiny clone; the largest over "
    "ranks; exactly 0 when right",
    "reload_equal": "number of tensors that differ by a bit after save and reload; 0 when right",
    "passes_agree": "number of steps of the memory pass whose loss differs by a bit from the timing pass's; "
    "0 when right",
    "ranks_agree": "number of ranks whose weights after the last training step differ by a bit from rank 0's, by "
    "sha256 over name, type, shape and bytes of every parameter (no buffers: those are not reduced); sharded "
    "optimizers too, for they send their parameters round. A loss tells nothing of it, being reduced; 0 when right",
}
