"""Our parser against JSONTestSuite: what must parse does, what must not does not, the rest never crashes."""

from pathlib import Path

from ledger import strictjson
from ledger.errors import InputError

# Legal JSON that is refused on purpose, with the code of the refusal.
REFUSED_ON_PURPOSE = {
    "y_object_duplicated_key.json": "json_duplicate_key",  # two readers may keep different values
    "y_object_duplicated_key_and_value.json": "json_duplicate_key",
}
# Where the suite leaves it free: integers are exact at any size, everything else that is odd is refused.
FREE_AND_TAKEN = {
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
}
CASES = {"y": 95, "n": 188, "i": 35}  # of the 318 files, counted when the vectors were taken


def _verdict(path: Path) -> str:
    try:
        strictjson.parse(path.read_bytes())
    except InputError as error:
        return error.problem.code if error.problem.where else "refused without a place"
    return "taken"


def _verdicts(vectors: Path, kind: str) -> dict[str, str]:
    folder = vectors / "json-test-suite" / "test_parsing"
    verdicts = {path.name: _verdict(path) for path in folder.glob(f"{kind}_*.json")}
    assert len(verdicts) == CASES[kind]
    return verdicts


def test_what_must_parse_parses(vectors: Path) -> None:
    verdicts = _verdicts(vectors, "y")
    assert {name: verdict for name, verdict in verdicts.items() if verdict != "taken"} == REFUSED_ON_PURPOSE


def test_what_must_not_parse_is_refused(vectors: Path) -> None:
    verdicts = _verdicts(vectors, "n")
    assert [name for name, verdict in verdicts.items() if not verdict.startswith("json_")] == []


def test_what_is_free_parses_or_is_refused_and_nothing_else(vectors: Path) -> None:
    verdicts = _verdicts(vectors, "i")
    assert {name for name, verdict in verdicts.items() if not verdict.startswith("json_")} == FREE_AND_TAKEN
