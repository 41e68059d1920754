"""The base of the analyses of exemplars."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic

from core.debugger.exemplars.analyses.views import AnalysisView, AnyResult
from core.debugger.service import JobService

if TYPE_CHECKING:
    from core.exemplars.index import ExemplarIndex

_SHOWN = 20
"""How often the tables are filled while it continues, at most."""


class AnalysisService(JobService[AnalysisView[AnyResult]], Generic[AnyResult]):
    """The base of the analyses: one job at a time, on the current index.

    A new job replaces the current one; the result of a cancelled job stays in the view.
    """

    async def analyse(self, doing: str, work: Callable[[], Awaitable[None]]) -> None:
        """Begin the job in place of the current one."""
        await self.stop()
        self.begin(doing, work, problem="", notice="")

    async def with_index(self, use: "Callable[[ExemplarIndex], Awaitable[None]]") -> None:
        """Do something with the fresh index; how far the embedding is shows as the job's progress."""
        await self.memory.looked_up(use, self.reporting("Embedding texts"))
