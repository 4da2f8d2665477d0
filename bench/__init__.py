"""The torch benchmark harness: runs one rung of a frozen ladder and writes one run.json."""

__version__ = "0.2.0"
