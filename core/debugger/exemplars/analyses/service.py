"""The analyses of exemplars: a job on the current index, and a view with its progress.

These are trial lookups, leave-one-out, and the map. Near duplicates are in
`core.debugger.exemplars.analyses.duplicates`.
"""

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.agent.abstraction import clean_of
from core.agent.presets import Presets
from core.debugger.commands import command
from core.debugger.exemplars.analyses.views import (
    AnalysisView,
    BenchQuery,
    BenchView,
    LeaveOneOutView,
    MapView,
    NearOnMap,
    Table,
    TaskOnMap,
)
from core.debugger.service import JobService, write_table
from core.memory.analysis.records import LeftOutExemplar, MemberFound
from core.memory.memory import Memory
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, RecallSettings, metadata_of
from core.schema.step import Observed, Recalled, record_of
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.analysis.map import Projection
    from core.memory.index import ExemplarIndex

AnyAnalysisView = TypeVar("AnyAnalysisView", bound=AnalysisView)
_STATE = "\nState:\n"
_SHOWN = 20
"""How often the tables are filled while it continues, at most."""
NEAREST = 5
"""To the task, that lines lead to."""
_LONELY = 12
_READ = 5000


class AnalysisService(JobService[AnyAnalysisView]):
    """The base of the analyses. A new job replaces the current one; the results of a cancelled job stay in
    the view.
    """

    async def analyse(self, doing: str, work: Callable[[], Awaitable[None]]) -> None:
        """Begin the job in place of the current one."""
        await self.stop()
        self.begin(doing, work, problem="", notice="")

    async def with_index(self, use: "Callable[[ExemplarIndex], Awaitable[None]]") -> None:
        """Do something with the fresh index; how far the embedding is shows as the job's progress."""
        await self.memory.looked_up(use, self.reporting("Embedding texts"))


class RetrievalBenchService(AnalysisService[BenchView]):
    """Tries lookups, with other settings and with an exemplar that is being edited."""

    view = BenchView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._draft: Exemplar | None = None

    @command
    async def announce(self) -> None:
        """Show how many exemplars there are, and what the presets have."""
        counts = self.memory.listing().counts()
        self.show(
            members=counts.total,
            presets=presets_that_recall(self.services.resources.presets),
            environments=tuple(sorted(name for name in counts.by["environment"] if name)),
        )

    @command
    async def look_up(self, query: BenchQuery) -> None:
        """Look it up, in place of a lookup in progress."""

        async def work() -> None:
            from core.memory.analysis.lookups import try_lookup

            if not query.task.strip():
                raise UsageError("Type a task, or take one from a run.")
            text = query.task.strip()
            if not text.startswith("Task:"):
                text = metadata_of(text, query.observation)
            draft = self._draft

            async def use(index: "ExemplarIndex") -> None:
                trial = await try_lookup(
                    index,
                    text,
                    query.settings,
                    environment=query.environment,
                    other=query.other,
                    draft=draft,
                )
                name = "" if draft is None else draft.id
                self.show(query=query, trial=trial, draft=name, members=len(index))

            await self.with_index(use)

        await self.analyse("Searching", work)

    @command
    async def compare_with(self, exemplar: Exemplar | None) -> None:
        """Try the next lookups with this exemplar in place of the stored one; None for as they are."""
        self._draft = exemplar
        self.show(draft="" if exemplar is None else exemplar.id)
        if self.view.query is not None and self.view.query.task.strip():
            self.look_up(self.view.query)

    @command
    async def take(self, run: int, step: int) -> None:
        """Take the task of a run with the page of one of its steps."""
        taken = await self.read(lambda store: query_of(store, run, step))
        self.show(taken=taken, taken_number=self.view.taken_number + 1, problem="")


def presets_that_recall(presets: Presets) -> tuple[tuple[str, RecallSettings], ...]:
    """Return the settings of each preset that has exemplars; one whose file is wrong is left out."""
    found = []
    for name in presets.names():
        try:
            table = presets.get(name).memory
        except DataError:
            continue
        if table is not None:
            kept = table.model_dump(include=set(RecallSettings.model_fields))
            found.append((name, RecallSettings.model_validate(kept)))
    return tuple(found)


def query_of(store: TraceStore, run: int, step: int) -> BenchQuery:
    """Return what a step looked its exemplars up by, or would have; raises UsageError and TraceError."""
    row, records = store.run(run), store.step(run, step).records
    recalled = record_of(Recalled, records)
    source = f"run {run}, step {step}"
    if recalled is not None and recalled.recall is not None and recalled.recall.query:
        head, _, page = recalled.recall.query.partition(_STATE)
        return BenchQuery(
            task=head.removeprefix("Task: "), observation=page, environment=row.environment, source=source
        )
    observed = record_of(Observed, records)
    if observed is None:
        raise UsageError(f"Step {step} of run {run} has no page; choose another step.")
    return BenchQuery(
        task=row.instruction,
        observation=clean_of(observed.observation).text,
        environment=row.environment,
        source=source,
    )


class LeaveOneOutService(AnalysisService[LeaveOneOutView]):
    """Looks up each exemplar without itself, and writes the result as a table."""

    view = LeaveOneOutView()

    @command
    async def leave_out(self, votes: int, texts: str = "") -> None:
        """Leave out each exemplar once, or each text of a file."""

        async def work() -> None:
            self.show(asked=True, votes=votes, source=texts, found=None, members=(), total=0)

            async def use(index: "ExemplarIndex") -> None:
                await self._leave_out(index, votes)

            if texts:
                from core.memory.analysis.lookups import read_texts
                from core.memory.index import ExemplarIndex

                index = ExemplarIndex(self.memory.embedding())
                members = await asyncio.to_thread(read_texts, Path(texts))
                await index.refresh(members, self.reporting("Embedding texts"))
                await use(index)
            else:
                await self.with_index(use)

        await self.analyse("Reading the index", work)

    @command
    async def export(self, which: Table, path: str) -> None:
        """Write the table of families, or of exemplars, as comma-separated values."""
        view = self.view
        if view.found is None:
            raise UsageError("No table yet. Start Leave one out (Ctrl+Enter).")
        text = families_csv(view.found) if which == "families" else exemplars_csv(view.members)
        notice = await write_table(path, text)
        part = "" if view.whole else " It contains only what was found so far."
        self.show(notice=f"{notice}{part}", problem="")

    async def _leave_out(self, index: "ExemplarIndex", votes: int) -> None:
        from core.memory.analysis.lookups import each_left_out

        placed = index.placed()
        numbers = placed.numbers.tolist()
        self.show(total=len(numbers))
        report = self.reporting("Searching for each exemplar without itself")
        found: list[MemberFound] = []
        every = max(1, len(numbers) // _SHOWN)
        try:
            async for one in each_left_out(index, numbers, votes=votes):
                found.append(one)
                report(len(found), len(numbers))
                if len(found) % every == 0:
                    await self._take(tuple(found), index)
        except asyncio.CancelledError:
            self.show(found=self._sum(tuple(found), index), members=tuple(found))
            raise
        self.show(total=len(found))
        await self._take(tuple(found), index)

    async def _take(self, found: tuple[MemberFound, ...], index: "ExemplarIndex") -> None:
        self.show(found=await asyncio.to_thread(self._sum, found, index), members=found)

    def _sum(self, found: tuple[MemberFound, ...], index: "ExemplarIndex") -> LeftOutExemplar:
        from core.memory.analysis.lookups import summed

        return summed(found, votes=self.view.votes, embedding=index.embedding.name)


def families_csv(found: LeftOutExemplar) -> str:
    """Return a row for each family, as comma-separated values with a heading."""
    return _table(
        ("family", "exemplars", "right", "share", "nearest_other", "taken_for"),
        (
            (
                one.family,
                one.members,
                one.right,
                f"{one.right / one.members:.4f}",
                f"{one.distance:.4f}",
                " | ".join(f"{name or '(nothing)'}: {count}" for name, count in one.taken_for.items()),
            )
            for one in found.families
        ),
    )


def exemplars_csv(members: tuple[MemberFound, ...]) -> str:
    """Return a row for each exemplar, as comma-separated values with a heading."""
    return _table(
        ("exemplar", "family", "found", "right", "nearest_other"),
        ((one.id, one.family, one.found, int(one.right), f"{one.distance:.6f}") for one in members),
    )


def _table(heading: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(heading)
    writer.writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    """Return a value so that no spreadsheet takes it for a formula: a text that begins like one gets an apostrophe."""
    if (
        isinstance(value, str)
        and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        and not _is_number(value)
    ):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


class MapService(AnalysisService[MapView]):
    """Lays the exemplars out in the plane, and shows the current task among them."""

    view = MapView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._projection: Projection | None = None
        self._places: dict[str, int] = {}
        self._task = ("", "")

    @command
    async def draw(self) -> None:
        """Lay the exemplars out as they are now, and find those furthest from all others."""

        async def work() -> None:
            from core.memory.analysis.map import loneliest, project

            self.show(asked=True)

            async def use(index: "ExemplarIndex") -> None:
                projection = await project(index, self.reporting("Computing the layout"))
                await self._lay_out(index, projection)
                found = await loneliest(index, _LONELY, self.reporting("Finding outliers"))
                self.show(lonely=found, lonely_known=True)

            await self.with_index(use)

        await self.analyse("Reading the index", work)

    @command
    async def show_task(self, task: str, observation: str = "") -> None:
        """Show this task among them, drawn first where they are not; an empty one shows none."""
        self._task = (task.strip(), observation)
        self.show(wanted_task=task.strip(), **({} if task.strip() else {"task": None}))
        if not task.strip():
            return
        if self._projection is not None:
            await self.with_index(self._place_task)
        elif not self.view.busy:
            self.draw()

    async def _lay_out(self, index: "ExemplarIndex", projection: "Projection | None") -> None:
        import numpy as np

        from core.memory.analysis.map import alone

        self._projection = projection
        self._places = {}
        if projection is None:
            self.show(
                points=b"",
                families=b"",
                names=(),
                ids=(),
                tasks=(),
                alone=(),
                lonely=(),
                task=None,
                stale=False,
            )
            return
        placed = projection.placed
        self._places = {id: place for place, id in enumerate(placed.ids)}
        used, codes = np.unique(placed.families, return_inverse=True)
        self.show(
            points=np.ascontiguousarray(projection.points, "<f4").tobytes(),
            families=codes.astype("<i4").tobytes(),
            names=tuple(placed.names[code] for code in used.tolist()),
            ids=placed.ids,
            tasks=await _tasks(self.memory, placed.numbers.tolist()),
            share=projection.share,
            embedding=index.embedding.name,
            alone=alone(placed),
            lonely=(),
            lonely_known=False,
            stale=False,
            task=None,
        )
        if self._task[0]:
            await self._place_task(index)

    async def _place_task(self, index: "ExemplarIndex") -> None:
        projection, (task, observation) = self._projection, self._task
        if projection is None or not task:
            return
        query = task if task.startswith("Task:") else metadata_of(task, observation)
        vector = await index.vector(query)
        near = index.nearest(vector, NEAREST)
        if (task, observation) != self._task or projection is not self._projection:
            return  # Another one was asked for meanwhile.
        across, up = projection.place(vector)
        self.show(
            stale=len(index) != len(projection.placed.ids),
            task=TaskOnMap(
                text=task,
                across=across,
                up=up,
                near=tuple(
                    NearOnMap(
                        id=one.exemplar.id,
                        family=one.exemplar.family,
                        task=one.exemplar.task,
                        distance=one.distance,
                        place=self._places.get(one.exemplar.id),
                    )
                    for one in near
                ),
            ),
        )


async def _tasks(memory: Memory, numbers: list[int]) -> tuple[str, ...]:
    """Return the task of each, cut to what a line has room for."""
    files = tuple(one for _, one in memory.file_members())
    library = memory.open_library()
    found = {-place: one.task for place, one in enumerate(files, start=1)}
    own = [number for number in numbers if number > 0]
    for start in range(0, len(own), _READ):
        if library is not None:
            found |= library.tasks(own[start : start + _READ])
        await asyncio.sleep(0)
    return tuple(found.get(number, "")[:200] for number in numbers)
