"""The live page in the window: the embedded browser's, or that of an installed Chromium while one is on the screen."""

from PySide6.QtCore import QPoint, QRect, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from gui.live.page_area import PageArea
from gui.live.page_strip import Browse
from gui.live.screen_area import ScreenArea
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered


class LiveArea(QStackedWidget):
    """Shows the one of two areas that the browser in use has."""

    view_moved = Signal()
    """The page lies elsewhere, is larger or smaller than it was, or is another browser's."""
    said = Signal(str, str)
    """Title and text of what the person is to know."""
    browsed = Signal(object)
    """What the person does with the buttons of the browser, as `Action`s, just before it is done."""
    inspected = Signal(object)
    """The view of DevTools, which is to be shown; None once there is none."""

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
        """Return where the page lies inside this widget."""
        rect = self._area.view_rect()
        return QRect(self._area.mapTo(self, QPoint(rect.x(), rect.y())), rect.size())

    def page_scale(self) -> float:
        """Return how many pixels of this widget a CSS pixel of the page has."""
        return self._area.page_scale()

    def equip(self, theme: Theme, remembered: Remembered) -> None:
        """Give what the person uses its look, and what it keeps from one start to the next."""
        self.embedded.equip(theme, remembered)
        self.chromium.equip(theme)

    def set_handed_over(self, on: bool) -> None:
        """Let the person's mouse and keys reach the page, or take that back."""
        self._area.set_handed_over(on)

    def browse(self, what: Browse) -> None:
        """Do what a button of a browser does."""
        self._area.browse(what)

    def search(self) -> None:
        """Find words in the page."""
        self._area.search()

    def reach_address(self) -> None:
        """Put the keyboard into the address."""
        self._area.reach_address()

    def show_downloads(self) -> None:
        """Open the list of downloads."""
        self._area.show_downloads()

    def inspect(self) -> str:
        """Open DevTools on the live page; returns why that is not possible, or nothing."""
        return self._area.inspect()

    def close_devtools(self) -> None:
        """Close DevTools."""
        self.embedded.close_devtools()

    @Slot(bool)
    def _on_running(self, running: bool) -> None:
        left = self._area
        self.setCurrentWidget(self.chromium if running else self.embedded)
        left.set_handed_over(False)
        if running:
            self.close_devtools()
        if running and self.embedded.tabs():
            self.embedded.open_profile(None)  # A page that was left does nothing more.
