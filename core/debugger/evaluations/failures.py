"""Groups the failed runs of an evaluation by what they have in common."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import shorten

from core.debugger.compare.parting import OF_EACH_TASK, Parting, Walked, partings
from core.debugger.evaluations.changed import changed_runs, unchanged_runs
from core.debugger.evaluations.figures import done_of
from core.schema.record import Record
from core.schema.task import family_of
from core.trace.evaluated import WayStep, evaluated_runs, evaluation_of, last_policies, own_successes_of, ways
from core.trace.records import Case, EvaluatedRun, RunRow
from core.trace.store import TraceStore

_CHANGING = re.compile(r"https?://\S+|\"[^\"]*\"|'[^']*'|\d+")
"""What is another one in each run of the same failure: addresses, what is quoted, numbers."""
_LONGEST = 120
MOST_READ = 1000
"""Runs that are looked through for those that a run is held against."""


class FailedRun(Case):
    """A failed run with its deciding step."""

    run: int | None
    """None if it could not begin."""
    step: int = 0
    """The first step that no success did after the same beginning, else the last; 0 if there is none."""


class FailureGroup(Record):
    """Runs that failed in the same way."""

    outcome: str
    """How the runs ended, such as budget or error."""
    state: str = ""
    """The state of their last page."""
    policy: str = ""
    """The policy that was at work then."""
    action: str = ""
    """The kind of their last action."""
    error: str = ""
    """What had failed, without what is another one in each run."""
    did: str = ""
    """What they did in the first step in which they differ from the successes; empty if they do not."""
    successes_did: str = ""
    """What most successes did in its place."""
    name: str = ""
    """What an LLM calls it; empty if none was asked, or its answer was of no use."""
    runs: tuple[FailedRun, ...] = ()

    @property
    def sentence(self) -> str:
        """Return what the runs have in common, in words."""
        parts = [self.outcome]
        parts += [f"in {self.state}"] if self.state else []
        parts += [f"with {self.policy}"] if self.policy else []
        parts += [f"after {self.action}"] if self.action else []
        parts += [f"({self.error})"] if self.error else []
        parted = f"; action: {self.did}" if self.did else ""
        if parted and self.successes_did:
            parted += f", in successes: {self.successes_did}"
        return " ".join(parts) + parted


def failures_of(store: TraceStore, runs: Sequence[EvaluatedRun]) -> tuple[FailureGroup, ...]:
    """Group the runs that were no success, the largest group first; those that a person touched are left out."""
    own = [one for one in runs if not one.touched]
    failed = [one for one in own if one.is_failure]
    successes = _successes(own, failed)
    steps = ways(store, [one.run for one in (*failed, *successes) if one.run is not None])
    policies = last_policies(store, [one.run for one in failed if one.run is not None])
    parted = partings(steps, _walked(failed), _walked(successes))
    groups: dict[FailureGroup, list[FailedRun]] = {}
    for one in failed:
        run = one.run or 0
        parting = parted.get(run)
        group = _group_of(one, steps.get(run, ()), policies.get(run, ""), parting)
        groups.setdefault(group, []).append(_failed(one, parting))
    made = [group.replace(runs=tuple(rows)) for group, rows in groups.items()]
    return tuple(sorted(made, key=lambda group: -len(group.runs)))


def deciding_step(store: TraceStore, row: RunRow) -> int:
    """Return the step that decided a run; of a success its last one, and 0 if it has none."""
    parting = deciding(store, row)
    return parting.step if parting is not None else 0


def deciding(store: TraceStore, row: RunRow) -> Parting | None:
    """Return what decided a run; of a success its last step, and None if it has none.

    It is held against the successes of its evaluation, or of no evaluation against those on its task, or else on its
    family of tasks. Those of its own preset are taken, or of all others if there are none.
    """
    number = evaluation_of(store, row.run)
    if row.verdict.success:
        found: Sequence[RunRow] = ()
    elif number is not None:
        runs = done_of(evaluated_runs(store, number))
        own = [run for run in runs if run.run == row.run]
        successes = _successes([run for run in runs if not run.touched], own)
        found = store.rows([run.run for run in successes if run.run is not None])[::-1]
    else:
        found = own_successes(store, row) or [
            run
            for run in store.runs(outcome="success", limit=MOST_READ)
            if family_of(run.task) == family_of(row.task) and run.parent_run is None
        ]
    found = unchanged_runs(store, found, row)
    return parting_of(store, row, [run for run in found if run.preset == row.preset] or found)


def own_successes(store: TraceStore, row: RunRow) -> list[RunRow]:
    """Return the successes of a run's own agent at its task: first those at its seed, with its changes, of its LLM."""
    found = own_successes_of(store, row.run)
    changed = changed_runs(store, found, row.run)
    own = [run for run in found if run not in changed][:OF_EACH_TASK]
    return sorted(store.rows(own), key=lambda run: own.index(run.run))


def parting_of(store: TraceStore, row: RunRow, successes: Sequence[RunRow]) -> Parting | None:
    """Return where a run left these successes, or else its last step; None if it has none."""
    steps = ways(store, {row.run, *(run.run for run in successes)})
    walked = [Walked(run.run, run.task, run.seed) for run in successes]
    return partings(steps, [Walked(row.run, row.task, row.seed)], walked).get(row.run)


def _successes(own: Iterable[EvaluatedRun], failed: Iterable[EvaluatedRun]) -> list[EvaluatedRun]:
    """Return successes to hold the failures against: those at the same task and seed, and some of each task."""
    cases = {(one.task, one.seed) for one in failed}
    families = {family_of(one.task) for one in failed}
    taken: Counter[str] = Counter()
    found = []
    for run in own:
        if not run.success or family_of(run.task) not in families:
            continue
        taken[run.task] += 1
        if taken[run.task] <= OF_EACH_TASK or (run.task, run.seed) in cases:
            found.append(run)
    return found


def _walked(runs: Iterable[EvaluatedRun]) -> list[Walked]:
    return [Walked(run.run, run.task, run.seed) for run in runs if run.run is not None]


def _failed(one: EvaluatedRun, parting: Parting | None) -> FailedRun:
    return FailedRun(**dict(one.case), run=one.run, step=parting.step if parting is not None else 0)


def _group_of(
    run: EvaluatedRun, steps: Sequence[WayStep], policy: str, parting: Parting | None
) -> FailureGroup:
    last = steps[-1] if steps else None
    failed = last.message if last is not None and last.outcome == "failed" else ""
    return FailureGroup(
        outcome=run.outcome or "could not begin",
        state=last.state if last is not None else "",
        policy=policy,
        action=last.action.partition(" ")[0] if last is not None else "",
        error=shorten(_CHANGING.sub("…", run.error or failed), _LONGEST, placeholder=" …"),
        did=parting.did if parting is not None else "",
        successes_did=parting.successes_did if parting is not None and parting.did else "",
    )
