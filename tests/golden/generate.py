"""Write the committed files that follow from the code: ``python -m tests.golden.generate [schemas]``.

``make schemas`` and ``make golden`` call it; tests compare what it would write with what is committed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ledger.model.schemas import schemas

ROOT = Path(__file__).resolve().parents[2]


def schema_files() -> dict[str, str]:
    """Path below the project, and text, of every committed schema."""
    return {
        f"schemas/{stem}.schema.json": json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        for stem, schema in schemas().items()
    }


def main() -> None:
    """Write them all, and remove golden files that no world gives any more."""
    files = schema_files()
    if sys.argv[1:] != ["schemas"]:
        from tests.golden.worlds import FOLDER, golden_files

        files |= golden_files()
        for path in (ROOT / FOLDER).glob("*"):
            if f"{FOLDER}/{path.name}" not in files:
                path.unlink()
    for name, text in files.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()
