"""The strip above a live page: its tabs, browser buttons, address, and whether it has a sandbox."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTabBar, QToolButton, QWidget

from core.browser.boundary import ALL_SITES
from core.browser.floods import shortened
from core.browser.host import runs_as_root
from core.schema.action import Action, CloseTab, Goto, NewTab, TabFocus
from core.schema.formats import as_read, cut
from gui.theme.theme import Theme
from gui.widgets.keys import takes_key
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import labelled, set_tone

_TITLE, MOST_OF_A_TIP = 40, 500
"""Maximum number of characters of a title on its tab and in its tooltip."""
Browse = Literal["back", "forward", "reload", "stop", "zoom_in", "zoom_out", "zoom_reset"]
_AGENTS = "the page is the agent's; F6 hands it to you"
_ICON = 15


def gone_to(url: QUrl) -> tuple[Goto, ...]:
    """Return the actions that go to an address; none if there is no address yet."""
    text = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
    return (Goto(url=text),) if text.strip() else ()


def closed(bar: QTabBar, index: int) -> tuple[Action, ...]:
    """Return the actions that close a tab which is still in the bar, and leave the same tab current."""
    current = bar.currentIndex()
    if bar.count() == 1:  # It is replaced by an empty one.
        return NewTab(), TabFocus(index=0), CloseTab()
    if index == current:
        return (CloseTab(),)
    return TabFocus(index=index), CloseTab(), TabFocus(index=current - (index < current))


class AddressField(QLineEdit):
    """The address of the page, which the person can overwrite; Esc restores it."""

    left_by_key = Signal()
    """The person has finished editing: the focus returns to the page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, readOnly=True)
        self._true = ""

    def show_address(self, text: str) -> None:
        """Show the page's address, unless the person is typing."""
        self._true = text
        if not (self.isModified() and self.hasFocus()):
            self.restore()

    def restore(self) -> None:
        """Replace the typed text by the address of the page."""
        self.setText(self._true)
        self.setModified(False)
        self.setCursorPosition(0)

    def event(self, event: QEvent) -> bool:
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        gives_up = escape and not self.isReadOnly()
        return (gives_up and takes_key(event, self._give_up)) or super().event(event)

    def _give_up(self) -> None:
        self.restore()
        self.left_by_key.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.isReadOnly() and event.reason() != Qt.FocusReason.MouseFocusReason:
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.isReadOnly():
            self.restore()


class PageStrip(QWidget):
    """A tab bar, whose tabs its owner creates, and below it the buttons and the address."""

    address_entered = Signal(QUrl)
    """The person has the page and wants to go to this address."""
    refused = Signal(str)
    """The entered text is not an address; sent with the reason."""
    browsed = Signal(str)
    """The person pressed one of the buttons: a `Browse`."""
    downloads_wanted = Signal()
    left_by_key = Signal()
    """The keyboard focus returns to the page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._handed_over = False
        self._loading = False
        self._history = (True, True)
        self.bar = QTabBar(self, documentMode=True, expanding=False, elideMode=Qt.TextElideMode.ElideRight)
        self.bar.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectLeftTab)
        self.bar.setAccessibleName("Tabs of the live page")
        self.bar.setAutoHide(True)
        self.back_button = self._button(lambda: self.browsed.emit("back"))
        self.forward_button = self._button(lambda: self.browsed.emit("forward"))
        self.reload_button = self._button(lambda: self.browsed.emit("stop" if self._loading else "reload"))
        self.address = labelled(AddressField(self), "Address of the live page")
        self.address.setObjectName("address")
        self.address.setPlaceholderText("No page is open: choose a task (Ctrl+N)")
        self.address.returnPressed.connect(self._on_entered)
        self.address.left_by_key.connect(self.left_by_key)
        self.sites = QLabel(self)
        set_tone(self.sites, "dim")
        self.sites.hide()
        self.zoom_button = QPushButton(self, autoDefault=False)
        self.zoom_button.setProperty("chip", True)
        self.zoom_button.setToolTip("Show the page at 100 % again (Ctrl+0)")
        self.zoom_button.clicked.connect(lambda: self.browsed.emit("zoom_reset"))
        self.zoom_button.hide()
        self.downloads_button = self._button(self.downloads_wanted.emit)
        self.downloads_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.downloads_button.hide()
        self.no_sandbox = QLabel("No sandbox", self)
        set_tone(self.no_sandbox, "bad")
        self.no_sandbox.setToolTip(
            "This page comes from the web, and runs without the browser's sandbox because Backstep was started as "
            "root. A page that takes over the browser has the whole machine: run Backstep as another user."
        )
        self.no_sandbox.hide()
        line = in_row(
            None,
            *(self.back_button, self.forward_button, self.reload_button, (self.address, 1)),
            *(self.sites, self.zoom_button, self.downloads_button, self.no_sandbox),
            margins=(8, 4, 8, 4),
            spacing=4,
        )
        in_column(self, self.bar, line, spacing=0)
        self._theme: Theme | None = None
        self._tell_buttons()

    def dress(self, theme: Theme) -> None:
        """Set the icons of the buttons."""
        self._theme = theme
        self.back_button.setIcon(theme.icon("arrow-left"))
        self.forward_button.setIcon(theme.icon("arrow-right"))
        self.downloads_button.setIcon(theme.icon("desktop-download"))
        self._tell_buttons()

    def show_url(self, url: QUrl) -> None:
        """Show the address of the current tab; an empty string shows none."""
        # Encoded, because letters of other scripts or right-to-left text could make it look like another address.
        text = shortened(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        self.address.show_address("" if text == "about:blank" else text)
        from_web = url.scheme() in ("http", "https")
        of_here = url.host() in ("127.0.0.1", "localhost", "::1")
        self.no_sandbox.setVisible(runs_as_root() and from_web and not of_here)

    def show_sites(self, sites: Sequence[str]) -> None:
        """Show which sites the agent may open; without any nothing is shown."""
        told = ["all sites of the internet" if site == ALL_SITES else site for site in sites]
        more = f" + {len(sites) - 1}" if len(sites) > 1 else ""
        self.sites.setVisible(bool(sites))
        every = ALL_SITES in sites
        self.sites.setText("all sites" if every else f"{cut(sites[0], _TITLE)}{more}" if sites else "")
        listed = "\n".join(told)
        labelled(
            self.sites,
            f"Sites of the task: {', '.join(told)}",
            f"The agent may open:\n{listed}\nThe run stops before it opens another address. "
            "To allow more, set sites in the task file or in settings.toml.",
        )

    def show_history(self, *, back: bool, forward: bool, loading: bool) -> None:
        """Enable Back and Forward if there is a page to go to, and Stop while a page loads."""
        state = (back, forward), loading
        if state != (self._history, self._loading):
            self._history, self._loading = state
            self._tell_buttons()

    def show_zoom(self, factor: float) -> None:
        """Show the zoom level if it is not 100 %."""
        self.zoom_button.setText(f"{factor:.0%}".replace("%", " %"))
        self.zoom_button.setAccessibleName(f"Zoom: {self.zoom_button.text()}")
        self.zoom_button.setVisible(abs(factor - 1) > 0.001)

    def show_downloads(self, words: str, tooltip: str) -> None:
        """Show the downloads button with their status; without a text it is hidden."""
        self.downloads_button.setVisible(bool(words))
        self.downloads_button.setText(words)
        labelled(self.downloads_button, f"Downloads: {words}", f"{tooltip} (Ctrl+Alt+J)")

    def name_tab(self, index: int, title: str) -> None:
        """Set a tab's title; a page without a title keeps the previous one."""
        title = as_read(shortened(title, MOST_OF_A_TIP))
        if title and title != self.bar.tabToolTip(index):
            self.bar.setTabText(index, cut(title, _TITLE).replace("&", "&&"))
            self.bar.setTabToolTip(index, title)

    def set_handed_over(self, on: bool) -> None:
        """Let the person use buttons and address, or block them again."""
        self._handed_over = on
        self.address.setReadOnly(not on)
        if not on:
            self.address.restore()
        self.address.setToolTip(
            "Type an address and press Enter (Alt+D)" if on else f"To go elsewhere: {_AGENTS}"
        )
        self.bar.setTabsClosable(on)
        self._tell_buttons()

    def reach_address(self) -> None:
        """Focus the address field."""
        self.address.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _button(self, do: object) -> QToolButton:
        button = QToolButton(self)
        button.setIconSize(QSize(_ICON, _ICON))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(do)
        return button

    def _tell_buttons(self) -> None:
        back, forward = self._history
        words, icon = ("Stop loading (Esc)", "close") if self._loading else ("Reload (Ctrl+Alt+R)", "refresh")
        for button, there, does, nowhere in (
            (self.back_button, back, "Go back (Alt+Left)", "Go back: there is no page before this one"),
            (
                self.forward_button,
                forward,
                "Go forward (Alt+Right)",
                "Go forward: there is no page after this one",
            ),
            (self.reload_button, True, words, ""),
        ):
            button.setEnabled(self._handed_over and there)
            name = does.partition(" (")[0]
            why = does if there else nowhere
            labelled(button, name, why if self._handed_over else f"{name}: {_AGENTS}")
        if self._theme is not None:
            self.reload_button.setIcon(self._theme.icon(icon))

    def _on_entered(self) -> None:
        if self.address.isReadOnly():
            return
        text = self.address.text().strip()
        url = QUrl.fromUserInput(text)
        if not text or not url.isValid():
            self.refused.emit(
                f'"{shortened(text, 80)}" is not an address. Type one such as example.org/page.'
            )
            return
        self.address.setModified(False)
        self.address_entered.emit(url)
        self.left_by_key.emit()
