"""The snapshots of a session: keeps, changes and sends them."""

import asyncio
import logging
import time
from functools import partial
from typing import Any, Literal

from core.agent.edits.run_edits import refusals
from core.agent.llm_calls import Asked
from core.agent.loop import AgentRun
from core.agent.presets import Presets
from core.debugger.background_read import LatestRead, TraceReader
from core.debugger.catalogue import Catalogue, PresetOption
from core.debugger.listed_runs import ListedRuns
from core.debugger.live_page import Picked
from core.debugger.services import Current, Services
from core.debugger.session_view import CommandResult, EditMade, Mode, RunsView, SessionView
from core.debugger.steps.mechanisms import mechanisms_of
from core.debugger.steps.publisher import StepPublisher
from core.debugger.steps.views import PersonQuestion, Side, StepView
from core.llm.errors import mistake
from core.schema.errors import DataError, TraceError
from core.schema.events import LogLine
from core.schema.messages import LLMChoice, LLMRequest
from core.schema.restore import Restored
from core.schema.signal import Signal
from core.schema.step import Aligned, PhaseRecord, Recalled
from core.schema.task import PARTLY_JUDGED

log = logging.getLogger(__name__)

_EXPANDED = 20
"""Runs whose steps are followed at once."""


class Publisher:
    """Holds the last snapshot of each kind and sends the next. It runs in the worker's loop."""

    def __init__(self, current: Current) -> None:
        self.catalogue_changed: Signal[Catalogue] = Signal()
        self.session_changed: Signal[SessionView] = Signal()
        self.runs_changed: Signal[RunsView] = Signal()
        self.question_asked: Signal[PersonQuestion | None] = Signal()
        self.picked: Signal[Picked] = Signal()
        self.logged: Signal[LogLine] = Signal()
        self.session = SessionView()
        self._refuse = partial(self.tell, done=False)
        self._current = current
        self._reader = TraceReader()
        self.steps = StepPublisher(current, self._reader, complain=self._refuse, crash=self.crash)
        self._runs = LatestRead(self.crash)
        self._listed = ListedRuns()
        self._catalogue = LatestRead(self.crash)
        self._expanded: list[int] = []

    async def settled(self) -> None:
        """Wait until all that is being read has been sent."""
        await self.steps.settled()
        await self._runs.settled()
        await self._catalogue.settled()

    async def close(self) -> None:
        """Wait for what is being read, and read nothing more."""
        await self.settled()
        await self._reader.close()

    # The session

    def change(self, **values: Any) -> None:
        self.session = self.session.replace(**values)
        self.session_changed.send(self.session)

    def set_mode(self, mode: Mode, message: str = "", *, stopped_at: str = "") -> None:
        self.session = self.session.replace(mode=mode)
        self.change(message=message, stopped_at=stopped_at, **self.figures())

    def figures(self) -> dict[str, Any]:
        """Return what the run has come to, as fields of the session's snapshot."""
        run = self._current.run
        if run is None:
            return {}
        totals = run.state.totals
        return {
            "step": run.state.number,
            "phase": None if run.ended else run.next_phase,
            "page_actions": totals.page_actions,
            "most_page_actions": run.state.budget.page_actions,
            "calls": totals.llm_calls,
            "tokens": totals.prompt_tokens + totals.completion_tokens,
            "cost": totals.cost,
            "mechanisms": mechanisms_of(run.state),
            "trial": run.state.trial,
            "edits": ()
            if run.ended
            else tuple(EditMade(key=f"edit {one.number}", kind=one.kind) for one in run.undoable),
            "undone": ()
            if run.ended
            else tuple(EditMade(key=f"edit {one.number}", kind=one.kind) for one in run.redoable),
            "refusals": refusals(run) if self.session.mode in ("waiting", "failed") else {},
        }

    def opened(self, run: AgentRun) -> None:
        """A run has begun."""
        episode = run.state.episode
        self.change(
            run=run.state.run,
            instruction=episode.instruction,
            judged=episode.task.judged,
            seeded=episode.task.seeded,
            attached=not run.has_preset,
            message="Reading the page…",
            **self.figures(),
        )
        self.expand(run.state.run)

    def moving(self, message: str, **opening: Any) -> None:
        """A page is being opened, or brought back to a step; `opening` has the fields of the snapshot about it."""
        self.steps.forget()
        self.session = SessionView(
            preset=self.session.preset,
            llm=self.session.llm,
            max_steps=self.session.max_steps,
            pace=self.session.pace,
            told=self.session.told,
            **opening,
        )
        self.set_mode("opening", message)

    def arrived(self, run: AgentRun, restored: Restored) -> None:
        """The page was brought back, and a branch continues from there."""
        self.opened(run)
        looks: Literal["", "picture"] = "picture" if restored.comparison.only_looks_different else ""
        self.change(doubt="lost" if restored.grade == "lost" else looks)
        level: Literal["info", "warning"] = "info" if restored.verified else "warning"
        self.log(level, "going back", restored.sentence)

    def ended(self, run: AgentRun) -> None:
        verdict = run.verdict
        words = {
            "done": "The run has ended",
            "budget": "The run is out of its budget",
            "stopped": "The run was stopped",
            "gate": "The run ended at a gate",
            "loop": "The run ended in a loop",
            "stuck": "The run ended: the agent was stuck",
        }.get(run.outcome, "The run has ended")
        if verdict.success is None:
            judged = "" if run.state.episode.task.judged else ": say how it ended"
        else:
            judged = ": success" if verdict.success else ": no success"
        tells = verdict.success is False or PARTLY_JUDGED in run.state.episode.task.tags
        why = f" {verdict.reason}" if tells and verdict.reason else ""
        if verdict.reward is not None and "reward" not in why:
            judged += f", reward {round(verdict.reward, 3):g}"
        if verdict.judge == "agent":
            judged += ", by the agent's own environment"
        self.change(success=verdict.success, reward=verdict.reward, answer=run.state.answer)
        self.set_mode("ended", f"{words}{judged}.{why}")
        self.publish_step(run)
        self.send_runs()

    # Steps

    def advanced(self, run: AgentRun, record: PhaseRecord) -> None:
        """A phase has ended, and is stored."""
        if not self.session.saved:
            self.change(saved=True)
        if record.phase == "commit":
            beside = (record.seconds - record.seconds_in_llm) * 1000
            self.change(beside_llm_ms=max(beside, 0.0), doubt="", **self.figures())
            self._send_step_of(run.state.run)
        if run.ended or _is_quiet(record):
            return
        self.publish_step(run)

    def publish_step(self, run: AgentRun) -> None:
        """Send the current step, unless a recorded one is being looked at."""
        self.steps.publish(run, editable=self.session.mode == "waiting")

    def show_recorded(self, run: int, number: int, side: Side | None = None) -> None:
        """Show a stored step over the live page, or the current step if no `side` of it is wanted."""
        if run not in self._expanded:
            self.expand(run)
        under_way = self._current.under_way
        current = under_way is not None and (under_way.state.run, under_way.state.number) == (run, number)
        if current and side is None:
            self.show_now()
        else:
            self.steps.show_recorded(run, number, side)

    def show_now(self) -> None:
        """Show the current step again."""
        self.steps.show_live()
        if self._current.run is not None:
            self.publish_step(self._current.run)
        else:
            self.steps.step_changed.send(StepView(run=0, number=0))

    def on_asked(self, asked: Asked) -> None:
        """Tell of an LLM call, so far."""
        if asked.retry is not None:
            self.log("warning", "LLM", asked.retry.reason)
        if asked.ended and asked.record.error:
            self.log("error", "LLM", f"Call {asked.record.number}: {asked.record.error}")
        self.steps.streamed(asked)

    # The runs, the catalogue, the log

    def expand(self, run: int) -> None:
        """Send the steps of a run, now and when they change, until many others were asked for."""
        self._expanded = [*(one for one in self._expanded if one != run), run][-_EXPANDED:]
        self.send_runs()

    def send_more_runs(self, listed: int) -> None:
        """Send the runs with a page of older ones, in addition to the `listed` that were sent."""
        self._listed.list_more(listed)
        self.send_runs()

    def send_changed_run(self, run: int | None = None) -> None:
        """Send the runs, one of which was changed; None if it is not known which."""
        self._listed.forget(run)
        self.send_runs()

    def send_runs(self, query: str | None = None) -> None:
        """Send the runs that match, with the steps of those that were opened; None for the words as before."""
        store = self._current.store
        if store is None:
            return
        self._listed.look_for(query)
        current = self._current.run.state.run if self._current.run is not None else None
        expanded = tuple(self._expanded)
        self._runs.ask(
            lambda: self._reader.ask(store, lambda file: self._listed.read(file, current, expanded)),
            self.runs_changed.send,
            self._refuse,
        )

    def _send_step_of(self, run: int) -> None:
        """Send the runs, of which the current one has done a step."""
        store = self._current.store
        step = store.under_way(run) if store is not None else None
        if store is None or step is None:
            self.send_runs()
            return
        expanded, rows = tuple(self._expanded), step.own_steps
        self._runs.ask(
            lambda: self._reader.ask(store, lambda file: self._listed.read_step(file, expanded, rows)),
            self.runs_changed.send,
            self._refuse,
        )

    def send_catalogue(self, services: Services) -> None:
        """Send what can be chosen, once it has been read outside the loop: there are many files."""
        self._catalogue.ask(
            lambda: asyncio.to_thread(catalogue_of, services), self.catalogue_changed.send, self._refuse
        )

    def send_question(self, request: LLMRequest | None) -> None:
        if request is None:
            self.question_asked.send(None)
            return
        self.question_asked.send(
            PersonQuestion(
                purpose=request.purpose, messages=request.messages, needs_action=needs_action(request)
            )
        )

    def log(self, level: Literal["info", "warning", "error"], source: str, text: str) -> None:
        line = LogLine(time=time.time(), level=level, source=source, text=text)
        self.logged.send(line)
        if self._current.store is not None:
            run = self._current.run
            try:
                self._current.store.save_log(run.state.run if run is not None else None, line)
            except TraceError:
                return  # What fails in the trace is reported where it matters; a line of the log does not.

    def fail(self, message: str) -> None:
        """Say that the world failed, and what to do."""
        self.set_mode("failed", message)
        self.log("error", "session", message)

    def tell(self, text: str, *, done: bool = True, asks: bool = False, title: str = "") -> None:
        """Say what a command came to; how a run ended or failed stays said next to it. What goes on continues.

        If it `asks`, it is shown until the person answers.
        """
        before = self.session
        told = CommandResult(
            number=before.told.number + 1 if before.told else 1, text=text, done=done, asks=asks, title=title
        )
        self.change(told=told, message=before.message if before.mode in ("ended", "failed") else text)
        if not done:
            self.log("warning", "session", text)

    def crash(self, error: Exception) -> None:
        """Say that the program itself failed; called where the error was caught."""
        log.exception("Internal error", exc_info=error)
        self.fail(mistake(error))


def catalogue_of(services: Services) -> Catalogue:
    """Return what can be chosen, and what is wrong with its files."""
    presets, problems = preset_options(services.resources.presets)
    llms: tuple[LLMChoice, ...] = tuple(services.llms.choices())
    sources = services.environments.sources
    problems += [source.problem for source in sources if source.given and source.problem]
    return Catalogue(
        tasks=services.environments.tasks(),
        presets=presets,
        llms=llms,
        problems=tuple(problems),
        sources=sources,
        profiles=services.host.profiles(),
        allowed_profiles=services.settings.embedded_profiles,
    )


def preset_options(presets: Presets) -> tuple[tuple[PresetOption, ...], list[str]]:
    """Return the presets that can be chosen, and what is wrong with the files of others."""
    options, problems = [], []
    for name in presets.names():
        try:
            preset = presets.get(name)
        except DataError as error:
            problems.append(str(error))
            continue
        recalls = preset.memory is not None
        options.append(
            PresetOption(name=name, title=preset.title, description=preset.description, recalls=recalls)
        )
    return tuple(options), problems


def _is_quiet(record: PhaseRecord) -> bool:
    """Return whether a phase left nothing new to draw."""
    match record:
        case Recalled():
            return record.recalled_at is None
        case Aligned():
            return record.reflection is None
    return record.phase == "review"


def needs_action(request: LLMRequest) -> bool:
    """Return whether a request is answered by an action, and not by words alone."""
    return bool(request.tools) or request.purpose in ("decide", "function", "repair", "remedies")
