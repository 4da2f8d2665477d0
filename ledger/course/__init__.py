"""How a record proceeds: stages that open or close it, contingencies, kill rules against a curve, follow-ups."""

from ledger.course.contingency import (
    Fired,
    answered,
    applied,
    as_of,
    before_it,
    called_for,
    changed_rung,
    exact_steps,
    fired_in,
    outdated,
    to_come,
    told_contingencies,
)
from ledger.course.curves import curve_orders, frozen_curves
from ledger.course.flaws import out_of_order, void_flaws, window_notes
from ledger.course.killed import Killed, fallen, held_to_curves, told_without_outcome, with_kills
from ledger.course.spent import spending_words, spent_words
from ledger.course.stages import (
    Gate,
    closed_rungs,
    judged_on,
    looked_at,
    stage_gates,
    stage_of,
    too_early,
    unopened,
)

__all__ = [
    "Fired",
    "Gate",
    "Killed",
    "answered",
    "applied",
    "as_of",
    "before_it",
    "called_for",
    "changed_rung",
    "closed_rungs",
    "curve_orders",
    "exact_steps",
    "fallen",
    "fired_in",
    "frozen_curves",
    "held_to_curves",
    "judged_on",
    "looked_at",
    "out_of_order",
    "outdated",
    "spending_words",
    "spent_words",
    "stage_gates",
    "stage_of",
    "to_come",
    "told_contingencies",
    "told_without_outcome",
    "too_early",
    "unopened",
    "void_flaws",
    "window_notes",
    "with_kills",
]
