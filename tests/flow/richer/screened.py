"""A plan in two stages for the tests of stages and contingencies, its made-up runs, and a harness of a few lines.

The control takes 2.4 s a step: the screen lets r1 through up to 2.64 s (1.1 of it), and r2 is adopted up to 2.448 s
(1.02). An attempt of 6 minutes on 4 devices costs 0.4 GPU-h.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import Any

from ledger.harness import Harness
from tests.worlds import RECORD, World, run_file

SETTINGS = {"r0": "none", "r1": "selective", "r2": "full"}

PLAN = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: Screen, then confirm
question: Is the flip worth a full run?
decides: Which setting the next launch carries.
metrics:
  step_time: {series: step_ns, statistic: median, window: last 2, unit: s, better: lower}
ladder:
  steps: 4
  each_rung: {eval: 1, save: 1}
  rungs:
    - {id: r0, role: control, flags: {checkpointing: none}}
    - {id: r1, role: diagnosis, flags: {checkpointing: selective}}
    - {id: r2, role: candidate, flags: {checkpointing: full}}
stages:
  - {id: screen, rungs: [r0, r1], proceed: {when: r1.step_time <= 1.1 * r0.step_time, otherwise: DROP}}
  - {id: confirm, rungs: [r2]}
budget: {gate: 6 GPU-h, devices: 4, load: 30 s, step: 60 s}
decision:
  outcomes:
    - {name: ADOPT, when: r2.step_time <= 1.02 * r0.step_time}
    - {name: DROP, otherwise: true}
  examples:
    - {given: {r0.step_time: 2.4 s, r1.step_time: 2.5 s, r2.step_time: 2.4 s}, gives: ADOPT}
    - {given: {r0.step_time: 2.4 s, r1.step_time: 2.5 s, r2.step_time: 2.5 s}, gives: DROP}
    - {given: {r0.step_time: 2.4 s, r1.step_time: 3 s}, gives: DROP}
    - {given: {r0.step_time: 2.4 s}, gives: INCONCLUSIVE}
"""

HARNESSED = PLAN.replace("ladder:\n", "workload: {settings: {}}\nladder:\n", 1)
"""The same for ``ledger run``."""


def attempt(freeze: str, rung: str, began: str, step: float = 2.4, **changes: Any) -> dict[str, Any]:
    """An attempt of 6 minutes that began at ``began`` (HH:MM); ``steps`` and ``minutes`` are shortcuts."""
    steps, minutes = changes.pop("steps", 4), changes.pop("minutes", 6)
    start = dt.datetime.fromisoformat(f"2026-08-11T{began}:00")
    times = {"began_at": _fine(start), "ended_at": _fine(start + dt.timedelta(minutes=minutes))}
    series = {"step_s": [9.0, *[step] * (steps - 1)], "losses": [1.0] * steps}
    counts = {"steps": steps, "eval": 1, "save": 1}
    settings = {"checkpointing": SETTINGS[rung]}
    own = {"run_id": f"{rung}-{began.replace(':', '')}", **times, **series, "counts": counts, "settings": settings}
    return run_file(freeze, rung, **{**own, **changes})


def _fine(time: dt.datetime) -> str:
    return f"{time.isoformat()}.000000Z"


SCRIPT = """\
#!{python}
import json, os, sys
args = dict(zip(sys.argv[2::2], sys.argv[3::2]))
rung, root = args["--rung"], {root!r}
orders = json.load(open(args["--orders"]))["rungs"].get(rung, {{}}) if "--orders" in args else {{}}
made = json.load(open(os.path.join(root, "to-make.json")))
run = made.pop(0)
assert run["rung"] == rung, (run["rung"], rung)
json.dump(made, open(os.path.join(root, "to-make.json"), "w"))
with open(os.path.join(root, "asked.jsonl"), "a") as asked:
    asked.write(json.dumps([rung, orders]) + "\\n")
folder = os.path.join(args["--out"], run["run_id"])
os.makedirs(folder)
json.dump(run, open(os.path.join(folder, "run.json"), "w"))
print(json.dumps({{"event": "step", "step": 1, "of": run["counts"]["steps"]}}))
done = {{"event": "done", "outcome": run["outcome"]["kind"], "run": os.path.join(folder, "run.json")}}
print(json.dumps(done), flush=True)
"""


def harness(world: World, *runs: dict[str, Any]) -> Harness:
    """A harness that leaves these runs, one a start, and notes what it was asked for."""
    (world.root / "to-make.json").write_text(json.dumps(runs))
    path = world.root / "ledger-bench"
    path.write_text(SCRIPT.format(python=sys.executable, root=str(world.root)))
    path.chmod(0o755)
    return Harness(str(path))


def asked(world: World) -> list[Any]:
    """The rung of each start, and what it was ordered beyond the freeze entry."""
    path = world.root / "asked.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def shown(world: World) -> str:
    """What ``show`` says on one line; the record must verify."""
    world.ok("verify", RECORD)
    return " ".join(world.ok("show", RECORD).stdout.split())


def page(world: World) -> str:
    """The rendered page's text, its entities for quotes put back."""
    world.ok("render", "--out", "pages")
    text = (world.root / "pages" / f"{RECORD}.html").read_text()
    return " ".join(text.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").split())
