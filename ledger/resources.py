"""Where templates and schemas are: found the same way from a checkout and from an installed wheel.

The wheel carries both folders inside the package; a checkout has them beside it.
"""

from __future__ import annotations

from pathlib import Path

from ledger.errors import EnvironmentFault, InputError

_PACKAGE = Path(__file__).resolve().parent
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent)


def folder(name: str) -> Path:
    """The folder ``templates`` or ``schemas``; EnvironmentFault when the installation lacks it."""
    for root in _ROOTS:
        if (root / name).is_dir():
            return root / name
    raise EnvironmentFault(
        "resources_missing",
        f"the folder {name} that belongs to this program is not here",
        expected=" or ".join(str(root / name) for root in _ROOTS),
        hint="install evidence-ledger again",
    )


def plan_templates() -> list[str]:
    """Names of the plan templates, sorted."""
    return sorted(path.stem for path in (folder("templates") / "plans").glob("*.yaml"))


def about(name: str) -> str:
    """What a plan template is for: its first line."""
    return plan_template(name).splitlines()[0].lstrip("# ").split(". ")[0].rstrip(".")


def plan_template(name: str) -> str:
    """The text of a plan template. Raises InputError ``no_such_template`` with the names there are."""
    if name not in plan_templates():
        raise InputError(
            "no_such_template",
            f"there is no template named {name}",
            expected=f"one of {', '.join(plan_templates())}",
            found=name,
            hint="see the templates with `ledger draft --help`",
        )
    return (folder("templates") / "plans" / f"{name}.yaml").read_text(encoding="utf-8")


def schema_text(name: str) -> str:
    """The text of a committed JSON Schema, such as ``prereg-v1``."""
    return (folder("schemas") / f"{name}.schema.json").read_text(encoding="utf-8")
