"""Leave-one-out at the window: in the background, shown as far as it has come, and written as a table."""

import asyncio
import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from core.debugger.csv_files import write_table
from core.debugger.exemplars.analyses.job import Background, Host
from core.debugger.exemplars.analyses.views import LeavingView, Which
from core.memory.analysis.records import LeftOut, MemberFound
from core.schema.errors import UsageError

if TYPE_CHECKING:
    from core.memory.index import ExemplarIndex

_SHOWN = 20
"""How often the tables are filled while it goes on, at the most."""


class LeavingDesk(Background[LeavingView]):
    """The `LeavingCommands` of the window."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, LeavingView())

    def begin(self, votes: int, texts: str = "") -> None:
        async def work() -> None:
            self._show(asked=True, votes=votes, source=texts, found=None, members=(), total=0)

            async def look(index: "ExemplarIndex") -> None:
                await self._leave_out(index, votes)

            if texts:
                from core.memory.analysis.leave_one_out import read_texts
                from core.memory.index import ExemplarIndex

                index = ExemplarIndex(self._memory().embedding())
                members = await asyncio.to_thread(read_texts, Path(texts))
                await index.refresh(members, self._progress("Texts are being embedded"))
                await look(index)
            else:
                await self._looked_up(look)

        self._begin("The index is being read", work)

    def export(self, which: Which, path: str) -> None:
        async def work() -> None:
            view = self._view
            if view.found is None:
                raise UsageError("There is no table yet: begin with Leave one out (Ctrl+Enter).")
            text = families_csv(view.found) if which == "families" else exemplars_csv(view.members)
            notice = await write_table(path, text)
            part = "" if view.whole else " It holds what was found so far, not all."
            self._show(notice=f"{notice}{part}", problem="")

        self._post(work)

    async def _leave_out(self, index: "ExemplarIndex", votes: int) -> None:
        from core.memory.analysis.leave_one_out import each_left_out

        placed = index.placed()
        numbers = placed.numbers.tolist()
        self._show(total=len(numbers))
        tell = self._progress("Each is looked up without itself")
        found: list[MemberFound] = []
        every = max(1, len(numbers) // _SHOWN)
        try:
            async for one in each_left_out(index, numbers, votes=votes):
                found.append(one)
                tell(len(found), len(numbers))
                if len(found) % every == 0:
                    await self._take(tuple(found), index)
        except asyncio.CancelledError:
            self._sum(tuple(found), index)
            raise
        self._show(total=len(found))
        await self._take(tuple(found), index)

    async def _take(self, found: tuple[MemberFound, ...], index: "ExemplarIndex") -> None:
        from core.memory.analysis.leave_one_out import summed

        votes, name = self._view.votes, index.embedding.name
        total = await asyncio.to_thread(summed, found, votes=votes, embedding=name)
        self._show(found=total, members=found)

    def _sum(self, found: tuple[MemberFound, ...], index: "ExemplarIndex") -> None:
        from core.memory.analysis.leave_one_out import summed

        total = summed(found, votes=self._view.votes, embedding=index.embedding.name)
        self._show(found=total, members=found)


def families_csv(found: LeftOut) -> str:
    """Return a row for each family, as comma-separated values with a heading."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("family", "exemplars", "right", "share", "nearest_other", "taken_for"))
    for one in found.families:
        taken = " | ".join(f"{name or '(nothing)'}: {count}" for name, count in one.taken_for.items())
        share = f"{one.right / one.members:.4f}"
        writer.writerow((one.family, one.members, one.right, share, f"{one.distance:.4f}", taken))
    return out.getvalue()


def exemplars_csv(members: tuple[MemberFound, ...]) -> str:
    """Return a row for each exemplar, as comma-separated values with a heading."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("exemplar", "family", "found", "right", "nearest_other"))
    for one in members:
        writer.writerow((one.id, one.family, one.found, int(one.right), f"{one.distance:.6f}"))
    return out.getvalue()
