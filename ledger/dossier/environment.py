"""The template engine: escaping always on, an undefined name or an absent value an error, a policy that allows
nothing but the page's own style.

It decides nothing about content.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from ledger.dossier import ways, wording
from ledger.dossier.once import brief
from ledger.model.values import REASON_WORDS
from ledger.reads import in_words
from ledger.resources import folder


def page(template: str, **context: Any) -> bytes:
    """A template as the bytes of one self-contained page; ``draft`` and ``changed`` also choose the print style."""
    engine = _engine()
    style = engine.get_template("style.css.j2").render(draft=context["draft"], changed=context["changed"])
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    text = engine.get_template(template).render(style=Markup(style), policy=policy, **context)
    return text.encode()


@cache
def _engine() -> jinja2.Environment:
    engine = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder("templates") / "dossier"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printed,
    )
    engine.filters |= {
        "shown": wording.shown,
        "stated": wording.stated,
        "threshold_unit": wording.threshold_unit,
        "scalar": wording.scalar,
        "settings": wording.settings_text,
        "class_words": wording.class_words,
        "shell": wording.shell_word,
        "count_of": wording.count_of,
        "read_words": in_words,
        "event_words": wording.EVENT_WORDS.__getitem__,
        "field_value": wording.field_value,
        **ways.FILTERS,
        "reason": REASON_WORDS.__getitem__,
        "brief": brief,
        "short": lambda digest: digest[:12],
        "plainly": lambda text: text.replace("_", " "),
        "day": lambda time: time[:10],
        "clock": lambda time: f"{time[:10]} {time[11:19]} UTC",
    }
    engine.tests["web_link"] = wording.is_web_link
    return engine


def _printed(value: Any) -> Any:
    """What an expression prints: absent values are a fault of the template, hidden characters are shown."""
    if value is None:
        raise ValueError("a template printed an absent value")
    if isinstance(value, str) and not isinstance(value, Markup):
        return wording.visible(value)
    return value
