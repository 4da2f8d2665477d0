"""``ledger init`` and ``ledger draft``: a ledger, and a record in it."""

from __future__ import annotations

from pathlib import Path

import click

from ledger import resources, store
from ledger.actions.draft import draft as draft_record
from ledger.actions.supersede import draft_from
from ledger.cli.output import here, json_option, put, put_json, say


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@json_option
def init(folder: Path, as_json: bool) -> None:
    """Make FOLDER (here, by default) a ledger. What is there is kept."""
    ledger = store.init(folder)
    if as_json:
        put_json({"root": str(ledger.root), "made": list(ledger.made)})
        return
    put(str(ledger.root))
    say(f"wrote {', '.join(ledger.made)}" if ledger.made else "it was a ledger already; nothing was changed")
    say("next: ledger draft YEAR-MONTH-SLUG, such as 2026-08-actckpt-flip")


_TEMPLATES = "\b\nTemplates:\n" + "\n".join(
    f"  {name:<14} {resources.about(name)}" for name in resources.plan_templates()
)


@click.command(epilog=_TEMPLATES)
@click.argument("record_id", metavar="ID")
@click.option(
    "--template",
    default="perf-ladder",
    show_default=True,
    help="The plan to begin with; see below.",
)
@click.option("--supersedes", metavar="OLD", help="Start from the plan of OLD, whose place the new record takes.")
@json_option
def draft(record_id: str, template: str, supersedes: str | None, as_json: bool) -> None:
    """Start the record ID (year, month and slug: 2026-08-actckpt-flip) with a plan to be edited."""
    ledger = here()
    record = (
        draft_record(ledger, record_id, template)
        if supersedes is None
        else draft_from(ledger, record_id, ledger.record(supersedes))
    )
    if as_json:
        put_json({"record": record.id, "state": "draft", "plan": str(record.prereg_path)})
        return
    put(str(record.prereg_path))
    say(f"{record.id} is a DRAFT: nothing is fixed, and nothing may run")
    say(f"next: edit it, then ledger check {record.id}")
