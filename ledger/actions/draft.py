"""Start a record: a plan file from a template, ready to be edited.

It checks nothing of the plan; a draft may be unfinished for as long as it is one.
"""

from __future__ import annotations

from ledger import resources
from ledger.store import Ledger, Record


def draft(ledger: Ledger, record_id: str, template: str) -> Record:
    """A new record ``record_id`` with the plan template of that name.

    Raises InputError for a bad id or an unknown template, StateError when the record exists.
    """
    text = resources.plan_template(template)
    return ledger.create(record_id, text.replace("{{id}}", record_id).encode())
