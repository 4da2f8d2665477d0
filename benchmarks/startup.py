"""How long ``ledger --version`` takes against ``python -c pass``, interleaved in one run, as a ratio.

It prints the machine with the figure: an absolute time on another machine means nothing.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 41
BESIDE = Path(sys.executable).parent


def seconds(command: list[str]) -> float:
    """Wall time of one start."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    """Print the medians' ratio, and the spread of the paired ratios."""
    bare, ours = [sys.executable, "-c", "pass"], [str(BESIDE / "ledger"), "--version"]
    pairs = [(seconds(bare), seconds(ours)) for _ in range(ROUNDS)]
    ratio = statistics.median(b for _, b in pairs) / statistics.median(a for a, _ in pairs)
    paired = sorted(b / a for a, b in pairs)
    low, high = paired[ROUNDS // 10], paired[-1 - ROUNDS // 10]
    print(f"ledger --version / python -c pass = {ratio:.2f} (middle 80% of pairs {low:.2f} to {high:.2f})")
    print(f"{ROUNDS} interleaved pairs, Python {platform.python_version()}, {platform.machine()}")


if __name__ == "__main__":
    main()
