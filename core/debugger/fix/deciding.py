"""Proposes where to fix a failed run: the likely steps, each with its reason."""

from collections.abc import Iterator, Sequence

from core.agent.run_history import RunHistory
from core.debugger.causes.kinds.limits import loop_of
from core.debugger.evaluations.bisection import bisected
from core.debugger.evaluations.failures import Deciding, deciding
from core.debugger.fix.views import Clue
from core.schema.errors import TraceError
from core.schema.step import Recognised, record_of
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore

_LAST = "This is the last step. Nothing else is known about the failure."
_ENDS = {
    "running": "This is the last step so far; the run has not ended.",
    "budget": "This is the last step: the run was out of its budget of page actions. If it was on the right way, "
    "nothing has to be changed: running again from here has a budget of its own.",
}
_READ = 8
"""Steps of no state that are read to see whether a state space was meant to know them."""


def clues_of(store: TraceStore, row: RunRow) -> tuple[Clue, ...]:
    """Return the steps to put right, the likeliest first; at least one for a run that has steps. Raises TraceError."""
    steps = [step for step in store.steps(row.run) if step.phase not in ("observe", "recognise", "recall")]
    if not steps:
        return ()
    last = steps[-1]
    steps = [step for step in steps if step.sealed or step.action or step.outcome != "pending"]
    if not steps:
        reason = f"Run {row.run} has not decided on an action yet: this is its first step."
        return (Clue(step=last.number, reason=reason),)
    last = steps[-1]
    if row.verdict.success:
        reason = f"Run {row.run} succeeded, so there is nothing to fix. You can still change any step."
        return (Clue(step=last.number, reason=reason),)
    parted = deciding(store, row)
    found = (
        *_bisected(store, row),
        *_same_seed(parted),
        *_loop(steps),
        *_policies(store, row, last, lacked=True),
        *_of_no_state(store, row, steps),
        *_failing(steps),
        *_policies(store, row, last, lacked=False),
        *_alike(parted),
        *_stopped(row, last),
        Clue(step=last.number, reason=_ENDS.get(row.outcome, _LAST)),
    )
    own = {step.number for step in steps}
    by_step: dict[int, Clue] = {}
    for clue in found:
        if clue.step in own:
            by_step.setdefault(clue.step, clue)
    return tuple(by_step.values())


def _bisected(store: TraceStore, row: RunRow) -> Iterator[Clue]:
    """Find the last step from which branches still succeeded, by the last bisection that found one."""
    shares = bisected(store, row.run)
    good = max((step for step, share in shares.items() if share.successes), default=None)
    if good is None:
        return
    later = any(share.judged for step, share in shares.items() if step > good)
    rest = "; from later steps none did" if later else ""
    counts = f"{shares[good].successes} of {shares[good].judged}"
    yield Clue(step=good, reason=f"Bisect: from here {counts} branches still succeeded{rest}.")


def _same_seed(parted: Deciding | None) -> Iterator[Clue]:
    if parted is None or not parted.same_seed or not parted.parting.did:
        return
    at, did = parted.parting.step, parted.parting.successes_did
    instead = f", where the successful run did {did}" if did else ""
    reason = f"The same task succeeded in run {parted.success}; they differ from step {at} on{instead}."
    yield Clue(step=at, reason=reason)


def _alike(parted: Deciding | None) -> Iterator[Clue]:
    if parted is None or parted.same_seed or not parted.parting.did:
        return
    did = parted.parting.did
    instead = (
        f", and successful runs did {parted.parting.successes_did}" if parted.parting.successes_did else ""
    )
    where = f"such as run {parted.success}" if parted.success is not None else "on tasks like this one"
    reason = f"This is the first step that differs from successful runs {where}: it did {did}{instead}."
    yield Clue(step=parted.parting.step, reason=reason)


def _loop(steps: Sequence[StepRow]) -> Iterator[Clue]:
    if (span := loop_of(steps)) is not None:
        yield Clue(step=span[0], reason=f"The run looped over steps {span[0]} to {span[1]}.")


def _policies(store: TraceStore, row: RunRow, last: StepRow, *, lacked: bool) -> Iterator[Clue]:
    """Find the last called policy that came back without what it was called for."""
    try:
        stack = RunHistory(store, row.run).agent(last.number).stack
    except TraceError:
        return  # What is known of the run by other means will do.
    for frame in reversed(stack.finished):
        if frame.caller is None or frame.ended_at is None or bool(frame.lacked) is not lacked:
            continue
        if lacked:
            said = f"The policy {frame.name} could not continue: it lacked {frame.lacked}."
        elif frame.state == "returned" and not frame.answer:
            said = f"The policy {frame.name} returned nothing."
        else:
            continue
        yield Clue(step=frame.ended_at, reason=said, policy=frame.policy)
        return


def _of_no_state(store: TraceStore, row: RunRow, steps: Sequence[StepRow]) -> Iterator[Clue]:
    for one in [step for step in steps if step.state == "page"][:_READ]:
        recognised = record_of(Recognised, store.step(row.run, one.number).records)
        if recognised is not None and recognised.fits and not any(fit.fits for fit in recognised.fits):
            said = recognised.why.partition(" The general space")[0]
            yield Clue(step=one.number, reason=said, kind="state space")
            return


def _failing(steps: Sequence[StepRow]) -> Iterator[Clue]:
    """Find the first of the failed steps at the end of the run."""
    failed = None
    for step in reversed(steps):
        if step.outcome != "failed":
            break
        failed = step
    if failed is not None:
        yield Clue(
            step=failed.number, reason=f"All steps from step {failed.number} on failed: {failed.message}"
        )


def _stopped(row: RunRow, last: StepRow) -> Iterator[Clue]:
    if last.effect == "stop" and not last.message:
        why = f": {row.verdict.reason}" if row.verdict.reason else "."
        reason = f"The agent stopped at step {last.number} before the task was done{why}"
        yield Clue(step=last.number, reason=reason)
