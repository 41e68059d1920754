"""The base of the experiments: one job at a time, which measures in a subprocess and reports by JSON lines."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from core.debugger.csv_files import table_text, write_table
from core.debugger.experiments.job_process import JobProcess
from core.debugger.experiments.measurement import JobReport, Measurement, MeasurementRequest
from core.debugger.experiments.views import ExperimentView
from core.debugger.service import Service, command
from core.schema.errors import BackstepError, UsageError

if TYPE_CHECKING:
    from core.debugger.session import Session

View = TypeVar("View", bound=ExperimentView[Any])
Report = TypeVar("Report", bound=JobReport)

_FLAGS = {"tasks": "--tasks-file", "webarena": "--webarena"}


class ExperimentService(Service[View], ABC):
    """Holds the view and the job; what was measured is kept where the job is cancelled or the session closed."""

    def __init__(self, session: "Session", view: View) -> None:
        super().__init__(session, view)
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

    def launch(self, job: str, busy: str, arguments: Sequence[str], field: str, report: type[Report]) -> None:
        """Start `main.py` with these arguments and show its reports as `field` of the view.

        `job` names it at the begin of a sentence. Raises UsageError with the
        sentence `busy` where a job is under way.
        """
        self.start(self._follow(job, arguments, field, report), busy)
        self.show(starting=True, problem="", notice="")

    async def _follow(self, job: str, arguments: Sequence[str], field: str, report: type[Report]) -> None:
        last: Report | None = None

        def read(line: str) -> None:
            nonlocal last
            with contextlib.suppress(ValidationError):
                last = report.model_validate_json(line)
                self.show(**{field: last}, starting=False)
                self._show_runs()

        problem = notice = ""
        try:
            ended = await self.process.run(arguments, read)
        except OSError as error:
            problem = f"{job} could not be begun ({error.strerror}); see whether Backstep is whole."
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
            raise UsageError("You cannot answer in the background: choose another LLM than yourself.")

    def command_line(self, *words: str) -> list[str]:
        """Return a command with the flags that every job needs; raises UsageError before the session has begun."""
        services = self.services
        words = (*words, "--lines", "--db", str(services.store.path), "--browser", services.settings.browser)
        files = [(_FLAGS[one.kind], str(one.path)) for one in services.environments.sources if one.given]
        return [*words, *(word for flag in files for word in flag)]

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
            "an embedded browser of its own, offscreen"
            if settings.browser == "embedded"
            else f"the installed browser {settings.browser}"
        )
        return (
            f"It runs in a process apart, with {where}: the page in this window is not touched. "
            f"Where a person would be asked, the rule is “{settings.on_gate}”{exception}."
        )
