"""What stands over a live page: its tabs, its address, and whether it runs without a sandbox."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QTabBar, QWidget

from core.browser.floods import shortened
from core.browser.host import runs_as_root
from gui.widgets.formats import as_read, cut
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import labelled, set_tone

_TITLE, MOST_OF_A_TIP = 40, 500
"""Letters of a title on its tab, and in a tool tip."""


class PageStrip(QWidget):
    """A tab bar, whose tabs are its owner's to make, and under it the address."""

    address_entered = Signal(QUrl)
    """The person, who has the page, wants to go to this address."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.bar = QTabBar(self, documentMode=True, expanding=False, elideMode=Qt.TextElideMode.ElideRight)
        self.bar.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectLeftTab)
        self.bar.setAccessibleName("Tabs of the live page")
        self.address = labelled(QLineEdit(self, readOnly=True), "Address of the live page")
        self.address.setObjectName("address")
        self.address.setPlaceholderText("No page is open: choose a task (Ctrl+N)")
        self.address.returnPressed.connect(self._on_entered)
        self.no_sandbox = QLabel("No sandbox", self)
        set_tone(self.no_sandbox, "bad")
        self.no_sandbox.setToolTip(
            "This page comes from the web, and runs without the browser's sandbox because Backstep was started as "
            "root. A page that takes over the browser has the whole machine: run Backstep as another user."
        )
        self.no_sandbox.hide()
        line = in_row(None, (self.address, 1), self.no_sandbox, margins=(8, 4, 8, 4), spacing=6)
        in_column(self, self.bar, line, spacing=0)

    def show_url(self, url: QUrl) -> None:
        """Show the address of the current tab; an empty one for none."""
        # Encoded, for letters of another script, or that run backwards, would make it look like another address.
        text = shortened(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        self.address.setText("" if text == "about:blank" else text)
        from_web = url.scheme() in ("http", "https")
        of_here = url.host() in ("127.0.0.1", "localhost", "::1")
        self.no_sandbox.setVisible(runs_as_root() and from_web and not of_here)
        self.address.setCursorPosition(0)

    def name_tab(self, index: int, title: str) -> None:
        """Put the title of a page on its tab; one without keeps the last."""
        title = as_read(shortened(title, MOST_OF_A_TIP))
        if title and title != self.bar.tabToolTip(index):
            self.bar.setTabText(index, cut(title, _TITLE).replace("&", "&&"))
            self.bar.setTabToolTip(index, title)

    def set_handed_over(self, on: bool) -> None:
        """Let the person enter addresses, or take that back."""
        self.address.setReadOnly(not on)

    def _on_entered(self) -> None:
        if not self.address.isReadOnly():
            self.address.setModified(False)
            self.address_entered.emit(QUrl.fromUserInput(self.address.text()))
