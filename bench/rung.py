"""One attempt of one rung: the memory pass, then the timing pass, then the run file; or the probes of a search.

The memory pass comes first, so that a rung that does not fit fails soon and as the fact it is.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.attempt import FREEZE_COPY, ORDERS_COPY, Begun, agreeing, begin, clear, conclude, last_word
from bench.curves import watched_facts
from bench.facts import load_average, machine_facts
from bench.faults import EnvironmentFault, NotNow
from bench.gpu import gpu_facts
from bench.kill import Stop
from bench.launch import Interrupt, join_pass
from bench.nodes import ALONE, Node, announce, next_turn
from bench.outcome import pass_outcome
from bench.passes import Passes, Report
from bench.pins import check_code, code_facts, code_pins, frozen_commit, frozen_pins
from bench.probing import run_search
from bench.runfile import RungResult, compose, write_run
from bench.salvage import oom_files, salvage_all
from bench.settings import Settings, defaults_applied
from bench.span import Span
from bench.spec import Spec

OOM_LOOP = 2


def uses_cuda(settings: Settings) -> bool:
    """Whether the ranks will take a GPU; asks torch only where the plan leaves it open."""
    if settings.device != "auto":
        return settings.device == "cuda"
    import torch

    return torch.cuda.is_available()


def run_rung(
    spec: Spec, out: Path, nproc: int, timeout_s: float, report: Report, node: Node = ALONE
) -> tuple[Path | None, str]:
    """Run it and write ``out/<run id>/run.json``: its path and the outcome's kind. On a node that does not lead: None.

    Raises EnvironmentFault where a folder or the run file cannot be written, NotNow where a frozen oom_loop forbids it,
    SpecError where other code is checked out here than the rung was frozen with.
    """
    deadline = time.monotonic() + timeout_s
    body = json.loads(spec.entry)["body"]
    check_code(Path.cwd(), frozen_pins(body, spec.rung), spec.rung, frozen_commit(body, spec.rung))
    with Interrupt().installed() as interrupt:
        if not node.leads:
            return None, _follow(out / f"{spec.rung}-{node.run_id}", nproc, deadline, interrupt, node)
        _look_back(spec, out, report)
        run_id = f"{spec.rung}-{node.run_id or f'{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}'}"
        folder = _fresh(out / run_id)
        span = Span()
        begun = _begun(spec, run_id, span, nproc, node)
        lock = begin(folder, {FREEZE_COPY: spec.entry, ORDERS_COPY: spec.orders.data}, begun)
        passes = Passes(spec, folder, nproc, deadline, report, node, begun.is_cuda, interrupt)
        path = folder / "run.json"
        with last_word(folder):
            result = _lead(spec, begun, span, passes)
            if node.count > 1:
                announce(folder, None)
            write_run(path, compose(spec, result))
        clear(folder)
        os.close(lock)
    return path, str(result.outcome["kind"])


def _look_back(spec: Spec, out: Path, report: Report) -> None:
    """Give attempts that lost their harness their run files first, then see whether another one is allowed."""
    written, failed = salvage_all(out)
    for path, kind in written:
        report("salvaged", run=str(path), outcome=kind)
    for words in failed:
        report("not_salvaged", why=words)
    if "oom_loop" in spec.events and oom_files(out, spec.freeze, spec.rung) >= OOM_LOOP:
        raise NotNow(
            f"the frozen kill condition oom_loop was met: rung {spec.rung} ran out of memory {OOM_LOOP} times already",
            where=str(out),
            expected=f"fewer than {OOM_LOOP} run files of this rung with outcome oom",
            hint="ingest what there is and decide; a changed rung is a new record",
        )


def _fresh(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        hint = "give every attempt a fresh --run-id"
        raise EnvironmentFault("an attempt of this id is there already", where=str(folder), hint=hint) from None
    except OSError as fault:
        raise EnvironmentFault(f"the folder could not be made: {fault.strerror}", where=str(folder)) from None
    return folder


def _begun(spec: Spec, run_id: str, span: Span, nproc: int, node: Node) -> Begun:
    is_cuda = uses_cuda(spec.settings)
    home = Path.cwd()
    plan = {
        "world_size": nproc * node.count,
        "nodes": node.count,
        "steps_planned": spec.steps,
        "seed": spec.settings.seed,
        "threads": spec.settings.threads,
        "perturb": spec.settings.perturb,
        "launcher": "torchrun --max-restarts 0, a fresh one a pass and node",
        "defaults_applied": defaults_applied(spec.raw) or "none",
        "load_average_before": load_average(),
        **spec.orders.facts(spec.rung),
        **watched_facts(spec.curves, spec.references, spec.rung),
    }
    facts = machine_facts() | gpu_facts(is_cuda) | code_facts(home, spec.code_paths) | plan
    began = datetime.strptime(span.began_at, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()
    code = code_pins(home, spec.code_paths)
    own = (os.getpid(), socket.gethostname())
    return Begun(run_id, spec.rung, span.began_at, began, nproc, node.count, is_cuda, facts, code, *own)


def _lead(spec: Spec, begun: Begun, span: Span, passes: Passes) -> RungResult:
    if spec.search is not None:
        searched = run_search(spec.search, passes)
        done, outcome = searched.passes, searched.outcome
        probes, found = searched.probes, searched.found
    else:
        done, probes, found = passes.run(), None, None
        outcome = agreeing(pass_outcome(list(done.values())[-1]), done)
    late = {"clock": span.fact(), "load_average_after": load_average()}
    return conclude(begun, done, outcome, span.ended_at(), late, probes, found)


def _follow(folder: Path, nproc: int, deadline: float, interrupt: Interrupt, node: Node) -> str:
    """What a node that does not lead does: each turn that node 0 names, until it names no more."""

    def silent(_rank: int, _line: dict[str, Any]) -> Stop | None:
        return None

    def give_up() -> bool:
        return bool(interrupt.name) or time.monotonic() > deadline

    turn = 0
    while (name := next_turn(folder, turn, give_up)) is not None:
        join_pass(folder / name, turn, nproc, deadline, interrupt, silent, node)
        turn += 1
    return "followed"
