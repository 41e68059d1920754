"""The retrieval bench at the window: lookups that are only tried."""

from typing import TYPE_CHECKING

from core.agent.abstraction.plain import clean_of
from core.agent.presets import Presets
from core.debugger.background_read import ask_file
from core.debugger.exemplars.analyses.job import Background, Host
from core.debugger.exemplars.analyses.views import BenchQuery, BenchView
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, metadata_of
from core.schema.recall import RecallSettings
from core.schema.step import Observed, Recalled, record_of
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.memory.index import ExemplarIndex

_STATE = "\nState:\n"


class BenchDesk(Background[BenchView]):
    """The `BenchCommands` of the window."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, BenchView())
        self._draft: Exemplar | None = None

    def announce(self) -> None:
        async def work() -> None:
            counts = self._memory().listing().counts()
            self._show(
                members=counts.total,
                presets=presets_that_recall(self._host.workshop().knowledge.presets),
                environments=tuple(sorted(name for name in counts.by["environment"] if name)),
            )

        self._post(work)

    def look_up(self, query: BenchQuery) -> None:
        async def work() -> None:
            from core.memory.analysis.trial import try_lookup

            if not query.task.strip():
                raise UsageError("Type a task, or take one from a run.")
            text = query.task.strip()
            if not text.startswith("Task:"):
                text = metadata_of(text, query.observation)
            draft = self._draft

            async def look(index: "ExemplarIndex") -> None:
                trial = await try_lookup(
                    index,
                    text,
                    query.settings,
                    environment=query.environment,
                    other=query.other,
                    draft=draft,
                )
                self._show(
                    query=query, trial=trial, draft="" if draft is None else draft.id, members=len(index)
                )

            await self._looked_up(look)

        self._begin("It is being looked up", work)

    def compare_with(self, exemplar: Exemplar | None) -> None:
        async def work() -> None:
            self._draft = exemplar
            self._show(draft="" if exemplar is None else exemplar.id)
            if self._view.query is not None and self._view.query.task.strip():
                self.look_up(self._view.query)

        self._post(work)

    def take(self, run: int, step: int) -> None:
        async def work() -> None:
            taken = await ask_file(self._host.store, lambda store: query_of(store, run, step))
            self._show(taken=taken, taken_number=self._view.taken_number + 1, problem="")

        self._post(work)


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
        raise UsageError(f"Step {step} of run {run} has no page to go by: choose another step.")
    return BenchQuery(
        task=row.instruction,
        observation=clean_of(observed.observation).text,
        environment=row.environment,
        source=source,
    )
