"""Layouts of the window: which docks are shown for which work, with the positions and sizes that the person left."""

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow

from gui.shell.docks import PLACES, RIGHT, Docks
from gui.widgets.remembered import Remembered

LayoutName = Literal["watch", "debug", "curate"]
VERSION = 6
"""Version of the state of docks and tool bars. A state saved by another version is not restored."""


@dataclass(frozen=True)
class DockLayout:
    """The docks that are shown at first; those not listed are placed as in `PLACES`."""

    shown: frozenset[str]
    widths: dict[str, int]
    heights: dict[str, int]
    moved: dict[str, tuple[Qt.DockWidgetArea, str]] = field(default_factory=dict)
    """Area and group of the docks that are not placed as in `PLACES`."""


LAYOUTS: dict[LayoutName, DockLayout] = {
    "watch": DockLayout(
        shown=frozenset({"Runs & steps", "Action"}),
        widths={"Runs & steps": 240, "Action": 290},
        heights={},
    ),
    "debug": DockLayout(
        shown=frozenset(place.name for place in PLACES if not place.hidden),
        widths={"Runs & steps": 280, "State": 330},
        heights={"Observation": 200} | {place.name: place.height for place in PLACES if place.height},
    ),
    "curate": DockLayout(
        shown=frozenset({"Runs & steps", "Exemplars", "Observation", "Prompt", "Diff"}),
        widths={"Runs & steps": 280, "Exemplars": 320},
        heights={"Observation": 400},
        moved={"Exemplars": (RIGHT, "exemplars")},
    ),
}


class Layouts(QObject):
    """Switches between layouts. Changes that the person makes in a layout are kept when they return to it."""

    def __init__(
        self,
        docks: Docks,
        remembered: Remembered,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._remembered = remembered
        self._sizes_due = False
        docks.folding.chosen.connect(self._keep_folded)
        self.current: LayoutName = next(
            (layout for layout in LAYOUTS if layout == remembered.layout_name), "debug"
        )
        self._show()

    def choose(self, name: LayoutName) -> None:
        """Save the current layout and show another one as it was left."""
        if name != self.current:
            self.keep()
            self.current = self._remembered.layout_name = name
            self._show()

    def keep(self) -> None:
        """Save the current state of the docks."""
        self._remembered.keep_layout(self.current, self._window.saveState(VERSION), VERSION)

    def reset(self) -> None:
        """Reset the current layout to its default."""
        self._docks.folding.restore({})
        self._keep_folded()
        self._arrange()

    def size_at_first(self) -> None:
        """Give the docks their initial sizes if none are remembered, once the window has its own size."""
        if self._sizes_due:
            self._sizes_due = False
            self._size()

    def _show(self) -> None:
        self._docks.forget_sizes()
        self._docks.folding.restore(self._remembered.folded(self.current))
        state = self._remembered.layout(self.current, VERSION)
        if state is None or not self._window.restoreState(state, VERSION):
            self._arrange()
            self._sizes_due = not self._window.isVisible()
        self._docks.regroup()

    def _arrange(self) -> None:
        layout = LAYOUTS[self.current]
        self._docks.arrange(layout.shown, layout.moved)
        self._size()

    def _size(self) -> None:
        self._docks.forget_sizes()
        layout = LAYOUTS[self.current]
        for sizes, orientation in (
            (layout.widths, Qt.Orientation.Horizontal),
            (layout.heights, Qt.Orientation.Vertical),
        ):
            self._docks.resize(sizes, orientation)

    def _keep_folded(self) -> None:
        self._remembered.keep_folded(self.current, self._docks.folding.by_hand)
