"""What a session announces: the snapshots of the window, kept, changed and sent."""

import time
from typing import Any, Literal

from core.agent.llm_calls import Asked
from core.agent.loop import AgentRun
from core.agent.prompt_builder import targets
from core.debugger.services import Workshop
from core.debugger.snapshots import (
    ActionView,
    Catalogue,
    LivePageView,
    Mode,
    OutlineView,
    PersonQuestion,
    Picked,
    Preset,
    RunsView,
    SessionView,
    StepView,
)
from core.debugger.views.agent import mechanisms_of
from core.debugger.views.step import ref_of, step_view
from core.schema.errors import DataError, TraceError
from core.schema.log import LogLine
from core.schema.messages import LLMChoice, LLMRequest
from core.schema.restore import Restored
from core.schema.signal import Signal
from core.schema.step import Aligned, PhaseRecord, Recalled
from core.trace.store import TraceStore

_DECIDING = ("decide", "rationale", "function", "repair")
"""Purposes whose reply becomes the next action, and is shown there as it comes."""


class Publisher:
    """Holds the last snapshot of each kind and sends the next."""

    def __init__(self) -> None:
        self.catalogue_changed: Signal[Catalogue] = Signal()
        self.session_changed: Signal[SessionView] = Signal()
        self.live_page_changed: Signal[LivePageView] = Signal()
        self.runs_changed: Signal[RunsView] = Signal()
        self.step_changed: Signal[StepView] = Signal()
        self.question_asked: Signal[PersonQuestion | None] = Signal()
        self.picked: Signal[Picked] = Signal()
        self.logged: Signal[LogLine] = Signal()
        self.session = SessionView()
        self.agent_run: AgentRun | None = None
        self.store: TraceStore | None = None
        self._step: StepView | None = None
        self._recorded: tuple[int, int] | None = None
        self.query = ""
        self._expanded: list[int] = []

    # The session

    def change(self, **values: Any) -> None:
        self.session = self.session.replace(**values)
        self.session_changed.send(self.session)

    def set_mode(self, mode: Mode, message: str = "", *, stopped_at: str = "") -> None:
        self.change(mode=mode, message=message, stopped_at=stopped_at, **self.figures())

    def figures(self) -> dict[str, Any]:
        """Return what the run has come to, as fields of the session's snapshot."""
        run = self.agent_run
        if run is None:
            return {}
        totals = run.state.totals
        return {
            "step": run.state.number,
            "phase": None if run.ended else run.next_phase,
            "calls": totals.llm_calls,
            "tokens": totals.prompt_tokens + totals.completion_tokens,
            "cost": totals.cost,
            "mechanisms": mechanisms_of(run.state),
            "trial": run.state.trial,
        }

    def begin(self, task: str, seed: int) -> None:
        """A task is being opened."""
        self.moving(task, seed, f"Opening {task}…")

    def opened(self, run: AgentRun) -> None:
        """A run has begun."""
        episode = run.state.episode
        self.change(
            run=run.state.run,
            instruction=episode.instruction,
            judged=episode.task.judged,
            message="Reading the page…",
        )
        self._expanded = [run.state.run]
        self.send_runs(self.query)

    def moving(self, task: str, seed: int, message: str) -> None:
        """A page is being opened, or brought back to a step."""
        self._recorded = None
        self.session = SessionView(
            preset=self.session.preset,
            llm=self.session.llm,
            max_steps=self.session.max_steps,
            pace=self.session.pace,
            task=task,
            seed=seed,
        )
        self.set_mode("opening", message)

    def arrived(self, run: AgentRun, restored: Restored) -> None:
        """The page was brought back, and a branch goes on from there."""
        self.opened(run)
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
        }.get(run.outcome, "The run has ended")
        if verdict.success is None:
            judged = "" if run.state.episode.task.judged else ": say how it ended"
        else:
            judged = ": success" if verdict.success else ": no success"
        if verdict.reward is not None:
            judged += f", reward {verdict.reward:g}"
        self.change(success=verdict.success, reward=verdict.reward, answer=run.state.answer)
        self.set_mode("ended", f"{words}{judged}.")
        self.publish_step(run)
        self.send_runs(self.query)

    # Steps

    def advanced(self, run: AgentRun, record: PhaseRecord) -> None:
        """A phase has ended, and is stored."""
        if not self.session.saved:
            self.change(saved=True)
        if record.phase == "commit":
            beside = (record.seconds - record.seconds_in_llm) * 1000
            self.change(beside_llm_ms=max(beside, 0.0), **self.figures())
            self.send_runs(self.query)
        if run.ended or _is_quiet(record):
            return
        self.publish_step(run)

    def publish_step(self, run: AgentRun) -> None:
        """Send the step under way, unless a recorded one is being looked at."""
        if self.store is None:
            return
        number = run.begun  # Until the next step has begun, the one before it is what there is to see.
        if number == 0:
            return
        detail, row = self.store.step(run.state.run, number), self.store.run(run.state.run)
        view = step_view(self.store, row, detail, live=True)
        if run.next_phase == "review" and not run.ended:
            view = self._with_pending(run, view)
        self._step = view
        if self._recorded is None:
            self.step_changed.send(view)
        self.send_live_page(run, view)

    def _with_pending(self, run: AgentRun, view: StepView) -> StepView:
        pending = run.state.pending
        action = view.action.replace(
            action=str(pending.action) if pending.action is not None else "",
            proposed=str(pending.proposed) if pending.edited and pending.proposed is not None else "",
            origin=pending.origin,
            message=pending.problem,
            editable=self.session.mode == "waiting",
            outcome="pending",
            queue=tuple(str(one) for one in run.state.queue),
        )
        permissible = view.permissible.replace(chosen=action.action, chosen_ref=ref_of(pending.action))
        return view.replace(action=action, permissible=permissible)

    def show_problem(self, problem: str) -> None:
        """Say why an action that a person wrote cannot be taken."""
        if self._step is None:
            return
        action = self._step.action.replace(problem=problem)
        self._step = self._step.replace(action=action)
        if self._recorded is None:
            self.step_changed.send(self._step)

    def streamed(self, asked: Asked) -> None:
        """The LLM has said more."""
        if self._step is None or self._recorded is not None or asked.ended:
            return
        if asked.record.purpose not in _DECIDING:
            return
        old = self._step.action
        action = ActionView(outcome="thinking", streaming=asked.text, form=old.form, elements=old.elements)
        self.step_changed.send(self._step.replace(action=action))

    def show_recorded(self, run: int, number: int) -> None:
        """Show a stored step over the live page."""
        if self.store is None:
            return
        if self._is_live(run, number):
            self.show_live()
            if self.agent_run is not None:
                self.publish_step(self.agent_run)
            return
        detail, row = self.store.step(run, number), self.store.run(run)
        self._recorded = (run, number)
        self.step_changed.send(step_view(self.store, row, detail, live=False))

    def _is_live(self, run: int, number: int) -> bool:
        current = self.agent_run
        return (
            current is not None
            and not current.ended
            and (current.state.run, current.state.number) == (run, number)
        )

    def show_live(self) -> None:
        self._recorded = None

    # The live page, the runs, the catalogue, the log

    def send_live_page(self, run: AgentRun, view: StepView) -> None:
        capture = run.state.capture
        if capture is None:
            return
        observation = capture.observation
        shown = run.next_phase in ("recall", "abstract", "decide", "anticipate", "review") and not run.ended
        wanted = set(targets(run.state)) if shown else set()
        chosen = view.permissible.chosen_ref
        outlines = tuple(
            OutlineView(ref=element.ref, box=element.box, chosen=element.ref == chosen)
            for element in observation.elements
            if element.in_viewport and (element.ref in wanted or (shown and element.ref == chosen))
        )
        self.live_page_changed.send(
            LivePageView(
                tabs=observation.tabs, url=observation.url, outlines=outlines, viewport=observation.viewport
            )
        )

    def expand(self, run: int) -> None:
        if run not in self._expanded:
            self._expanded.append(run)
        self.send_runs(self.query)

    def send_runs(self, query: str = "") -> None:
        """Send the runs that match, with the steps of those that were opened."""
        if self.store is None:
            return
        self.query = query
        current = self.agent_run.state.run if self.agent_run is not None else None
        rows = self.store.runs(query)
        shown = tuple(row for row in rows if row.steps or row.run == current or row.outcome == "running")
        listed = {row.run for row in shown}
        self.runs_changed.send(
            RunsView(
                runs=shown,
                total=max(self.store.count_runs(query) - (len(rows) - len(shown)), len(shown)),
                query=query,
                current=current,
                steps={run: self.store.own_steps(run) for run in self._expanded if run in listed},
            )
        )

    def send_catalogue(self, workshop: Workshop) -> None:
        presets, problems = [], []
        for name in workshop.knowledge.presets.names():
            try:
                preset = workshop.knowledge.presets.get(name)
                presets.append(
                    Preset(
                        name=name,
                        title=preset.title,
                        description=preset.description,
                        recalls=preset.memory is not None,
                    )
                )
            except DataError as error:
                problems.append(str(error))
        llms: tuple[LLMChoice, ...] = tuple(workshop.llms.choices())
        sources = workshop.environments.sources
        problems += [source.problem for source in sources if source.given and source.problem]
        self.catalogue_changed.send(
            Catalogue(
                tasks=workshop.environments.tasks(),
                presets=tuple(presets),
                llms=llms,
                problems=tuple(problems),
                sources=sources,
                profiles=workshop.host.profiles(),
            )
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
        if self.store is not None:
            try:
                self.store.save_log(self.agent_run.state.run if self.agent_run is not None else None, line)
            except TraceError:
                return  # What fails in the trace is told where it matters; a line of the log does not.


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
