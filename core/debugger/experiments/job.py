"""The base of the experiments: one job at a time, which measures in a subprocess and reports in JSON lines."""

import asyncio
import contextlib
import os
import signal
import sys
from abc import ABC, abstractmethod
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from core.debugger.commands import command
from core.debugger.experiments.measurement import JobReport, Measurement, MeasurementRequest
from core.debugger.experiments.views import ExperimentView
from core.debugger.service import Service, table_text, write_table
from core.debugger.services import Services
from core.debugger.snapshots import Job
from core.schema.errors import BackstepError, UsageError
from core.schema.record import Record

if TYPE_CHECKING:
    from core.debugger.session import Session

View = TypeVar("View", bound=ExperimentView[Any])
Report = TypeVar("Report", bound=JobReport)

_FLAGS = {"tasks": "--tasks-file", "webarena": "--webarena"}
_PATIENCE = 8.0
"""Seconds that a process may take to end in order before it is killed."""
_LAST_LINES = 3
"""Lines of stderr that say why a process failed."""


class ExperimentService(Service[View], ABC):
    """Holds the view and the job; results are kept if the job is cancelled or the session closed."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.process = JobProcess()

    @command
    async def cancel(self) -> None:
        """End the job; what it has made is kept."""
        self.process.cancel()

    @command
    async def export(self, measurement: Measurement, path: str) -> None:
        """Write the table of a measurement as comma-separated values."""
        notice = await write_table(path, table_text(measurement.table()))
        self.session.log("info", "export", notice)
        self.show(notice=notice, problem="")

    @abstractmethod
    async def reread(self) -> None:
        """Read and show what is kept of what is in view; raises BackstepError."""

    def closing_notice(self, job: str, report: JobReport | None, *, cancelled: bool) -> str:
        """Return what to say when a job has ended well or was cancelled."""
        return ""

    # The job

    @property
    def jobs(self) -> tuple[Job, ...]:
        if not self.view.busy:
            return ()
        job = self.view.job
        return (self.described(job.done if job else 0, job.total if job else 0),)

    @abstractmethod
    def described(self, done: int, total: int) -> Job:
        """Return the job that goes on, as the list of all work shows it."""

    async def end_job(self, key: str) -> None:
        self.process.cancel()

    def launch(
        self,
        job: str,
        busy: str,
        arguments: Sequence[str],
        field: str,
        report: type[Report],
        *,
        llms: Sequence[str] = (),
    ) -> None:
        """Start `main.py` with these arguments and show its reports as `field` of the view.

        `job` names it at the begin of a sentence; it gets the keys of the `llms` that it asks. Raises UsageError with
        the sentence `busy` where a job is in progress.
        """
        keys = self.services.llms.keys_for(llms)
        self.start(self._follow(job, arguments, field, report, keys), busy)
        self.show(starting=True, problem="", notice="")

    async def _follow(
        self, job: str, arguments: Sequence[str], field: str, report: type[Report], keys: Mapping[str, str]
    ) -> None:
        last: Report | None = None

        def read(line: str) -> None:
            nonlocal last
            with contextlib.suppress(ValidationError):
                last = report.model_validate_json(line)
                self.show(**{field: last}, starting=False)
                self._show_runs()

        problem = notice = ""
        try:
            ended = await self.process.run(arguments, read, keys=keys)
        except OSError as error:
            problem = f"{job} could not be started ({error.strerror}); check the installation of Backstep."
        else:
            if ended.code and not ended.cancelled and (last is None or not last.is_complete):
                problem = f"{job} failed: {(last.failure if last else '') or ended.error}"
            else:
                notice = self.closing_notice(job, last, cancelled=ended.cancelled)
        try:
            await self.reread()  # First, so that what has just ended is never missing from the view.
        except BackstepError as error:
            problem = problem or str(error)
        self.show(**{field: None}, starting=False, problem=problem, notice=notice)
        self._show_runs()

    def _show_runs(self) -> None:
        with contextlib.suppress(BackstepError):
            self.session.send_runs(self.session.query)

    # What the job is started with

    def check_llm(self, name: str) -> None:
        """Raise UsageError for an LLM that is not there, or cannot answer in the background."""
        self.services.llms.routed(name)
        if name == "person":
            raise UsageError("You cannot answer in the background. Choose an LLM other than yourself.")

    def command_line(self, *words: str) -> list[str]:
        """Return a command with the flags that every job needs; raises UsageError before the session has begun."""
        return [*words, "--lines", *shared_flags(self.services)]

    def request_flags(self, request: MeasurementRequest) -> list[str]:
        """Return the flags of what every measurement is asked."""
        settings = self.services.settings
        flags = {
            "--times": request.times,
            "--max-steps": self.session.session.max_steps,
            "--preset": request.preset,
            "--llm": request.llm,
            "--max-calls": request.most_calls,
            "--max-cost": request.most_cost,
            "--base-url": settings.base_url if settings.base_url_origin == "flag" else "",
        }
        return [word for name, value in flags.items() if value for word in (name, str(value))]

    def browser_sentence(self, exception: str = "") -> str:
        """Return what the runs work in, and what they do at a gate."""
        settings = self.services.settings
        where = (
            "its own embedded browser, offscreen"
            if settings.browser == "embedded"
            else f"the installed browser {settings.browser}"
        )
        return (
            f"It runs in a separate process with {where}, and does not touch the page in this window. At a "
            f"gate, the rule is “{settings.on_gate}”{exception}."
        )


def shared_flags(services: Services) -> list[str]:
    """Return the flags that say which database, browser and tasks a session uses."""
    files = [(_FLAGS[one.kind], str(one.path)) for one in services.environments.sources if one.given]
    flags = (("--db", str(services.store.path)), ("--browser", services.settings.browser), *files)
    return [word for flag in flags for word in flag]


_MAIN = Path(__file__).resolve().parents[3] / "main.py"
_LONGEST_LINE = 16 * 1024 * 1024
"""Bytes."""


class ProcessEnd(Record):
    """How a process ended."""

    code: int
    cancelled: bool = False
    error: str = ""
    """The last lines of its stderr, where the code is not 0."""


class JobProcess:
    """Runs one process at a time."""

    def __init__(self) -> None:
        self.program: tuple[str, ...] = (sys.executable, str(_MAIN))
        self._process: Process | None = None
        self._cancelled = False

    async def run(
        self,
        arguments: Sequence[str],
        on_line: Callable[[str], None],
        on_error: Callable[[str], None] = lambda _line: None,
        *,
        keys: Mapping[str, str],
    ) -> ProcessEnd:
        """Start the process, pass on the lines of its stdout and stderr, and return how it ended; raises OSError.

        `keys` are added to its environment. The process is ended where this is cancelled.
        """
        self._cancelled = False
        errors: list[str] = []
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *(*self.program, *arguments),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                limit=_LONGEST_LINE,
                env={**os.environ, **keys},
            )
            assert process.stdout is not None
            assert process.stderr is not None
            reading = asyncio.ensure_future(_read_errors(process.stderr, errors, on_error))
            async for line in process.stdout:
                on_line(line.decode(errors="replace"))
            code = await process.wait()
            await reading
            error = " ".join(errors) or f"it ended with code {code}"
            return ProcessEnd(code=code, cancelled=self._cancelled, error=error if code else "")
        finally:
            await self._end()

    def cancel(self) -> None:
        """Ask the process to end in order; does nothing if none is running."""
        if self._process is not None and self._process.returncode is None:
            self._cancelled = True
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    async def _end(self) -> None:
        """End the process if it is still running, and kill it if that takes too long."""
        self.cancel()
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
                await process.wait()


async def _read_errors(
    stream: asyncio.StreamReader, lines: list[str], on_error: Callable[[str], None]
) -> None:
    async for line in stream:
        lines.append(line.decode(errors="replace").strip())
        del lines[:-_LAST_LINES]
        on_error(lines[-1])
