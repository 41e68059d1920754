"""The live page as the window shows it: tabs, outlines, and what a person points at."""

from core.schema.observation import Box, Ref, Tab
from core.schema.record import Record


class OutlineView(Record):
    """One numbered outline over the live page."""

    ref: Ref
    box: Box
    chosen: bool = False
    hidden: bool = False
    """Out of view, in the window or in a box that scrolls: told for the chosen one only."""


class LivePageView(Record):
    """The live page: its tabs, and what is drawn on it."""

    tabs: tuple[Tab, ...] = ()
    url: str = ""
    outlines: tuple[OutlineView, ...] = ()
    viewport: tuple[int, int] = (0, 0)
    scrolled: bool = False
    """Scrolled for the person to look at; it is restored as the agent saw it before anything is done to it."""

    @property
    def next(self) -> OutlineView | None:
        """What the next action acts on, if it is in the page."""
        return next((outline for outline in self.outlines if outline.chosen), None)


class Picked(Record):
    """The element a person pointed at in the page."""

    ref: Ref | None
    label: str = ""
    box: Box | None = None
    final: bool = False
    """True for a click, False while the pointer only rests on it."""
    action: str = ""
    """For a click: the action of the state at hand that acts on it, as text, if there is one."""
