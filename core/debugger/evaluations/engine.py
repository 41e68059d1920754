"""Carries out an evaluation: many runs at once, none of them twice, each stored when it ends.

What is done and what is left is read only from the trace, so an evaluation that was killed at any moment
continues where it was.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from core.debugger.evaluations.figures import MOST_ATTEMPTS, counts, is_tried_again
from core.debugger.evaluations.records import EvaluationPlan, RunLimits, Spent, Variant
from core.schema.errors import BackstepError, LLMRefused, TraceError, UsageError, WorldError
from core.trace.evaluations import attempts_of, discount, leave_evaluation, save_unbegun, take_evaluation
from core.trace.records import AttemptRow, Case, CaseAttempt, EvaluationRow, RunOutcome

if TYPE_CHECKING:
    # The window reads records of evaluations without what makes the runs.
    from core.debugger.headless import RunReport
    from core.trace.store import TraceStore

_MOST_FAILURES = 5
_MOST_ROUNDS = 3

Lane = Callable[[Variant, CaseAttempt], Awaitable["RunReport"]]
"""Makes the run of an attempt, one at a time.

Raises BackstepError if it cannot begin, and LLMRefused, with the run broken
off, where no run will go better.
"""

Order = Callable[[EvaluationPlan, Mapping[Case, AttemptRow]], Iterator[tuple[Variant, Case] | None]]
"""Gives the next case each time, by what is done so far; None where it depends on cases that are not done yet."""


@contextmanager
def opened(store: "TraceStore", name: str, plan: EvaluationPlan) -> Iterator[EvaluationRow]:
    """Open the evaluation of that name, or start it; no other process works on it until this is left.

    Raises UsageError if it has another request, or is running in another process.
    """
    row = take_evaluation(store, name, plan.model_dump_json())
    try:
        stored = planned(row)
        if (stored if stored.repair is None else stored.replace(only=plan.only)) != plan:
            raise UsageError(
                f"The evaluation {name} was started with other tasks, seeds or variants; use the same ones, or "
                "choose another --name."
            )
        yield row
    finally:
        with suppress(TraceError):  # With this process it is free in any case.
            leave_evaluation(store, row.number)


def planned(row: EvaluationRow) -> EvaluationPlan:
    """Return what was asked; raises TraceError if that cannot be read."""
    try:
        return EvaluationPlan.model_validate_json(row.plan)
    except ValueError as error:
        raise TraceError(f"The settings of the evaluation {row.name} cannot be read.") from error


def results(attempts: Iterable[AttemptRow]) -> dict[Case, AttemptRow]:
    """Return the attempt that counts for each case that is done, in the order in which they were begun.

    A run that was broken off does not count. One that failed with its world
    counts only as the second of its case.
    """
    return {
        attempt.attempt.case: attempt
        for attempt in attempts
        if counts(_outcome(attempt), attempt.attempt.number)
    }


def _outcome(row: AttemptRow) -> RunOutcome | None:
    return row.run.outcome if row.run is not None else None


def failure(row: AttemptRow) -> str:
    """Return why an attempt failed through no fault of the agent; empty if it did not."""
    if row.run is None:
        return row.error or "It could not begin."
    return (row.run.error or "It failed.") if row.run.outcome == "error" else ""


def _to_be_tried_again(row: AttemptRow) -> bool:
    return is_tried_again(_outcome(row), row.attempt.number)


class _Failures:
    """Consecutive attempts that failed because of browser, server or database."""

    def __init__(self) -> None:
        self.attempts: list[CaseAttempt] = []
        self._rounds = 0
        self._last = 0.0

    def note(self, row: AttemptRow, began: float) -> None:
        """Count an attempt that began then; raises WorldError if the next ones will fail too.

        What ends all runs at once, as a dead browser does, is one round of
        failures: a second round was begun after it.
        """
        if not failure(row):
            self.attempts.clear()
            self._rounds = 0
            return
        self.attempts.append(row.attempt)
        if self._rounds == 0 or began >= self._last:
            self._rounds += 1
            self._last = time.monotonic()
        if (count := len(self.attempts)) >= _MOST_FAILURES and self._rounds >= _MOST_ROUNDS:
            raise WorldError(f"The last {count} runs all failed. The last one: {failure(row)}")


class Evaluator:
    """One evaluation in progress, in this process."""

    def __init__(
        self,
        store: "TraceStore",
        row: EvaluationRow,
        limits: RunLimits,
        on_done: Callable[[], None],
        ordered: Order | None = None,
    ) -> None:
        """`on_done` is called as each case is done; without `ordered`, all cases of the plan are done."""
        self.plan = planned(row)
        self.why = ""
        """Why it ended before everything was done."""
        self._store = store
        self._number = row.number
        self._limits = limits
        self._on_done = on_done
        attempts = attempts_of(store, row.number)
        self.done = results(attempts)
        runs = [attempt.run for attempt in attempts if attempt.run is not None]
        self.cost = sum(run.cost or 0.0 for run in runs)
        """US dollars of all runs so far, those that do not count among them."""
        self._calls = sum(run.llm_calls for run in runs)
        self._failed = {
            attempt.attempt.case
            for attempt in attempts
            if attempt.attempt.number and _to_be_tried_again(attempt)
        }
        self._discounted = {attempt.attempt.case for attempt in attempts if not attempt.attempt.number}
        self._failures = _Failures()
        self._left: Iterator[tuple[Variant, Case] | None] = (
            iter([each for each in self.plan.cases() if each[1] not in self.done])
            if ordered is None
            else ordered(self.plan, self.done)
        )
        self._under_way = 0
        self._ended = asyncio.Event()
        """Set when a case was ended."""

    async def work(self, lanes: Sequence[Lane]) -> None:
        """Make the remaining runs, as many at once as there are lanes.

        Ends at a limit, which is then in `why`. Raises errors that end the whole work: TraceError,
        LLMRefused, and WorldError if all runs fail.
        """
        minutes = self._limits.max_minutes
        try:
            async with (
                asyncio.timeout(None if minutes is None else minutes * 60),
                asyncio.TaskGroup() as group,
            ):
                for lane in lanes:
                    group.create_task(self._work_in(lane))
        except TimeoutError:
            self.why = f"The limit of {minutes:g} minutes was reached."
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _work_in(self, lane: Lane) -> None:
        while (following := await self._next()) is not None:
            self._under_way += 1
            try:
                if not await self._work_on(lane, *following):
                    return
            finally:
                self._under_way -= 1
                self._ended.set()

    async def _next(self) -> tuple[Variant, Case] | None:
        """Return the next case, when it is known; None if there is none."""
        for following in self._left:
            if following is not None:
                return following
            if not self._under_way:
                return None  # What it waits for was broken off.
            self._ended.clear()
            await self._ended.wait()
        return None

    async def _work_on(self, lane: Lane, variant: Variant, case: Case) -> bool:
        """Make the runs of a case; returns whether to go on with the next."""
        first = 2 if case in self._failed else 1
        for number in range(first, MOST_ATTEMPTS + 1):
            if self._limit_reached():
                return False
            began = time.monotonic()
            row = await self._attempt(lane, variant, case, number)
            if row is None:
                return False
            try:
                self._failures.note(row, began)
            except WorldError:
                self._discount(self._failures.attempts)
                raise
            if not _to_be_tried_again(row):
                self.done[case] = row
                self._on_done()
                break
        return True

    def _discount(self, attempts: Iterable[CaseAttempt]) -> None:
        """Let the cases of attempts be done anew: what ended the evaluation says nothing of them.

        A case for which this was done before counts as failed, so that the others are come to.
        """
        attempts = [attempt for attempt in attempts if attempt.case not in self._discounted]
        discount(self._store, attempts)
        for attempt in attempts:
            self.done.pop(attempt.case, None)

    def _limit_reached(self) -> bool:
        self.why = self.why or self._limits.reached(Spent(calls=self._calls, cost=self.cost))
        return bool(self.why)

    async def _attempt(self, lane: Lane, variant: Variant, case: Case, number: int) -> AttemptRow | None:
        """Make a run of a case and return the result; None if it was broken off."""
        attempt = CaseAttempt(evaluation=self._number, case=case, number=number)
        try:
            report = await lane(variant, attempt)
        except (TraceError, LLMRefused):
            raise
        except BackstepError as error:
            save_unbegun(self._store, attempt, str(error))
            return AttemptRow(attempt=attempt, error=str(error))
        self.cost += report.cost or 0.0
        self._calls += report.llm_calls
        if report.outcome == "interrupted" or report.run is None:
            return None
        return AttemptRow(attempt=attempt, run=self._store.run(report.run))
