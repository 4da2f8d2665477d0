"""Decision tables, worked out by hand."""

from __future__ import annotations

import pytest

from ledger.rules import parse
from ledger.rules.proofs import never_together
from ledger.rules.table import Case, DecisionTable
from ledger.units import parse_unit

ONE = DecisionTable.of([Case("ADOPT", parse("a.x <= 1")), Case("KEEP", None)], "INCONCLUSIVE")
GUARDED = DecisionTable.of([Case("ADOPT", parse("a.x <= 1"), ["overlay"]), Case("KEEP", None)], "INCONCLUSIVE")
THREE = DecisionTable.of(
    [
        Case("WIN", parse("d.high < 0 and abs(r.value) <= 0.3")),
        Case("WIN-WITH-COST", parse("d.high < 0 and abs(r.value) > 0.3")),
        Case("KEEP", None),
    ],
    "INCONCLUSIVE",
)


def ways(table: DecisionTable) -> dict[str, str]:
    """``TFU`` letters of the factors to what they give."""
    return {"".join(way[0].upper() for way in row.ways): row.gives for row in table.rows()}


def test_one_clause() -> None:
    assert ONE.factors == ("a.x <= 1",)
    assert ways(ONE) == {"T": "ADOPT", "F": "KEEP", "U": "INCONCLUSIVE"}


def test_false_wins_over_unknown_in_a_guarded_rule() -> None:
    assert GUARDED.factors == ("a.x <= 1", "guard overlay")
    assert ways(GUARDED) == {
        "TT": "ADOPT",
        "TF": "KEEP",
        "TU": "INCONCLUSIVE",
        "FT": "KEEP",
        "FF": "KEEP",
        "FU": "KEEP",
        "UT": "INCONCLUSIVE",
        "UF": "KEEP",
        "UU": "INCONCLUSIVE",
    }


def test_a_clause_and_its_opposite_are_one_factor() -> None:
    assert THREE.factors == ("d.high < 0", "abs(r.value) <= 0.3")
    assert ways(THREE) == {
        "TT": "WIN",
        "TF": "WIN-WITH-COST",
        "TU": "INCONCLUSIVE",
        "FT": "KEEP",
        "FF": "KEEP",
        "FU": "KEEP",
        "UT": "INCONCLUSIVE",
        "UF": "INCONCLUSIVE",
        "UU": "INCONCLUSIVE",
    }


@pytest.mark.parametrize("op", ["a.x >= 1", "a.x > 1", "a.x <= 1"])
def test_a_clause_reads_as_it_was_written(op: str) -> None:
    table = DecisionTable.of([Case("ADOPT", parse(op)), Case("KEEP", None)], "INCONCLUSIVE")
    assert table.factors == (op,)
    assert ways(table) == {"T": "ADOPT", "F": "KEEP", "U": "INCONCLUSIVE"}


def test_more_is_the_opposite_of_less() -> None:
    cases = [Case("ADOPT", parse("a.x >= 1")), Case("KEEP", parse("a.x < 1")), Case("NEVER", None)]
    table = DecisionTable.of(cases, "INCONCLUSIVE")
    assert ways(table) == {"T": "ADOPT", "F": "KEEP", "U": "INCONCLUSIVE"}


def test_what_no_numbers_bring_about_is_left_out() -> None:
    """Ends of an interval: the lower one is never above 1 while the upper one is below -1."""
    rules = [parse("d.low > 1"), parse("d.high < -1")]
    cases = [Case("BETTER", rules[0]), Case("WORSE", rules[1]), Case("KEEP", None)]
    plain = parse_unit("1").dimension
    never = never_together(rules, {"d.low": plain, "d.high": plain}, signed=(), ordered=[("d.low", "d.high")])
    assert set(ways(DecisionTable.of(cases, "INCONCLUSIVE", never))) == {"TF", "TU", "FT", "FF", "FU", "UT", "UF", "UU"}


def test_or_and_not() -> None:
    table = DecisionTable.of([Case("ADOPT", parse("a.x <= 1 or not b.x <= 1")), Case("KEEP", None)], "INCONCLUSIVE")
    assert (ways(table)["TU"], ways(table)["FF"], ways(table)["FT"]) == ("ADOPT", "ADOPT", "KEEP")
    assert ways(table)["FU"] == "INCONCLUSIVE"


def test_a_large_table_is_counted_and_not_built() -> None:
    clauses = " and ".join(f"r{index}.x <= 1" for index in range(100))
    table = DecisionTable.of([Case("ADOPT", parse(clauses)), Case("KEEP", None)], "INCONCLUSIVE")
    assert table.combinations == 3**100
    assert next(iter(table.rows())).gives == "ADOPT"
