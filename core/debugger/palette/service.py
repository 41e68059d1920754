"""The data of the command palette: runs and exemplars by words, and all policies and settings."""

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING, get_args

from core.debugger.background_read import LatestRead
from core.debugger.commands import command
from core.debugger.exemplars.library.listing import LibraryReader
from core.debugger.palette.views import MatchingExemplars, MatchingRuns, PolicyRow, ResourcesView, SettingRow
from core.debugger.service import Service
from core.debugger.services import Services
from core.exemplars.library.records import Filter
from core.schema.errors import TraceError
from core.schema.signal import Signal
from core.settings.settings import FileSettings
from core.storage.resources import RESOURCES
from core.trace.records import RunFilter, RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.exemplars.library.store import Library

EXEMPLARS = 20
"""Exemplars that are sent for one question."""
_MEANING = re.compile(r"^\| (`[^|]*`) \| ([^|]*) \|", re.MULTILINE)


class PaletteService(Service[MatchingRuns]):
    """Sends what was found; of several queries in a row, only the last is answered."""

    view = MatchingRuns()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.exemplars_found: Signal[MatchingExemplars] = Signal()
        self.resources_listed: Signal[ResourcesView] = Signal()
        self._library = LibraryReader(lambda: self.memory)
        self._exemplars = LatestRead(session.crash)

    def failed(self, problem: str) -> None:
        self.session.tell(problem, done=False)

    async def close(self) -> None:
        self._exemplars.withdraw()
        await self._exemplars.settled()
        await self._library.close()
        await super().close()

    @command
    async def find_runs(self, words: str, limit: int) -> None:
        """Send the runs that match the words; the newest if there are none."""
        await self.answer(
            "runs",
            lambda store: MatchingRuns(words=words, rows=runs_of(store, words, limit)),
            self.send,
            lambda problem: MatchingRuns(words=words, problem=problem),
        )

    @command
    async def find_exemplars(self, words: str) -> None:
        """Send the exemplars that match the words."""

        def read(library: "Library") -> MatchingExemplars:
            page = library.page(Filter(words=words), order="changed", offset=0, limit=EXEMPLARS)
            return MatchingExemplars(words=words, rows=page.rows)

        self._exemplars.withdraw()
        self._exemplars.ask(
            lambda: self._library.ask(read),
            self.exemplars_found.send,
            lambda problem: self.exemplars_found.send(MatchingExemplars(words=words, problem=problem)),
        )
        await self._exemplars.settled()

    @command
    async def list_resources(self, runs: tuple[int, ...] = ()) -> None:
        """Send the policies and settings there are, and those of these runs that are there."""
        listed = await asyncio.to_thread(resources_of, self.services)
        if runs:
            with suppress(TraceError):  # Which is told where runs are listed.
                listed = listed.replace(runs=await self.read(lambda store: store.rows(runs)))
        self.resources_listed.send(listed)

    @command
    async def show_run(self, run: int) -> None:
        """Show the last step of a run."""
        steps = await self.read(lambda store: store.steps(run))
        if steps:
            self.session.show_recorded(run, steps[-1].number)
        else:
            self.session.tell(f"Run {run} has no steps to show.", done=False)


def runs_of(store: TraceStore, words: str, limit: int) -> tuple[RunRow, ...]:
    """Return runs that match by number, name, outcome or content, in this order; within each, the newest first."""
    found: dict[int, RunRow] = {}

    def add(rows: tuple[RunRow, ...]) -> None:
        for row in rows:
            found.setdefault(row.run, row)

    if words.isdecimal() and len(words) < 16:
        add(store.rows([int(words)]))
    if words:
        add(store.named_runs(words, limit=limit))
    for outcome in get_args(RunFilter):
        if outcome and outcome == words.lower():
            add(store.runs(outcome=outcome, limit=limit))
    add(store.runs(words, limit=limit))
    return tuple(found.values())[:limit]


def resources_of(services: Services) -> ResourcesView:
    """Return the policies whose files can be read, and the keys of the settings file with what holds now."""
    policies = services.resources.policies
    meanings = setting_meanings()
    return ResourcesView(
        policies=tuple(PolicyRow(id=id, path=policies.path_of(id)) for id in policies.names()),
        settings=tuple(
            SettingRow(
                name=name, value=_value(getattr(services.settings, name)), meaning=meanings.get(name, "")
            )
            for name in FileSettings.model_fields
        ),
    )


def setting_meanings() -> dict[str, str]:
    """Return what the keys of the settings file mean, as the documentation says it."""
    text = (RESOURCES / "docs" / "llms.md").read_text(encoding="utf-8")
    section = text.partition("## settings.toml")[2]
    found: dict[str, str] = {}
    for names, meaning in _MEANING.findall(section):
        for name in re.findall(r"`([^`]+)`", names):
            found.setdefault(name, re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", meaning).strip())
    return found


def _value(value: object) -> str:
    """Return a setting as one line of words."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict() | tuple():
            return ", ".join(str(one) for one in value) or "none"
        case None:
            return "by default"
    return str(value) or "none"


make_service = PaletteService
