"""Where the shared test vectors are: ``LEDGER_VECTORS``, else ``../shared/conformance`` by the checkout."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[2].parent / "shared" / "conformance"


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of third-party vectors; the test skips, and says why, where there is none."""
    folder = Path(os.environ.get("LEDGER_VECTORS") or _BESIDE)
    if not folder.is_dir():
        pytest.skip(f"no test vectors at {folder}: set LEDGER_VECTORS to the folder that holds them")
    return folder
