"""The live page of an installed Chromium, which has no window: its tabs, its address and its picture."""

from PySide6.QtCore import QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.browser.screen import Browse as BrowseInput
from core.browser.screen import (
    ChooseTab,
    DropTab,
    GoTo,
    PersonInput,
    Screen,
    ScreenPicture,
    ShownBrowser,
)
from core.schema.action import Action, GoBack, GoForward, TabFocus
from gui.live.device import Device
from gui.live.leaving import Leaving
from gui.live.page_strip import Browse, PageStrip, closed, gone_to
from gui.live.screen_view import ScreenView
from gui.theme.theme import Theme
from gui.widgets.copying import to_clipboard
from gui.widgets.layouts import in_column
from gui.widgets.relay import Relay
from gui.widgets.words import ElidedLabel, NoteLabel, Paragraph, set_tone

_WAITING = "Waiting for the first picture of the page…"
_ELSEWHERE = "{} is for the embedded browser: open the task in that (start Backstep with --browser embedded)."
_LIMITS = "Not shown: lists of choices (use the arrow keys), choosers of files and dates, menus."


class ScreenArea(QWidget):
    """Shows what is on a `Screen`, and reports the person's input while they have the page."""

    view_moved = Signal()
    """The page has moved or changed its size."""
    running_changed = Signal(bool)
    """Whether a browser is on the screen."""
    said = Signal(str, str)
    """Title and text of a message for the person."""
    browsed = Signal(object)
    """What the person does with the browser buttons, as `Action`s, sent just before it is done."""

    def __init__(self, screen: Screen, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.leaving = Leaving(self)
        self._screen = screen
        self._shown = ShownBrowser()
        self._addressed = ""
        self._picture: ScreenPicture | None = None
        self.strip = PageStrip(self)
        self.strip.bar.currentChanged.connect(self._on_tab_chosen)
        self.strip.bar.tabCloseRequested.connect(self._on_tab_close)
        self.strip.address_entered.connect(self._on_address)
        self.strip.bar.tabBarClicked.connect(self._on_tab_clicked)
        self.strip.refused.connect(lambda why: self.said.emit("That is no address", why))
        self.strip.browsed.connect(self.browse)
        self.strip.left_by_key.connect(self._focus_page)
        self.problem = NoteLabel("bad", parent=self, margins=(10, 0, 10, 4))
        self.limits = ElidedLabel(_LIMITS, self, tone="dim")
        self.limits.setContentsMargins(10, 0, 10, 4)
        self.limits.hide()
        self.view = ScreenView(screen.put_in)
        self.device = Device(self.view, self)
        self.waiting = Paragraph(_WAITING, self.device)
        self.waiting.setContentsMargins(12, 12, 12, 12)
        set_tone(self.waiting, "dim")
        self.view.page_resized.connect(self.device.set_page_size)
        self.device.moved.connect(self._on_moved)
        self.device.watched.connect(self._on_watched)
        in_column(self, self.strip, self.problem, self.limits, (self.device, 1), spacing=0)
        for source, slot in (
            (screen.changed, self._show),
            (screen.drawn, self._draw),
            (screen.copied, self._copy),
        ):
            Relay(source, parent=self).received.connect(slot)

    @property
    def shown(self) -> ShownBrowser:
        """What is on the screen, without the picture."""
        return self._shown

    def page_scale(self) -> float:
        """Return the number of this widget's pixels per CSS pixel of the page."""
        return self.device.drawn_scale

    def set_handed_over(self, on: bool) -> None:
        """Let the person's mouse, keys, and choice of tabs and addresses reach the page, or block them."""
        self.strip.set_handed_over(on)
        self.limits.setVisible(on)
        self.view.set_handed_over(on)
        if on:
            self._focus_page()

    def equip(self, theme: Theme) -> None:
        """Set the theme of the strip."""
        self.strip.dress(theme)

    def browse(self, what: Browse) -> None:
        """Run the action of a browser button, if it is available here."""
        if what == "stop":
            self._screen.put_in(BrowseInput(what))
        elif what in ("back", "forward", "reload"):
            to: dict[str, tuple[Action, ...]] = {"back": (GoBack(),), "forward": (GoForward(),)}
            self._leave(to.get(what) or gone_to(QUrl(self._addressed)), BrowseInput(what))
        else:
            self.said.emit("The page is not zoomed", _ELSEWHERE.format("Zoom"))

    def _leave(self, actions: tuple[Action, ...], how: PersonInput) -> None:
        def leave() -> None:
            self.browsed.emit(actions)
            self._screen.put_in(how)

        self.leaving.then(leave)

    @Slot(QUrl)
    def _on_address(self, url: QUrl) -> None:
        self._leave(gone_to(url), GoTo(url.toString()))

    @Slot(int)
    def _on_tab_clicked(self, index: int) -> None:
        if index not in (-1, self.strip.bar.currentIndex()):
            self.browsed.emit((TabFocus(index=index),))

    @Slot(int)
    def _on_tab_close(self, index: int) -> None:
        self._leave(closed(self.strip.bar, index), DropTab(self.strip.bar.tabData(index)))

    def _focus_page(self) -> None:
        self.device.setFocus(Qt.FocusReason.OtherFocusReason)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def search(self) -> None:
        self.said.emit("The page is not searched", _ELSEWHERE.format("Find in page"))

    def show_downloads(self) -> None:
        self.said.emit("There are no downloads", _ELSEWHERE.format("A list of downloads"))

    def inspect(self) -> str:
        return _ELSEWHERE.format("DevTools")

    @Slot(object)
    def _show(self, shown: ShownBrowser) -> None:
        before, self._shown = self._shown, shown
        if shown.current != before.current:
            self._draw_current()
        bar = self.strip.bar
        bar.blockSignals(True)
        if [one.tab for one in shown.tabs] != [bar.tabData(index) for index in range(bar.count())]:
            while bar.count():
                bar.removeTab(0)
            for tab in shown.tabs:
                bar.setTabData(bar.addTab("New tab"), tab.tab)
        for index, one in enumerate(shown.tabs):
            self.strip.name_tab(index, one.title)
            if one.tab == shown.current:
                bar.setCurrentIndex(index)
                if one.url != self._addressed:
                    self._addressed = one.url
                    self.strip.show_url(QUrl(one.url))
        bar.blockSignals(False)
        self.problem.show_text(shown.problem)
        self.view.set_live(not shown.problem)
        self._tell_waiting()
        if shown.running != before.running:
            self.running_changed.emit(shown.running)

    @Slot(object)
    def _draw(self, picture: ScreenPicture) -> None:
        if self.device.isVisible():
            self._picture = picture
            self._draw_current()

    def _draw_current(self) -> None:
        # The first picture of a tab may arrive before the message that the tab is current.
        picture = self._picture
        of_current = picture is not None and picture.tab == self._shown.current
        self.view.show_picture(picture if of_current else None)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        self.waiting.setVisible(not self.view.drawn and not self._shown.problem)

    @Slot(object)
    def _copy(self, text: str) -> None:
        if text:
            to_clipboard([text])

    @Slot(int)
    def _on_tab_chosen(self, index: int) -> None:
        if index >= 0:
            self._screen.put_in(ChooseTab(self.strip.bar.tabData(index)))

    @Slot()
    def _on_moved(self) -> None:
        self.waiting.setFixedWidth(self.device.width())
        self.waiting.move(QPoint(0, 0))
        self.view_moved.emit()

    @Slot(bool)
    def _on_watched(self, on: bool) -> None:
        if not on:
            self._picture = None  # The page may look different when it is shown again.
            self.view.show_picture(None)
        self._tell_waiting()
        self._screen.watch(on)
