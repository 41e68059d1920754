"""What all analyses of the exemplars have: a job on the fresh index, and a view that says how far it is."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from core.debugger.exemplars.analyses.views import AnalysisView
from core.debugger.service import JobService
from core.memory.memory import Memory

if TYPE_CHECKING:
    # FAISS takes long to load, which only the first analysis has to wait for, not the window.
    from core.memory.index import ExemplarIndex

AnyAnalysisView = TypeVar("AnyAnalysisView", bound=AnalysisView)


class AnalysisService(JobService[AnyAnalysisView]):
    """A job takes the place of the one under way; what it has found stays in view where it is cancelled."""

    @property
    def memory(self) -> Memory:
        """The exemplars; raises UsageError before the session has begun."""
        return self.services.knowledge.memory

    async def analyse(self, doing: str, work: Callable[[], Awaitable[None]]) -> None:
        """Begin the job in place of the one under way."""
        await self.stop()
        self.begin(doing, work, problem="", notice="")

    async def with_index(self, use: "Callable[[ExemplarIndex], Awaitable[None]]") -> None:
        """Do something with the fresh index; how far the embedding is shows as the job's progress."""
        await self.memory.looked_up(use, self.reporting("Texts are being embedded"))
