"""Saving a run as an exemplar: recorded by hand or not, what is chosen of it, and the library it goes to."""

import asyncio
import contextlib
import json
import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core.debugger.commands import command
from core.debugger.editing.files import AgentFiles
from core.debugger.exemplars.analyses.retrieval import recall_settings
from core.debugger.exemplars.changes import ExemplarChanges, Reversal
from core.debugger.exemplars.prompt import Way, written
from core.debugger.exemplars.saving.selection import Selection, Survey, id_for, selection_of, survey_of_run
from core.debugger.exemplars.saving.views import (
    RecordedSteps,
    RecordingView,
    Saved,
    SavingChoice,
    SavingContrast,
    SavingView,
)
from core.debugger.exemplars.trying.views import ReplayResult
from core.debugger.interventions.live_page import HumanActionRecorder
from core.debugger.job_process import JobProcess, shared_flags
from core.debugger.jobs import Job
from core.debugger.service import Service
from core.debugger.session_view import SessionView
from core.exemplars.checks import check, fault
from core.exemplars.library.records import ANY, Entry, Filter, first_review
from core.exemplars.placeholders import offered, with_placeholders
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.exemplar import Exemplar, Recall, metadata_of
from core.schema.secrets import variable_of
from core.schema.signal import Signal
from core.trace.records import StepRow

if TYPE_CHECKING:
    from core.debugger.session import Session

_REACH = 50
"""How many of the nearest are asked for, to say how near the saved one is."""
_REST_SECONDS = 1.0
"""How long an exemplar has to stay as it is before it is replayed."""
_AT_STEP = re.compile(r"step \d+ of \d+")
_MOST_IDS = 1000
_LINE = 80
_REF = re.compile(r"\[(\d+)\]")
_NOTHING = "Nothing was recorded: you did nothing in the page that can be repeated."
_GIVEN_UP = "The recording stopped because another page was opened. Your steps stay in its run."


class SavingService(Service[SavingView]):
    """Shows a run as an exemplar with what is chosen of it, and saves it."""

    view = SavingView(run=0)

    def failed(self, problem: str) -> None:
        self.show(problem=problem, busy=False)

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self._changes = changes
        self._survey: Survey | None = None
        self._preset_text = ""
        self._opened = 0
        """How often a run was opened: only the last one counts."""
        self._known: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
        """The library's families and tags, and what it has of the run: counted once, as it may be large."""
        self._replayed: Exemplar | None = None
        """What is being replayed, or was last."""
        changes.reversed.connect(self._on_reversed)

    @command
    async def open(
        self, run: int, first: int = 1, last: int | None = None, steps: tuple[int, ...] = ()
    ) -> None:
        """Show what can be kept of a run; of `steps`, if there are any, only those are chosen."""
        await self.stop()
        self._opened += 1
        mine, self._survey, self._replayed = self._opened, None, None
        self.send(SavingView(run=run, busy=True))
        survey, text = await self.read(
            lambda store: (survey_of_run(store, run, first=first, last=last), store.preset_text(run))
        )
        if mine != self._opened:
            return
        self._survey, self._preset_text = survey, text
        self._know(run)
        await self._show_choice(SavingChoice(steps=frozenset(steps) & survey.chosen if steps else None))

    @command
    async def choose(self, choice: SavingChoice) -> None:
        """Show the exemplar as it is with this choice."""
        if self._survey is not None and not self.view.busy:
            await self._show_choice(choice)

    @command
    async def save(self, choice: SavingChoice, *, anyway: bool = False) -> None:
        """Store it; where the run was not a success that is asked about first, unless `anyway`."""
        survey = self._survey
        if survey is None or self.view.busy:
            return
        await self._show_choice(choice)
        view = self.view
        if view.exemplar is None or view.problem:
            return
        if not anyway and (question := _question(survey, view)):
            self.show(question=question)
            return
        library = self.memory.library()
        before = self._changes.before([view.id])
        exemplar = view.exemplar.replace(review=first_review(view.provenance.origin))
        version = library.save(exemplar, view.provenance, why=f"kept from run {view.run}")
        words = f"save “{view.id}”"
        changed = self._changes.made(words, before) is not None
        saved = Saved(
            id=view.id,
            version=version,
            changed=changed,
            unused=_unused(exemplar),
            change=words,
        )
        self.session.log("info", "exemplars", f"{view.id} was saved, version {version}.")
        self.show(saved=saved, busy=True)
        self._keep_result()
        self._know(view.run)
        saved = await self._looked_up(survey, saved)
        if self._survey is survey:
            self.show(saved=saved, busy=False)

    def _on_reversed(self, reversal: Reversal) -> None:
        saved = self.view.saved
        one = next((one for one in reversal.now if saved is not None and one.id == saved.id), None)
        if saved is not None and one is not None:
            self.show(
                saved=saved.replace(undone=one.review.status == "retired" or one.version != saved.version)
            )

    def _know(self, run: int) -> None:
        library = self.memory.library()
        by = library.counts().by
        mine = library.page(Filter(run=run, statuses=ANY), limit=_MOST_IDS)
        earlier = tuple(row.id for row in mine.rows if not row.read_only)
        self._known = (tuple(by["family"]), tuple(by["tag"]), earlier)

    async def _show_choice(self, choice: SavingChoice) -> None:
        """Send the exemplar as it is with this choice, or why there is none."""
        survey = self._survey
        assert survey is not None
        row = survey.row
        families, tags, earlier = self._known
        unused = self.memory.free_id(id_for(row))
        steps = survey.chosen if choice.steps is None else choice.steps
        contrasts = survey.contrasts if choice.contrasts is None else choice.contrasts
        view = SavingView(
            run=row.run,
            ready=True,
            task=f"{row.task}, seed {row.seed}",
            instruction=row.instruction,
            success=row.verdict.success,
            steps=tuple(step.replace(chosen=step.number in steps and step.possible) for step in survey.steps),
            contrasts=tuple(
                SavingContrast(
                    step=step.number,
                    tried=_in_words(step.contrast.tried, step.contrast.observation),
                    right=_in_words(step.contrast.right, step.contrast.observation),
                    chosen=step.number in contrasts,
                    why=choice.reasons.get(step.number, ""),
                )
                for step in survey.steps
                if step.contrast is not None and step.possible
            ),
            id=choice.id or unused,
            version_of=choice.id if choice.id in earlier else "",
            free_id=unused,
            earlier=earlier,
            families=families,
            tags=tags,
        )
        problem = ""
        try:
            if view.id not in (view.version_of, unused):
                self._refuse_taken(view.id)
            kept = selection_of(survey, choice.replace(id=view.id))
        except UsageError as error:
            problem = str(error)
        try:
            if problem:  # If it is only the id that is wrong, the rest can be seen all the same.
                kept = selection_of(survey, choice.replace(id=unused))
        except UsageError as error:
            self._replayed = None
            self.send(view.replace(problem=str(error)))
            await self.stop()  # It can take a while, and nothing waits for it.
            return
        offers = offered(kept.exemplar)
        if choice.placeholders:
            kept = kept.replace(exemplar=with_placeholders(kept.exemplar, offers))
        found = await self._shown_as(kept)
        last, other = self.view, self._replayed
        replayed = other is not None and (other.steps, other.task) == (
            kept.exemplar.steps,
            kept.exemplar.task,
        )
        if replayed:
            view = view.replace(playing=last.playing, played=last.played)
        self.send(view.replace(**found, placeholders=offers, problem=problem))
        if not replayed:
            await self._begin_replay(_REST_SECONDS)

    # The replay

    @property
    def jobs(self) -> tuple[Job, ...]:
        view = self.view
        return (Job(title=f"Replaying run {view.run}", opens="saving", run=view.run),) if view.playing else ()

    @command
    async def replay(self, on: bool) -> None:
        """Replay the exemplar as it is now, or end that: nothing is known of it then."""
        await (self._begin_replay(0) if on else self.stop())

    async def stop(self) -> None:
        await super().stop()
        if self.view.playing:
            self.show(playing="")

    async def _begin_replay(self, rest: float) -> None:
        await self.stop()
        self._replayed = exemplar = self.view.exemplar
        if exemplar is not None:
            self.show(playing="its page is opened", played=None)
            entry = Entry(exemplar=exemplar, provenance=self.view.provenance)
            self.start(partial(self._replay, entry, rest), "")

    async def _replay(self, entry: Entry, rest: float) -> None:
        """Carry it out in a process of its own once it has not been changed for `rest` seconds."""
        result = ReplayResult(id=entry.exemplar.id)
        try:
            await asyncio.sleep(rest)
            result = await self._result_of(entry)
        except (OSError, BackstepError) as error:
            result = result.replace(problem=str(error))
        self.show(playing="", played=result)
        self._keep_result()

    async def _result_of(self, entry: Entry) -> ReplayResult:
        assert self._survey is not None
        services, row, lines = self.services, self._survey.row, list[str]()
        # What a bundled task does is undone by opening it again.
        bundled = entry.exemplar.environment in ("miniwob", "shop", "airline")
        typed = services.tabs.typed_secrets(row.task, row.start_url)
        keys = {variable_of(name): value for name, value in typed.items()}
        with TemporaryDirectory() as folder:
            path = Path(folder) / "entry.json"
            path.write_text(entry.model_dump_json(), encoding="utf-8")
            words = ("exemplars", "replay", *shared_flags(services), "--entry", str(path), "--json")
            gate = ("--on-gate", "allow" if bundled else "refuse")
            ended = await JobProcess().run((*words, *gate), lines.append, self._on_said, keys=keys)
        try:
            (result,) = json.loads("".join(lines))
            return ReplayResult.model_validate(result)
        except ValueError as error:
            raise UsageError(f"the replay failed: {ended.error or 'it gave no result'}") from error

    def _on_said(self, line: str) -> None:
        if _AT_STEP.fullmatch(line):
            self.show(playing=line)

    def _keep_result(self) -> None:
        """Keep the result with what was saved, for the library, if that is what was replayed."""
        saved, played, exemplar = self.view.saved, self.view.played, self.view.exemplar
        if saved is None or saved.undone or played is None or not played.task or exemplar is None:
            return
        kept = played.replace(id=saved.id, version=saved.version)
        self.memory.library().proofs.save("replay", kept.id, kept.when, kept.model_dump_json())

    async def _shown_as(self, kept: Selection) -> dict[str, Any]:
        """Return what the view says of an exemplar."""
        exemplar, run = kept.exemplar, kept.provenance.run
        success = self._survey.row.verdict.success if self._survey is not None else None
        return {
            "exemplar": exemplar,
            "family": exemplar.family,
            "provenance": kept.provenance,
            "prompt": written(exemplar, self.services.resources, Way.of_text(self._preset_text)),
            "key": exemplar.key,
            "problems": await check(
                exemplar,
                run=run,
                is_success=lambda _run: success,
                with_parser=False,
                policies=self.services.resources.policies.callable_names(),
            ),
        }

    async def _looked_up(self, survey: Survey, saved: Saved) -> Saved:
        """Return with what would be retrieved for the task of the run from now on."""
        memory, row = self.memory, survey.row
        first = survey.steps[0].page if survey.steps else ""
        query = metadata_of(row.instruction, first)
        try:
            saved = self._as_recalled(saved)
            near = await memory.like(query, _REACH)
            settings = recall_settings(self.services.resources.presets, saved.preset)
            recall = Recall()
            if saved.recalls:
                recall = await memory.recall(query, settings, environment=row.environment)
        except BackstepError as error:
            return saved.replace(problem=f"The lookup failed: {error}")
        far = next((distance for one, distance in near if one.id == saved.id), None)
        rank = 0 if far is None else sum(distance <= far for _, distance in near)
        found = tuple(sorted(recall.retrieved, key=lambda one: (one.distance, one.id != saved.id)))
        return saved.replace(rank=rank, distance=far, found=found, why=recall.why)

    def _as_recalled(self, saved: Saved) -> Saved:
        """Return it with the preset in use, and whether that looks exemplars up; raises UsageError and DataError."""
        session = self.session.session
        if session.attached:
            return saved.replace(preset="", recalls=False)
        recalls = self.services.resources.presets.get(session.preset).memory is not None
        return saved.replace(preset=session.preset, recalls=recalls)

    @command
    async def use_memory(self) -> None:
        """Let the preset in use look exemplars up, in the user's own copy of its file."""
        survey, saved, name = self._survey, self.view.saved, self.session.session.preset
        if survey is None or saved is None or self.view.busy or self._as_recalled(saved).recalls:
            return
        files, file = AgentFiles(self.services.config), f"presets/{name}.toml"
        files.write(file, f"{files.read(file).rstrip()}\n\n[memory]\n")
        self.session.agent.set_preset(name)
        self.session.log("info", "exemplars", f"[memory] was added to {files.target(file)}.")
        self.show(saved=await self._looked_up(survey, saved))

    def _refuse_taken(self, id: str) -> None:
        if self.memory.taken((id,)):
            other = self.memory.free_id(id)
            raise UsageError(f"The exemplar {id} already exists; choose another id, such as {other}.")


def _in_words(action: str, page: str) -> str:
    """Return an action with the line of the first element that it names by its number."""
    ref = _REF.search(action)
    line = re.search(rf"^\s*\[{ref[1]}\] (.*)$", page, re.MULTILINE) if ref is not None else None
    if line is None:
        return action
    shown = line[1] if len(line[1]) <= _LINE else f"{line[1][: _LINE - 1]}…"
    return f"{action} · {shown}"


def _unused(exemplar: Exemplar) -> str:
    if exemplar.review.status == "new":
        return "It is new: runs find it once it is reviewed in the library (Ctrl+L)."
    words = fault(exemplar)
    return f"It has a fault, so runs do not find it: {words.rstrip('.')}." if words else ""


def _question(survey: Survey, view: SavingView) -> str:
    """Return what is to be known before it is saved, or nothing."""
    if survey.row.verdict.success is True:
        return ""
    run = f"Run {survey.row.run}"
    if survey.row.verdict.success is False:
        return f"{run} failed, and its exemplar teaches the LLM to fail in the same way. Save it anyway?"
    if view.provenance.origin == "demonstration":
        return ""  # Whoever did it knows.
    if survey.row.ended is None:
        return f"{run} has not ended, so it is not known whether it succeeds. Save it anyway?"
    return f"{run} was not judged a success. Save it anyway?"


class RecordingService(Service[RecordingView]):
    """Records what a person does in the page; giving the page back by hand ends a recording as well."""

    view = RecordingView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.recorded: Signal[RecordedSteps] = Signal()
        self._demonstrating: HumanActionRecorder | None = None
        self._first = 0
        """The first step that may be of the recording."""
        session.session_changed.connect(self._on_session)

    def failed(self, problem: str) -> None:
        self.session.tell(problem, done=False)

    @command
    async def record(self, *, fresh: bool) -> None:
        """Give the page to the person and record what they do, with `fresh` from the start of the task."""
        if self.view.recording or self.view.starting:
            return
        session = self.session
        if session.session.mode == "opening":
            raise UsageError("The task is opening. Wait a moment, then record.")
        run = session.agent_run
        if run is None:
            raise UsageError("Open a task first (Ctrl+N), then record how you do it.")
        self.send(RecordingView(starting=True, run=run.state.run))
        try:
            if fresh or run.ended:
                await session.live_page.hand_over(False)
                run = await session.tasks.open_anew()
                if run is None:
                    return
            if session.busy:
                raise UsageError("The agent is acting. Pause it (F5), then record.")
            self._demonstrating = await session.live_page.hand_over(True)
            if self._demonstrating is None:
                await session.live_page.hand_over(False)
                raise UsageError("Your actions in this page cannot be recorded; the Log (Alt+-) shows why.")
            self._first = run.state.number
            self.send(RecordingView(recording=True, run=run.state.run))
        finally:
            if self.view.starting:
                self.send(RecordingView())

    @command
    async def finish(self) -> None:
        """Take the page back and hand over what was recorded; a task that is over is ended."""
        if self.view.recording:
            await self.session.live_page.hand_over(False)
            self._finish()

    @command
    async def cancel(self) -> None:
        """Take the page back and keep nothing; the steps stay in the run."""
        if self.view.recording:
            self.send(RecordingView())
            self._demonstrating = None
            await self.session.live_page.hand_over(False)
            self.session.tell("The recording was discarded. Your steps stay in the run.")

    def _finish(self) -> None:
        """Hand over what was recorded, or say that nothing was."""
        view, self._demonstrating = self.view, None
        if not view.recording:
            return
        self.send(RecordingView())
        steps = tuple(step.number for step in self._steps(view.run))
        if not steps:
            self.session.tell(_NOTHING, done=False)
            return
        self.recorded.send(RecordedSteps(run=view.run, steps=steps))

    def _steps(self, run: int) -> list[StepRow]:
        """Return the steps of the recording, raising TraceError."""
        rows = self.services.store.own_steps(run)
        return [row for row in rows if row.number >= self._first and row.sealed and row.origin == "person"]

    def _on_session(self, view: SessionView) -> None:
        """Follow the run: count its steps, and end with it."""
        if not self.view.recording:
            return
        if view.run != self.view.run:
            self._demonstrating = None
            self.send(RecordingView())
            self.session.log("warning", "recording", _GIVEN_UP)
            return
        if not view.handed_over or (self._demonstrating is not None and self._demonstrating.over):
            # The page is being given back, or the task is over: the rest is done once that is.
            self.finish()
            return
        with contextlib.suppress(TraceError, UsageError):
            steps = self._steps(view.run)
            if len(steps) != self.view.steps:
                last = steps[-1] if steps else None
                self.show(steps=len(steps), last=last)
