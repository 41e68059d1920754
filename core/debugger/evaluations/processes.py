"""Makes the runs of stored evaluations in processes of their own, several evaluations at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from typing import Any

from core.debugger.attach.views import AttachRequest
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.records import EvaluationPlan, Request
from core.debugger.evaluations.request import make_plan
from core.debugger.job_process import JobProcess, server_flags, shared_flags
from core.debugger.service import Service
from core.debugger.services import check_preset
from core.llm.endpoints import TAKEN
from core.schema.errors import UsageError
from core.trace.evaluations import create_evaluation, evaluation_named
from core.trace.records import ATTACHED_NAME

_PAUSE = 0.5
_UNFINISHED = 1
"""The exit code of an evaluation that ended at a limit."""


class EvaluationProcesses:
    """The processes that a service has started, by the names of their evaluations."""

    def __init__(self, service: Service[Any]) -> None:
        self._service = service
        self._processes: dict[str, JobProcess] = {}
        self._jobs: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._processes

    def __iter__(self) -> Iterator[str]:
        return iter(self._processes)

    def plan(self, request: Request) -> EvaluationPlan:
        """Return what a request comes to; raises the errors that the command line would report."""
        services = self._service.services
        plan = make_plan(
            request,
            services.settings,
            services.environments,
            services.config,
            services.resources,
            lambda: nullcontext(services.store),
        )
        for variant in plan.variants:
            check_preset(services.config, variant.preset)
            services.llms.routed(variant.llm)
            if variant.llm == "person":
                raise UsageError("You cannot answer in the background. Choose an LLM other than yourself.")
        return plan

    async def create(self, request: Request) -> int:
        """Store the plan of a request, which has a name, and return the number of its evaluation."""
        plan = self.plan(request)
        store = self._service.services.store
        return create_evaluation(store, request.name, plan.model_dump_json())

    def start(
        self, request: Request, *, on_said: Callable[[str], None], on_end: Callable[[str], Awaitable[None]]
    ) -> None:
        """Begin to make the runs that are left of the evaluation that a request names.

        `on_said` gets each line that the process says, `on_end` why it failed, or nothing. Raises UsageError.
        """
        services, name = self._service.services, request.name
        row = evaluation_named(services.store, name)
        if row is None:
            raise UsageError("That evaluation no longer exists.")
        if name in self._processes:
            raise UsageError(f"{name} is already running.")
        variants = planned(row).variants
        keys = services.llms.keys_for((variant.llm for variant in variants), services.settings.embedding)
        for run in {variant.run for variant in variants if variant.preset == ATTACHED_NAME}:
            named = AttachRequest.of_text(services.store.preset_text(run)).env
            keys |= {name: TAKEN[name] for name in named if name in TAKEN}
        limits = Request(**request.model_dump(include=set(Request.model_fields)))
        arguments = (
            *("eval", "--resume", *limits.replace(times=1).arguments()),
            *shared_flags(services),
            *server_flags(services),
            *("--max-steps", str(self._service.session.session.max_steps)),
            *(() if request.on_gate else ("--on-gate", services.settings.on_gate)),
        )
        process = self._processes[name] = JobProcess()

        async def follow() -> None:
            try:
                ended = await process.run(arguments, lambda _line: None, on_said, keys=keys)
            except OSError as error:
                why = f"{name} could not be started ({error.strerror}); check the installation of Backstep."
            else:
                well = ended.code in (0, _UNFINISHED) or ended.cancelled
                why = "" if well else f"{name} failed: {ended.error}"
            finally:
                del self._processes[name]
            await on_end(why)

        self._jobs[name] = job = asyncio.ensure_future(self._service.guarded(follow))

        def forget(ended: "asyncio.Task[None]") -> None:
            if self._jobs.get(name) is ended:
                del self._jobs[name]

        job.add_done_callback(forget)

    def cancel(self, name: str) -> None:
        """Ask a process to end in order; does nothing if there is none."""
        if name in self._processes:
            self._processes[name].cancel()

    async def end(self, name: str) -> None:
        """Ask a process to end in order, and wait for it; does nothing if there is none."""
        while (job := self._jobs.get(name)) is not None and not job.done():
            self.cancel(name)  # It may just be starting.
            await asyncio.wait([job], timeout=_PAUSE)

    async def close(self) -> None:
        """Interrupt all of them, and wait."""
        for process in self._processes.values():
            process.cancel()
        if self._jobs:
            await asyncio.wait(self._jobs.values())
