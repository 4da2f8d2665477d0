"""The ways in which rules come to wanted truths, taken apart one choice at a time, for ``proofs``.

It solves nothing: whoever walks the branches says which of them to leave.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.rules.atoms import Atom, atoms
from ledger.rules.linear import Effort
from ledger.rules.syntax import And, Compare, Expr, Not, Or

Goal = tuple[Expr, bool]  # this rule, or part of one, comes to this truth


@dataclass(frozen=True)
class Option:
    """One way of a choice: what must hold, and what must still be taken apart."""

    held: tuple[Atom, ...] = ()
    goals: tuple[Goal, ...] = ()


Choice = tuple[Option, ...]


@dataclass(frozen=True)
class Branch:
    """All ``goals`` are reached, all ``held`` hold, and of each choice one option is taken."""

    goals: tuple[Goal, ...]
    held: tuple[Atom, ...]
    choices: tuple[Choice, ...]


def settled(branch: Branch, effort: Effort) -> Branch:
    """The same branch with no goals left: each became inequalities that must hold, or a choice."""
    pending, held, choices = list(branch.goals), list(branch.held), list(branch.choices)
    effort.spend(len(pending) + len(held) + len(choices))
    while pending:
        effort.spend(1)
        expr, wanted = pending.pop()
        match expr:
            case Not(operand):
                pending.append((operand, not wanted))
            case And(parts) | Or(parts) if isinstance(expr, And) == wanted:
                pending += [(part, wanted) for part in parts]
            case And(parts) | Or(parts):
                choices.append(tuple(Option(goals=((part, wanted),)) for part in parts))
            case Compare():
                ways = [Option(held=way) for way in atoms(expr, wanted, effort)]
                if len(ways) == 1:
                    held += ways[0].held
                else:
                    choices.append(tuple(ways))
            case _:
                raise ValueError("a number is no condition in a checked rule")
    return Branch((), tuple(held), tuple(choices))


def split(branch: Branch) -> list[Branch]:
    """One branch for each option of the smallest choice, the last option first; none without choices."""
    if not branch.choices:
        return []
    smallest = min(range(len(branch.choices)), key=lambda index: len(branch.choices[index]))
    rest = branch.choices[:smallest] + branch.choices[smallest + 1 :]
    options = reversed(branch.choices[smallest])
    return [Branch(option.goals, branch.held + option.held, rest) for option in options]
