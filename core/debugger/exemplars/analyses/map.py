"""The map at the window: drawn in the background, with the current task among the exemplars."""

import asyncio
from typing import TYPE_CHECKING

from core.debugger.exemplars.analyses.job import Background, Host
from core.debugger.exemplars.analyses.views import MapView, NearOnMap, TaskOnMap
from core.memory.memory import Memory
from core.schema.exemplar import metadata_of

if TYPE_CHECKING:
    from core.memory.analysis.map import Projection
    from core.memory.index import ExemplarIndex

NEAREST = 5
"""To the task, that lines lead to."""
_LONELY = 12
_READ = 5000


class MapDesk(Background[MapView]):
    """The `MapCommands` of the window."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, MapView())
        self._projection: Projection | None = None
        self._places: dict[str, int] = {}
        self._task = ("", "")

    def draw(self) -> None:
        async def work() -> None:
            from core.memory.analysis.map import loneliest, project

            memory = self._memory()
            self._show(asked=True)

            async def look(index: "ExemplarIndex") -> None:
                projection = await project(index, self._progress("Vectors are laid out"))
                await self._lay_out(memory, index, projection)
                found = await loneliest(index, _LONELY, self._progress("The furthest from all are sought"))
                self._show(lonely=found, lonely_known=True)

            await self._looked_up(look)

        self._begin("The index is being read", work)

    def show_task(self, task: str, observation: str = "") -> None:
        async def work() -> None:
            self._task = (task.strip(), observation)
            self._show(wanted_task=task.strip(), **({} if task.strip() else {"task": None}))
            if not task.strip():
                return
            if self._projection is not None:
                await self._looked_up(self._place_task)
            elif not self._view.busy:
                self.draw()

        self._post(work)

    async def _lay_out(self, memory: Memory, index: "ExemplarIndex", projection: "Projection | None") -> None:
        import numpy as np

        from core.memory.analysis.map import alone

        self._projection = projection
        self._places = {}
        if projection is None:
            self._show(
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
        self._show(
            points=np.ascontiguousarray(projection.points, "<f4").tobytes(),
            families=codes.astype("<i4").tobytes(),
            names=tuple(placed.names[code] for code in used.tolist()),
            ids=placed.ids,
            tasks=await _tasks(memory, placed.numbers.tolist()),
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
        self._show(
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
