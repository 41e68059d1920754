"""Keeping a run as an exemplar at the window: what is chosen of it, how it is told, and the library it goes to."""

import re
from collections.abc import Callable, Coroutine
from typing import Any

from core.agent.presets import MemoryTable
from core.debugger.background_read import ask_file
from core.debugger.exemplars.prompt import Way, messages_of
from core.debugger.exemplars.saving.selection import Kept, Survey, id_for, kept_of, survey_of_run
from core.debugger.exemplars.saving.views import Choice, KeepContrast, KeepStep, KeepView, Saved
from core.debugger.service import telling
from core.debugger.services import Workshop
from core.debugger.session import Session
from core.llm.tokens import count_tokens
from core.memory.checks import check
from core.memory.library.records import Filter
from core.schema.errors import BackstepError, DataError, UsageError
from core.schema.exemplar import metadata_of
from core.schema.messages import Message
from core.schema.recall import RecallSettings
from core.schema.signal import Signal

_REACH = 50
"""How many of the nearest are asked for, to say how near the saved one is."""
_MOST_IDS = 1000
_LINE = 80
_REF = re.compile(r"\[(\d+)\]")


class KeepDesk:
    """The `KeepDeskCommands` of the window."""

    def __init__(self, session: Session) -> None:
        self.changed: Signal[KeepView] = Signal()
        self._session = session
        self._view = KeepView(run=0)
        self._survey: Survey | None = None
        self._preset_text = ""
        self._opened = 0
        """How often a run was opened: only the last one counts."""
        self._known: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
        """The library's families and tags, and what it has of the run: counted once, as it may be large."""
        self._before = 0
        """The version that was current before the last one was saved; 0 for none."""

    def open(self, run: int, first: int = 1, last: int | None = None, steps: tuple[int, ...] = ()) -> None:
        async def work() -> None:
            self._opened += 1
            mine, self._survey = self._opened, None
            self._send(KeepView(run=run, busy=True))
            survey, text = await ask_file(
                self._session.store,
                lambda store: (survey_of_run(store, run, first=first, last=last), store.preset_text(run)),
            )
            if mine != self._opened:
                return
            self._survey, self._preset_text = survey, text
            self._know(run)
            await self._show(Choice(steps=frozenset(steps) & survey.chosen if steps else None))

        self._post(work)

    def choose(self, choice: Choice) -> None:
        async def work() -> None:
            if self._survey is not None and not self._view.busy:
                await self._show(choice)

        self._post(work)

    def save(self, choice: Choice, *, anyway: bool = False) -> None:
        async def work() -> None:
            survey = self._survey
            if survey is None or self._view.busy:
                return
            await self._show(choice)
            view = self._view
            if view.exemplar is None or view.problem:
                return
            if not anyway and (question := _question(survey, view)):
                self._send(view.replace(question=question))
                return
            library = self._workshop().knowledge.memory.library()
            known = library.has([view.id])
            self._before = library.get(view.id).version if known else 0
            version = library.save(view.exemplar, view.provenance, why=f"kept from run {view.run}")
            saved = Saved(id=view.id, version=version, changed=version != self._before)
            self._session.log("info", "exemplars", f"{view.id} was saved, version {version}.")
            self._send(view.replace(saved=saved, busy=True))
            self._know(view.run)
            saved = await self._looked_up(survey, saved)
            if self._survey is survey:
                self._send(self._view.replace(saved=saved, busy=False))

        self._post(work)

    def undo(self) -> None:
        async def work() -> None:
            saved = self._view.saved
            if saved is None or saved.undone or not saved.changed:
                return
            library = self._workshop().knowledge.memory.library()
            if self._before:
                library.make_current(saved.id, self._before)
                words = f"{saved.id} is as it was, version {self._before}."
            else:
                library.archive(saved.id)
                words = f"{saved.id} is in the archive, where it is not found."
            self._session.log("info", "exemplars", words)
            self._send(self._view.replace(saved=saved.replace(undone=True)))

        self._post(work)

    def _know(self, run: int) -> None:
        library = self._workshop().knowledge.memory.listing()
        by = library.counts().by
        mine = library.page(Filter(run=run, archived=None), limit=_MOST_IDS)
        earlier = tuple(one.id for one in mine.rows if not one.read_only)
        self._known = (tuple(by["family"]), tuple(by["tag"]), earlier)

    async def _show(self, choice: Choice) -> None:
        """Send the exemplar as it is with this choice, or why there is none."""
        survey = self._survey
        assert survey is not None
        workshop, row = self._workshop(), survey.row
        families, tags, earlier = self._known
        free_id = self._free_id(id_for(row))
        steps = survey.chosen if choice.steps is None else choice.steps
        contrasts = survey.contrasts if choice.contrasts is None else choice.contrasts
        view = KeepView(
            run=row.run,
            ready=True,
            task=f"{row.task}, seed {row.seed}",
            instruction=row.instruction,
            success=row.verdict.success,
            steps=tuple(
                KeepStep(
                    row=one.row,
                    thought=one.thought,
                    chosen=one.number in steps and one.possible,
                    possible=one.possible,
                    why=one.why,
                )
                for one in survey.steps
            ),
            contrasts=tuple(
                KeepContrast(
                    step=one.number,
                    tried=_in_words(one.contrast.tried, one.contrast.observation),
                    right=_in_words(one.contrast.right, one.contrast.observation),
                    chosen=one.number in contrasts,
                    why=choice.reasons.get(one.number, ""),
                )
                for one in survey.steps
                if one.contrast is not None and one.possible
            ),
            id=choice.id or free_id,
            version_of=choice.id if choice.id in earlier else "",
            free_id=free_id,
            earlier=earlier,
            families=families,
            tags=tags,
        )
        problem = ""
        try:
            if view.id not in (view.version_of, free_id):
                self._check_free(view.id)
            kept = kept_of(survey, choice.replace(id=view.id))
        except UsageError as error:
            problem = str(error)
        try:
            if problem:  # Where it is only the id that is wrong, the rest can be seen all the same.
                kept = kept_of(survey, choice.replace(id=free_id))
        except UsageError as error:
            self._send(view.replace(problem=str(error)))
            return
        found = await self._told(workshop, kept)
        self._send(view.replace(**found, problem=problem))

    async def _told(self, workshop: Workshop, kept: Kept) -> dict[str, Any]:
        """Return what the view says of an exemplar."""
        exemplar, run = kept.exemplar, kept.provenance.run
        success = self._survey.row.verdict.success if self._survey is not None else None
        messages: tuple[Message, ...] = ()
        untold = ""
        try:
            knowledge = workshop.knowledge
            messages = messages_of(exemplar, knowledge, Way.of_text(self._preset_text))
        except DataError as error:
            untold = str(error)
        return {
            "exemplar": exemplar,
            "family": exemplar.family,
            "provenance": kept.provenance,
            "messages": messages,
            "untold": untold,
            "tokens": sum(count_tokens(one.text) for one in messages),
            "key": exemplar.key,
            "problems": await check(exemplar, run=run, is_success=lambda _run: success, with_parser=False),
        }

    async def _looked_up(self, survey: Survey, saved: Saved) -> Saved:
        """Return with what would be retrieved for the task of the run from now on."""
        memory, row = self._workshop().knowledge.memory, survey.row
        first = survey.steps[0].page if survey.steps else ""
        query = metadata_of(row.instruction, first)
        try:
            near = await memory.like(query, _REACH)
            recall = await memory.recall(query, self._settings(row.preset), environment=row.environment)
        except BackstepError as error:
            return saved.replace(problem=f"It could not be looked up: {error}")
        far = next((distance for one, distance in near if one.id == saved.id), None)
        rank = 0 if far is None else sum(distance <= far for _, distance in near)
        found = tuple(sorted(recall.retrieved, key=lambda one: (one.distance, one.id != saved.id)))
        return saved.replace(rank=rank, distance=far, found=found, why=recall.why)

    def _settings(self, preset: str) -> RecallSettings:
        """Return how the run's preset recalls, as it is now; as presets do where it has no memory, or is gone."""
        try:
            table = self._workshop().knowledge.presets.get(preset).memory
        except BackstepError:
            table = None
        return table or MemoryTable()

    def _free_id(self, wanted: str) -> str:
        """Return an id that nothing has: `wanted`, or with a number behind it."""
        names = (wanted, *(f"{wanted}-{number}" for number in range(2, _MOST_IDS)))
        taken = self._taken(names)
        return next((one for one in names if one not in taken), wanted)

    def _check_free(self, id: str) -> None:
        if id in self._taken((id,)):
            raise UsageError(
                f"There is an exemplar {id} already: choose another id, such as {self._free_id(id)}."
            )

    def _taken(self, ids: tuple[str, ...]) -> set[str]:
        memory = self._workshop().knowledge.memory
        library = memory.open_library()
        inside = library.has(ids) if library is not None else set()
        return inside | ({one.id for _, one in memory.file_members()} & set(ids))

    def _workshop(self) -> Workshop:
        return self._session.workshop()

    def _send(self, view: KeepView) -> None:
        self._view = view
        self.changed.send(view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._session.queue(
            telling(
                work,
                lambda words: self._send(self._view.replace(problem=words, busy=False)),
            )
        )


def _in_words(action: str, page: str) -> str:
    """Return an action with the line of the first element that it names by its number."""
    ref = _REF.search(action)
    line = re.search(rf"^\s*\[{ref[1]}\] (.*)$", page, re.MULTILINE) if ref is not None else None
    if line is None:
        return action
    told = line[1] if len(line[1]) <= _LINE else f"{line[1][: _LINE - 1]}…"
    return f"{action} · {told}"


def _question(survey: Survey, view: KeepView) -> str:
    """Return what is to be known before it is saved, or nothing."""
    if survey.row.verdict.success is True:
        return ""
    run = f"Run {survey.row.run}"
    if survey.row.verdict.success is False:
        return f"{run} was judged no success: what did not succeed teaches the LLM to do the same. Save it anyway?"
    if view.provenance.origin == "demonstration":
        return ""  # Whoever did it knows.
    if survey.row.ended is None:
        return f"{run} has not ended, so nobody knows yet whether it succeeds. Save it anyway?"
    return f"Nobody has judged {run} a success. Save it anyway?"
