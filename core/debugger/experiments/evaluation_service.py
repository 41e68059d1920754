"""Trying exemplars out at the window: in a process of its own, which tells by lines how far it is."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.debugger.csv_files import write_table
from core.debugger.experiments.attribution import kept_credits
from core.debugger.experiments.evaluation import about, members_of, sources_of, tasks_of
from core.debugger.experiments.evaluation_views import ProvingView, ReplayedRow, as_csv
from core.debugger.experiments.records import Experiment, Replayed, ReplayTally, Subject, WorthWanted, summed
from core.debugger.experiments.subprocess import ProcessApart
from core.debugger.service import telling
from core.debugger.session import Session
from core.memory.library.records import Counts
from core.memory.library.store import Library
from core.memory.memory import Memory
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal

_SHOWN = 5000
"""Exemplars whose last replay is shown."""

WorthCommand = Callable[[WorthWanted, Path], Sequence[str]]
ReplayCommand = Callable[[tuple[str, ...], Path], Sequence[str]]


class ProvingDesk:
    """The `ProvingDeskCommands` of the window."""

    def __init__(self, session: Session, worth: WorthCommand, replay: ReplayCommand, browser: str) -> None:
        """`worth` and `replay` give the words of the process; `browser` says what its pages are opened in."""
        self.changed: Signal[ProvingView] = Signal()
        self._session = session
        self._worth = worth
        self._replay = replay
        self._view = ProvingView(browser=browser)
        self._process = ProcessApart()
        self._going: asyncio.Task[None] | None = None
        session.closers.append(self._close)

    def open(self, subject: Subject | None) -> None:
        async def work() -> None:
            self._send({"subject": subject, "problem": "", "notice": ""})
            self._show()

        self._post(work)

    def start(self, wanted: WorthWanted) -> None:
        async def work() -> None:
            self._check(wanted)
            words = self._worth(wanted, self._session.workshop().store.path)
            self._begin(words, self._tell_experiment, "The experiment")

        self._post(work)

    def replay(self, ids: tuple[str, ...]) -> None:
        async def work() -> None:
            memory = self._memory()
            if not ids and not memory.listing().page(limit=1).total:
                raise UsageError("There are no exemplars yet: keep a run as one, or import some.")
            words = self._replay(ids, self._session.workshop().store.path)
            self._begin(words, self._tell_tally, "Replaying")

        self._post(work)

    def cancel(self) -> None:
        async def work() -> None:
            self._process.cancel()

        self._post(work)

    def export(self, experiment: Experiment, path: str) -> None:
        async def work() -> None:
            notice = await write_table(path, as_csv(experiment))
            self._session.log("info", "export", notice)
            self._send({"notice": notice, "problem": ""})

        self._post(work)

    # What goes on

    def _check(self, wanted: WorthWanted) -> None:
        """Raise BackstepError for what the process would only refuse."""
        workshop = self._session.workshop()
        memory = workshop.knowledge.memory
        sources = sources_of(members_of(memory, wanted.subject))
        tasks_of(wanted.tasks, workshop.environments.tasks(), sources)
        preset = workshop.knowledge.presets.get(wanted.preset)
        if preset.memory is None:
            raise UsageError(
                f"The preset {wanted.preset} recalls no exemplars: choose one with memory, such as synapse."
            )
        name = wanted.llm or workshop.settings.llm
        workshop.llms.routed(name)
        if name == "person":
            raise UsageError("You cannot answer in the background: choose another LLM than yourself.")

    def _begin(self, words: Sequence[str], tell: Callable[[str], None], what: str) -> None:
        if self._going is not None and not self._going.done():
            raise UsageError("Something is being tried out already: wait for its end, or cancel it.")
        self._send({"starting": True, "problem": "", "notice": ""})
        self._going = asyncio.ensure_future(self._carry_out(words, tell, what))

    async def _carry_out(self, words: Sequence[str], tell: Callable[[str], None], what: str) -> None:
        problem, notice = "", ""
        try:
            ended = await self._process.run(words, tell)
            view = self._view
            is_whole = view.tally is not None and view.tally.done == view.tally.wanted
            failed = view.experiment is None or view.experiment.state in ("running", "failed")
            if ended.cancelled:
                notice = f"{what} was cancelled; what was found out is kept."
            elif ended.code and failed and not is_whole:
                why = view.experiment.why if view.experiment is not None else ""
                problem = f"{what} failed: {why or ended.told}"
            elif view.tally is not None:
                notice = view.tally.sentence
            elif view.experiment is not None:
                notice = view.experiment.sentence
        except OSError as error:
            problem = f"{what} could not be begun ({error.strerror}); see whether Backstep is whole."
        self._send({"experiment": None, "tally": None, "starting": False})
        try:
            self._show()
        except BackstepError as error:
            problem = problem or str(error)
        self._send({"problem": problem, "notice": notice})
        with contextlib.suppress(BackstepError):
            self._session.send_runs(self._session.query)

    def _tell_experiment(self, line: str) -> None:
        with contextlib.suppress(ValidationError):
            self._send({"experiment": Experiment.model_validate_json(line), "starting": False})
            self._session.send_runs(self._session.query)

    def _tell_tally(self, line: str) -> None:
        with contextlib.suppress(ValidationError):
            self._send({"tally": ReplayTally.model_validate_json(line), "starting": False})

    async def _close(self) -> None:
        """End what goes on, since the session is closed; what was found out is kept."""
        going = self._going
        if going is None or going.done():
            return
        await self._process.let_go()
        going.cancel()
        await asyncio.wait([going])

    # Reading

    def _show(self) -> None:
        """Read what is known and send it; raises LibraryError and DataError."""
        memory = self._memory()
        workshop = self._session.workshop()
        library = memory.listing()
        subject = self._view.subject
        changes: dict[str, Any] = {
            "ready": True,
            "families": _families(library.counts()),
            "tasks": tuple(one.id for one in workshop.environments.tasks()),
            "experiments": _experiments(library, subject),
            "replays": _replays(library),
            "credits": summed(kept_credits(library)),
            "trace": str(workshop.store.path.absolute()),
            "recorded_at": (),
            "versions": (),
        }
        if subject is not None:
            try:
                changes["recorded_at"] = sources_of(members_of(memory, subject))
                if subject.kind != "family" and library.has([subject.name]):
                    changes["versions"] = tuple(one.number for one in library.versions(subject.name))
            except UsageError as error:
                changes["problem"] = str(error)
        self._send(changes)

    def _memory(self) -> Memory:
        return self._session.workshop().knowledge.memory

    def _send(self, changes: dict[str, Any]) -> None:
        self._view = self._view.replace(**changes)
        self.changed.send(self._view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._session.queue(telling(work, lambda words: self._send({"problem": words})))


def _families(counts: Counts) -> tuple[str, ...]:
    return tuple(sorted(counts.by.get("family", {})))


def _experiments(library: Library, subject: Subject | None) -> tuple[Experiment, ...]:
    found: list[Experiment] = []
    for number, content in library.proofs("worth", [] if subject is None else [about(subject)]):
        with contextlib.suppress(ValidationError):  # One that a later program has written.
            found.append(Experiment.model_validate_json(content).replace(number=number))
    return tuple(found)


def _replays(library: Library) -> tuple[ReplayedRow, ...]:
    found: list[ReplayedRow] = []
    for content in list(library.latest_proofs("replay").values())[:_SHOWN]:
        with contextlib.suppress(ValidationError):
            one = Replayed.model_validate_json(content)
            found.append(ReplayedRow(found=one, **_standing(library, one)))
    order = {False: 0, None: 1, True: 2}
    return tuple(sorted(found, key=lambda row: (order[row.found.success], row.found.id)))


def _standing(library: Library, found: Replayed) -> dict[str, bool]:
    if not library.has([found.id]):
        return {}  # One of a file, which has no versions.
    entry = library.get(found.id)
    return {"is_old": entry.version != found.version, "is_there": not entry.exemplar.archived}
