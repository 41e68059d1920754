"""Layouts of the window: which docks are shown for which work, with the positions and sizes that the person left."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow

from gui.shell.docks import BELOW, RUNS, STEP, Docks
from gui.widgets.remembered import Remembered

LayoutName = Literal["watch", "debug", "curate"]
VERSION = 7
"""Version of the state of docks and tool bars. A state saved by another version is not restored."""


@dataclass(frozen=True)
class DockLayout:
    """The docks that are shown at first with their sizes, and the sections that are not folded in them."""

    shown: frozenset[str]
    unfolded: frozenset[str] | None = None
    """None for all."""
    below: int = 0
    """The height of the dock below the page."""


LAYOUTS: dict[LayoutName, DockLayout] = {
    "watch": DockLayout(frozenset({RUNS, STEP}), frozenset({"Runs & steps", "Action"})),
    "debug": DockLayout(frozenset({RUNS, STEP, BELOW}), below=220),
    "curate": DockLayout(frozenset({RUNS, STEP, BELOW}), frozenset({"Runs & steps", "Exemplars"}), below=420),
}
_WIDTHS = {RUNS: 270, STEP: 330}


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
        for page in docks.below.pages:
            if page.name == remembered.front_page and page.is_offered:
                docks.below.choose(page)
        docks.below.front_changed.connect(self._keep_front)

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
        self._docks.folding.restore({}, LAYOUTS[self.current].unfolded)
        self._keep_folded()
        self._arrange()

    def size_at_first(self) -> None:
        """Give the docks their initial sizes if none are remembered, once the window has its own size."""
        if self._sizes_due:
            self._sizes_due = False
            self._size()

    def _show(self) -> None:
        self._docks.forget_sizes()
        unfolded = LAYOUTS[self.current].unfolded
        self._docks.folding.restore(self._remembered.folded(self.current), unfolded)
        state = self._remembered.layout(self.current, VERSION)
        if state is None or not self._window.restoreState(state, VERSION):
            self._arrange()
            self._sizes_due = not self._window.isVisible()

    def _arrange(self) -> None:
        self._docks.arrange(LAYOUTS[self.current].shown)
        self._size()

    def _size(self) -> None:
        self._docks.forget_sizes()
        layout = LAYOUTS[self.current]
        self._docks.resize(_WIDTHS, Qt.Orientation.Horizontal)
        if layout.below:
            self._docks.resize({BELOW: layout.below}, Qt.Orientation.Vertical)

    def _keep_front(self, name: str) -> None:
        self._remembered.front_page = name

    def _keep_folded(self) -> None:
        self._remembered.keep_folded(self.current, self._docks.folding.by_hand)
