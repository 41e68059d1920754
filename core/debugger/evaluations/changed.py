"""Which runs were made with a change of the agent: those of proofs, of searches for better files, and of ablations."""

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from core.debugger.evaluations.records import UNCHANGED, Variant
from core.trace.evaluated import asked_otherwise, plan_sizes, tried_as, variants_with_files
from core.trace.records import RunRow
from core.trace.store import TraceStore


def changed_runs(store: TraceStore, runs: Iterable[int], like: int = 0) -> frozenset[int]:
    """Return those of `runs` that say nothing of the agent as it is, or as it is in the run `like`.

    They were made with files of their own in an evaluation, or changes were asked of them that were not of `like`.
    """
    runs = list(runs)
    tried = tried_as(store, runs)
    changed = _variants(store, {evaluation for evaluation, _ in tried.values()})
    with_files = {
        run for run, (evaluation, variant) in tried.items() if variant in changed.get(evaluation, ())
    }
    return frozenset((with_files | asked_otherwise(store, runs, like)) - {like})


def unchanged_runs(store: TraceStore, runs: Sequence[RunRow], row: RunRow) -> list[RunRow]:
    """Return those of `runs` that say something of the agent as it is, or as it is in the run `row`."""
    changed = changed_runs(store, [run.run for run in runs], row.run)
    return [run for run in runs if run.run not in changed]


def _variants(store: TraceStore, evaluations: set[int]) -> dict[int, set[str]]:
    """Return the names of the variants with files of their own, by evaluation."""
    known = _KNOWN.setdefault(store, {})
    sizes = plan_sizes(store, evaluations)
    if new := {number for number, size in sizes.items() if (number, size) not in known}:
        known |= {(number, sizes[number]): set() for number in new}
        for number, title, preset, llm, exemplars in variants_with_files(store, new):
            name = Variant(preset=preset, llm=llm, title=title, exemplars=exemplars).name
            known[number, sizes[number]] |= {name} - {UNCHANGED}
    return {number: known[number, size] for number, size in sizes.items()}


_KNOWN: WeakKeyDictionary[TraceStore, dict[tuple[int, int], set[str]]] = WeakKeyDictionary()
"""By number and size of the plan: plans have the whole texts of files, so each is read once, and again if it grows."""
