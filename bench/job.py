"""What one pass of one rung does, as the parent hands it to each rank: a small JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from bench.settings import Settings


@dataclass(frozen=True)
class Job:
    """``kind`` timing measures time (and CUDA memory); memory measures the CPU peak under another malloc.

    replay is the timing pass's training and nothing else.
    """

    kind: Literal["timing", "memory", "replay"]
    settings: Settings
    steps: int  # in this pass
    ladder_steps: int  # of the rung: fixes the data order in both passes
    evals: int
    saves: int
    peer_timeout_s: int
    code_paths: tuple[str, ...] = ()  # that the plan pins
    harness: str = ""  # source digest of the harness that launches; empty: not told

    def write(self, folder: Path) -> None:
        """Write ``job.json`` into the pass folder."""
        (folder / "job.json").write_text(json.dumps(asdict(self)))


def read_job(folder: Path) -> Job:
    """The job of a pass folder."""
    parts = json.loads((folder / "job.json").read_text())
    return Job(**{**parts, "settings": Settings(**parts["settings"]), "code_paths": tuple(parts["code_paths"])})
