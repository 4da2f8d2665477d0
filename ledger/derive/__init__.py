"""The three derivations that ``verify`` replays: plan to freeze, run file to run entry, run entries to decision."""

from ledger.derive.decide import decide_body, needed_rungs
from ledger.derive.freeze import PREREG_NAME, Pins, freeze_body, read_plan
from ledger.derive.run import kept_as, lacks, run_body
from ledger.settings import expected_settings

__all__ = [
    "PREREG_NAME",
    "Pins",
    "decide_body",
    "expected_settings",
    "freeze_body",
    "kept_as",
    "lacks",
    "needed_rungs",
    "read_plan",
    "run_body",
]
