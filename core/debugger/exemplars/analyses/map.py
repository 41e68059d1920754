"""The map at the window: drawn in the background, with the current task among the exemplars."""

import asyncio
from typing import TYPE_CHECKING

from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import MapView, NearOnMap, TaskOnMap
from core.debugger.service import command
from core.memory.memory import Memory
from core.schema.exemplar import metadata_of

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.analysis.map import Projection
    from core.memory.index import ExemplarIndex

NEAREST = 5
"""To the task, that lines lead to."""
_LONELY = 12
_READ = 5000


class MapService(AnalysisService[MapView]):
    """Lays the exemplars out in the plane, and shows the current task among them."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, MapView())
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
                projection = await project(index, self.reporting("Vectors are laid out"))
                await self._lay_out(index, projection)
                found = await loneliest(index, _LONELY, self.reporting("The furthest from all are sought"))
                self.show(lonely=found, lonely_known=True)

            await self.with_index(use)

        await self.analyse("The index is being read", work)

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
