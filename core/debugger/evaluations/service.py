"""Evaluations in the window: read from the database while they are shown, made by separate processes.

It does not matter who started an evaluation: one from a terminal is shown like one from the window.
"""

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.failures import deciding_step
from core.debugger.evaluations.figures import counts
from core.debugger.evaluations.matrix import matrix_of
from core.debugger.evaluations.records import EvalRequest, EvaluationPlan
from core.debugger.evaluations.request import plan_of, plan_of_failures
from core.debugger.evaluations.selection import readable_suites
from core.debugger.evaluations.views import (
    ChosenEvaluation,
    EvaluationItem,
    EvaluationsView,
    OpenedRun,
    RequestPreview,
    SuiteItem,
)
from core.debugger.experiments.job import JobProcess, shared_flags
from core.debugger.service import Service
from core.debugger.snapshots import Job
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.signal import Signal
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
_UNFINISHED = 1
"""The exit code of an evaluation that ended at a limit."""


class EvaluationsService(Service[EvaluationsView]):
    """Shows all evaluations and the details of one; starts, stops, resumes and deletes them."""

    view = EvaluationsView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.previewed: Signal[RequestPreview] = Signal()
        self.opened: Signal[OpenedRun] = Signal()
        """The step at which a run that was asked for is to be shown."""
        self._watching: asyncio.Task[None] | None = None
        self._processes: dict[str, JobProcess] = {}
        self._plans: dict[int, EvaluationPlan] = {}
        self._jobs: set[asyncio.Task[None]] = set()
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
            await self.guarded(self._look())
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
        if any(one.name == self.view.starting for one in items):
            # What was started last is what the person waits for.
            number = next(one.number for one in items if one.name == self.view.starting)
            changes |= {"starting": "", "number": number, "chosen": None}
            self._counted, self._not_before = (), 0.0
        elif all(one.number != self.view.number for one in items):
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
        done = [one for one in counted if one.evaluation == row.number and counts(one.outcome, one.attempt)]
        own = [one for one in done if not one.touched]
        whole = sum(one.count for one in done)
        return item.replace(
            total=plan.total,
            done=whole,
            judged=sum(one.count for one in own if one.success is not None),
            successes=sum(one.count for one in own if one.success),
            failed=sum(one.count for one in done if is_failure(one.success, one.outcome)),
            state="under way" if at_work else "finished" if whole >= plan.total else "interrupted",
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
        """Return what was asked, which never changes; raises TraceError if that cannot be read."""
        if row.number not in self._plans:
            self._plans[row.number] = planned(row)
        return self._plans[row.number]

    # What is asked

    @command
    async def preview(self, request: EvalRequest) -> None:
        """Send what a request comes to, by `previewed`."""
        shown = RequestPreview(
            request=request, command=shlex.join(("python3", "main.py", *self._arguments(request)))
        )
        try:
            plan = await self._plan(request)
        except BackstepError as error:
            self.previewed.send(shown.replace(problem=str(error)))
            return
        prices = {
            (one.preset, one.llm): one.cost for one in await self.read(lambda store: store.ask(mean_costs))
        }
        each = [
            (prices.get((variant.preset, variant.llm)), sum(1 for of, _ in plan.cases() if of == variant))
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
    async def begin(self, request: EvalRequest) -> None:
        """Begin an evaluation in a process of its own; without a name it is called by the time."""
        if not request.name:
            request = request.replace(name=time.strftime("%Y-%m-%d %H:%M:%S"))
        plan = await self._plan(request)
        self.show(starting=request.name)
        self._launch(request.name, self._arguments(request), plan)

    @command
    async def resume(self, request: EvalRequest) -> None:
        """Continue with the evaluation that a request names, by its limits and as many runs at once."""
        row = await self.read(lambda store: evaluation_named(store, request.name))
        if row is None:
            raise UsageError("That evaluation no longer exists.")
        self._launch(request.name, (*self._arguments(request), "--resume"), planned(row))

    @command
    async def end(self, number: int) -> None:
        """Interrupt the process of an evaluation, whoever started it; its results are kept."""
        item = self._find(number)
        if item.name in self._processes:
            self._processes[item.name].cancel()
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

    def _find(self, number: int) -> EvaluationItem:
        item = next((one for one in self.view.items if one.number == number), None)
        if item is None:
            raise UsageError("That evaluation no longer exists.")
        return item

    async def _plan(self, request: EvalRequest) -> EvaluationPlan:
        """Return the plan; raises the errors that the command line would report."""
        services = self.services
        if request.name and await self.read(lambda store: evaluation_named(store, request.name)) is not None:
            raise UsageError(f"An evaluation {request.name} already exists. Choose another name.")
        if request.failures_of:
            return await self.read(lambda store: plan_of_failures(request, store))
        return plan_of(request, services.settings, services.environments.tasks(), services.config)

    def _arguments(self, request: EvalRequest) -> tuple[str, ...]:
        """Return the command line of a request, with what this session uses."""
        services = self.services
        settings = services.settings
        flags = [*shared_flags(services), "--max-steps", str(self.session.session.max_steps)]
        if settings.base_url and settings.base_url_origin == "flag":
            flags += ["--base-url", settings.base_url]
        return (*request.arguments, *flags)

    # The processes

    @property
    def jobs(self) -> tuple[Job, ...]:
        counted = {one.name: (one.done, one.total) for one in self.view.items}
        return tuple(
            Job(title=f"Evaluation {name}", key=name, done=done, of=of, opens="evaluations")
            for name in self.view.started
            for done, of in (counted.get(name, (0, 0)),)
        )

    async def end_job(self, key: str) -> None:
        if key in self._processes:
            self._processes[key].cancel()

    def _launch(self, name: str, arguments: Sequence[str], plan: EvaluationPlan) -> None:
        if name in self._processes:
            raise UsageError(f"{name} is already starting.")
        keys = self.services.llms.keys_for(one.llm for one in plan.variants)
        process = self._processes[name] = JobProcess()
        said = {**self.view.said, name: "Starting the browser…"}
        self.show(problem="", notice="", said=said, started=tuple(self._processes))
        job = asyncio.ensure_future(self.guarded(self._follow(name, process, arguments, keys)))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _follow(
        self, name: str, process: JobProcess, arguments: Sequence[str], keys: Mapping[str, str]
    ) -> None:
        try:
            ended = await process.run(arguments, lambda _line: None, partial(self._on_said, name), keys=keys)
        except OSError as error:
            raise UsageError(
                f"{name} could not be started ({error.strerror}); check the installation of Backstep."
            ) from error
        finally:
            del self._processes[name]
            starting = "" if self.view.starting == name else self.view.starting
            self.show(starting=starting, started=tuple(self._processes))
            await self._look()
        if ended.code not in (0, _UNFINISHED) and not ended.cancelled:
            raise UsageError(f"{name} failed: {ended.error}")

    def _on_said(self, name: str, line: str) -> None:
        self.show(said={**self.view.said, name: line})

    async def close(self) -> None:
        """The session is closing: interrupt what was started here, which can be resumed."""
        await self._stop_watching()
        await super().close()
        for process in self._processes.values():
            process.cancel()
        if self._jobs:
            await asyncio.wait(self._jobs)


def _suites(config: Path) -> tuple[SuiteItem, ...]:
    return tuple(SuiteItem(name=name, title=one.title) for name, one in readable_suites(config).items())


def _read_all(store: TraceStore) -> tuple[tuple[EvaluationRow, ...], tuple[Tally, ...], frozenset[int]]:
    rows = store.ask(all_evaluations)
    at_work = frozenset(one.number for one in rows if process_doing(store, one.number) is not None)
    return rows, store.ask(tallies), at_work


def _read_whole(
    store: TraceStore, row: EvaluationRow, plan: EvaluationPlan, first: EvaluationRow | None
) -> ChosenEvaluation:
    before: tuple[EvaluatedRun, ...] = evaluated_runs(store, first.number) if first is not None else ()
    matrix = matrix_of(plan, evaluated_runs(store, row.number), before)
    return ChosenEvaluation(number=row.number, name=row.name, plan=plan, matrix=matrix)


make_service = EvaluationsService
