"""Named reads, evaluated: the frozen analyses of a plan over the runs that count."""

from ledger.reads.cast import Cast
from ledger.reads.evaluate import evaluate_reads, operands_of
from ledger.reads.wording import in_words

__all__ = ["Cast", "evaluate_reads", "in_words", "operands_of"]
