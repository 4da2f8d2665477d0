"""Every read of a plan over the runs that count, and what of it a rule may use.

Pure. A read over two runs that may not be compared is unknown; so is one of a run that does not count, and one over a
winner that cannot be told. It knows no rule and no threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.comparability import differences
from ledger.model.base import EvidenceClass
from ledger.model.plan import Prereg
from ledger.model.reads import ATTRIBUTES, CompareRead, HalfBandRead, ItemsRead, PairedRead, Read, ReadTrace, SeriesRead
from ledger.model.run import Run
from ledger.model.values import Sourced, Unknown
from ledger.reads.cast import Cast, Counted
from ledger.reads.compare import read_comparison
from ledger.reads.found import Found, nothing
from ledger.reads.halfband import read_half_band
from ledger.reads.paired import read_pairs
from ledger.reads.scored import read_items
from ledger.reads.series import read_series
from ledger.reads.wording import in_words
from ledger.references import Namespace, parts_of

OWN_CLASS: EvidenceClass = "local_observation"
"""Only a run taken in under the frozen plan counts, so what is computed from runs that count is of this class."""
_NOBODY = Cast()


def evaluate_reads(
    plan: Prereg, counted: Counted, absent: Mapping[str, Unknown], cast: Cast = _NOBODY
) -> dict[str, ReadTrace]:
    """Each read by name; ``absent`` says of each rung without a run that counts why there is none.

    ``cast`` says what winners and banked runs stand for.
    """
    names = Namespace(plan, cast.chosen)
    everyone, nobody = cast.counted(counted), cast.absent(absent)
    return {name: _trace(name, read, names, everyone, nobody, cast) for name, read in names.reads.items()}


def operands_of(plan: Prereg, traces: Mapping[str, ReadTrace]) -> dict[str, Sourced]:
    """What rules may refer to, by ``name.value``, ``name.low``, ``name.high``."""
    operands: dict[str, Sourced] = {}
    names = Namespace(plan)
    for name, trace in traces.items():
        classes = classes_of(names, name)
        refused = [one for one in classes if one not in plan.decision.accepts]
        for part in parts_of((plan.reads or {})[name]):
            value = getattr(trace, part) or trace.value
            operands[f"{name}.{part}"] = Sourced(
                value=_not_accepted(refused[0]) if refused and not isinstance(value, Unknown) else value,
                evidence_class=classes[0] if trace.inputs else "unclassified",
                entry=trace.inputs[0] if len(trace.inputs) == 1 else None,
            )
    return operands


def classes_of(names: Namespace, name: str) -> tuple[EvidenceClass, ...]:
    """The classes of what a read is computed from; that of a banked run first, for the whole is of no other."""
    own: tuple[EvidenceClass, ...] = (OWN_CLASS,) if names.looked_at(f"{name}.value") else ()
    return tuple(dict.fromkeys((*names.classes(f"{name}.value"), *own)))


def _not_accepted(evidence_class: EvidenceClass) -> Unknown:
    detail = f"{evidence_class} is not a class of evidence that this plan accepts"
    return Unknown(unknown="not_counted", detail=detail)


def _trace(
    name: str, read: Read, names: Namespace, counted: Counted, absent: Mapping[str, Unknown], cast: Cast
) -> ReadTrace:
    found = _found(read, names.plan, counted, absent, cast)
    ends = found.ends if len(parts_of(read)) == len(ATTRIBUTES) else None
    arms = (*names.used(f"{name}.value"), *names.banked(f"{name}.value"))
    return ReadTrace(
        what=in_words(read, cast.chosen),
        purpose=read.purpose,
        value=found.value,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        n=found.n,
        left_out=found.left_out,
        left_out_because=found.because,
        inputs=tuple(digest for arm in arms for digest, _ in counted.get(arm, ())),
    )


def _found(read: Read, plan: Prereg, counted: Counted, absent: Mapping[str, Unknown], cast: Cast) -> Found:
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
            used = cast.used_by([read.of, read.minus], read.items)
            return nothing(pair) if isinstance(pair, Unknown) else read_pairs(read, *pair, used)
        case ItemsRead():
            run, used = _run(read.rung, runs), cast.used_by([read.rung], read.items)
            return nothing(run) if isinstance(run, Unknown) else read_items(read, run, used)


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
    own = not any(rung in (plan.banked or {}) for rung in rungs)
    if found := differences(plan, one, other, series=series, settings=own):
        return Unknown(unknown="not_comparable", detail="; ".join(found))
    return one, other
