"""Near duplicates: found in the background, then kept or merged."""

import asyncio
from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import AnalysisView, Duplicates, PairTexts
from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges, Reversal
from core.memory.analysis.records import NearPair, PairsFound, compared_pair
from core.memory.editing.toml_text import text_of
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.index import ExemplarIndex

_READ = 200
"""Exemplars that are read at once."""


class DuplicatesService(AnalysisService[Duplicates]):
    """Finds pairs of very similar exemplars, and archives one or keeps both."""

    view = AnalysisView[Duplicates]()

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self._changes = changes
        changes.reversed.connect(self._on_reversed)

    @command
    async def find(self, within: float, *, with_kept: bool = False) -> None:
        """Look for pairs no further apart than `within`, in place of a search in progress."""

        async def use(index: "ExemplarIndex") -> None:
            from core.memory.analysis.duplicates import near_pairs

            self.show(result=Duplicates(within=within, with_kept=with_kept, members=len(index)))
            library = self.memory.open_library()
            apart = library.apart() if library is not None else frozenset()
            report = self.reporting("Comparing all exemplars")
            async for found in near_pairs(index, within, apart=() if with_kept else apart):
                report(found.done, found.members)
                await self._take(found, apart)

        await self.analyse("Reading the index", lambda: self.with_index(use))

    @command
    async def open_pair(self, id: str, other: str) -> None:
        """Write both out."""
        texts = PairTexts(
            ids=(id, other), left=text_of(self._exemplar(id)), right=text_of(self._exemplar(other))
        )
        if self.view.result is not None:
            self.show(result=self.view.result.replace(texts=texts))

    @command
    async def keep_both(self, id: str, other: str, *, apart: bool = True) -> None:
        """Do not list this pair any more, now and later; or list it again."""
        self.memory.library().keep_apart(id, other, apart=apart)
        what = "keep" if apart else "list the pair of"
        pair = (min(id, other), max(id, other))
        self._changes.send(ExemplarChange(words=f"{what} “{id}” and “{other}”", pair=pair, apart=apart))
        self._change(f"{id} and {other} are {'both kept' if apart else 'listed again'}.", {pair: apart}, {})

    @command
    async def merge(self, into: str, other: str) -> None:
        """Archive `other`, and give its tags and its note to `into`."""
        files = {one.id for _, one in self.memory.file_members()}
        if other in files:
            raise UsageError(
                f"{other} comes from a file and is read-only. Archive the other one instead, or keep both."
            )
        library = self.memory.library()
        kept, gone = self._exemplar(into), self._exemplar(other)
        merged = _merged(kept, gone)
        before = self._changes.before((into, other))
        if merged != kept:
            if into in files:
                raise UsageError(
                    f"{into} comes from a file and is read-only, so it cannot take the tags and note of {other}. "
                    f"Copy it into the library first, archive it instead of {other}, or keep both."
                )
            version = library.get(into).version
            library.save(merged, why=f"merged with {other}", expected=version)
        library.archive(other)
        self._changes.made(f"merge “{other}” into “{into}”", before)
        self._change(f"{other} was archived, and its tags and note were added to {into}.", {}, {other: True})

    def _on_reversed(self, reversal: Reversal) -> None:
        """Follow what was undone or redone, here or elsewhere."""
        change = reversal.change
        pairs = {change.pair: change.apart != reversal.back} if change.pair is not None else {}
        done = "Undone" if reversal.back else "Redone"
        self._change(f"{done}: {change.words}.", pairs, {one.id: one.archived for one in reversal.now})

    def _change(self, notice: str, kept: dict[tuple[str, str], bool], archived: dict[str, bool]) -> None:
        """Show what became of pairs, and what was archived or restored."""
        result = self.view.result
        if result is None:
            return
        pairs = tuple(pair.replace(kept=kept.get(pair.ids, pair.kept)) for pair in result.pairs)
        away = result.archived.difference(archived) | {id for id, gone in archived.items() if gone}
        self.show(result=result.replace(pairs=pairs, archived=away), notice=notice, problem="")

    async def _take(self, found: PairsFound, apart: frozenset[tuple[str, str]]) -> None:
        """Read what new pairs say, and list those that there are now; of one that has gone nothing is listed."""
        assert self.view.result is not None
        known = {pair.ids for pair in self.view.result.pairs}
        new = [pair for pair in found.pairs if pair.ids not in known]
        exemplars = await self._read_exemplars(new)
        # A person may have kept a pair while the exemplars were read.
        pairs = {pair.ids: pair for pair in self.view.result.pairs}
        for pair in new:
            if pair.number in exemplars and pair.other in exemplars:
                both = exemplars[pair.number], exemplars[pair.other]
                pairs[pair.ids] = compared_pair(pair, *both, kept=pair.ids in apart)
        self.show(
            result=self.view.result.replace(
                pairs=tuple(pairs[pair.ids] for pair in found.pairs if pair.ids in pairs),
                done=found.done,
                members=found.members,
                more=found.more,
            )
        )

    async def _read_exemplars(self, pairs: list[NearPair]) -> dict[int, Exemplar]:
        numbers = sorted({number for pair in pairs for number in (pair.number, pair.other)})
        library = self.memory.open_library()
        read = {-place: one for place, (_, one) in enumerate(self.memory.file_members(), start=1)}
        own = [number for number in numbers if number > 0]
        for start in range(0, len(own) if library is not None else 0, _READ):
            assert library is not None
            read |= library.exemplars(own[start : start + _READ])
            await asyncio.sleep(0)
        return read

    def _exemplar(self, id: str) -> Exemplar:
        found = next((one for _, one in self.memory.file_members() if one.id == id), None)
        return found or self.memory.listing().get(id).exemplar


def _merged(kept: Exemplar, gone: Exemplar) -> Exemplar:
    """Return the one with the tags and the note of the other besides its own."""
    tags = tuple(dict.fromkeys((*kept.tags, *gone.tags)))
    note = kept.note
    if gone.note.strip() and gone.note.strip() not in kept.note:
        note = f"{kept.note.rstrip()}\n{gone.note.strip()}".lstrip()
    return kept.replace(tags=tags, note=note)
