"""The retrieval bench at the window: lookups that are only tried."""

from typing import TYPE_CHECKING

from core.agent.abstraction import clean_of
from core.agent.presets import Presets
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import BenchQuery, BenchView
from core.debugger.service import command
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, RecallSettings, metadata_of
from core.schema.step import Observed, Recalled, record_of
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.index import ExemplarIndex

_STATE = "\nState:\n"


class RetrievalBenchService(AnalysisService[BenchView]):
    """Tries lookups, with other settings and with an exemplar that is being edited."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, BenchView())
        self._draft: Exemplar | None = None

    @command
    async def announce(self) -> None:
        """Show how many exemplars there are, and what the presets have."""
        counts = self.memory.listing().counts()
        self.show(
            members=counts.total,
            presets=presets_that_recall(self.services.knowledge.presets),
            environments=tuple(sorted(name for name in counts.by["environment"] if name)),
        )

    @command
    async def look_up(self, query: BenchQuery) -> None:
        """Look it up, in place of a lookup under way."""

        async def work() -> None:
            from core.memory.analysis.trial import try_lookup

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

        await self.analyse("It is being looked up", work)

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
        raise UsageError(f"Step {step} of run {run} has no page to go by: choose another step.")
    return BenchQuery(
        task=row.instruction,
        observation=clean_of(observed.observation).text,
        environment=row.environment,
        source=source,
    )
