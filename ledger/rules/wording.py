"""A rule in the words of a person, for a plan's check and a dossier's page.

It is for eyes only: nothing reads it back. The exact text is ``print_rule``'s.
"""

from __future__ import annotations

from ledger.rules.printer import number_text
from ledger.rules.syntax import And, Call, Chain, Compare, Expr, Negate, Not, Number, Or, Ref, Step

_COMPARISONS = {"<=": "is at most", "<": "is below", ">=": "is at least", ">": "is above"}
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_EXTREMES = {"min": ("smaller", "smallest"), "max": ("larger", "largest")}


def in_words(expr: Expr) -> str:
    """The rule as a sentence without a full stop: ``r2's step_time is at most 1.02 times r0's step_time``."""
    match expr:
        case Or(parts):
            return ", or ".join(_inside(part) for part in parts)
        case And(parts):
            return ", and ".join(_inside(part) for part in parts)
        case Not(operand):
            return f"it is not so that {_inside(operand)}"
        case Compare(op, left, right):
            return f"{_value(left)} {_COMPARISONS[op]} {_value(right)}"
        case _:
            return _value(expr)


def _inside(expr: Expr) -> str:
    """A condition within a longer one, told so that its ends are heard."""
    match expr:
        case Or(parts):
            return "either " + " or ".join(_inside(part) for part in parts)
        case And(parts):
            joined = [_inside(part) for part in parts]
            return ("both " if len(parts) == 2 else "all of ") + _listed(joined)
        case _:
            return in_words(expr)


def _value(expr: Expr) -> str:
    match expr:
        case Number():
            return number_text(expr)
        case Ref(name, attr):
            return f"{name}'s {attr}"
        case Negate(operand):
            return f"minus {_operand(operand)}"
        case Chain(first, rest):
            return " ".join([_operand(first, expr), *(_step(step, expr) for step in rest)])
        case Call("abs", arguments):
            return f"the absolute value of {_operand(arguments[0])}"
        case Call(function, arguments):
            word = _EXTREMES[function][len(arguments) > 2]
            return f"the {word} of {_listed([_operand(part) for part in arguments])}"
        case _:
            return f"({in_words(expr)})"


def _step(step: Step, chain: Chain) -> str:
    return f"{_SIGNS[step.sign]} {_operand(step.operand, chain)}"


def _operand(expr: Expr, chain: Chain | None = None) -> str:
    """A part of a longer value; a product within a sum is understood without brackets."""
    understood = isinstance(expr, Chain) and chain is not None and chain.is_sum and not expr.is_sum
    bracketed = isinstance(expr, Chain | Call) and not understood and not _is_abs(expr)
    return f"({_value(expr)})" if bracketed else _value(expr)


def _is_abs(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function == "abs" and isinstance(expr.arguments[0], Ref | Number)


def _listed(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
