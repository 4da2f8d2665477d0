"""``python -m ledger`` is the program ``ledger``."""

from ledger.start import main

main()
