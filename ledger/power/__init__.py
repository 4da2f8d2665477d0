"""Operating characteristics: the chance of each outcome as the true effect varies, before any run."""

from ledger.power.margin import margin_of, stated_noise, threshold
from ledger.power.noise import Pairs, Runs, Steps, Variation
from ledger.power.question import NOT_SIMULATED, Question, question_of
from ledger.power.table import Simulation, band_of, power_of_plan, power_table, table_about

__all__ = [
    "NOT_SIMULATED",
    "Pairs",
    "Question",
    "Runs",
    "Simulation",
    "Steps",
    "Variation",
    "band_of",
    "margin_of",
    "power_of_plan",
    "power_table",
    "question_of",
    "stated_noise",
    "table_about",
    "threshold",
]
