"""Changes of the exemplars that were made at a window: each is announced once, and can be undone and redone."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from core.debugger.background_read import finish_in_thread
from core.debugger.commands import command
from core.debugger.service import ChangeAnswer, Service
from core.exemplars.editing.draft_files import FOLDER, Drafts, KeptDraft
from core.exemplars.library.records import CurrentVersion
from core.schema.errors import BackstepError, UsageError
from core.schema.exemplar import ExemplarReview
from core.schema.record import Record
from core.schema.signal import Signal

if TYPE_CHECKING:
    from core.debugger.session import Session


class ExemplarChange(Record):
    """What was changed, so that it can be undone and redone."""

    words: str = ""
    """What was done, such as ``retire “buy-shoes”``."""
    before: tuple[CurrentVersion, ...] = ()
    """One that was not there is retired: nothing is ever deleted."""
    after: tuple[CurrentVersion, ...] = ()
    """The same exemplars in the same order."""
    pair: tuple[str, str] | None = None
    """Two similar ones of which both are to be kept from now on, or not any more."""
    apart: bool = False
    """Whether both of the pair are kept now."""
    draft: KeptDraft | None = None
    """A draft that was deleted."""


class Reversal(Record):
    """A change that was undone or redone."""

    change: ExemplarChange
    back: bool
    """Whether it was undone."""

    @property
    def now(self) -> tuple[CurrentVersion, ...]:
        return self.change.before if self.back else self.change.after


class ExemplarChanges(Service[ExemplarChange]):
    """Sends each change that a service made (`changed`), and undoes and redoes it."""

    view = ExemplarChange()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.answered: Signal[ChangeAnswer] = Signal()
        """What became of each exchange."""
        self.reversed: Signal[Reversal] = Signal()

    @property
    def drafts(self) -> Drafts:
        return Drafts(self.services.settings.database.parent / FOLDER)

    def before(self, ids: Iterable[str]) -> Mapping[str, CurrentVersion | None]:
        """Return the current versions of exemplars that are about to be changed, for `made`; None of new ones."""
        new: dict[str, CurrentVersion | None] = dict.fromkeys(ids)
        return new | {current.id: current for current in self.memory.library().current(new)}

    def made(self, words: str, before: Mapping[str, CurrentVersion | None]) -> ExemplarChange | None:
        """Announce what has become of these exemplars; None where nothing has changed."""
        after = tuple(one for one in self.memory.library().current(tuple(before)) if before[one.id] != one)
        if not after:
            return None
        was = tuple(before[one.id] or one.replace(review=ExemplarReview(status="retired")) for one in after)
        change = ExemplarChange(words=words, before=was, after=after)
        self.send(change)
        return change

    @command
    async def exchange(self, change: ExemplarChange, *, back: bool, token: int = 0) -> None:
        """Undo a change, or redo it; refused where something of it was changed meanwhile."""
        try:
            await self._exchange(change, back=back)
        except BackstepError as error:
            self.answered.send(ChangeAnswer(token, str(error)))
        else:
            self.reversed.send(Reversal(change=change, back=back))
            self.answered.send(ChangeAnswer(token, ""))

    async def _exchange(self, change: ExemplarChange, *, back: bool) -> None:
        now, wanted = (change.after, change.before) if back else (change.before, change.after)
        memory = self.memory

        def exchange() -> None:
            with memory.connection() as library:
                library.exchange(now, wanted)

        if now:
            await finish_in_thread(exchange)
        if change.pair is not None:
            library = memory.library()
            wanted_apart = change.apart != back
            if (change.pair in library.apart()) == wanted_apart:
                raise UsageError("The pair was changed meanwhile.")
            library.keep_apart(*change.pair, apart=wanted_apart)
        if change.draft is not None:
            key = change.draft.key
            if self.drafts.get(key) != (None if back else change.draft):
                raise UsageError("The draft was changed meanwhile.")
            if back:
                self.drafts.keep(change.draft)
            else:
                self.drafts.forget(key)
