"""The live page in the window: the embedded browser's, or an installed Chromium's while one is on the screen."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.schema.observation import Box
from gui.live.page_area import PageArea
from gui.live.page_strip import Browse
from gui.live.screen_area import ScreenArea
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered


class LiveArea(QStackedWidget):
    """Shows one of two areas, depending on the browser in use."""

    view_moved = Signal()
    """The page has moved, changed its size, or belongs to another browser."""
    said = Signal(str, str)
    """Title and text of a message for the person."""
    browsed = Signal(object)
    """What the person does with the browser buttons, as `Action`s, sent just before it is done."""
    inspected = Signal(object)
    """The view of DevTools to show; None if it was closed."""

    def __init__(self, embedded: PageArea, chromium: ScreenArea, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.embedded = embedded
        self.chromium = chromium
        for area in (embedded, chromium):
            self.addWidget(area)
            area.view_moved.connect(self.view_moved)
            area.said.connect(self.said)
            area.browsed.connect(self.browsed)
        embedded.inspected.connect(self.inspected)
        chromium.running_changed.connect(self._on_running)
        self.currentChanged.connect(lambda _: self.view_moved.emit())

    @property
    def _area(self) -> PageArea | ScreenArea:
        return self.chromium if self.currentWidget() is self.chromium else self.embedded

    def view_rect(self) -> QRect:
        """Return where the page is drawn inside this widget; parts of it may lie outside of `seen_rect`."""
        return self._of_device(self._area.device.place())

    def seen_rect(self) -> QRect:
        """Return the part of this widget in which the page is visible."""
        return self._of_device(self._area.device.viewport().rect())

    def _of_device(self, rect: QRect) -> QRect:
        return QRect(self._area.device.mapTo(self, rect.topLeft()), rect.size())

    def page_scale(self) -> float:
        """Return the number of this widget's pixels per CSS pixel of the page."""
        return self._area.page_scale()

    @property
    def page_size(self) -> QSize:
        """The size in which the page is laid out, in CSS pixels."""
        return self._area.device.page_size

    def set_fitted(self, on: bool) -> None:
        """Draw the page scaled to fit, or at its own size with scrolling."""
        for area in (self.embedded, self.chromium):
            area.device.set_fitted(on)

    def reveal(self, box: Box) -> None:
        """Scroll the device to a place of the page."""
        self._area.device.reveal(QRectF(box.x, box.y, box.width, box.height))

    def scroll_device(self, right: float, down: float) -> bool:
        """Scroll the device; return False if there is nothing left to scroll to."""
        return self._area.device.scroll_by(right, down)

    def equip(self, theme: Theme, remembered: Remembered) -> None:
        """Set the theme and the settings that are remembered between starts."""
        self.embedded.equip(theme, remembered)
        self.chromium.equip(theme)

    def set_handed_over(self, on: bool) -> None:
        """Let the person's mouse and keys reach the page, or block them again."""
        self._area.set_handed_over(on)

    def show_sites(self, sites: Sequence[str]) -> None:
        """Show which sites the agent may open."""
        self._area.strip.show_sites(sites)

    def record_before_leaving(self, record: Callable[[Callable[[], None]], None]) -> None:
        """Let `record` store what was done in a page before the person leaves it; see `Leaving`."""
        for area in (self.embedded, self.chromium):
            area.leaving.record_first = record

    def browse(self, what: Browse) -> None:
        """Run the action of a browser button."""
        self._area.browse(what)

    def search(self) -> None:
        """Find words in the page."""
        self._area.search()

    def reach_address(self) -> None:
        """Focus the address field."""
        self._area.strip.reach_address()

    def show_downloads(self) -> None:
        self._area.show_downloads()

    def inspect(self) -> str:
        """Open DevTools on the live page; return why that is not possible, or an empty string."""
        return self._area.inspect()

    def close_devtools(self) -> None:
        self.embedded.close_devtools()

    @Slot(bool)
    def _on_running(self, running: bool) -> None:
        left = self._area
        self.setCurrentWidget(self.chromium if running else self.embedded)
        left.set_handed_over(False)
        if running:
            self.close_devtools()
        if running and self.embedded.tabs():
            self.embedded.open_profile(None)  # A page that is no longer shown does nothing.
