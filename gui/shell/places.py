"""Where a panel is in the window: a section of a column, under a title that folds it, or a page below the live page."""

import re

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QWidget

from gui.theme.theme import Theme
from gui.widgets.buttons import ElidedButton, icon_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, labelled, set_tone

FOLD_KEY = "Ctrl+Alt+F"


class PanelPlace(QWidget):
    """Holds a panel in a dock."""

    seen_changed = Signal(bool)
    """The panel has come into view or left it."""
    wanted = Signal()
    """The panel is to be brought into view."""
    left = Signal()
    """The panel is to be put away."""

    def __init__(self, name: str, key: str, panel: QWidget) -> None:
        super().__init__()
        self.name = name
        self.key = key
        self._panel = panel
        self._fact = ""
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        panel.setAccessibleName(name)
        panel.installEventFilter(self)

    def widget(self) -> QWidget:
        """Return the panel."""
        return self._panel

    @property
    def help(self) -> str:
        """Page and heading of the documentation for the panel."""
        return f"window.md#{anchor(self.name)}"

    @property
    def fact(self) -> str:
        return self._fact

    @property
    def is_seen(self) -> bool:
        """Whether the panel is neither folded, nor behind another page, nor in a hidden dock."""
        return self._panel.isVisible()

    @property
    def is_offered(self) -> bool:
        """Whether the window offers it: always, except pages on request that were not requested or were put away."""
        return True

    def show_fact(self, text: str) -> None:
        """Show the main fact of the panel."""
        self._fact = text

    def bring(self) -> None:
        """Bring the panel into view."""
        self.wanted.emit()

    def put_away(self) -> None:
        """Fold the section, or hide the dock of the page."""
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide) and not event.spontaneous():
            self.seen_changed.emit(event.type() == QEvent.Type.Show)
        return False


class _Title(QWidget):
    """Name and fact of a section; a click folds or unfolds it."""

    pressed = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._name = name
        self._theme = theme
        self.setProperty("dockTitle", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(theme.scaled(27))
        theme.text_resized.connect(lambda _ratio: self.setFixedHeight(theme.scaled(27)))
        self.name = QLabel(name)
        self.name.setFont(theme.heading_font())
        self.fold = icon_button(theme, "chevron-down", "", self.pressed.emit, self, size=12)
        self.fold.setFixedSize(20, 20)
        self.fold.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.fact = ElidedLabel("", tone="dim")
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.row = in_row(self, self.fold, self.name, (self.fact, 1), margins=(3, 3, 6, 3), spacing=4)

    def show_folded(self, folded: bool) -> None:
        words = f"{'Unfold' if folded else 'Fold'} {self._name} ({FOLD_KEY})"
        labelled(self.fold, words, words)
        self.fold.setIcon(self._theme.icon("chevron-right" if folded else "chevron-down"))
        set_tone(self.name, "dim" if folded else "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()


class StackSection(PanelPlace):
    """A panel below its title. When it is folded, the title shows why."""

    fold_wanted = Signal(bool)
    """The person wants to fold or unfold it."""

    def __init__(self, theme: Theme, name: str, key: str, panel: QWidget, *, stretched: bool) -> None:
        super().__init__(name, key, panel)
        self.folded = False
        self.stretched = stretched
        """Whether it takes the height that the other sections of its column leave."""
        self.title = _Title(theme, name)
        self.title.show_folded(False)
        self.title.pressed.connect(lambda: self.fold_wanted.emit(not self.folded))
        in_column(self, self.title, (panel, 1), spacing=0)

    def show_fact(self, text: str) -> None:
        super().show_fact(text)
        if not self.folded:
            self.title.fact.setText(text)

    def show_folded(self, folded: bool, why: str) -> None:
        """Fold to the title, which then shows the reason, or unfold."""
        self.title.fact.setText((why or self._fact) if folded else self._fact)
        if folded != self.folded:
            focus = self.focusWidget()
            if folded and focus is not None and focus.hasFocus():
                self.title.fold.setFocus()
            self.folded = folded
            self.title.show_folded(folded)
            self._panel.setVisible(not folded)


class PanelPage(PanelPlace):
    """A panel that a button shows in place of the other pages of its dock."""

    fact_shown = Signal()

    def __init__(self, name: str, key: str, panel: QWidget, *, on_request: bool) -> None:
        super().__init__(name, key, panel)
        self.button = ElidedButton(name, f"Show {name} ({key})")
        self.button.setCheckable(True)
        self.button.setAutoExclusive(True)
        self.button.setProperty("chip", True)
        self.button.clicked.connect(self.wanted)
        self.on_request = on_request
        """Whether its button is hidden until the panel is requested, and again when it is put away."""
        self.button.setHidden(on_request)
        in_column(self, panel, spacing=0)

    @property
    def is_offered(self) -> bool:
        return not self.button.isHidden()

    def show_fact(self, text: str) -> None:
        super().show_fact(text)
        self.fact_shown.emit()


def anchor(heading: str) -> str:
    """Return a heading's anchor in GitHub's notation."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
