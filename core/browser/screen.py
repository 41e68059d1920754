"""The screen of a browser without a window: its picture, and the person's input.

A `Screen` belongs to one window, which shows whatever browser is on it.
`core.browser.screencast` puts a browser on it.
"""

import asyncio
from collections.abc import Callable
from typing import Literal, NamedTuple

from core.schema.events import TabId
from core.schema.record import Record
from core.schema.signal import Signal


class ShownTab(Record):
    """One tab as the window names it."""

    tab: TabId
    title: str = ""
    url: str = ""


class ShownBrowser(Record):
    """The browser apart from its picture."""

    running: bool = False
    """Whether there is a browser to be shown."""
    tabs: tuple[ShownTab, ...] = ()
    current: TabId = ""
    problem: str = ""
    """Why the picture is not what the page looks like now; empty if it is."""


class ScreenPicture(NamedTuple):
    """The viewport of a tab as it was drawn last."""

    tab: TabId
    data: bytes
    width: float
    """In CSS pixels."""
    height: float


class Pointer(NamedTuple):
    """The mouse was moved, pressed, released, or its wheel turned; places are CSS pixels of the viewport."""

    kind: Literal["move", "down", "up", "wheel"]
    x: float
    y: float
    button: Literal["left", "middle", "right"] = "left"
    clicks: int = 1
    right: float = 0
    """How far the wheel was turned."""
    down: float = 0


class Key(NamedTuple):
    """A key was pressed or released, by the name that Playwright has for it."""

    kind: Literal["down", "up"]
    name: str


class Typed(NamedTuple):
    """Text without a single key: pasted, or from an input method."""

    text: str


class Copy(NamedTuple):
    """The selection in the page is to be copied to the clipboard."""


class GoTo(NamedTuple):
    """An address was entered."""

    url: str


class ChooseTab(NamedTuple):
    """A tab was chosen."""

    tab: TabId


class DropTab(NamedTuple):
    """A tab is to be closed."""

    tab: TabId


class Browse(NamedTuple):
    """A button of a browser was pressed."""

    what: Literal["back", "forward", "reload", "stop"]


PersonInput = Pointer | Key | Typed | Copy | GoTo | ChooseTab | DropTab | Browse


class Screen:
    """Connects a window to the browser that it shows. Signals are sent from the worker's thread."""

    def __init__(self) -> None:
        self.changed: Signal[ShownBrowser] = Signal()
        self.drawn: Signal[ScreenPicture] = Signal()
        self.copied: Signal[str] = Signal()
        """The text that was selected as `Copy` came."""
        self.watched = False
        """Whether anybody sees it: there are pictures only then."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_input: Callable[[PersonInput], None] = lambda _: None
        self._on_watched: Callable[[], None] = lambda: None

    # From the window's thread

    def watch(self, on: bool) -> None:
        """Begin or end to send pictures."""
        self.watched = on
        self._call(lambda: self._on_watched())

    def put_in(self, one: PersonInput) -> None:
        """Do in the browser what a person does on the screen, each after the one before."""
        self._call(lambda: self._on_input(one))

    # From the worker's loop

    def connect(self, on_input: Callable[[PersonInput], None], on_watched: Callable[[], None]) -> None:
        """Have what comes from the window called in the loop that runs now."""
        self._loop, self._on_input, self._on_watched = asyncio.get_running_loop(), on_input, on_watched

    def disconnect(self) -> None:
        """There is no browser any more."""
        self._loop = None
        self.changed.send(ShownBrowser())

    def _call(self, function: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)
