"""What every fact of run.json is and where it was read, in one table.

A fact that could not be read is ``{"unknown": reason}``, never a made-up value. Numbers that are measured are not
facts: see :mod:`bench.definitions`.
"""

from __future__ import annotations

_GPU = "nvidia-smi when the ranks begin, for each rank's own GPU, found by its uuid, one after the other where they "
_GPU += "differ; where no rank got so far, the visible GPUs of node 0; not_applicable on CPU (never met a real GPU)"
_AFTER = "nvidia-smi right after the last training step, as gpu_uuid; never met a real GPU"
_RANK = "rank 0 of the timing pass, or of the memory pass where there was no other"

FACTS: dict[str, str] = {
    # The machine, read before the first pass on node 0.
    "python": "version of Python",
    "platform": "operating system and processor family",
    "kernel": "release of the operating system's kernel",
    "cpu_model": "model of the first processor, of /proc/cpuinfo",
    "cpu_cores": "processors that this process may run on",
    "malloc": "C library, preloaded allocator, and what the two passes set for it",
    "allocator_settings": "variables of the rank's environment that set torch's allocator or cuBLAS's workspace",
    "communication_settings": "variables of the rank's environment that set NCCL or gloo",
    "cuda_settings": "variables of the rank's environment that set CUDA itself: TF32 overrides, blocking launches, the "
    "order of devices (PCI_BUS_ID: forced, so that numbers are nvidia-smi's)",
    "container_memory_limit": "smallest memory limit in bytes of this control group and those around it; max: none",
    "transparent_hugepage": "whether the kernel backs memory by huge pages unasked; always coarsens resident peaks",
    "load_average_before": "1, 5 and 15 minute load averages before the first pass",
    "load_average_after": "the same after the last pass",
    "clock": "whether the wall clock kept step with the monotonic clock, by which the end of the attempt is told",
    "clock_steps": "whether the clocks that timed the steps advanced in each of them; if not, in how many they did not",
    "unfinished_files": "there only where a salvaged attempt left files begun and not ended, as on a full disk",
    "journal_lines_unreadable": "there only where some were: lines of ranks' journals that are damaged, or come after "
    "such a one; what they held is in no series, value or count",
    "journal_damage": "there only where not all could be read that ranks left: what, of which rank and pass",
    "salvaged": "there only where the harness was killed, and this file made from the journals afterwards",
    # The code.
    "torch": "version of torch",
    "harness_source_digest": "sha256 over the harness's own source files: name, length and bytes of each",
    "code_tree": "git object id of the tree of HEAD",
    "code_diff_digest": "sha256 of what the pinned paths differ from HEAD by, untracked files included; none: nothing",
    # The plan's.
    "world_size": "ranks over all nodes",
    "nodes": "machines",
    "steps_planned": "training steps the rung was to make: of the orders, its own in the plan, or the ladder's",
    "orders_digest": "there only where the ledger gave orders beyond the plan's rung: sha256 of their file",
    "reference_curves": "there only where the plan holds the rung to some: each, and the run it was held against, or "
    "why it was not watched",
    "orders_label": "there only where those orders name one: what the plan calls the result then, such as 5k-screen",
    "seed": "seed of weights and data order",
    "threads": f"threads a rank computes with; {_RANK}",
    "perturb": "whether the first weights were moved by one unit in the last place, for an A/A band",
    "launcher": "how ranks are started",
    "defaults_applied": "settings that the plan left to the harness's defaults",
    # The device and the workload.
    "device": f"cpu or cuda; {_RANK}",
    "backend": f"collective library; {_RANK}",
    "determinism": f"determinism flags of torch; {_RANK}",
    "matmul_precision": f"what fp32 matrix products may be computed in, by torch's switches (TF32); {_RANK}",
    "peer_timeout_s": "how long a rank waits for another in one collective before that is outcome timeout",
    "blas": f"library of matrix products; {_RANK}",
    "cpu_capability": f"vector instructions that torch chose; {_RANK}",
    "gpu_model": f"name of the rank's GPU, as torch tells it; {_RANK}",
    "gpu_memory_bytes": f"memory of the rank's GPU, as torch tells it; {_RANK}",
    "cuda": f"version of CUDA that torch was built for; {_RANK}",
    "nccl": f"version of NCCL; {_RANK}",
    "driver": f"driver as /proc/driver/nvidia/version tells it; {_RANK}",
    "cuda_visible_devices": f"CUDA_VISIBLE_DEVICES; {_RANK}",
    "driver_version": f"driver; {_GPU}",
    "gpu_uuid": f"which GPU it was; {_GPU}",
    "gpu_names": f"model; {_GPU}",
    "gpu_power_limit": f"power limit in force, in W; {_GPU}",
    "gpu_clock_sm": f"clock of the multiprocessors then, in MHz; {_GPU}",
    "gpu_clock_memory": f"clock of the memory then, in MHz; {_GPU}",
    "gpu_clock_sm_max": f"highest clock of the multiprocessors, in MHz; {_GPU}",
    "gpu_clock_memory_max": f"highest clock of the memory, in MHz; {_GPU}",
    "gpu_clock_sm_after": f"clock of the multiprocessors, in MHz; {_AFTER}",
    "gpu_clock_memory_after": f"clock of the memory, in MHz; {_AFTER}",
    "gpu_throttle_after": f"why the clocks were held back then, as a bit mask of the driver; {_AFTER}",
    "gpu_ecc": f"whether memory errors are corrected; {_GPU}",
    "gpu_persistence": f"whether the driver stays loaded between programs; {_GPU}",
    "dataset_digest": f"sha256 of the corpus; {_RANK}, and the same on every rank",
    "dataset_bytes": f"size of the corpus in bytes; {_RANK}",
    "data_order_digest": f"sha256 of the order of samples over all ranks; {_RANK}, and the same on every rank",
    "warm_start_digest": f"sha256 of the first weights, before any perturbation; {_RANK}, and the same on every rank",
    "start_digest": f"sha256 of the weights that training began from; {_RANK}, and the same on every rank",
    "end_digest": f"sha256 of the weights after the last training step, buffers left out; {_RANK}",
    "parameters": f"number of weights of the model; {_RANK}",
    "optimizer": f"optimizer and its constants; {_RANK}",
    "optimizer_state_bytes_rank": f"bytes of optimizer state, a share where it is sharded; {_RANK}",
    "checkpoint_options": f"flags of torch.utils.checkpoint in force: early stop and random state; {_RANK}",
    "checkpoint_layers": f"how many of the model's layers are checkpointed; {_RANK}",
    "checkpoint_policy": f"operators whose results a selective policy keeps; {_RANK}",
    "checkpoint_saved_calls": f"results kept a step by operator, counted in the warm phase (selective only); {_RANK}",
    "memory_method": "how CPU peaks were read: vmhwm, or storages where the kernel's high-water mark cannot be had",
    "oracle_ragged": f"whether the oracle's chunks differ in valid tokens; if not, no mean of means shows; {_RANK}",
    "workload": f"gpt, or the plug-in that the plan names; {_RANK}",
    "workload_file": f"source file of the plug-in, below the current folder or installed; {_RANK}",
    "workload_file_digest": f"sha256 of that file; {_RANK}",
    "workload_source_digest": "sha256 over every source file of its top-level package, wherever that lies and "
    "imported or not, and over the files outside it that were loaded from the current folder or, for the plug-in, from "
    f"anywhere but Python's own and installed packages (editable ones count); name, length, bytes of each; {_RANK}",
    # The end.
    "outcome_rank_<k>": "how rank k ended the last pass: its own outcome, peer_oom after another rank's oom, or peer",
    "oom_requested_bytes": "size of the allocation that failed, as its message tells (CUDA rounds it to 1/100)",
    "oom_allocated_bytes": "CUDA: bytes in tensors, as the message tells; CPU: the process's VmData",
    "oom_reserved_bytes": "CUDA: bytes held by the caching allocator, as the message tells",
    "oom_cap_bytes": "the cap that the plan set, as it was in force",
    "oom_needed_bytes": "CUDA: what tensors held at the failure and what was asked for, less what rounding in the "
    "message may have added: the bound of the allocated peak, where it lies below the limit",
    "oom_limit_bytes": "the limit in force: the cap or, on CUDA, what the device could give (reserved and free "
    "bytes, so without what CUDA itself and other processes held; the least of after warm and at the failure), "
    "whichever is less. The run needed more",
}
