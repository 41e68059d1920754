"""What is needed to restore the browser to a step, what strategies work with, and what a strategy is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.browser.actor import Actor
from core.browser.checkpoints.comparison import Provenance, Volatile
from core.browser.checkpoints.page_state import PageState, put_cookies_back
from core.browser.recorded.exchange import Exchange
from core.browser.tabs import Tabs
from core.schema.element_identity import FoundAgain, RecordedInput
from core.schema.errors import BackstepError
from core.schema.observation import Element, Observation
from core.schema.record import Record
from core.schema.restore import Parted, SentAt


class Checkpoint(Record):
    """A step to go back to."""

    step: int
    observation: Observation
    """The page as the step observed it."""
    inputs: tuple[RecordedInput, ...] = ()
    """What was done before it since the task was opened, in order."""
    page: PageState = PageState()
    """What the browser and the environment's server kept then."""
    exchanges: tuple[Exchange, ...] = ()
    """What servers answered on the way to it, if that was recorded."""
    nearest: "Checkpoint | None" = None
    """The earlier step at which the document was loaded, if that is not the first one."""


Choose = Callable[[Element, FoundAgain, Observation], Awaitable[Element | None]]
"""Asks which candidate is meant if the element cannot be identified for certain; None for none of them."""


async def _nothing_kept() -> PageState:
    return PageState()


@dataclass
class RestoreContext:
    """The live browser, with what only the environment and the agent can do in it."""

    tabs: Tabs
    actor: Actor
    read: Callable[[], Awaitable[Observation]]
    """Reads the current page."""
    reopen: Callable[[], Awaitable[None]]
    """Starts the task again in a clean profile."""
    put_server_back: Callable[[str], Awaitable[None]] | None = None
    """Gives the page a session of its own in the state of a snapshot."""
    server_state: Callable[[], str] | None = None
    """Returns the snapshot of the environment's server as it is now."""
    page_state: Callable[[], Awaitable[PageState]] = _nothing_kept
    """Reads what the browser and the environment's server keep now."""
    touched: Callable[[], str] = str
    """Returns which touch of the browser was the last one."""
    touch: Callable[[], None] = lambda: None
    """Says that the browser is about to be touched."""
    begin_here: Callable[[], Awaitable[None]] | None = None
    """Starts the task again in the tab and profile that are there. Only where its pages are made by their own
    scripts, which keep in memory what no reading shows, and where doing again does no harm."""
    own_cookies: tuple[str, ...] = ()
    """Cookies by which the environment's server knows the page's session: they are its own to set."""
    clean: bool = True
    """Whether a task that is started again has a clean profile; a named one keeps what was done in it."""
    fresh: bool = False
    """Whether the task has just been started again, and nothing was done in it since."""
    live: bool = False
    """Whether an agent continues in the page at once: it has to show what servers hold now."""
    sent: tuple[SentAt, ...] = ()
    """What was sent since the step and stays done."""
    repeats: Callable[[Sequence[RecordedInput]], str] = lambda inputs: ""
    """Returns what doing inputs again would do that cannot be undone, in a sentence, or nothing."""
    choose: Choose | None = None
    volatile: Volatile = field(default_factory=Volatile)
    """What changes by itself in pages."""
    body: Callable[[str], bytes] | None = None
    """Returns the content of a recorded answer."""
    recorded_picture: Callable[[int], bytes] | None = None
    """Returns the picture that was kept of a step's page, or nothing."""
    other_engine: bool = False
    """Whether that picture is of another engine, which draws the same page a little differently."""

    async def put_kept_back(self, url: str, kept: PageState) -> None:
        """Restore the cookies of a page, and the state of the environment's server if it has changed."""
        await put_cookies_back(self.tabs.current, url, kept, but=self.own_cookies)
        if not kept.server or self.put_server_back is None:
            return
        if self.server_state is None or self.server_state() != kept.server:
            await self.put_server_back(kept.server)


class RestoreError(BackstepError):
    """A strategy failed; the text says where and why."""

    def __init__(self, message: str, parted: Parted | None = None) -> None:
        """`parted` is where an agent that was to lead there went another way."""
        super().__init__(message)
        self.parted = parted


class NotTried(RestoreError):
    """A strategy does not apply in the browser's present state. It has not changed the page."""


class WouldRepeat(NotTried):
    """The strategy would repeat something that cannot be undone."""


@dataclass(frozen=True)
class RestoreOutcome:
    """How the page was restored."""

    remarks: tuple[str, ...] = ()
    """What was done differently, or left out."""
    provenance: Provenance = "restored"
    seen: Observation | None = None
    """The page as it was last read, if nothing was done since."""


class Strategy(Protocol):
    """One way to restore a checkpoint."""

    name: str

    def unfit(self, checkpoint: Checkpoint) -> str:
        """Return why it cannot be used for this checkpoint, or nothing."""
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        """Restore the page; raises RestoreError, ActionError or BrowserError."""
        ...
