"""The console script: answers ``--version`` at once, and hands everything else to the commands.

Nothing but the version is imported for that answer, so that scripts may ask it often.
"""

from __future__ import annotations

import sys

from ledger import __version__


def main() -> None:
    """Entry point of the program ``ledger``."""
    if sys.argv[1:] == ["--version"]:
        print(f"ledger {__version__}")
        return
    from ledger.cli.main import run

    run()
