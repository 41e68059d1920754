"""The base of the analyses of exemplars, and leave-one-out."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from core.debugger.commands import command
from core.debugger.exemplars.analyses.views import AnalysisView, AnyResult, LeftOut, Table
from core.debugger.service import JobService, table_text, write_table
from core.exemplars.analysis.records import MemberFound
from core.schema.errors import UsageError

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


class LeaveOneOutService(AnalysisService[LeftOut]):
    """Looks up each exemplar without itself, and writes the result as a table."""

    view = AnalysisView[LeftOut]()

    @command
    async def leave_out(self, votes: int, texts: str = "") -> None:
        """Leave out each exemplar once, or each text of a file."""

        async def use(index: "ExemplarIndex") -> None:
            await self._leave_out(index, votes, texts)

        async def use_texts() -> None:
            from core.exemplars.analysis.lookups import read_texts
            from core.exemplars.index import ExemplarIndex
            from core.exemplars.library.beside import numbered

            index = ExemplarIndex(self.memory.embedding())
            members = await asyncio.to_thread(read_texts, Path(texts))
            await index.refresh(numbered(members), self.reporting("Embedding texts"))
            await use(index)

        await self.analyse("Reading the index", use_texts if texts else lambda: self.with_index(use))

    @command
    async def export(self, which: Table, path: str) -> None:
        """Write the table of families, or of exemplars, as comma-separated values."""
        result = self.view.result
        if result is None:
            raise UsageError("No table yet. Start Leave one out (Ctrl+Enter).")
        notice = await write_table(
            path, families_csv(result) if which == "families" else exemplars_csv(result)
        )
        part = "" if result.whole else " It contains only what was found so far."
        self.show(notice=f"{notice}{part}", problem="")

    async def _leave_out(self, index: "ExemplarIndex", votes: int, source: str) -> None:
        from core.exemplars.analysis.lookups import each_left_out, summed

        numbers = index.placed().numbers.tolist()
        report = self.reporting("Searching for each exemplar without itself")
        members: list[MemberFound] = []

        def result(total: int) -> LeftOut:
            found = summed(members, votes=votes, embedding=index.embedding.name)
            return LeftOut(source=source, total=total, found=found, members=tuple(members))

        self.show(result=result(len(numbers)))
        every = max(1, len(numbers) // _SHOWN)
        try:
            async for member in each_left_out(index, numbers, votes=votes):
                members.append(member)
                report(len(members), len(numbers))
                if len(members) % every == 0:
                    self.show(result=await asyncio.to_thread(result, len(numbers)))
        except asyncio.CancelledError:
            self.show(result=result(len(numbers)))
            raise
        self.show(result=result(len(members)))


def families_csv(result: LeftOut) -> str:
    """Return a row for each family, as comma-separated values with a heading."""
    return table_text(
        [
            {
                "family": family.family,
                "exemplars": family.members,
                "right": family.right,
                "share": round(family.right / family.members, 4),
                "nearest_other": round(family.distance, 4),
                "taken_for": " | ".join(
                    f"{name or '(nothing)'}: {count}" for name, count in family.taken_for.items()
                ),
            }
            for family in result.found.families
        ]
    )


def exemplars_csv(result: LeftOut) -> str:
    """Return a row for each exemplar, as comma-separated values with a heading."""
    return table_text(
        [
            {
                "exemplar": member.id,
                "family": member.family,
                "found": member.found,
                "right": member.right,
                "nearest_other": round(member.distance, 6),
            }
            for member in result.members
        ]
    )
