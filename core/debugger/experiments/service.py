"""Experiments: repeats runs in the background and compares their results."""

import contextlib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from core.debugger.ask_again.repeat import kept_attributions
from core.debugger.commands import command
from core.debugger.experiments.bisect import Bisection, BisectRequest, chosen_steps
from core.debugger.experiments.job import ExperimentService
from core.debugger.experiments.measurement import JobReport
from core.debugger.experiments.views import BisectView, ReplayRow, WorthView
from core.debugger.experiments.worth import library_key, members_of, sources_of, tasks_of
from core.debugger.experiments.worth_records import (
    ReplayReport,
    ReplayResult,
    Subject,
    Worth,
    WorthRequest,
    sums_of,
)
from core.debugger.services import check_preset
from core.debugger.snapshots import Job
from core.memory.library.store import Library
from core.schema.errors import UsageError
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_BISECTING = "A bisection is already running. Wait for it to end, or cancel it."
_SHOWN = 5000
"""Exemplars whose last replay is shown."""
_TRYING = "An experiment is already running. Wait for it to end, or cancel it."


class Experiments:
    """The services of the experiments."""

    def __init__(self, session: "Session") -> None:
        self.bisect = BisectService(session)
        self.worth = WorthService(session)


class BisectService(ExperimentService[BisectView]):
    """Shows what can be bisected in a run and earlier results, and bisects."""

    view = BisectView(run=0)

    @command
    async def open(self, run: int) -> None:
        """Show what can be bisected of this run, and what was; a bisection in progress continues."""
        before = self.view
        asked = BisectView(run=run, under_way=before.under_way, starting=before.starting)
        self.send(asked.replace(browser=self.browser_sentence()))
        await self.reread()

    @command
    async def bisect(self, request: BisectRequest) -> None:
        """Begin a bisection in the background."""
        llm = self._check(request)
        on_gate = self.services.settings.on_gate
        flags = ["--every", str(request.every), "--on-gate", on_gate, *self.request_flags(request)]
        for step in request.steps:
            flags += ["--at", str(step)]
        arguments = [*self.command_line("bisect", str(request.run)), *flags]
        self.launch("The bisection", _BISECTING, arguments, "under_way", Bisection, llms=(llm,))

    def described(self, done: int, total: int) -> Job:
        going = self.view.under_way
        run = going.run if going is not None else self.view.run
        return Job(title=f"Bisect run {run}", done=done, of=total, opens="bisect", run=run)

    async def reread(self) -> None:
        run = self.view.run
        if run:
            found = await self.read(lambda store: _read(store, run))
            if self.view.run == run:
                self.show(**found)

    def _check(self, request: BisectRequest) -> str:
        """Return the LLM that is asked; raises BackstepError for what the job would only refuse."""
        services = self.services
        store = services.store
        row = store.run(request.run)
        for step in chosen_steps(store.steps(request.run), request.steps, every=request.every):
            store.agent(request.run, step)
        check_preset(services.config, request.preset or row.preset)
        llm = request.llm or row.llm
        self.check_llm(llm)
        current = self.session.agent_run
        if row.profile and current is not None and current.state.profile == row.profile and not current.ended:
            raise UsageError(
                f"The run uses the browser profile {row.profile}, which the current run has open. Stop that run "
                "first (Shift+F5)."
            )
        return llm


def _read(store: TraceStore, run: int) -> dict[str, Any]:
    """Return what a run has, as fields of the view; records that a later program has written are left out."""
    row, steps = store.run(run), store.steps(run)
    kept: list[Bisection] = []
    for number, text in store.bisections(run):
        with contextlib.suppress(ValidationError):
            kept.append(Bisection.model_validate_json(text).replace(number=number))
    return {
        "ready": True,
        "task": f"{row.task}, seed {row.seed}",
        "preset": row.preset,
        "llm": row.llm,
        "steps": tuple((one.number, one.action) for one in steps),
        "kept": tuple(kept),
    }


class WorthService(ExperimentService[WorthView]):
    """Shows what is known of exemplars; measures and replays them."""

    view = WorthView()

    @command
    async def open(self, subject: Subject | None) -> None:
        """Show what is known of a subject, or of all."""
        browser = self.browser_sentence(", unless another is chosen")
        self.show(subject=subject, browser=browser, problem="", notice="")
        await self.reread()

    @command
    async def measure(self, request: WorthRequest) -> None:
        """Begin an experiment in the background."""
        self._check(request)
        subject = request.subject
        on_gate = request.on_gate or self.services.settings.on_gate
        flags = ["--seeds", ",".join(map(str, request.seeds)), "--on-gate", on_gate]
        if subject.kind == "family":
            flags.append("--family")
        elif subject.kind == "change":
            flags += ["--change", f"{subject.before}:{subject.after}"]
        for task in request.tasks:
            flags += ["--task", task]
        flags += self.request_flags(request)
        arguments = [*self.command_line("exemplars", "worth"), *flags, "--", subject.name]
        llm = request.llm or self.services.settings.llm
        self.launch("The experiment", _TRYING, arguments, "under_way", Worth, llms=(llm,))

    @command
    async def replay(self, ids: tuple[str, ...]) -> None:
        """Replay these exemplars in the background, or all of the library if none is named."""
        if not ids and not self.memory.listing().page(limit=1).total:
            raise UsageError("No exemplars yet. Save a run as one, or import some.")
        flags = ["--on-gate", self.services.settings.on_gate, "--", *ids]
        arguments = [*self.command_line("exemplars", "replay"), *flags]
        self.launch("Replaying", _TRYING, arguments, "replay", ReplayReport)

    def described(self, done: int, total: int) -> Job:
        return Job(title="Try exemplars in runs", done=done, of=total, opens="library")

    def closing_notice(self, job: str, report: JobReport | None, *, cancelled: bool) -> str:
        if cancelled:
            return f"{job} was cancelled. Results so far are kept."
        return report.sentence if report is not None else ""

    def _check(self, request: WorthRequest) -> None:
        """Raise BackstepError for what the job would only refuse."""
        services = self.services
        sources = sources_of(members_of(self.memory, request.subject))
        tasks_of(request.tasks, services.environments.tasks(), sources)
        if services.resources.presets.get(request.preset).memory is None:
            raise UsageError(
                f"The preset {request.preset} does not use exemplars; choose one with memory, such as synapse."
            )
        self.check_llm(request.llm or services.settings.llm)

    async def reread(self) -> None:
        services, library, subject = self.services, self.memory.listing(), self.view.subject
        changes: dict[str, Any] = {
            "ready": True,
            "families": tuple(sorted(library.counts().by.get("family", {}))),
            "tasks": tuple(one.id for one in services.environments.tasks()),
            "kept": _kept(library, subject),
            "replays": _replays(library),
            "attributions": sums_of(kept_attributions(library)),
            "trace": str(services.store.path.absolute()),
            "recorded_at": (),
            "versions": (),
        }
        if subject is not None:
            try:
                changes["recorded_at"] = sources_of(members_of(self.memory, subject))
                if subject.kind != "family" and library.has([subject.name]):
                    changes["versions"] = tuple(one.number for one in library.versions(subject.name))
            except UsageError as error:
                changes["problem"] = str(error)
        self.show(**changes)


def _kept(library: Library, subject: Subject | None) -> tuple[Worth, ...]:
    found: list[Worth] = []
    for number, content in library.proofs("worth", [] if subject is None else [library_key(subject)]):
        with contextlib.suppress(ValidationError):  # One that a later program has written.
            found.append(Worth.model_validate_json(content).replace(number=number))
    return tuple(found)


def _replays(library: Library) -> tuple[ReplayRow, ...]:
    found: list[ReplayRow] = []
    for content in list(library.latest_proofs("replay").values())[:_SHOWN]:
        with contextlib.suppress(ValidationError):
            one = ReplayResult.model_validate_json(content)
            found.append(_row(library, one))
    return tuple(sorted(found, key=lambda row: row.rank))


def _row(library: Library, found: ReplayResult) -> ReplayRow:
    if not library.has([found.id]):
        return ReplayRow(found=found)  # One of a file, which has no versions.
    entry = library.get(found.id)
    return ReplayRow(found=found, is_old=entry.version != found.version, is_there=not entry.exemplar.archived)


make_service = Experiments
