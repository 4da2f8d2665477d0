"""The program as a test runs it: called in this process, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result


def modules_with_a_clock() -> list[Any]:
    from ledger.cli import evidence, later, plan, publish, run

    return [evidence, later, plan, publish, run]


def invoke(main: Any, args: list[str]) -> Result:
    """As the console script would: errors become exit codes in ``main.run``."""
    import click

    @click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("args", nargs=-1, type=click.UNPROCESSED)
    def program(args: tuple[str, ...]) -> None:
        main.run(list(args))

    return CliRunner().invoke(program, args, prog_name="ledger")


def program(*args: str | Path, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the program as a process of its own, for what one process cannot be put through: limits, kills, races."""
    command = [sys.executable, "-m", "ledger", *map(str, args)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1]), **options.pop("env", {})}
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, cwd=cwd, env=env, text=True, timeout=60, **outputs)
