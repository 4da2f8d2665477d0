"""What the names that are no rungs stand for: the winner of a selection, and a run of an earlier record.

It chooses no winner (``ledger/arms/selection.py`` does) and reads no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ledger.model.run import Run
from ledger.model.values import Unknown

Counted = Mapping[str, Sequence[tuple[str, Run]]]
"""For each arm the runs that count, in order, each with the digest of its run entry."""


@dataclass(frozen=True)
class Cast:
    """``chosen`` is the rung of each winner that is known, ``unknown`` why another is not.

    ``used`` says of an item table and a key whether that item selected the winner. ``banked`` has, by name, the run
    of an earlier record with the digest of its run entry there.
    """

    chosen: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    used: Mapping[str, Callable[[str, str], bool]] = field(default_factory=dict)
    banked: Mapping[str, tuple[str, Run]] = field(default_factory=dict)

    def counted(self, own: Counted) -> dict[str, Sequence[tuple[str, Run]]]:
        """The runs that count for each rung, winner and banked run; a banked one goes by its name in the plan."""
        winners = {name: own[rung] for name, rung in self.chosen.items() if rung in own}
        banked = {name: [(entry, run.model_copy(update={"rung": name}))] for name, (entry, run) in self.banked.items()}
        return {**own, **winners, **banked}

    def absent(self, own: Mapping[str, Unknown]) -> dict[str, Unknown]:
        """Why each rung and winner without a run that counts has none."""
        winners = {name: own[rung] for name, rung in self.chosen.items() if rung in own}
        return {**own, **self.unknown, **winners}

    def used_by(self, arms: Sequence[str], table: str) -> Callable[[str], bool]:
        """Whether an item of ``table``, by its key, selected one of ``arms``."""
        asked = [self.used[arm] for arm in arms if arm in self.used]
        return lambda key: any(one(table, key) for one in asked)
