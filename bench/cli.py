"""The command ``ledger-bench``: JSON lines of progress on stdout, prose on stderr.

It opens, calls :func:`bench.rung.run_rung`, prints. It exits 0 whenever a run.json was written.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from bench import __version__
from bench.faults import BenchError, EnvironmentFault


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ledger-bench")
def main() -> None:
    """Run one rung of a frozen ladder and write one run.json.

    Exit codes: 0 a run.json was written, whatever its outcome; 2 bad input or usage;
    5 the environment could not be read or written (torch missing, a folder that cannot be made).
    """


def _say(event: str, **parts: Any) -> None:
    try:
        print(json.dumps({"event": event, **parts}), flush=True)
    except BrokenPipeError:
        # Whoever started this is gone: end the rung as on SIGTERM, with its run file written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


@main.command()
@click.option("--freeze", required=True, type=click.Path(path_type=Path), help="The freeze entry file.")
@click.option("--rung", required=True, help="Which rung of its ladder.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Gets a folder for this attempt.")
@click.option("--nproc", default=1, show_default=True, type=click.IntRange(1, 1024), help="Ranks on this machine.")
@click.option("--timeout", default=1800.0, show_default=True, type=click.FloatRange(1), help="Seconds for the rung.")
def run(freeze: Path, rung: str, out: Path, nproc: int, timeout: float) -> None:
    """Run one attempt of one rung; an out-of-memory failure is a fact and exits 0."""
    from bench.rung import run_rung
    from bench.spec import read_spec

    try:
        spec = read_spec(freeze, rung)
        if find_spec("torch") is None:
            hint = "install the extra: pip install 'evidence-ledger[bench]'"
            raise EnvironmentFault("torch is not installed", hint=hint)
        path, kind = run_rung(spec, out, nproc, timeout, _say)
    except BenchError as fault:
        click.echo(fault.to_text(), err=True)
        sys.exit(fault.exit_code)
    _say("done", run=str(path), outcome=kind)
    click.echo(f"rung {rung}: {kind}; {path}", err=True)


if __name__ == "__main__":
    main()
