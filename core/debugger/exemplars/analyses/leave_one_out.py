"""Leave-one-out at the window: in the background, shown as far as it has come, and written as a table."""

import asyncio
import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from core.debugger.csv_files import write_table
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import LeaveOneOutView, Table
from core.debugger.service import command
from core.memory.analysis.records import LeftOutExemplar, MemberFound
from core.schema.errors import UsageError

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.index import ExemplarIndex

_SHOWN = 20
"""How often the tables are filled while it goes on, at the most."""


class LeaveOneOutService(AnalysisService[LeaveOneOutView]):
    """Looks each exemplar up without itself, and writes what came of it as a table."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, LeaveOneOutView())

    @command
    async def leave_out(self, votes: int, texts: str = "") -> None:
        """Leave out each exemplar once, or each text of a file."""

        async def work() -> None:
            self.show(asked=True, votes=votes, source=texts, found=None, members=(), total=0)

            async def use(index: "ExemplarIndex") -> None:
                await self._leave_out(index, votes)

            if texts:
                from core.memory.analysis.leave_one_out import read_texts
                from core.memory.index import ExemplarIndex

                index = ExemplarIndex(self.memory.embedding())
                members = await asyncio.to_thread(read_texts, Path(texts))
                await index.refresh(members, self.reporting("Texts are being embedded"))
                await use(index)
            else:
                await self.with_index(use)

        await self.analyse("The index is being read", work)

    @command
    async def export(self, which: Table, path: str) -> None:
        """Write the table of families, or of exemplars, as comma-separated values."""
        view = self.view
        if view.found is None:
            raise UsageError("There is no table yet: begin with Leave one out (Ctrl+Enter).")
        text = families_csv(view.found) if which == "families" else exemplars_csv(view.members)
        notice = await write_table(path, text)
        part = "" if view.whole else " It holds what was found so far, not all."
        self.show(notice=f"{notice}{part}", problem="")

    async def _leave_out(self, index: "ExemplarIndex", votes: int) -> None:
        from core.memory.analysis.leave_one_out import each_left_out

        placed = index.placed()
        numbers = placed.numbers.tolist()
        self.show(total=len(numbers))
        report = self.reporting("Each is looked up without itself")
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
        from core.memory.analysis.leave_one_out import summed

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
    writer.writerows(rows)
    return out.getvalue()
