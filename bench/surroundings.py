"""The environment of a pass's processes: what is pinned for them, what is taken away, and where imports come from.

It starts nothing: :mod:`bench.launch` does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bench.job import Job
from bench.memory import MEMORY_PASS_ENV
from bench.nodes import ALONE, Node

_DROPPED = ("MALLOC_", "TORCHELASTIC_", "PYTORCH_NO_", "GLIBC_TUNABLES")
_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
_HOME = Path(__file__).resolve().parent.parent


def environment(base: Mapping[str, str], job: Job, node: Node = ALONE, home: Path = _HOME) -> dict[str, str]:
    """The pass's environment: threads and the order of GPUs pinned, inherited malloc and launcher variables gone.

    ``home`` is the folder that holds this package.
    """
    env = {key: text for key, text in base.items() if not key.startswith(_DROPPED) and key not in _LAUNCHER}
    # Last: it may hold all installed packages, and a checkout's own copy of one of them has to go before.
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [env.get("PYTHONPATH"), str(home)]))
    env["OMP_NUM_THREADS"] = str(job.settings.threads)
    env.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # By this order CUDA's device numbers are nvidia-smi's, whatever the caller set.
    env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    if node.on_loopback and Path("/sys/class/net/lo").exists():
        # A container's host name often resolves to nothing; one machine needs only loopback.
        env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return env | (MEMORY_PASS_ENV if job.kind == "memory" else {})
