"""The rule language: reading, checking, proving, evaluating and printing the conditions that decide."""

from ledger.rules.checker import check_types
from ledger.rules.evaluation import Verdict, evaluate
from ledger.rules.frozen import ast_json, from_json
from ledger.rules.parser import parse
from ledger.rules.printer import print_rule
from ledger.rules.proofs import faults
from ledger.rules.syntax import Expr, comparisons, references
from ledger.rules.wording import in_words

__all__ = [
    "Expr",
    "Verdict",
    "ast_json",
    "check_types",
    "comparisons",
    "evaluate",
    "faults",
    "from_json",
    "in_words",
    "parse",
    "print_rule",
    "references",
]
