"""Which items select: held against sha256 values that ``sha256sum`` printed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.arms.split import selects
from ledger.model.arms import Split

# printf 'ledger/split/v1 SEED KEY' | sha256sum | cut -c1-16
DRAWN: dict[tuple[int, str], int] = {
    (1, "q0"): 0x9135DE929B9E4FA6,
    (1, "q3"): 0x43652D2CEBF365B4,
    (1, "q4"): 0x1F580A5E799802E2,
    (1, "q9"): 0xF296B7ADBA740D98,
    (7, "q0"): 0xAB3673D11D611EAA,
    (7, "q7"): 0x17ED8C66460A55AA,
}


@pytest.mark.parametrize("case", DRAWN)
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.99])
def test_the_documented_text_decides(case: tuple[int, str], share: float) -> None:
    seed, key = case
    expected = Fraction(DRAWN[case], 2**64) < Fraction(str(share))
    assert selects(Split(seed=seed, share=share), key) is expected


def test_a_share_of_all_and_of_nothing() -> None:
    """A share of 1 takes every key, one of 0 none; without a split all of them select."""
    assert all(selects(Split(seed=1, share=1), key) for _, key in DRAWN)
    assert not any(selects(Split(seed=1, share=0), key) for _, key in DRAWN)
    assert selects(None, "q0")


def test_keys_are_utf8() -> None:
    # printf 'ledger/split/v1 1 ü' | sha256sum begins with 468dd6ad: 0.2756 of all
    assert selects(Split(seed=1, share=0.276), "ü")
    assert not selects(Split(seed=1, share=0.275), "ü")
