"""Pre-registered machine-learning performance experiments, decided by a frozen rule and checkable by a stranger."""

__version__ = "0.2.0"
