"""What a plan's rules may refer to: every ``rung.metric``, with its dimension, unit and role.

It holds no values and evaluates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ledger.model.ladder import Role
from ledger.model.plan import Prereg
from ledger.units import Dimension, parse_unit


@dataclass(frozen=True)
class Namespace:
    """The names of one plan."""

    plan: Prereg

    @cached_property
    def types(self) -> dict[str, Dimension]:
        """``r2.step_time`` to the dimension of its metric."""
        return {name: parse_unit(unit).dimension for name, unit in self.units.items()}

    @cached_property
    def units(self) -> dict[str, str]:
        """``r2.step_time`` to the unit its metric is shown in."""
        return {
            f"{rung.id}.{name}": metric.unit
            for rung in self.plan.ladder.rungs
            for name, metric in self.plan.metrics.items()
        }

    @cached_property
    def roles(self) -> dict[str, Role]:
        """Rung id to role."""
        return {rung.id: rung.role for rung in self.plan.ladder.rungs}


def rung_of(reference: str) -> str:
    """``r2`` of ``r2.step_time``."""
    return reference.partition(".")[0]
