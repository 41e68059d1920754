"""Evaluations in the window: read from the database while they are shown, made by separate processes.

It does not matter who started an evaluation: one from a terminal is shown like one from the window.
"""

import asyncio
import os
import shlex
import signal
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.debugger.causes.spectrum import suspicions_of
from core.debugger.commands import command
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.failures import deciding_step
from core.debugger.evaluations.figures import counts, done_of
from core.debugger.evaluations.matrix import matrix_of
from core.debugger.evaluations.processes import EvaluationProcesses
from core.debugger.evaluations.records import EvaluationPlan, Request
from core.debugger.evaluations.request import named
from core.debugger.evaluations.selection import readable_suites
from core.debugger.evaluations.views import (
    BisectChoices,
    ChosenEvaluation,
    EvaluationItem,
    EvaluationsView,
    OpenedRun,
    RequestPreview,
    SuiteItem,
)
from core.debugger.evaluations.worth import worth_result
from core.debugger.job_process import server_flags, shared_flags
from core.debugger.jobs import Job
from core.debugger.service import Service
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.signal import Signal
from core.system.program import COMMAND
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import (
    Tally,
    all_evaluations,
    delete_evaluation,
    evaluation_named,
    mean_costs,
    process_doing,
    tallies,
)
from core.trace.records import EvaluatedRun, EvaluationRow, is_failure
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_LOOK_SECONDS = 1.0
"""So often the database is looked at while the window shows."""
_SHARE = 10
"""What takes long to read is read again only after this many times as long."""


class EvaluationsService(Service[EvaluationsView]):
    """Shows all evaluations and the details of one; starts, stops, resumes and deletes them."""

    view = EvaluationsView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.previewed: Signal[RequestPreview] = Signal()
        self.opened: Signal[OpenedRun] = Signal()
        """The step at which a run that was asked for is to be shown."""
        self._watching: asyncio.Task[None] | None = None
        self.bisect_read: Signal[BisectChoices] = Signal()
        self._processes = EvaluationProcesses(self)
        self._plans: dict[int, tuple[str, EvaluationPlan]] = {}
        self._counted: tuple[Tally, ...] = ()
        """What the evaluation in view was read with."""
        self._not_before = 0.0
        """When it is read again at the earliest, as the monotonic clock tells."""

    # What is looked at

    @command
    async def watch(self) -> None:
        """Look at the database again and again, until `unwatch`."""
        if self._watching is None:
            self.show(suites=await asyncio.to_thread(_suites, self.services.config))
            self._watching = asyncio.ensure_future(self._watch())

    @command
    async def unwatch(self) -> None:
        """Nobody looks any more; what was started continues."""
        await self._stop_watching()

    @command
    async def choose(self, number: int) -> None:
        """Look at this evaluation."""
        if number != self.view.number:
            self.show(number=number, chosen=None, problem="", notice="")
            self._counted = ()
            self._not_before = 0.0
        await self._look()

    @command
    async def open_run(self, run: int) -> None:
        """Find the step that decided how a run ended, and send it by `opened`."""
        step = await self.read(lambda store: deciding_step(store, store.run(run)))
        self.opened.send(OpenedRun(run=run, step=step or 1))

    async def _watch(self) -> None:
        while True:
            await self.guarded(self._look)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _stop_watching(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.wait([watching])

    async def _look(self) -> None:
        """Read how far all evaluations are, and the one in view whole if that has changed."""
        rows, counted, at_work = await self.read(_read_all)
        items = tuple(self._item(row, counted, row.number in at_work) for row in rows)
        changes: dict[str, object] = {"ready": True, "items": items}
        if all(item.number != self.view.number for item in items):
            changes |= {"number": items[0].number if items else None, "chosen": None}
            self._counted, self._not_before = (), 0.0
        if {name: getattr(self.view, name) for name in changes} != changes:
            self.show(**changes)
        await self._read_chosen(rows, tuple(one for one in counted if one.evaluation == self.view.number))

    def _item(self, row: EvaluationRow, counted: Sequence[Tally], at_work: bool) -> EvaluationItem:
        item = EvaluationItem(number=row.number, name=row.name, when=row.when)
        try:
            plan = self._plan_of(row)
        except TraceError as error:
            return item.replace(problem=str(error))
        done = [
            tally
            for tally in counted
            if tally.evaluation == row.number and counts(tally.outcome, tally.attempt)
        ]
        own = [one for one in done if not one.touched]
        whole = sum(one.count for one in done)
        return item.replace(
            total=plan.total,
            done=whole,
            judged=sum(one.count for one in own if one.success is not None),
            successes=sum(one.count for one in own if one.success),
            failed=sum(one.count for one in done if is_failure(one.success, one.outcome)),
            state="under way"
            if at_work or row.name in self._processes
            else "finished"
            if whole >= plan.total
            else "interrupted",
            mine=row.name in self._processes,
            failures_of=plan.failures_of,
        )

    async def _read_chosen(self, rows: Sequence[EvaluationRow], counted: tuple[Tally, ...]) -> None:
        row = next((one for one in rows if one.number == self.view.number), None)
        known = self.view.chosen is not None and counted == self._counted
        now = time.monotonic()
        if row is None or known or now < self._not_before:
            return
        plan = self._plan_of(row)
        first = next((one for one in rows if one.name == plan.failures_of), None)
        chosen = await self.read(lambda store: _read_whole(store, row, plan, first))
        self._not_before = time.monotonic() + (time.monotonic() - now) * _SHARE
        if row.number == self.view.number:
            self._counted = counted
            self.show(chosen=chosen)

    def _plan_of(self, row: EvaluationRow) -> EvaluationPlan:
        """Return what was asked, read anew if it has changed; raises TraceError if that cannot be read."""
        known = self._plans.get(row.number)
        if known is None or known[0] != row.plan:
            known = self._plans[row.number] = row.plan, planned(row)
        return known[1]

    # What is asked

    @command
    async def preview(self, request: Request) -> None:
        """Send what a request comes to, by `previewed`."""
        most = str(self.session.session.max_steps)
        words = (*request.arguments(), *shared_flags(self.services), *server_flags(self.services))
        shown = RequestPreview(
            request=request, command=f"{COMMAND} {shlex.join((*words, '--max-steps', most))}"
        )
        try:
            plan = await self._plan(request)
        except BackstepError as error:
            self.previewed.send(shown.replace(problem=str(error)))
            return
        prices = {
            (mean.preset, mean.llm): mean.cost
            for mean in await self.read(lambda store: store.ask(mean_costs))
        }
        chosen, share = Counter(case.variant for case in plan.only), plan.total // len(plan.variants)
        each = [
            (prices.get((variant.preset, variant.llm)), chosen[variant.name] if chosen else share)
            for variant in plan.variants
        ]
        known = [(price, runs) for price, runs in each if price is not None]
        self.previewed.send(
            shown.replace(
                tasks=plan.tasks,
                variants=len(plan.variants),
                runs=plan.total,
                cost=sum(price * runs for price, runs in known) if known else None,
                priced=sum(runs for _, runs in known),
            )
        )

    @command
    async def begin(self, request: Request) -> None:
        """Begin an evaluation in a process of its own; without a name it is called by what it is about and the time."""
        request = named(request)
        number = await self._processes.create(request)
        self.show(number=number, chosen=None, problem="", notice="")
        await self._go_on(request)

    @command
    async def resume(self, request: Request) -> None:
        """Continue with the evaluation that a request names, by its limits and as many runs at once."""
        await self._go_on(request)

    async def _go_on(self, request: Request) -> None:
        self._said(request.name, "Starting the browser…")
        self._processes.start(request, on_said=partial(self._said, request.name), on_end=self._ended)
        await self._look()

    def _said(self, name: str, line: str) -> None:
        self.show(said={**self.view.said, name: line}, started=tuple(self._processes))

    async def _ended(self, problem: str) -> None:
        self.show(started=tuple(self._processes), problem=problem or self.view.problem)
        await self._look()

    @command
    async def end(self, number: int) -> None:
        """Interrupt the process of an evaluation, whoever started it; its results are kept."""
        item = self._find(number)
        if item.name in self._processes:
            self._processes.cancel(item.name)
            return
        process = await self.read(lambda store: process_doing(store, number))
        if not process:
            raise UsageError(f"{item.name} does not run on this machine; stop it where it was started.")
        try:
            os.kill(process, signal.SIGINT)
        except OSError as error:
            raise UsageError(
                f"The process {process} of {item.name} cannot be interrupted ({error.strerror}); stop it where "
                "it was started."
            ) from error

    @command
    async def delete(self, number: int) -> None:
        """Forget an evaluation; its runs stay."""
        item = self._find(number)
        if item.state == "under way":
            raise UsageError(f"{item.name} is running. Stop it first.")
        delete_evaluation(self.services.store, number)
        self._plans.pop(number, None)
        self.show(notice=f"{item.name} was deleted. Its runs are kept.")
        await self._look()

    @command
    async def read_bisect(self, run: int) -> None:
        """Send by `bisect_read` what can be chosen to bisect a run."""
        row, steps = await self.read(lambda store: (store.run(run), store.steps(run)))
        self.bisect_read.send(BisectChoices(row=row, steps=tuple(step.number for step in steps)))

    def _find(self, number: int) -> EvaluationItem:
        item = next((item for item in self.view.items if item.number == number), None)
        if item is None:
            raise UsageError("That evaluation no longer exists.")
        return item

    async def _plan(self, request: Request) -> EvaluationPlan:
        """Return the plan; raises the errors that the command line would report."""
        if request.name and await self.read(lambda store: evaluation_named(store, request.name)) is not None:
            raise UsageError(f"An evaluation {request.name} already exists. Choose another name.")
        return self._processes.plan(request)

    # The processes

    @property
    def jobs(self) -> tuple[Job, ...]:
        counted = {item.name: (item.done, item.total) for item in self.view.items}
        return tuple(
            Job(title=f"Evaluation {name}", key=name, done=done, of=of, opens="evaluations")
            for name in self.view.started
            for done, of in (counted.get(name, (0, 0)),)
        )

    async def end_job(self, key: str) -> None:
        self._processes.cancel(key)

    async def close(self) -> None:
        """The session is closing: interrupt what was started here, which can be resumed."""
        await self._stop_watching()
        await super().close()
        await self._processes.close()


def _suites(config: Path) -> tuple[SuiteItem, ...]:
    return tuple(SuiteItem(name=name, title=one.title) for name, one in readable_suites(config).items())


def _read_all(store: TraceStore) -> tuple[tuple[EvaluationRow, ...], tuple[Tally, ...], frozenset[int]]:
    rows = store.ask(all_evaluations)
    at_work = frozenset(row.number for row in rows if process_doing(store, row.number) is not None)
    return rows, store.ask(tallies), at_work


def _read_whole(
    store: TraceStore, row: EvaluationRow, plan: EvaluationPlan, first: EvaluationRow | None
) -> ChosenEvaluation:
    before: tuple[EvaluatedRun, ...] = evaluated_runs(store, first.number) if first is not None else ()
    runs = evaluated_runs(store, row.number)
    matrix = matrix_of(plan, runs, before)
    if plan.kind == "worth":
        matrix = matrix.replace(sentences=(*matrix.sentences, worth_result(store, row, plan).sentence))
    done = done_of(runs)
    suspicions = suspicions_of(store, done) if any(one.is_failure for one in done) else ()
    return ChosenEvaluation(number=row.number, name=row.name, plan=plan, matrix=matrix, suspicions=suspicions)


make_service = EvaluationsService
