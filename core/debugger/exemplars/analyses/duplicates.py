"""Near duplicates: found in the background, then kept or merged."""

from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.exemplars.analyses.service import AnalysisService
from core.debugger.exemplars.analyses.views import AnalysisView, Duplicates, PairTexts
from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges, Reversal
from core.exemplars.editing.toml_text import text_of
from core.exemplars.library.records import merged, review_now
from core.schema.errors import UsageError
from core.schema.exemplar import FOR_PEOPLE

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.exemplars.index import ExemplarIndex


class DuplicatesService(AnalysisService[Duplicates]):
    """Finds pairs of very similar exemplars, and retires one or keeps both."""

    view = AnalysisView[Duplicates]()

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self._changes = changes
        changes.reversed.connect(self._on_reversed)

    @command
    async def find(self, within: float, *, with_kept: bool = False) -> None:
        """Look for pairs no further apart than `within`, in place of a search in progress."""

        async def use(index: "ExemplarIndex") -> None:
            from core.exemplars.analysis.duplicates import near_pairs

            apart = self.memory.library().apart()
            result = Duplicates(within=within, with_kept=with_kept, kept=apart, members=len(index))
            self.show(result=result)
            report = self.reporting("Comparing all exemplars")
            async for found in near_pairs(index, within, apart=() if with_kept else apart):
                report(found.done, found.members)
                assert self.view.result is not None
                self.show(result=self.view.result.replace(**dict(found)))

        await self.analyse("Reading the index", lambda: self.with_index(use))

    @command
    async def open_pair(self, id: str, other: str) -> None:
        """Write both out."""
        library = self.memory.library()
        left, right = (text_of(library.get(one).exemplar) for one in (id, other))
        texts = PairTexts(ids=(id, other), left=left, right=right)
        if self.view.result is not None:
            self.show(result=self.view.result.replace(texts=texts))

    @command
    async def keep_both(self, id: str, other: str, *, apart: bool = True) -> None:
        """Do not list this pair any more, now and later; or list it again."""
        self.memory.library().keep_apart(id, other, apart=apart)
        what = "keep" if apart else "list the pair of"
        pair = (min(id, other), max(id, other))
        self._changes.send(ExemplarChange(words=f"{what} “{id}” and “{other}”", pair=pair, apart=apart))
        self.follow(f"{id} and {other} are {'both kept' if apart else 'listed again'}.")

    @command
    async def merge(self, into: str, other: str) -> None:
        """Retire `other`, and give what it says to people besides its trajectory to `into`: both or neither."""
        library = self.memory.library()
        kept, gone = library.get(into), library.get(other)
        both = merged(kept.exemplar, gone.exemplar)
        before = self._changes.before((into, other))
        what = ", ".join(name for name in FOR_PEOPLE if getattr(both, name) != getattr(kept.exemplar, name))
        if not what:
            library.review([other], review_now("retired"))
        elif kept.read_only:
            raise UsageError(
                f"{into} is bundled and read-only, so it cannot be changed in what {other} has more: {what}. "
                f"Copy it into the library first, retire it instead of {other}, or keep both."
            )
        else:
            library.save(both, why=f"merged with {other}", expected=kept.version, retired=other)
        self._changes.made(f"merge “{other}” into “{into}”", before)
        added = f" What {into} got of it: {what}." if what else ""
        lost = " Its contrasts were not added." if set(gone.exemplar.contrasts) - set(both.contrasts) else ""
        self.follow(f"{other} was retired.{added}{lost}")

    def _on_reversed(self, reversal: Reversal) -> None:
        self.follow(f"{'Undone' if reversal.back else 'Redone'}: {reversal.change.words}.")

    def follow(self, notice: str = "") -> None:
        """Show what became of the pairs, here or elsewhere: what was retired, and which are both kept."""
        result = self.view.result
        if result is None:
            return
        library = self.memory.library()
        ids = {id for pair in result.pairs for id in pair.ids}
        there = {one.id for one in library.current(ids) if one.review.status != "retired"}
        now = result.replace(kept=library.apart(), retired=frozenset(ids - there))
        if notice:
            self.show(result=now, notice=notice, problem="")
        elif now != result:
            self.show(result=now)
