"""What is put down of an attempt when it begins, and how its end is put together from that and what ranks left.

The mark ``attempt.json`` is locked while the harness lives, so that a folder whose harness was killed can be told from
one that is running; :mod:`bench.salvage` makes run files of the former.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench import reserve
from bench.faults import EnvironmentFault
from bench.gpu import AFTER
from bench.journal import RankRecord
from bench.launch import PassResult
from bench.nodes import MARK
from bench.outcome import oom_facts, rank_outcomes
from bench.runfile import RungResult

FREEZE_COPY, ORDERS_COPY = "freeze.json", "orders.json"
PROBES = "probes.jsonl"
LAST_WORD = "last_word.txt"
_FROM_RANKS = (
    *("device", "gpu_model", "driver", "cuda", "nccl", "determinism", "matmul_precision"),
    *("allocator_settings", "communication_settings", "cuda_settings", "end_digest", *AFTER),
)
DIGESTS = ("dataset_digest", "data_order_digest", "warm_start_digest")


@dataclass(frozen=True)
class Begun:
    """One attempt as it began; ``facts`` and ``code`` as they were then, ``began_unix`` for comparison with files.

    ``pid`` and ``host`` are the harness's, for whoever waits for its end; marks of before 0.2.0 lack them.
    """

    run_id: str
    rung: str
    began_at: str
    began_unix: float
    nproc: int
    nodes: int
    is_cuda: bool
    facts: dict[str, Any]
    code: dict[str, Any]
    pid: int | None = None
    host: str | None = None

    @property
    def world(self) -> int:
        """Ranks over all nodes."""
        return self.nproc * self.nodes


def begin(folder: Path, copies: Mapping[str, bytes], begun: Begun) -> int:
    """Write the mark and what the rung was read from; the handle that keeps the mark locked until it is closed."""
    try:
        for name, data in copies.items():
            if data:
                (folder / name).write_bytes(data)
        temporary = folder / f"{MARK}.tmp"
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with temporary.open("w") as file:
            file.write(json.dumps(asdict(begun)))
        temporary.rename(folder / MARK)
        reserve.hold(folder / LAST_WORD)
    except OSError as fault:
        raise EnvironmentFault(f"the attempt could not be begun: {fault.strerror}", where=str(folder)) from None
    return handle


@contextmanager
def last_word(folder: Path) -> Iterator[None]:
    """What ends the block by an exception is left in the attempt's folder too, in room taken when it began.

    An OSError, as of a full disk, leaves as an EnvironmentFault.
    """
    try:
        yield
    except OSError as fault:
        _leave(folder, str(fault))
        raise EnvironmentFault(f"the attempt could not be carried on: {fault}", where=str(folder)) from None
    except EnvironmentFault as fault:
        _leave(folder, fault.what)
        raise


def _leave(folder: Path, words: str) -> None:
    with suppress(OSError):
        reserve.fill(folder / LAST_WORD, words.encode()[: reserve.SIZE])


def read_last_word(folder: Path) -> str:
    """What the harness could still say of its own end; empty where it said nothing."""
    try:
        return (folder / LAST_WORD).read_text(errors="replace")
    except OSError:
        return ""


def read_begun(folder: Path) -> Begun:
    """The mark of an attempt. Raises OSError or ValueError where it is not there or not whole."""
    parts = json.loads((folder / MARK).read_bytes())
    try:
        begun = Begun(**parts)
    except TypeError as fault:
        raise ValueError(str(fault)) from None
    texts, counts = (begun.run_id, begun.rung, begun.began_at), (begun.nproc, begun.nodes)
    sound = all(isinstance(one, str) for one in texts) and all(isinstance(one, int) and one > 0 for one in counts)
    if not sound or not isinstance(begun.facts, dict) or not isinstance(begun.began_unix, int | float):
        raise ValueError(f"{MARK} is not as it was written")
    return begun


def clear(folder: Path) -> None:
    """Remove what only an unfinished attempt needs. Turns stay: another node may not have read the last one yet."""
    reserve.release(folder / LAST_WORD)
    for room in folder.glob(f"*/outcome*{reserve.SUFFIX}"):  # of ranks that were killed
        room.unlink(missing_ok=True)
    torn = (folder / LAST_WORD).with_suffix(".tmp")
    for path in (folder / FREEZE_COPY, folder / ORDERS_COPY, folder / PROBES, folder / LAST_WORD, torn, folder / MARK):
        path.unlink(missing_ok=True)


def conclude(
    begun: Begun,
    passes: Mapping[str, PassResult],
    outcome: dict[str, Any],
    ended_at: str,
    late: dict[str, Any],
    probes: list[dict[str, Any]] | None = None,
    found: Any = None,
) -> RungResult:
    """The attempt's result; ``passes`` by kind, the one that ended it last; ``late`` are facts of its end."""
    empty = [RankRecord(rank) for rank in range(begun.world)]
    timing = passes["timing"].ranks if "timing" in passes else empty
    memory = passes["memory"].ranks if "memory" in passes else []
    facts = begun.facts | (memory[0].facts if memory else {}) | timing[0].facts
    facts.pop("rank_device", None)
    if passes and probes is None:
        last = list(passes.values())[-1]
        facts |= {f"outcome_rank_{k}": word for k, word in enumerate(rank_outcomes(last, outcome))}
        facts |= oom_facts(last, outcome)
    facts = _filled(facts | step_clock(timing) | damage_facts(passes) | late)
    return RungResult(
        begun.run_id, begun.began_at, ended_at, outcome, begun.is_cuda, timing, memory, facts, begun.code, probes, found
    )


def damage_facts(passes: Mapping[str, PassResult]) -> dict[str, Any]:
    """What could not be read of what ranks left, and how many journal lines that is; empty where all could."""
    ranks = [(kind, record) for kind, result in passes.items() for record in result.ranks if record.damage]
    if not ranks:
        return {}
    words = (f"rank {record.rank} of the {kind} pass: {', '.join(record.damage)}" for kind, record in ranks)
    return {
        "journal_lines_unreadable": sum(record.unreadable for _, record in ranks),
        "journal_damage": "; ".join(words),
    }


def step_clock(ranks: Sequence[RankRecord]) -> dict[str, str]:
    """Whether every step took time by the clocks that timed it; nothing where no step was timed."""
    found = []
    for name in ("step_ns", "step_cpu_ns"):
        samples = [sample for record in ranks for sample in record.series.get(name, [])]
        if stopped := [sample for sample in samples if isinstance(sample, dict)]:
            found.append(f"{len(stopped)} of {len(samples)} samples of {name}: {stopped[0].get('detail')}")
    if not any(record.series.get("step_ns") for record in ranks):
        return {}
    return {"clock_steps": "; ".join(found) or "advanced: every step took time by its clocks"}


def _filled(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts that only a rank can tell are Unknown where no rank got that far."""
    missing = {"unknown": "missing", "detail": "no rank got far enough to tell"}
    return dict.fromkeys((*_FROM_RANKS, *DIGESTS), missing) | facts


def agreeing(outcome: dict[str, Any], passes: Mapping[str, PassResult]) -> dict[str, Any]:
    """An ok rung whose two passes did not start from the same data and weights is an error."""
    if outcome["kind"] != "ok":
        return outcome
    for name in (*DIGESTS, "start_digest"):
        found = {record.facts.get(name) for result in passes.values() for record in result.ranks}
        if len(found) != 1:
            return {
                "kind": "error",
                "message": f"ranks or passes disagree about {name}: {sorted(map(str, found))}",
            }
    return outcome
