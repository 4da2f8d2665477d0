"""What is left over is true exactly where every outcome before it is false."""

from __future__ import annotations

import pytest

from tests.worlds import GIB, World, new_world, run_file

# the candidate's peak in GiB (None: the candidate was not run), the disposition, and the default's own verdict
LEFT_OVER = {
    "the first outcome is reached": (60, "ADOPT", "false"),
    "the first outcome is false": (64, "RECORD-ONLY", "true"),
    "the first outcome is unknown": (None, "INCONCLUSIVE", "unknown"),
}


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return new_world(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize(("peak", "disposition", "verdict"), LEFT_OVER.values(), ids=LEFT_OVER)
def test_the_default_is_true_only_when_it_is_reached(
    world: World, peak: int | None, disposition: str, verdict: str
) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), *([] if peak is None else [run_file(freeze, "r2", peak=peak * GIB)]))
    decided = world.decide()
    assert decided["disposition"] == disposition
    assert decided["trace"][-1]["verdict"] == verdict
