"""Which record a person means by what they typed.

It works on ids alone and touches no disk, so no path can be smuggled through it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ledger.errors import InputError
from ledger.store.envelope import RECORD_ID_MAX, is_record_id

_TYPED = re.compile(r"[a-z0-9-]+")
_SLUG_AT = len("2026-08-")


def check_record_id(text: str) -> None:
    """Raises InputError ``bad_record_id`` unless ``text`` can be a new record's id."""
    if not is_record_id(text):
        raise _bad(text)


def resolve(wanted: str, ids: Sequence[str]) -> str:
    """The id equal to ``wanted``, else the one with that slug, else the only one that begins or ends with it.

    Raises InputError: ``bad_record_id``, ``ambiguous_record`` naming those that fit, ``no_such_record`` with
    the nearest ids.
    """
    if len(wanted) > RECORD_ID_MAX or not _TYPED.fullmatch(wanted):
        raise _bad(wanted)
    ways = (
        [one for one in ids if one == wanted],
        [one for one in ids if one[_SLUG_AT:] == wanted],
        [one for one in ids if one.startswith(wanted) or one.endswith(wanted)],
    )
    fitting = next(filter(None, ways), [])
    if len(fitting) == 1:
        return fitting[0]
    raise _ambiguous(wanted, fitting) if fitting else _unknown(wanted, ids)


def _bad(text: str) -> InputError:
    return InputError(
        "bad_record_id",
        "this cannot be a record's id",
        expected=f"year-month-slug as in 2026-08-actckpt-flip, at most {RECORD_ID_MAX} characters",
        found=repr(text)[:120],
        hint=_way_to_an_id(text),
    )


def _way_to_an_id(text: str) -> str:
    """What to change in ``text``, one thing at a time: the first that keeps it from being an id."""
    months = re.match(r"[0-9]{4}-([0-9]{2})-", text)
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[: RECORD_ID_MAX - _SLUG_AT]
    if "/" in text or "\\" in text:
        return "give the id alone, with no folder before it"
    if len(text) > RECORD_ID_MAX:
        return "shorten the slug"
    if months and not "01" <= months[1] <= "12":
        return f"there is no month {months[1]}: months are 01 to 12"
    if is_record_id(text.lower()):
        return f"write small letters: {text.lower()}"
    if months and is_record_id(slug):
        return f"only small letters, digits and single dashes: {slug}"
    if slug and not months and not re.match("[0-9]", text):
        return f"put year and month before it, as in 2026-08-{slug}"
    return "write year, month and a slug of small letters, digits and single dashes"


def _ambiguous(wanted: str, fitting: Sequence[str]) -> InputError:
    return InputError(
        "ambiguous_record",
        f"more than one record fits {wanted!r}",
        expected="one record",
        found=", ".join(fitting[:5]) + (f" and {len(fitting) - 5} more" if len(fitting) > 5 else ""),
        hint="write more of the id",
    )


def _unknown(wanted: str, ids: Sequence[str]) -> InputError:
    slugs = {one[_SLUG_AT:]: one for one in ids}
    near = difflib.get_close_matches(wanted, [*ids, *slugs], n=3, cutoff=0.6)
    names = list(dict.fromkeys(slugs.get(one, one) for one in near))
    asked = f"did you mean {' or '.join(names)}? " if names else ""
    return InputError(
        "no_such_record",
        f"there is no record {wanted!r}",
        expected="the id of a record, or enough of it",
        found=f"{len(ids)} other record{'' if len(ids) == 1 else 's'}",
        hint=f"{asked}`ledger status` lists them all",
    )
