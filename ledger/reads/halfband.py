"""Half the range of a metric over runs of the control: what no change at all looks like.

Every run that the plan declares is needed, not only the fewest that would do: with one left out the band could only
be narrower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ledger import stats
from ledger.apart import first_apart
from ledger.comparability import differences
from ledger.metrics import read_metric
from ledger.model.plan import Prereg
from ledger.model.reads import HalfBandRead
from ledger.model.run import Run
from ledger.model.values import REASON_WORDS, Measured, Unknown, measured
from ledger.reads.found import Found, nothing
from ledger.references import repeats_of

_PERTURBED = ("warm_start_digest", "start_digest")
"""Facts in which a re-run from weights moved by one unit in the last place differs from its control by design."""


def read_half_band(
    read: HalfBandRead, plan: Prereg, attempts: Mapping[str, Sequence[Run]], absent: Mapping[str, Unknown]
) -> Found:
    """Half of largest less smallest, in ``read.unit``; ``n`` counts the runs, pooled attempts each by itself."""
    rungs = (read.control, *repeats_of(read, plan))
    there = [run for rung in rungs for run in attempts.get(rung, ())]
    if apart := _apart(plan, there):
        return nothing(Unknown(unknown="not_comparable", detail="; ".join(apart)), n=len(there))
    values = [(run, read_metric(plan.metrics[read.metric], run)) for run in there]
    known = [value.base for _, value in values if isinstance(value, Measured)]
    lacking = [f"{rung}: {_words(absent[rung])}" for rung in rungs if rung in absent]
    lacking += [f"{run.run_id}: {_words(value)}" for run, value in values if isinstance(value, Unknown)]
    because = "; ".join(lacking) or None
    needed = max(len(rungs) * (plan.ladder.pool_of or 1), read.at_least)
    if lacking or len(known) < needed:
        detail = f"{len(known)} of {needed} runs of {read.control}" + (f": {because}" if because else "")
        why = Unknown(unknown="too_few_samples", detail=detail)
        return nothing(why, n=len(known), left_out=max(needed - len(known), len(lacking)), because=because or "not run")
    return Found(measured(stats.half_range(known), read.unit), len(known))


def _apart(plan: Prereg, there: Sequence[Run]) -> list[str]:
    """What keeps runs of the control from being compared; a perturbed re-run starts from other weights by design."""
    perturbed = {rung.id for rung in plan.ladder.rungs if any(key.startswith("perturb") for key in rung.flags)}
    if first_apart(plan, there, but=_PERTURBED, but_of=perturbed) is None:
        return []
    return [
        text
        for one, other in combinations(there, 2)
        for text in differences(plan, one, other, but=_PERTURBED if perturbed & {one.rung, other.rung} else ())
    ]


def _words(why: Unknown) -> str:
    return why.detail or REASON_WORDS[why.unknown]
