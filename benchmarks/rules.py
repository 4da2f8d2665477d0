"""What a rule of 2,000 characters over 200 rungs costs to check and to decide, against a small plan, as ratios; and
what choosing among 200 rungs costs, or a validity gate for each, against 50 of them.

Everything runs in this process, without a disk: the plan's text is read, checked, and decided over one made-up run a
rung. It prints the machine with the figures: an absolute time on another machine means nothing.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable

from ledger.actions.check import check_bytes
from ledger.derive import decide_body, read_plan
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, typed_run
from tests.worlds import PLAN, RECORD, run_file

ROUNDS = 5
SMALL, LARGE = (2, 60), (200, 2000)
"""Rungs, and characters of the rule at most."""


def rule(rungs: int, characters: int) -> str:
    """As many clauses as fit, each over another candidate and the control."""
    text = ""
    for index in range(characters):
        clause = f"r{1 + index % (rungs - 1)}.step_time <= 1.{index:02d} * r0.step_time"
        longer = f"{text} and {clause}" if text else clause
        if len(longer) > characters:
            break
        text = longer
    return text


def plan(rungs: int, characters: int) -> bytes:
    """The small sound plan of the tests, with that many rungs and that long a rule."""
    lines = [
        f"    - {{id: r{index}, role: {'candidate' if index else 'control'}, flags: {{n: {index}}}}}"
        for index in range(rungs)
    ]
    given = {f"r{index}.step_time": "2.4 s" for index in range(rungs)}
    slow = {name: "9 s" if index else "2.4 s" for index, name in enumerate(given)}
    examples = [(given, "ADOPT"), (slow, "RECORD-ONLY"), ({"r0.step_time": "2.4 s"}, "INCONCLUSIVE")]
    told = [
        f"    - {{given: {{{', '.join(f'{name}: {value}' for name, value in values.items())}}}, gives: {gives}}}"
        for values, gives in examples
    ]
    head = PLAN.split("    - {id: r0", 1)[0]
    decision = f"decision:\n  outcomes:\n    - name: ADOPT\n      when: {rule(rungs, characters)}\n"
    decision += "    - {name: RECORD-ONLY, otherwise: true}\n  examples:\n"
    return "\n".join([head.rstrip("\n"), *lines, decision.rstrip("\n"), *told, ""]).encode()


def seconds(action: Callable[[], object]) -> float:
    """The median time of an action."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measured(rungs: int, characters: int) -> tuple[float, float]:
    """Seconds to check such a plan, and to decide it."""
    text = plan(rungs, characters)
    assert not check_bytes(RECORD, text).of("error")
    entry = freeze_entry(read_plan(text))
    runs = [typed_run(run_file(FREEZE, f"r{index}", settings={"n": index})) for index in range(rungs)]
    intakes = [intake(entry, run) for run in runs]
    assert decide_body(FREEZE, entry, intakes, TOOL).disposition == "ADOPT"
    return seconds(lambda: check_bytes(RECORD, text)), seconds(lambda: decide_body(FREEZE, entry, intakes, TOOL))


CHOSEN = "select:\n  best: {among: [RUNGS], choose: lowest, metric: step_time, ties: first_listed}\n"
FEW, MANY = 50, 200
"""Rungs that are chosen among, or that each have a gate."""


def over_arms(rungs: int, block: str) -> float:
    """Seconds to decide a plan that chooses among so many rungs (``select``), or has a gate for each (``validity``)."""
    names = [f"r{index}" for index in range(1, rungs)]
    told = CHOSEN.replace("RUNGS", ", ".join(names))
    if block == "validity":
        gates = (f"  v_{one}: {{rung: {one}, when: {one}.step_time <= 9 s, why: x}}\n" for one in names)
        told = "".join(["validity:\n", *gates])
    text = plan(rungs, SMALL[1]).replace(b"decision:\n", told.encode() + b"decision:\n")
    entry = freeze_entry(read_plan(text))
    runs = [typed_run(run_file(FREEZE, f"r{index}", settings={"n": index})) for index in range(rungs)]
    intakes = [intake(entry, run) for run in runs]
    assert decide_body(FREEZE, entry, intakes, TOOL).disposition == "ADOPT"
    return seconds(lambda: decide_body(FREEZE, entry, intakes, TOOL))


def main() -> None:
    """Print the ratios, and the large plans' times on this machine."""
    small, large = measured(*SMALL), measured(*LARGE)
    for what, one, other in zip(("check", "decide"), small, large, strict=True):
        print(f"{what}: 200 rungs and 2,000 characters / 2 rungs = {other / one:.0f} ({other:.3f} s here)")
    for block in ("select", "validity"):
        one, other = over_arms(FEW, block), over_arms(MANY, block)
        print(f"decide with {block}: {MANY} rungs / {FEW} rungs = {other / one:.1f} ({other:.3f} s here)")
    print(f"medians of {ROUNDS}, Python {platform.python_version()}, {platform.machine()}")


if __name__ == "__main__":
    main()
