"""A plan's text with other values in it, comments and layout kept as far as they can be.

It rewrites text and judges nothing; what comes out reads as exactly the plan that was asked for.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from ledger.derive import read_plan
from ledger.fields import same
from ledger.strictyaml import parse


def rewritten(text: bytes, wanted: Mapping[str, Any]) -> bytes:
    """``text``, a plan that reads, changed where it says other than ``wanted`` (the plan, defaults filled in).

    What ``wanted`` fills in by default is not written out, unless the text says otherwise.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes, yaml.width = True, 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    parse(text)  # strictly: no anchor, tag or doubled key reaches the reader below
    document = yaml.load(text.decode())
    before = _plan(text)
    for key, value in wanted.items():
        if key not in before or not same(before[key], value):
            _put(document, key, value)
    for key in [key for key in document if key not in wanted]:
        del document[key]
    out = io.BytesIO()
    yaml.dump(document, out)
    return out.getvalue()


def in_comments(text: str, old: str, new: str) -> str:
    """``text`` with the record ``old`` called ``new`` in the commands that comments give; prose keeps its own."""
    command = re.compile(rf"(ledger [a-z-]+ ){re.escape(old)}(?![\w-])")
    lines = text.splitlines(keepends=True)
    return "".join(command.sub(rf"\g<1>{new}", line) if line.lstrip().startswith("#") else line for line in lines)


def _put(document: Any, key: str, value: Any) -> None:
    if key in document:
        document[key] = value
    else:
        document.insert(2, key, value)  # below schema and id, where a reader looks first


def _plan(text: bytes) -> dict[str, Any]:
    return read_plan(text).to_json()
