"""The console script's entry: answers ``--version`` alone at once, and hands the rest to the command."""

from __future__ import annotations

import sys

from bench import __version__


def main() -> None:
    """Run ``ledger-bench``."""
    if sys.argv[1:] == ["--version"]:
        print(f"ledger-bench, version {__version__}")
        return
    from bench.cli import main as command

    command(prog_name="ledger-bench")
