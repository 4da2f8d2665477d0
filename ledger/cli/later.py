"""``ledger amend``, ``fire``, ``deviate``, ``follow-up``, ``withdraw`` and ``export-amendment``: after a freeze.

Each adds one entry; nothing that was written is ever changed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from ledger.actions.amend import amend as amend_record
from ledger.actions.events import deviate as tell_deviation
from ledger.actions.events import fire as fire_contingency
from ledger.actions.events import withdraw as withdraw_record
from ledger.actions.export import export_amendment as export_result
from ledger.actions.follow_up import follow_up as do_follow_up
from ledger.cli.output import author, here, json_option, now, put, put_json, say
from ledger.derive.events import PHASE_WORDS, amended_words
from ledger.errors import InputError
from ledger.model.base import EvidenceClass, load
from ledger.model.plan import Evidence


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--file", "file", required=True, type=click.Path(path_type=Path), help="YAML list of path, old, new.")
@click.option("--name", required=True, help="What this amendment is called.")
@click.option("--reason", required=True, help="Why.")
@json_option
def amend(record_id: str, file: Path, name: str, reason: str, as_json: bool) -> None:
    """Amend fields of the frozen plan of ID: each path, what stands there now, and what shall.

    What the runs are made from (workload, ladder, code, kill, scope) is never amended; what decides only before the
    first run is taken in. Whether that was before or after data is read off the entries.
    """
    ledger = here()
    record = ledger.record(record_id)
    found = amend_record(record, file, _said(name, "--name"), _said(reason, "--reason"), now(), author(ledger))
    if as_json:
        put_json({"record": found.record_id, "entry": found.entry, **found.body.to_json()})
        return
    put(found.entry)
    say(f"{found.record_id} was amended {PHASE_WORDS[found.body.phase]}: {amended_words(found.body)}")


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--what", required=True, help="What was done otherwise than planned.")
@click.option("--why", required=True, help="Why.")
@click.option("--rung", help="The rung it happened on.")
@json_option
def deviate(record_id: str, what: str, why: str, rung: str | None, as_json: bool) -> None:
    """Tell that something was done otherwise than ID planned. It changes nothing, and stays in the record."""
    ledger = here()
    record = ledger.record(record_id)
    said = _said(what, "--what"), _said(why, "--why")
    stored, body = tell_deviation(record, *said, rung, now(), author(ledger))
    _tell(record.id, stored.digest, body.to_json(), f"deviation told, {PHASE_WORDS[body.phase]}", as_json)


@click.command()
@click.argument("record_id", metavar="ID")
@click.argument("name", metavar="NAME")
@click.option("--done", "result", required=True, help="What came out of it.")
@click.option("--evidence-class", required=True, type=click.Choice(get_args(EvidenceClass)), help="Of what shows it.")
@click.option("--commit", help="Commit that shows it.")
@click.option("--test", help="Test or command that shows it.")
@click.option("--link", help="Where it can be read.")
@click.option("--note", help="What else a reader must know.")
@json_option
def follow_up(record_id: str, name: str, result: str, as_json: bool, **evidence: str | None) -> None:
    """Say that the follow-up NAME, which the decision on ID obliges, was done, and what shows it."""
    ledger = here()
    given = {"class": evidence.pop("evidence_class"), **{key: one for key, one in evidence.items() if one is not None}}
    if len(given) == 1:
        raise InputError(
            "nothing_shown",
            "nothing shows that it was done",
            where="--done",
            expected="at least one of --commit, --test, --link, --note",
            found="none of them",
            hint="say what shows it; --note says in words what there is to see, and where",
        )
    shown = _evidence(given)
    found = do_follow_up(ledger.record(record_id), name, _said(result, "--done"), shown, now(), author(ledger))
    left = [one.name for one in found.left]
    words = f"{name} is done" + (" (already)" if found.already else "")
    words += f"; still open: {', '.join(left)}" if left else "; nothing else is owed"
    _tell(
        found.record_id, found.entry, {"already": found.already, "left": left, **found.body.to_json()}, words, as_json
    )


@click.command()
@click.argument("record_id", metavar="ID")
@click.argument("contingency", metavar="CONTINGENCY")
@json_option
def fire(record_id: str, contingency: str, as_json: bool) -> None:
    """Fire a CONTINGENCY that ID declared before data: from now on its rungs run what it says, under its label.

    It fires only if the runs taken in call for it; else the figures are told, and nothing is written; it is refused
    (4) while run files wait in .ledger/runs. A run of such a rung that began before does not count. `ledger run` fires
    by itself what is called for.
    """
    ledger = here()
    record = ledger.record(record_id)
    entry, body, already = fire_contingency(record, contingency, now(), author(ledger))
    words = f"{contingency} fired{' (already)' if already else ''}: {body.found.taken}: {body.found.why}"
    _tell(record.id, entry, {"already": already, **body.to_json()}, words, as_json)


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--reason", required=True, help="Why nothing may be built on it any more.")
@json_option
def withdraw(record_id: str, reason: str, as_json: bool) -> None:
    """Withdraw ID: it stays as a tombstone with its reason, and takes nothing in any more."""
    ledger = here()
    record = ledger.record(record_id)
    stored, body = withdraw_record(record, _said(reason, "--reason"), now(), author(ledger))
    _tell(record.id, stored.digest, body.to_json(), "withdrawn; it stays, with that reason", as_json)


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--to", "other", metavar="OTHER", required=True, help="The record that this result feeds.")
@json_option
def export_amendment(record_id: str, other: str, as_json: bool) -> None:
    """Carry what ID decided into OTHER, as a named amendment there that changes no field of it."""
    ledger = here()
    found = export_result(ledger, ledger.record(record_id), ledger.record(other), now(), author(ledger))
    words = f"{amended_words(found.body)}{' (already)' if found.already else ''}"
    _tell(found.record_id, found.entry, {"already": found.already, **found.body.to_json()}, words, as_json)


def _tell(record_id: str, entry: str, body: dict[str, Any], words: str, as_json: bool) -> None:
    if as_json:
        put_json({"record": record_id, "entry": entry, **body})
        return
    put(entry)
    say(f"{record_id}: {words}")


def _evidence(given: dict[str, Any]) -> Evidence:
    try:
        return load(Evidence, given, kind="evidence")
    except InputError as error:
        told = [replace(one, where=f"--{one.where}", hint="correct it, or leave it out") for one in error.problems]
        raise InputError.of(told) from None


def _said(text: str, option: str) -> str:
    if not text.strip():
        raise InputError(
            "blank",
            f"{option} says nothing",
            where=option,
            expected="a sentence that a stranger understands",
            found=repr(text),
            hint="say it in words",
        )
    return text
