"""The command ``ledger-bench``: JSON lines of progress on stdout, prose on stderr.

Each command opens, calls one function, prints. ``run`` exits 0 whenever a run.json was written.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import click

from bench import __version__
from bench.faults import BenchError, EnvironmentFault, SpecError

_FREEZE = click.option("--freeze", required=True, type=click.Path(path_type=Path), help="The freeze entry file.")
_RUNG = click.option("--rung", required=True, help="Which rung of its ladder.")
_ORDERS = click.option("--orders", type=click.Path(path_type=Path), help="What the ledger orders beyond the plan.")
_OUT = click.option("--out", required=True, type=click.Path(path_type=Path), help="Gets a folder for this attempt.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ledger-bench")
def main() -> None:
    """Run one rung of a frozen ladder and write one run.json.

    Exit codes: 0 a run.json was written, whatever its outcome; 2 bad input or usage; 4 a frozen condition forbids
    another attempt; 5 the environment could not be read or written (torch missing, a folder that cannot be made).
    """


def _say(event: str, **parts: Any) -> None:
    try:
        print(json.dumps({"event": event, **parts}), flush=True)
    except BrokenPipeError:
        # Whoever started this is gone: end the rung as on SIGTERM, with its run file written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _refusals() -> Iterator[None]:
    """Tell a refusal on stderr and exit with its code; a full disk met anywhere is one too."""
    try:
        yield
    except OSError as fault:
        told = EnvironmentFault(f"the system said: {fault.strerror or fault}", where=str(fault.filename or ""))
        click.echo(told.to_text(), err=True)
        sys.exit(told.exit_code)
    except BenchError as fault:
        click.echo(fault.to_text(), err=True)
        sys.exit(fault.exit_code)


def _need_torch() -> None:
    if find_spec("torch") is None:
        hint = "install the extra: pip install 'evidence-ledger[bench]'"
        raise EnvironmentFault("torch is not installed", hint=hint)


@main.command()
@_FREEZE
@_RUNG
@_OUT
@_ORDERS
@click.option("--nproc", default=1, show_default=True, type=click.IntRange(1, 1024), help="Ranks on this machine.")
@click.option("--timeout", default=1800.0, show_default=True, type=click.FloatRange(1), help="Seconds for the rung.")
@click.option("--nnodes", default=1, show_default=True, type=click.IntRange(1, 4096), help="Machines; each runs this.")
@click.option("--node-rank", default=0, show_default=True, type=click.IntRange(0), help="This machine's; 0 leads.")
@click.option("--rdzv-endpoint", default="", help="HOST:PORT on node 0; each launch takes the next port.")
@click.option("--run-id", default="", help="Fresh name of the attempt, the same on every node; made up by default.")
def run(
    freeze: Path,
    rung: str,
    out: Path,
    orders: Path | None,
    nproc: int,
    timeout: float,
    nnodes: int,
    node_rank: int,
    rdzv_endpoint: str,
    run_id: str,
) -> None:
    """Run one attempt of one rung; an out-of-memory failure is a fact and exits 0.

    With several nodes, start it on each with the same --run-id and an --out that all of them see; node 0 writes the
    run file. Attempts in --out that lost their harness are given their run files first.
    """
    from bench.nodes import Node, check_node
    from bench.rung import run_rung
    from bench.spec import read_spec

    with _refusals():
        node = check_node(Node(nnodes, node_rank, rdzv_endpoint, run_id))
        spec = read_spec(freeze, rung, orders)
        _need_torch()
        path, kind = run_rung(spec, out, nproc, timeout, _say, node)
    if path is None:
        _say("followed", node=node_rank)
        return
    _say("done", run=str(path), outcome=kind)
    click.echo(f"rung {rung}: {kind}; {path}", err=True)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def salvage(folder: Path) -> None:
    """Write the run files of attempts in FOLDER whose harness was killed, as far as their journals allow.

    FOLDER is an attempt's own or the one that holds them. Attempts that are running, or have a run file, are left
    alone. `run` does the same by itself before it begins.
    """
    from bench.salvage import salvage_all

    with _refusals():
        written, failed = salvage_all(folder)
    for path, kind in written:
        _say("salvaged", run=str(path), outcome=kind)
    for words in failed:
        click.echo(words, err=True)
    click.echo(f"{len(written)} salvaged, {len(failed)} could not be", err=True)
    if failed:
        sys.exit(EnvironmentFault.exit_code)


@main.command()
@_FREEZE
@_RUNG
@_OUT
@_ORDERS
@click.option("--nodes", default=1, show_default=True, type=click.IntRange(1, 4096), help="Nodes to ask for.")
@click.option("--gpus-per-node", required=True, type=click.IntRange(1, 64), help="GPUs, and ranks, a node.")
@click.option("--cpus-per-task", type=click.IntRange(1, 4096), help="Processors a node; by default threads x ranks.")
@click.option("--shared", is_flag=True, help="Let other jobs onto the nodes; by default they are taken whole.")
@click.option("--time", default="01:00:00", show_default=True, help="Time limit of the job, [DAYS-]HH:MM:SS.")
@click.option("--partition", default="", help="Partition to run in.")
@click.option("--account", default="", help="Account to charge.")
def slurm(
    freeze: Path,
    rung: str,
    out: Path,
    orders: Path | None,
    nodes: int,
    gpus_per_node: int,
    cpus_per_task: int | None,
    shared: bool,
    time: str,
    partition: str,
    account: str,
) -> None:
    """Print an sbatch script that runs the rung: one torchrun a node, logs, requeue. It submits nothing."""
    from bench.slurm import Order, script
    from bench.spec import read_spec

    with _refusals():
        threads = read_spec(freeze, rung, orders).settings.threads
        cpus = cpus_per_task or threads * gpus_per_node
        asked = Order(freeze, rung, out, nodes, gpus_per_node, cpus, time, partition, account, orders, shared)
        text = script(asked)
    click.echo(text, nl=False)


@main.command()
@_FREEZE
@_RUNG
@click.option("--run", required=True, type=click.Path(path_type=Path), help="The run file to be held against.")
@click.option("--steps", required=True, type=click.IntRange(1), help="How many of its first steps.")
@click.option("--timeout", default=1800.0, show_default=True, type=click.FloatRange(1), help="Seconds for all of it.")
def replay(freeze: Path, rung: str, run: Path, steps: int, timeout: float) -> None:
    """Make the first steps of a run again on the CPU, with its settings, seed and world size, and print the losses.

    Prints one JSON object: loss_hex by rank, as the run file's series would hold them, and the facts of this machine.
    Nothing is kept. A plug-in workload is imported from the current folder, as for `run`.
    """
    from bench.replay import replay as made_again

    with _refusals():
        _need_torch()
        told = made_again(freeze, rung, run, steps, timeout)
    print(json.dumps(told))


@main.command()
@click.argument("plan", type=click.File("rb"))
def check(plan: BinaryIO) -> None:
    """Say what of PLAN this harness would refuse, or could never measure, before it is frozen.

    PLAN, or - for standard input, is JSON: the body that a freeze entry would have ({"plan": ..., and where known
    "kill", "fits", "curves"}). Prints one JSON object with the problems; exits 2 if one of them is an error, else 0.
    """
    from bench.planned import findings
    from bench.strict import MAX_BYTES, parse

    name = str(getattr(plan, "name", ""))  # a stream that is no file may have none
    if name.endswith((".yaml", ".yml")):
        raise click.UsageError(f"this takes JSON, and {name} is YAML; use `ledger check`, which hands it over")
    with _refusals():
        found = findings(parse(plan.read(MAX_BYTES), "give the plan as `ledger check` reads it"))
    problems = [one.to_json() for one in found]
    print(json.dumps({"schema": "ledger-bench/check/v1", "version": __version__, "problems": problems}))
    if any(one.severity == "error" for one in found):
        sys.exit(SpecError.exit_code)


@main.command()
@click.argument("field", required=False)
def explain(field: str | None) -> None:
    """Say what FIELD of a run.json is: unit, definition, method, scope. Without FIELD, list every field."""
    from bench.explain import explained, listing

    with _refusals():
        text = listing() if field is None else explained(field)
    click.echo(text)


if __name__ == "__main__":
    main()
