"""Writes a ready sbatch script for one rung: srun starts ``ledger-bench run`` once a node, and that one torchrun.

It submits nothing. The rendezvous is on the job's first node; the attempt's id is the job's number and its restarts,
so that a requeued job makes a fresh attempt beside the one it lost.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from bench.faults import SpecError

LEAD_S = 180  # before the time limit: SIGTERM, after which the harness ends its ranks and writes the run file
_TIME = re.compile(r"(?:(\d{1,3})-)?(\d{1,4}):([0-5]\d):([0-5]\d)")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,:+/-]{0,127}")
_PATH = re.compile(r"[A-Za-z0-9_.+/-]{1,1024}")


@dataclass(frozen=True)
class Order:
    """What to ask of the cluster: ``time`` as [DAYS-]HH:MM:SS; empty texts are left out of the script.

    ``cpus_per_task`` are for all ranks of a node together; ``shared`` lets other jobs onto the nodes.
    """

    freeze: Path
    rung: str
    out: Path
    nodes: int
    gpus_per_node: int
    cpus_per_task: int
    time: str
    partition: str = ""
    account: str = ""
    orders: Path | None = None
    shared: bool = False


def seconds_of(time: str) -> int:
    """A time limit in seconds. Raises SpecError for another spelling, or one too short to run and end in."""
    found = _TIME.fullmatch(time)
    if not found:
        raise SpecError("not a time limit", where="--time", expected="[DAYS-]HH:MM:SS", found=repr(time))
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if total < 2 * LEAD_S:
        raise SpecError("too short", where="--time", expected=f"at least {2 * LEAD_S} seconds", found=time)
    return total


def script(order: Order) -> str:
    """The text of the script, which bash(1) and sbatch(1) read. Raises SpecError for a word that neither can hold."""
    limit = seconds_of(order.time)
    out = order.out.absolute()
    for where, text, shape in (
        ("--partition", order.partition, _WORD),
        ("--account", order.account, _WORD),
        ("--out", str(out), _PATH),
    ):
        if text and not shape.fullmatch(text):
            # An #SBATCH line knows no quotes.
            raise SpecError(
                "an #SBATCH line cannot hold it", where=where, expected="no spaces or quotes", found=repr(text)
            )
    options = [
        f"--job-name=ledger-{order.rung}",
        f"--nodes={order.nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={order.cpus_per_task}",
        f"--gpus-per-node={order.gpus_per_node}",
        # What another job does on the node would be in every time and every peak.
        *([] if order.shared else ["--exclusive"]),
        f"--time={order.time}",
        *([f"--partition={order.partition}"] if order.partition else []),
        *([f"--account={order.account}"] if order.account else []),
        f"--output={out}/slurm-%j.log",
        "--open-mode=append",
        "--requeue",
        f"--signal=TERM@{LEAD_S}",
    ]
    head = "#!/bin/bash\n" + "".join(f"#SBATCH {option}\n" for option in options)
    return head + _BODY.format(
        lead=LEAD_S,
        program=shlex.quote("ledger-bench"),
        freeze=shlex.quote(str(order.freeze.absolute())),
        rung=shlex.quote(order.rung),
        out=shlex.quote(str(out)),
        nproc=order.gpus_per_node,
        cpus=order.cpus_per_task,
        timeout=limit - LEAD_S,
        orders=f" --orders {shlex.quote(str(order.orders.absolute()))}" if order.orders else "",
    )


_BODY = """\
# One task a node: it starts one torchrun, which starts a rank a GPU. SLURM sends SIGTERM {lead} s before the limit,
# and the harness then ends its ranks and writes the run file. The folder must be one that all nodes see, and must
# exist before the job starts, for its log. srun is given the processors again: since 22.05 it does not take them over
# from the job, and would leave all ranks of a node on one.
set -eu

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
port=$((20000 + SLURM_JOB_ID % 20000))
attempt="$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}"
export LEDGER_HEAD="$head" LEDGER_PORT="$port" LEDGER_ATTEMPT="$attempt"

mkdir -p {out}
srun --cpus-per-task={cpus} --kill-on-bad-exit=0 --wait=0 bash -c '
  set -eu
  several=()
  if [ "$SLURM_NNODES" -gt 1 ]; then
    several=(--nnodes "$SLURM_NNODES" --node-rank "$SLURM_NODEID" --rdzv-endpoint "$LEDGER_HEAD:$LEDGER_PORT")
  fi
  exec "$@" --run-id "$LEDGER_ATTEMPT" ${{several[@]+"${{several[@]}}"}}
' rung \\
  {program} run --freeze {freeze} \\
  --rung {rung} --out {out} \\
  --nproc {nproc} --timeout {timeout}{orders}
"""
