"""Every read of a plan over the runs that count, and what of it a rule may use.

Pure. A read over two runs that may not be compared is unknown; so is one of a run that does not count. It knows no rule
and no threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.comparability import differences
from ledger.model.base import EvidenceClass
from ledger.model.plan import Prereg
from ledger.model.reads import ATTRIBUTES, CompareRead, HalfBandRead, PairedRead, Read, ReadTrace, SeriesRead
from ledger.model.run import Run
from ledger.model.values import Sourced, Unknown
from ledger.reads.compare import read_comparison
from ledger.reads.found import Found, nothing
from ledger.reads.halfband import read_half_band
from ledger.reads.paired import read_pairs
from ledger.reads.series import read_series
from ledger.reads.wording import in_words
from ledger.references import Namespace, parts_of

OWN_CLASS: EvidenceClass = "local_observation"
"""Only a run taken in under the frozen plan counts, so what is computed from runs that count is of this class."""

Counted = Mapping[str, Sequence[tuple[str, Run]]]
"""For each rung the runs that count, in order, each with the digest of its run entry."""


def evaluate_reads(plan: Prereg, counted: Counted, absent: Mapping[str, Unknown]) -> dict[str, ReadTrace]:
    """Each read by name; ``absent`` says of each rung without a run that counts why there is none."""
    names = Namespace(plan)
    return {name: _trace(name, read, names, counted, absent) for name, read in names.reads.items()}


def operands_of(plan: Prereg, traces: Mapping[str, ReadTrace]) -> dict[str, Sourced]:
    """What rules may refer to, by ``name.value``, ``name.low``, ``name.high``."""
    operands: dict[str, Sourced] = {}
    for name, trace in traces.items():
        for part in parts_of((plan.reads or {})[name]):
            value = getattr(trace, part) or trace.value
            accepted = OWN_CLASS in plan.decision.accepts
            operands[f"{name}.{part}"] = Sourced(
                value=value if accepted or isinstance(value, Unknown) else _not_accepted(),
                evidence_class=OWN_CLASS if trace.inputs else "unclassified",
                entry=trace.inputs[0] if len(trace.inputs) == 1 else None,
            )
    return operands


def _not_accepted() -> Unknown:
    detail = f"{OWN_CLASS} is not a class of evidence that this plan accepts"
    return Unknown(unknown="not_counted", detail=detail)


def _trace(name: str, read: Read, names: Namespace, counted: Counted, absent: Mapping[str, Unknown]) -> ReadTrace:
    found = _found(read, names.plan, counted, absent)
    ends = found.ends if len(parts_of(read)) == len(ATTRIBUTES) else None
    return ReadTrace(
        what=in_words(read),
        purpose=read.purpose,
        value=found.value,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        n=found.n,
        left_out=found.left_out,
        left_out_because=found.because,
        inputs=tuple(digest for rung in names.looked_at(f"{name}.value") for digest, _ in counted.get(rung, ())),
    )


def _found(read: Read, plan: Prereg, counted: Counted, absent: Mapping[str, Unknown]) -> Found:
    if isinstance(read, HalfBandRead):
        attempts = {rung: [run for _, run in pool] for rung, pool in counted.items()}
        return read_half_band(read, plan, attempts, absent)
    # Of pooled attempts no other read is made: the check refuses such a plan.
    runs: dict[str, Run | Unknown] = {**absent, **{rung: pool[0][1] for rung, pool in counted.items()}}
    match read:
        case SeriesRead():
            run = _run(read.rung, runs)
            return nothing(run) if isinstance(run, Unknown) else read_series(read, run)
        case CompareRead():
            pair = _comparable(plan, [read.of, read.to], runs, ())
            return nothing(pair) if isinstance(pair, Unknown) else _compared(read, plan, pair)
        case PairedRead():
            pair = _comparable(plan, [read.of, read.minus], runs, [read.items])
            return nothing(pair) if isinstance(pair, Unknown) else read_pairs(read, *pair)


def _compared(read: CompareRead, plan: Prereg, pair: tuple[Run, Run]) -> Found:
    return read_comparison(read, plan.metrics[read.metric], *pair)


def _run(rung: str, runs: Mapping[str, Run | Unknown]) -> Run | Unknown:
    return runs.get(rung) or Unknown(unknown="not_run", detail=f"{rung} was not run")


def _comparable(
    plan: Prereg, rungs: Sequence[str], runs: Mapping[str, Run | Unknown], series: Sequence[str]
) -> tuple[Run, Run] | Unknown:
    """Both runs, or why they may not be held against each other."""
    one, other = (_run(rung, runs) for rung in rungs)
    if isinstance(one, Unknown):
        return one
    if isinstance(other, Unknown):
        return other
    if found := differences(plan, one, other, series=series):
        return Unknown(unknown="not_comparable", detail="; ".join(found))
    return one, other
