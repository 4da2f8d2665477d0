"""The tree of errors: exit codes, the one JSON shape, and the text for a terminal."""

import pytest

from ledger.errors import (
    EXIT_MEANINGS,
    EnvironmentFault,
    ExitCode,
    InputError,
    IntegrityError,
    LedgerError,
    Problem,
    RuleError,
    StateError,
)

# As in the table of design section 6.
CODES = {LedgerError: 1, InputError: 2, RuleError: 2, IntegrityError: 3, StateError: 4, EnvironmentFault: 5}


@pytest.mark.parametrize(("kind", "code"), CODES.items())
def test_exit_code(kind: type[LedgerError], code: int) -> None:
    assert int(kind("some_code", "it happened").exit_code) == code
    assert issubclass(kind, LedgerError)


def test_every_exit_code_has_a_meaning() -> None:
    assert set(EXIT_MEANINGS) == set(ExitCode)
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 5, 10, 20]


def test_problem_as_text_says_all_it_knows() -> None:
    problem = Problem(
        "unit_clash",
        "step must be a time",
        where="line 3, budget.step",
        expected="such as 3.2 s",
        found="3 GiB",
        hint="write a time",
        picture="step: 3 GiB\n      ^",
    )
    assert problem.to_text().splitlines() == [
        "line 3, budget.step: step must be a time",
        "  step: 3 GiB",
        "        ^",
        "  expected: such as 3.2 s",
        "  found: 3 GiB",
        "  what to do: write a time",
    ]


def test_absent_parts_are_left_out() -> None:
    problem = Problem("odd", "it is odd")
    assert problem.to_text() == "it is odd"
    assert problem.to_dict() == {"code": "odd", "what": "it is odd", "severity": "error"}


def test_one_error_carries_many_problems_and_the_first_leads() -> None:
    error = InputError.of([Problem("first", "one", where="a"), Problem("second", "two")])
    assert type(error) is InputError
    assert error.problem.code == "first"
    assert error.at("plan.yaml") is error
    assert [problem.where for problem in error.problems] == ["plan.yaml: a", "plan.yaml"]
    assert str(error) == "one"
    assert error.to_dict() == {
        "error": "first",
        "exit_code": 2,
        "problems": [
            {"code": "first", "what": "one", "where": "plan.yaml: a", "severity": "error"},
            {"code": "second", "what": "two", "where": "plan.yaml", "severity": "error"},
        ],
    }


def test_an_error_of_no_problems_cannot_exist() -> None:
    with pytest.raises(IndexError):
        StateError.of([])
