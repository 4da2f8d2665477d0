"""What can be said of a plan before anything runs."""

from ledger.plancheck.plan import check_plan, freeze_notes

__all__ = ["check_plan", "freeze_notes"]
