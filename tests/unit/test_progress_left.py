"""The time left of a ladder, worked out by hand: a rung costs its start-up and its steps."""

from __future__ import annotations

import time

import pytest

from ledger.cli.progress import Done


def test_stages_that_may_still_open_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start-up of 10 s, then 2 s a step; six rungs of 5 steps, of which the first is the only one open."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    done = Done(_rung_began=0.0)
    done.expect([5] * 6)
    assert done.left() == "time left not known yet"
    for number in range(1, 6):
        clock[0] = 10.0 + 2 * (number - 1)
        done.take({"event": "step", "step": number, "of": 5})
    assert done.left() == "about 1:40 left"  # 5 rungs x (10 s + 5 x 2 s)
    done.take({"event": "done", "outcome": "ok"})
    done.expect([5] * 5)
    assert done.left() == "about 1:40 left"
    done.expect([])  # the stage did not open: nothing more will run
    assert done.left() == "about 0:00 left"
    done.expect([20])  # a rung with steps of its own
    assert done.left() == "about 0:50 left"  # 10 s + 20 x 2 s


def test_steps_are_told_by_tenths_of_the_ladder_or_by_half_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rungs of 20 steps, a second each: a tenth of the ladder is 4 steps. Then 8 s a step: 30 s are 4 steps too."""
    for seconds, rungs, expected in ((1.0, 2, [4, 8, 12, 16, 20]), (8.0, 100, [4, 8, 12, 16, 20])):
        clock = [0.0]
        monkeypatch.setattr(time, "monotonic", lambda clock=clock: clock[0])
        done = Done(_rung_began=0.0, _said_at=0.0)
        done.expect([20] * rungs)
        told = []
        for number in range(1, 21):
            clock[0] = seconds * number
            done.take({"event": "step", "step": number, "of": 20})
            told += [number] if done.is_news() else []
        assert told == expected
