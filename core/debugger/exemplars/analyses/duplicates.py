"""Near duplicates: found in the background, then kept or merged."""

import asyncio
from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import DuplicatePair, DuplicatesView, PairTexts
from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges, Reversal
from core.memory.analysis.records import NearPair, PairsFound, grouped, sameness
from core.memory.editing.toml_text import text_of
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.memory.index import ExemplarIndex

_READ = 200
"""Exemplars that are read at once."""


class DuplicatesService(AnalysisService[DuplicatesView]):
    """Finds pairs of very similar exemplars, and archives one or keeps both."""

    view = DuplicatesView()

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self._changes = changes
        self._with_kept = False
        self._pairs: dict[tuple[str, str], DuplicatePair] = {}
        self._found = PairsFound(within=0.0)
        self._gone: set[str] = set()
        """What was archived here since the pairs were found."""
        changes.reversed.connect(self._on_reversed)

    @command
    async def find(self, within: float, *, with_kept: bool = False) -> None:
        """Look for pairs no further apart than `within`, in place of a search in progress."""

        async def work() -> None:
            from core.memory.analysis.duplicates import near_pairs

            self._pairs, self._gone, self._with_kept = {}, set(), with_kept
            self._found = PairsFound(within=within)
            self.send(DuplicatesView(asked=True, within=within, busy=True, doing=self.view.doing))

            async def use(index: "ExemplarIndex") -> None:
                library = self.memory.open_library()
                apart = library.apart() if library is not None else frozenset()
                report = self.reporting("Comparing all exemplars")
                async for found in near_pairs(index, within, apart=() if with_kept else apart):
                    if found.pairs != self._found.pairs or found.whole:
                        await self._take(found, apart)
                    report(found.done, found.members)
                    self.view = self.view.replace(
                        compared=found.done, members=found.members, whole=found.whole
                    )

            await self.with_index(use)

        await self.analyse("Reading the index", work)

    @command
    async def open_pair(self, id: str, other: str) -> None:
        """Write both out."""
        left, right = text_of(self._exemplar(id)), text_of(self._exemplar(other))
        self.show(pair=PairTexts(id=id, other=other, left=left, right=right))

    @command
    async def keep_both(self, id: str, other: str, *, apart: bool = True) -> None:
        """Do not list this pair any more, now and later; or list it again."""
        self.memory.library().keep_apart(id, other, apart=apart)
        what = "keep" if apart else "list the pair of"
        pair = (min(id, other), max(id, other))
        self._changes.send(ExemplarChange(words=f"{what} “{id}” and “{other}”", pair=pair, apart=apart))
        self._mark(pair, kept=apart)
        self._arrange(notice=f"{id} and {other} are {'both kept' if apart else 'listed again'}.", problem="")

    @command
    async def merge(self, into: str, other: str) -> None:
        """Archive `other`, and give its tags and its note to `into`."""
        memory = self.memory
        files = {one.id for _, one in memory.file_members()}
        if other in files:
            raise UsageError(
                f"{other} comes from a file and is read-only. Archive the other one instead, or keep both."
            )
        library = memory.library()
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
        self._gone.add(other)
        self._arrange(notice=f"{other} was archived, and its tags and note were added to {into}.", problem="")

    # What is in view

    def _on_reversed(self, reversal: Reversal) -> None:
        """Follow what was undone or redone, here or elsewhere."""
        change = reversal.change
        if change.pair is not None:
            self._mark(change.pair, kept=change.apart != reversal.back)
        for one in reversal.now:
            (self._gone.add if one.archived else self._gone.discard)(one.id)
        if self.view.asked:
            done = "Undone" if reversal.back else "Redone"
            self._arrange(notice=f"{done}: {change.words}.", problem="")

    def _mark(self, ids: tuple[str, str], *, kept: bool) -> None:
        if ids in self._pairs:
            self._pairs[ids] = self._pairs[ids].replace(kept=kept)

    async def _take(self, found: PairsFound, apart: frozenset[tuple[str, str]]) -> None:
        """Read what is to be known of new pairs, and list those that there are now."""
        new = [one for one in found.pairs if one.ids not in self._pairs]
        numbers = sorted({number for one in new for number in (one.number, one.other)})
        memory = self.memory
        files = tuple(one for _, one in memory.file_members())
        library = memory.open_library()
        read = {number: files[-number - 1] for number in numbers if -len(files) <= number < 0}
        own = [number for number in numbers if number > 0]
        for start in range(0, len(own), _READ):
            if library is not None:
                read |= library.exemplars(own[start : start + _READ])
            await asyncio.sleep(0)
        for one in new:
            if one.number in read and one.other in read:
                self._pairs[one.ids] = _pair_view(one, read, kept=one.ids in apart)
        self._found = found
        self._arrange(more=found.more, members=found.members, compared=found.done, whole=found.whole)

    def _arrange(self, **changes: object) -> None:
        listed, hidden = [], 0
        for one in self._found.pairs:
            view = self._pairs.get(one.ids)
            if view is None or self._gone & {one.id, one.other_id}:
                continue
            if view.kept and not self._with_kept:
                hidden += 1
                continue
            listed.append(one)
        groups = tuple(tuple(self._pairs[one.ids] for one in group) for group in grouped(listed))
        self.show(groups=groups, hidden=hidden, **changes)

    def _exemplar(self, id: str) -> Exemplar:
        memory = self.memory
        found = next((one for _, one in memory.file_members() if one.id == id), None)
        return found or memory.listing().get(id).exemplar


def _pair_view(pair: NearPair, read: dict[int, Exemplar], *, kept: bool) -> DuplicatePair:
    one, other = read[pair.number], read[pair.other]
    return DuplicatePair(
        id=one.id,
        other=other.id,
        distance=pair.distance,
        same=sameness(one, other),
        family=one.family,
        other_family=other.family,
        task=one.task,
        other_task=other.task,
        read_only=pair.number < 0,
        other_read_only=pair.other < 0,
        kept=kept,
    )


def _merged(kept: Exemplar, gone: Exemplar) -> Exemplar:
    """Return the one with the tags and the note of the other besides its own."""
    tags = tuple(dict.fromkeys((*kept.tags, *gone.tags)))
    note = kept.note
    if gone.note.strip() and gone.note.strip() not in kept.note:
        note = f"{kept.note.rstrip()}\n{gone.note.strip()}".lstrip()
    return kept.replace(tags=tags, note=note)
