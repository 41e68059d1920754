"""Suspiciousness of what an agent is made of, by which runs used it: spectrum-based fault localisation.

What failed runs use and passed ones do not is suspicious. The coefficient is Ochiai's: of an element that f failed
and p passed runs used, with F failed runs in all, f / sqrt(F * (f + p)); from 0 to 1. Source: R. Abreu, P. Zoeteweij
and A. J. C. van Gemund, On the Accuracy of Spectrum-based Fault Localization, TAIC PART 2007.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Literal

from core.schema.record import Record
from core.trace.evaluated import WayStep, ways
from core.trace.records import EvaluatedRun
from core.trace.store import TraceStore

ElementKind = Literal["state", "action", "policy", "exemplar"]


class Suspicion(Record):
    """How suspicious one state, action, policy or exemplar is."""

    kind: ElementKind
    name: str
    """Of an action, with its state: ``results.select_item``."""
    failed: int
    """Failed runs that used it."""
    passed: int
    score: float
    """From 0 to 1."""


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
    for run, elements in used.items():
        (in_passed if passed[run] else in_failed).update(set(elements))
    failures = sum(not success for success in passed.values())
    found = [
        Suspicion(
            kind=kind,
            name=name,
            failed=in_failed[kind, name],
            passed=in_passed[kind, name],
            score=ochiai(in_failed[kind, name], in_passed[kind, name], failures),
        )
        for kind, name in {**in_failed, **in_passed}
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.kind, one.name)))


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
    recalled = store.recalled(run, steps[0].number) if steps else None
    return [("exemplar", id) for id in recalled.exemplars] if recalled is not None else []
