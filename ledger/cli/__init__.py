"""The command line: each command opens the ledger, calls one action, and prints what came of it."""
