"""Trial lookups: with other settings, with an exemplar that is being edited, and with their place on a map."""

import asyncio
from typing import TYPE_CHECKING, Any

from core.agent.abstraction import clean_of
from core.agent.presets import Presets
from core.debugger.commands import command
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import AnalysisView, Bench, BenchQuery, ExemplarMap, TaskPlace
from core.debugger.exemplars.library.views import Chosen
from core.exemplars.memory import Memory
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, RecallSettings
from core.schema.signal import Signal
from core.schema.step import Observed, Recalled, record_of
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.exemplars.library.service import LibraryService
    from core.debugger.session import Session
    from core.exemplars.analysis.map import Projection
    from core.exemplars.index import ExemplarIndex

_STATE = "\nState:\n"
NEAREST = 5
"""To the task, that lines of the map lead to."""
_READ = 5000
_TASK_LETTERS = 200


class RetrievalService(AnalysisService[Bench]):
    """Tries lookups, and draws the map of the exemplars with the task that was looked up."""

    view = AnalysisView[Bench](result=Bench())

    def __init__(self, session: "Session", library: "LibraryService") -> None:
        super().__init__(session)
        self._library = library
        library.changes.reversed.connect(lambda _reversal: self._look_up_again())
        self.taken: Signal[BenchQuery] = Signal()
        """A task that was taken from a run, for the form."""
        self._draft: Exemplar | None = None
        self._with_map = False
        self._projection: Projection | None = None

    @property
    def _bench(self) -> Bench:
        return self.view.result or Bench()

    def _tell(self, **changes: Any) -> None:
        self.show(result=self._bench.replace(**changes))

    @command
    async def announce(self) -> None:
        """Show how many exemplars there are, and what the presets have."""
        library = self.memory.library()
        self._tell(
            members=library.total(),
            presets=presets_that_recall(self.services.resources.presets),
            environments=tuple(sorted(filter(None, library.counts(only=("environment",)).by["environment"]))),
        )

    @command
    async def look_up(self, query: BenchQuery, *, with_map: bool = False) -> None:
        """Look it up in place of a lookup in progress; `with_map` also shows its place on the map."""
        if not query.task.strip():
            raise UsageError("Type a task, or take one from a run.")
        self._with_map = with_map
        draft = self._draft

        async def use(index: "ExemplarIndex") -> None:
            from core.exemplars.analysis.lookups import try_lookup

            trial = await try_lookup(
                index,
                query.text,
                query.settings,
                environment=query.environment,
                other=query.other,
                draft=draft,
            )
            name = "" if draft is None else draft.id
            self._tell(query=query, trial=trial, draft=name, members=len(index))
            if self._with_map:
                await self._draw(index)

        await self.analyse("Searching", lambda: self.with_index(use))

    @command
    async def never(self, id: str) -> None:
        """Never use an exemplar for tasks like the one that was looked up, and look that up again."""
        from core.exemplars.library.records import Edits

        if (query := self._bench.query) is not None:
            entry = self.memory.library().find(id)
            if entry is not None and entry.read_only:
                raise UsageError(
                    f"“{id}” is bundled and stays as it is. In the library, copy it (Ctrl+D) and retire it (Del); "
                    "then say so of the copy."
                )
            task = query.task.removeprefix("Task:").partition(_STATE)[0].strip()
            await self._library.edit_all(Chosen(ids=(id,)), Edits(never=(task,)))
            self._look_up_again()

    def _look_up_again(self) -> None:
        if self._bench.query is not None:
            self.look_up(self._bench.query, with_map=self._with_map)

    @command
    async def draw(self) -> None:
        """Draw the map of the exemplars as they are now; after the lookup, if one is in progress."""
        self._with_map = True
        if self.is_busy:
            return
        await self.analyse("Reading the index", lambda: self.with_index(self._draw))

    @command
    async def compare_with(self, exemplar: Exemplar | None) -> None:
        """Try the next lookups with this exemplar in place of the stored one; None for as they are."""
        self._draft = exemplar
        self._tell(draft="" if exemplar is None else exemplar.id)
        self._look_up_again()

    @command
    async def take(self, run: int, step: int) -> None:
        """Take the task of a run with the page of one of its steps."""
        query = await self.read(lambda store: query_of(store, run, step))
        query = query.replace(settings=recall_settings(self.services.resources.presets, query.preset))
        self.show(problem="")
        self.taken.send(query)

    async def _draw(self, index: "ExemplarIndex") -> None:
        """Show the map, made anew where exemplars have changed, with the task that was looked up."""
        from core.exemplars.analysis.map import project

        known, placed = self._projection, index.placed()
        drawn = self._bench.map
        if known is None or drawn is None or not placed.same_as(known.placed):
            known = self._projection = await project(index, self.reporting("Computing the layout"))
            drawn = ExemplarMap() if known is None else await map_of(self.memory, known, index.embedding.name)
        self._tell(map=drawn.replace(task=await self._place(index, drawn)))

    async def _place(self, index: "ExemplarIndex", drawn: ExemplarMap) -> TaskPlace | None:
        query, trial = self._bench.query, self._bench.trial
        if query is None or trial is None or self._projection is None:
            return None
        across, up = self._projection.place(await index.vector(query.text))
        places = {id: place for place, id in enumerate(drawn.ids)}
        rows = sorted((row.now.distance, row.id) for row in trial.rows if row.now and not row.draft)
        near = tuple((places[id], distance) for distance, id in rows[:NEAREST] if id in places)
        return TaskPlace(across=across, up=up, near=near)


async def map_of(memory: Memory, projection: "Projection", embedding: str) -> ExemplarMap:
    """Return the map of a projection."""
    import numpy as np

    placed = projection.placed
    used, codes = np.unique(placed.families, return_inverse=True)
    return ExemplarMap(
        points=np.ascontiguousarray(projection.points, "<f4").tobytes(),
        families=codes.astype("<i4").tobytes(),
        names=tuple(placed.names[code] for code in used.tolist()),
        ids=placed.ids,
        tasks=await _tasks(memory, placed.numbers.tolist()),
        share=projection.share,
        embedding=embedding,
    )


async def _tasks(memory: Memory, numbers: list[int]) -> tuple[str, ...]:
    """Return the task of each, cut to what a line has room for."""
    library, found = memory.library(), dict[int, str]()
    for start in range(0, len(numbers), _READ):
        found |= library.tasks(numbers[start : start + _READ])
        await asyncio.sleep(0)
    return tuple(found.get(number, "")[:_TASK_LETTERS] for number in numbers)


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


def recall_settings(presets: Presets, name: str) -> RecallSettings:
    """Return how a preset recalls, as it is now; as presets do where it has no memory, or is gone."""
    return dict(presets_that_recall(presets)).get(name, RecallSettings.model_validate({}))


def query_of(store: TraceStore, run: int, step: int) -> BenchQuery:
    """Return what a step looked its exemplars up by, or would have; raises UsageError and TraceError."""
    row, records = store.run(run), store.step(run, step).records
    recalled = record_of(Recalled, records)
    if recalled is not None and recalled.recall is not None and recalled.recall.query:
        head, _, page = recalled.recall.query.partition(_STATE)
        task = head.removeprefix("Task: ")
    elif (observed := record_of(Observed, records)) is not None:
        task, page = row.instruction, clean_of(observed.observation).text
    else:
        raise UsageError(f"Step {step} of run {run} has no page; choose another run or step.")
    return BenchQuery(
        task=task,
        observation=page,
        environment=row.environment,
        source=f"run {run}, step {step}",
        preset=row.preset,
    )
