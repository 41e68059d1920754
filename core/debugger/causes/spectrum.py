"""Suspiciousness of what an agent is made of, by which runs used it: spectrum-based fault localisation.

What failed runs use and passed ones do not is suspicious. The coefficient is Ochiai's: of an element that f failed
and p passed runs used, with F failed runs in all, f / sqrt(F * (f + p)); from 0 to 1. Source: R. Abreu, P. Zoeteweij
and A. J. C. van Gemund, On the Accuracy of Spectrum-based Fault Localization, TAIC PART 2007.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from weakref import WeakKeyDictionary

from core.debugger.causes.records import ElementKind, Suspicion
from core.debugger.evaluations.figures import done_of
from core.schema.step import Recalled, record_of
from core.trace.calls import exemplars_sent
from core.trace.evaluated import WayStep, evaluated_runs, evaluation_of, ways
from core.trace.evaluations import ended_at
from core.trace.records import EvaluatedRun
from core.trace.store import TraceStore


def ochiai(failed: int, passed: int, all_failed: int) -> float:
    """Return the coefficient of an element; 0 if no failed run used it."""
    return failed / sqrt(all_failed * (failed + passed)) if failed else 0.0


def suspicions_of(store: TraceStore, runs: Sequence[EvaluatedRun]) -> tuple[Suspicion, ...]:
    """Return what runs used that were judged, the most suspicious first; those that a person touched are left out."""
    verdicts = {run.run: run.success for run in runs if run.run is not None and not run.touched}
    judged = {run: success for run, success in verdicts.items() if success is not None}
    steps = ways(store, judged)
    used = {
        run: {*_of_steps(steps.get(run, ())), *_exemplars(store, run, steps.get(run, ()))} for run in judged
    }
    return ranked(used, judged)


def ranked(
    used: Mapping[int, Iterable[tuple[ElementKind, str]]], passed: Mapping[int, bool]
) -> tuple[Suspicion, ...]:
    """Return the elements that runs used, by which of them passed, the most suspicious first."""
    in_failed, in_passed = Counter[tuple[ElementKind, str]](), Counter[tuple[ElementKind, str]]()
    first: dict[tuple[ElementKind, str], int] = {}
    for run, elements in used.items():
        (in_passed if passed[run] else in_failed).update(set(elements))
        if not passed[run]:
            first = dict.fromkeys(elements, run) | first
    failures = sum(not success for success in passed.values())
    found = [
        Suspicion(
            kind=kind,
            name=name,
            failed=in_failed[kind, name],
            passed=in_passed[kind, name],
            score=ochiai(in_failed[kind, name], in_passed[kind, name], failures),
            run=first.get((kind, name)),
        )
        for kind, name in {**in_failed, **in_passed}
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.kind, one.name)))


def suspicion_by_step(store: TraceStore, run: int) -> dict[int, float]:
    """Return how suspicious the steps of a run are, from 0 to 1, by its evaluation; empty if it is of none.

    A step is as suspicious as the most suspicious thing that it used.
    """
    number = evaluation_of(store, run)
    if number is None:
        return {}
    ended = ended_at(store, number)
    known = _KNOWN.get(store)
    if known is None or known[:2] != (number, ended):
        known = _KNOWN[store] = (number, ended, suspicions_of(store, done_of(evaluated_runs(store, number))))
    scores = {(one.kind, one.name): one.score for one in known[2]}
    return {
        step.number: max((scores.get(element, 0.0) for element in _of_steps((step,))), default=0.0)
        for step in ways(store, [run]).get(run, ())
    }


_KNOWN: WeakKeyDictionary[TraceStore, tuple[int, float | None, tuple[Suspicion, ...]]] = WeakKeyDictionary()
"""The evaluation that was asked for last, when its last run ended, and what its runs used."""


def _of_steps(steps: Iterable[WayStep]) -> Iterable[tuple[ElementKind, str]]:
    for step in steps:
        name = step.action.partition(" ")[0]
        if step.state:
            yield "state", step.state
        if step.effect == "push":
            yield "policy", name
        elif name:
            yield "action", f"{step.state}.{name}" if step.state else name


def _exemplars(store: TraceStore, run: int, steps: Sequence[WayStep]) -> Iterable[tuple[ElementKind, str]]:
    if not steps:
        return ()
    first = store.step(run, steps[0].number)
    if (sent := exemplars_sent(store, first.calls)) is not None:
        return [("exemplar", part.id) for part in sent]
    recalled = record_of(Recalled, first.records)
    return [("exemplar", id) for id in recalled.exemplars] if recalled is not None else ()
