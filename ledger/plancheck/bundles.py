"""Whether a plan's bundles are sound: an arm to carry the items, switches that switch, oracles that come first.

Whether an oracle passes is ``ledger/arms/bundles.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ledger.course.stages import stage_of
from ledger.errors import Problem
from ledger.model.arms import Bundle, BundleItem
from ledger.model.base import same_scalar
from ledger.model.plan import Prereg
from ledger.plancheck.structure import OWN_NAME, Fault, Path, unknown_name


def bundle_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    taken: dict[str, str] = {}
    for name, bundle in (plan.bundles or {}).items():
        path: Path = ("bundles", name)
        yield from _arm(plan, bundle, path)
        if bundle.rung in taken:
            hint = "put the items of both into one bundle"
            what = f"bundles {taken[bundle.rung]} and {name} both switch settings of {bundle.rung}"
            yield (*path, "rung"), Problem("two_bundles", what, expected="one bundle a rung", found=name, hint=hint)
        taken.setdefault(bundle.rung, name)
        if bundle.at_least > len(bundle.items):
            yield (
                (*path, "at_least"),
                Problem(
                    "too_few_items",
                    f"{bundle.rung} would be void whatever its oracles show",
                    expected=f"at most {len(bundle.items)}, the number of items",
                    found=str(bundle.at_least),
                    hint="lower at_least",
                ),
            )
        for index, item in enumerate(bundle.items):
            here: Path = (*path, "items", index)
            yield from _alone(bundle, index, here)
            if bundle.rung in [rung.id for rung in plan.ladder.rungs]:
                yield from chain(_switch(plan, bundle, item, here), _oracle(plan, bundle, item, here))


def _arm(plan: Prereg, bundle: Bundle, path: Path) -> Iterator[Fault]:
    roles = {rung.id: rung.role for rung in plan.ladder.rungs}
    if bundle.rung not in roles:
        yield (*path, "rung"), unknown_name("rung", bundle.rung, roles)
    elif roles[bundle.rung] != "candidate":
        yield (
            (*path, "rung"),
            Problem(
                "bundle_role",
                f"{bundle.rung} is a {roles[bundle.rung]} rung, and what a bundle carries is what may be adopted",
                expected="a candidate rung",
                found=roles[bundle.rung],
                hint="name the candidate that carries the items",
            ),
        )


def _alone(bundle: Bundle, index: int, path: Path) -> Iterator[Fault]:
    """An item by itself, and told from those before it."""
    item, before = bundle.items[index], bundle.items[:index]
    if item.id in [other.id for other in before]:
        yield (
            (*path, "id"),
            Problem(
                "duplicate_id",
                f"two items are named {item.id}",
                expected=OWN_NAME,
                found=item.id,
                hint="give each its own name",
            ),
        )
    if twin := next((other for other in before if other.flag == item.flag), None):
        yield (
            (*path, "flag"),
            Problem(
                "shared_switch",
                f"items {twin.id} and {item.id} are both switched by {item.flag}: neither could be dropped alone",
                expected="a setting of its own for each item",
                found=item.flag,
                hint="join the two items, or give each its own setting",
            ),
        )
    if same_scalar(item.on, item.off):
        yield (
            path,
            Problem(
                "no_switch",
                f"{item.flag} is {item.on!r} with {item.id} and without it",
                expected="another value without the item",
                found=f"on: {item.on!r}, off: {item.off!r}",
                hint="say under off: what the setting is when the item is dropped",
            ),
        )


def _switch(plan: Prereg, bundle: Bundle, item: BundleItem, path: Path) -> Iterator[Fault]:
    """What else in the plan says something of the setting that switches the item."""
    scope, key = plan.scope, item.flag
    here: Path = (*path, "flag")
    for rung in (one for one in plan.ladder.rungs if one.id in plan.repeated(bundle.rung)):
        if key in rung.flags and not same_scalar(rung.flags[key], item.on):
            what = f"{rung.id} sets {key} to {rung.flags[key]!r}, and item {item.id} switches it on with {item.on!r}"
            yield here, _stated(what, key, f"leave {key} out of the rung's flags: the bundle sets it")
    if scope and scope.held_constant and key in scope.held_constant:
        what = f"{key} is held constant, and item {item.id} switches it"
        hint = "move it from scope.held_constant to scope.varies"
        yield here, Problem("constant_varied", what, expected="a setting that may vary", found=key, hint=hint)
    elif scope and scope.varies is not None and key not in scope.varies:
        what = f"item {item.id} switches {key}, which scope.varies does not name"
        yield (
            here,
            Problem(
                "undeclared_variation",
                what,
                expected=f"one of {', '.join(scope.varies)}",
                found=key,
                hint="add it to scope.varies",
            ),
        )
    for name, one in (plan.contingencies or {}).items():
        if key in (one.then.settings or {}) and set(one.then.rungs) & set(plan.repeated(bundle.rung)):
            what = f"contingency {name} sets {key}, which item {item.id} switches by its oracle"
            yield here, _stated(what, key, "let only one of the two say what the setting is")


def _stated(what: str, key: str, hint: str) -> Problem:
    """That something else of the plan says what a switch is."""
    return Problem("switch_stated", what, expected=f"{key} set by the bundle alone", found=key, hint=hint)


def _oracle(plan: Prereg, bundle: Bundle, item: BundleItem, path: Path) -> Iterator[Fault]:
    """The rung whose check is the item's oracle: it must have run when the arm is to be run."""
    rung, arms = item.oracle.rung, plan.repeated(bundle.rung)
    here: Path = (*path, "oracle", "rung")
    order = [one.id for one in plan.ladder.rungs]
    if rung not in order:
        yield here, unknown_name("rung", rung, order)
        return
    if rung == bundle.rung:
        return
    late = next((arm for arm in arms if order.index(rung) > order.index(arm) or _staged_late(plan, rung, arm)), None)
    others = [name for name, other in (plan.bundles or {}).items() if rung in plan.repeated(other.rung)]
    if late is not None or rung in arms:
        what = f"the oracle of item {item.id} is on {rung}, which runs after {late or bundle.rung}"
        expected = f"{bundle.rung} itself, or a rung before it in the ladder"
        yield here, Problem("oracle_after", what, expected=expected, found=rung, hint=f"move {rung} up in the ladder")
    elif others:
        what = f"the oracle of item {item.id} is on {rung}, which carries bundle {others[0]}"
        hint = "check it on a rung of its own, with the item on"
        yield here, Problem("oracle_on_bundle", what, expected="a rung that no bundle changes", found=rung, hint=hint)
    elif plan.ladder.rungs[order.index(rung)].run_if is not None:
        what = f"the oracle of item {item.id} is on {rung}, which runs only if a guard is ambiguous"
        yield here, Problem("oracle_waits", what, expected="a rung that always runs", found=rung, hint="drop run_if")


def _staged_late(plan: Prereg, rung: str, arm: str) -> bool:
    return bool(plan.stages) and stage_of(plan, rung) > stage_of(plan, arm)
