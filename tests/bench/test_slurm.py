"""The sbatch script: its text, what bash makes of it, and what it starts on a cluster of stand-ins."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.faults import SpecError
from bench.slurm import Order, script, seconds_of

WANTED = """#!/bin/bash
#SBATCH --job-name=ledger-r0
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=64
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=1-02:00:00
#SBATCH --partition=gpu
#SBATCH --output=/scratch/runs/slurm-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@180
"""


def order(**parts: Any) -> Order:
    base = {"freeze": Path("/x/f.json"), "rung": "r0", "out": Path("/scratch/runs"), "nodes": 2, "gpus_per_node": 8}
    return Order(**{**base, "cpus_per_task": 64, "time": "1-02:00:00", "partition": "gpu", **parts})


def test_its_head_asks_for_one_task_a_node_logs_and_requeue() -> None:
    assert script(order()).startswith(WANTED)


def test_processors_go_to_srun_too_and_nodes_may_be_shared() -> None:
    text = script(order(shared=True))
    assert "\nsrun --cpus-per-task=64 --kill-on-bad-exit=0 --wait=0 bash -c '\n" in text
    assert "--exclusive" not in text


def test_the_harness_ends_before_the_job_does() -> None:
    assert seconds_of("1-02:00:00") == 26 * 3600
    assert f"--timeout {26 * 3600 - 180}\n" in script(order())


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a time in words": ({"time": "soon"}, "--time"),
    "sixty minutes": ({"time": "0:60:00"}, "--time"),
    "no time to end in": ({"time": "00:05:00"}, "--time"),
    "a second line": ({"partition": "gpu\n#SBATCH --x"}, "--partition"),
    "an option": ({"account": "-x"}, "--account"),
    "a space in a path": ({"out": Path("/my runs")}, "--out"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_script_cannot_hold(case: str) -> None:
    parts, where = BAD[case]
    with pytest.raises(SpecError) as caught:
        script(order(**parts))
    assert caught.value.where == where


STUBS = {
    "scontrol": "echo node-a; echo node-b",
    # Two tasks, one after the other, as srun would start one a node.
    "srun": 'shift 3; for k in 0 1; do SLURM_NODEID=$k SLURM_NNODES=$NODES "$@"; done',
    "ledger-bench": 'printf "%s\\n" "$*"',
}


@pytest.mark.parametrize("nodes", [1, 2])
def test_what_it_starts(tmp_path: Path, nodes: int) -> None:
    for name, body in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    text = script(order(freeze=Path("/it's/f $x.json"), out=tmp_path / "out", nodes=nodes, partition=""))
    path = tmp_path / "job.sh"
    path.write_text(text)
    subprocess.run(["bash", "-n", str(path)], check=True)
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "SLURM_JOB_ID": "41000",
        "SLURM_RESTART_COUNT": "3",
        "SLURM_JOB_NODELIST": "node-[a-b]",
        "NODES": str(nodes),
    }
    done = subprocess.run(["bash", str(path)], env=environment, capture_output=True, text=True, check=True)
    base = f"run --freeze /it's/f $x.json --rung r0 --out {tmp_path}/out --nproc 8 --timeout 93420 --run-id 41000.3"
    several = " --nnodes 2 --node-rank {} --rdzv-endpoint node-a:21000"  # 20000 + 41000 % 20000
    wanted = [base + (several.format(k) if nodes == 2 else "") for k in (0, 1)]
    assert done.stdout.splitlines() == wanted
    assert (tmp_path / "out").is_dir()


def test_the_command_reads_the_plan_first(make_entry: Any, tiny_settings: dict[str, Any], tmp_path: Path) -> None:
    freeze = tmp_path / "f.json"
    freeze.write_text(json.dumps(make_entry(tiny_settings, {"r0": {}})))
    words = ["slurm", "--freeze", str(freeze), "--out", str(tmp_path), "--nodes", "2", "--gpus-per-node", "4"]
    good = CliRunner().invoke(main, [*words, "--rung", "r0"])
    assert good.exit_code == 0
    # The tiny plan's one thread a rank, and four ranks a node.
    assert good.output == script(Order(freeze, "r0", tmp_path, 2, 4, 4, "01:00:00"))
    own = CliRunner().invoke(main, [*words, "--rung", "r0", "--cpus-per-task", "96", "--shared"])
    assert own.output == script(Order(freeze, "r0", tmp_path, 2, 4, 96, "01:00:00", shared=True))
    assert CliRunner().invoke(main, [*words, "--rung", "r9"]).exit_code == 2
