"""The machine twin of a page: the same content as canonical JSON.

A view like the page itself: it is never read back as evidence, and it says so.
"""

from __future__ import annotations

import math
from typing import Any

from ledger.canonical import MAX_SAFE_INTEGER, canonical_bytes
from ledger.course.wording import headline
from ledger.dossier.observed import Observed, RunRow, values_of
from ledger.dossier.view import RecordView
from ledger.model.entries import RunEntry

RECORD_SCHEMA = "ledger/dossier/v1"
INDEX_SCHEMA = "ledger/dossier-index/v1"
_NATURE = "a view, rebuilt from the entries; not evidence"


def record_twin(view: RecordView, observed: Observed | None) -> bytes:
    """A record page's content as canonical JSON."""
    return canonical_bytes(
        {
            "schema": RECORD_SCHEMA,
            "nature": _NATURE,
            **_glance(view),
            "plan": safe(view.plan.to_json()) if view.plan else {"unknown": "unreadable"},
            "decisions": [
                {
                    "entry": digest,
                    "at": entry.at,
                    "headline": headline(entry.body),
                    "body": safe(entry.body.to_json()),
                }
                for digest, entry in view.decisions
            ],
            "events": [
                {"entry": digest, "kind": entry.kind, "at": entry.at, "body": safe(entry.body.to_json())}
                for digest, entry in view.events
            ],
            "observed": _observed(view),
            "runs": _runs(observed),
            "entries": [
                {
                    "name": one.name,
                    "sha256": one.digest,
                    "size": one.size,
                    "kind": one.entry.kind,
                    "at": one.entry.at,
                    "parents": list(one.entry.parents),
                }
                for one in view.entries
            ],
            "problems": [problem.to_dict() for problem in view.problems],
        }
    )


def index_twin(views: list[RecordView], tallies: dict[str, dict[str, int]], as_of: str) -> bytes:
    """The index's content as canonical JSON."""
    return canonical_bytes(
        {
            "schema": INDEX_SCHEMA,
            "nature": _NATURE,
            "as_of": as_of,
            "tallies": tallies,
            "records": [_glance(view) for view in views],
        }
    )


def _glance(view: RecordView) -> dict[str, Any]:
    standing = view.standing
    return {
        "id": view.id,
        "title": view.title,
        "as_of": view.as_of,
        "frozen": view.frozen,
        "plan_changed": view.plan_changed,
        "state": standing.state,
        "overdue": standing.overdue,
        "disposition": standing.disposition
        or {"unknown": "not_run", "detail": standing.retired_because or "no decision stands alone"},
        **_follow_ups(view),
        **({"labels": list(view.labels)} if view.labels else {}),
        "freeze": standing.freeze or {"unknown": "not_run", "detail": "not frozen"},
        "runs": sum(isinstance(one.entry, RunEntry) for one in view.entries),
    }


def _follow_ups(view: RecordView) -> dict[str, Any]:
    """What the decision obliges, of a plan that has follow-ups."""
    if view.plan is None or not view.plan.follow_ups:
        return {}
    return {
        "follow_ups": [
            {
                "name": one.name,
                "state": one.state,
                **({"due": one.due} if one.due else {}),
                **({"apart": list(one.apart), "results": list(one.results)} if one.apart else {}),
            }
            for one in view.owed
        ]
    }


def _observed(view: RecordView) -> dict[str, Any]:
    if view.plan is None:
        return {}
    return {name: safe(one.to_json()) for name, one in values_of(view, view.plan).items()}


def _runs(observed: Observed | None) -> list[dict[str, Any]]:
    return [
        {
            "entry": row.entry,
            "run_id": row.body.body.run_id,
            "rung": row.body.body.rung,
            "standing": row.standing,
            "why": row.why,
            "outcome": row.body.body.outcome.kind,
            "sha256": row.body.body.run.digest["sha256"],
            **_settings(row, observed),
        }
        for row in (observed.runs if observed else ())
    ]


def _settings(row: RunRow, observed: Observed | None) -> dict[str, Any]:
    if row.run is None:
        return {"settings": {"unknown": "unreadable"}}
    found: dict[str, Any] = {"settings": safe(dict(row.run.settings))}
    if row.standing == "counted" and observed:
        found["undeclared_differences"] = [one.name for one in observed.settings if row.entry in one.undeclared]
    return found


def safe(value: Any) -> Any:
    """``value`` with each number that JSON readers do not keep exact written as ``{"exact": "..."}``."""
    if isinstance(value, dict):
        return {key: safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    whole = isinstance(value, int) or (math.isfinite(value) and value.is_integer() and abs(value) < 1e21)
    return {"exact": str(int(value))} if whole and abs(value) > MAX_SAFE_INTEGER else value
