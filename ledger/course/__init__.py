"""How a record proceeds: stages that open or close it, contingencies, kill rules against a curve, follow-ups."""

from ledger.course.spent import spent_words
from ledger.course.stages import Gate, closed_rungs, stage_gates, too_early

__all__ = ["Gate", "closed_rungs", "spent_words", "stage_gates", "too_early"]
