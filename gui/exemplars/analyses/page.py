"""The common parts of all pages: a bar of buttons, progress, and the result as text."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from core.debugger.exemplars.analyses.views import AnalysisView
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import thousands
from gui.widgets.layouts import holding, in_column, in_row, on_panel, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, labelled

NO_EXEMPLARS = "There are no exemplars yet: save one from the tree of runs, or import some."
View = AnalysisView[Any]


class AnalysisPage(QWidget):
    """A bar over a body; subclasses fill both."""

    cancel_requested = Signal()
    exemplar_opened = Signal(str)
    works: bool = True
    """Whether its work is done here, rather than in another window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.view = View()
        self.bar = in_row(None, margins=(12, 8, 12, 8), spacing=8)
        self.cancel_button = key_button(
            "Cancel", "Cancel. What was found stays in view", "Alt+C", self.cancel_requested.emit, self
        )
        self.progress = labelled(QProgressBar(self, textVisible=False), "How far the work is")
        self.progress.setMaximumWidth(180)
        self.words = ElidedLabel("", self, tone="dim")
        self.problem = NoteLabel("bad", parent=self, margins=(12, 4, 12, 4))
        self.column = in_column(self, self.bar, self.problem, spacing=0)

    def add(self, *widgets: QWidget) -> None:
        """Add widgets to the bar; the text gets the remaining space."""
        for widget in widgets:
            self.bar.addWidget(widget, int(widget is self.words))

    def show_working(self, words: str = "") -> None:
        """Show the progress of the work; if there is none, show what was done last, and `words`."""
        view = self.view
        self.cancel_button.setEnabled(view.busy)
        self.progress.setVisible(view.busy and self.works)
        self.progress.setRange(0, max(0, view.of))
        self.progress.setValue(view.done)
        if view.busy:
            far = f" {thousands(view.done)} of {thousands(view.of)}" if view.of else ""
            self.words.setText(f"{view.doing or 'Working'}…{far}")
        else:
            self.words.setText(" ".join(part for part in (view.notice, words) if part))
        self.problem.show_text(view.problem if self.works or view.result is None else "")


class PartPage(AnalysisPage):
    """One part of Quality: buttons, a note, a table or what to do while it is empty, and details if it has any.

    A subclass gives the columns, the texts and `line_items`, adds its buttons to the bar, and then calls `begin`.
    """

    name: str
    title: str
    """What the table shows."""
    columns: tuple[Column, ...]
    start: str
    """What to do before there is a result."""
    none: str = NO_EXEMPLARS
    """What to say of a result without rows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._conditions: list[tuple[QPushButton, Callable[[], bool]]] = []
        self.note = NoteLabel("dim", parent=self, margins=(12, 0, 12, 8))
        for widget in (self.cancel_button, self.progress, self.words):
            widget.setVisible(self.works)
        self.table = PlainTable(theme, self.title, self.columns, self)
        self.table.current.connect(lambda _key: self.refresh())

    def begin(self, details: QWidget | None = None, sizes: tuple[int, int] = (1, 1)) -> None:
        """Complete the page: the table with the details below it, and their heights."""
        content = panel(self.table, tall=self.table)
        if details is not None:
            content = splitter(Qt.Orientation.Vertical, content, details, sizes=sizes)
        self.body = OrWords(content, self)
        self.column.addWidget(self.note)
        self.column.addWidget(self.body, 1)
        self.show_view(self.view)

    def button(
        self,
        text: str,
        words: str,
        key: str,
        do: Callable[[], object],
        *,
        when: Callable[[], bool] | None = None,
        accent: bool = False,
    ) -> QPushButton:
        """Return a button that is enabled while `when` is true, by default while no work goes on."""
        button = key_button(text, words, key, do, self, accent=accent)
        self._conditions.append((button, when or (lambda: not self.view.busy)))
        return button

    def show_view(self, view: View) -> None:
        """Replace what is shown; the current row stays if it is still there."""
        before, self.view = self.view.result, view
        result = view.result
        self.show_working()
        if result is not before:
            self.table.show_lines([] if result is None else self.line_items(result))
            self.note.show_text("" if result is None else self.summary(result))
        self.body.say("" if self.table.lines else self._nothing())
        self.show_details(changed=result is not before)
        self.refresh()

    def refresh(self) -> None:
        """Enable the buttons that can be used now."""
        for button, when in self._conditions:
            button.setEnabled(when())

    def _nothing(self) -> str:
        if self.view.busy and self.works:
            return "Nothing was found yet."
        return self.start if self.view.result is None else self.nothing_in(self.view.result)

    @abstractmethod
    def line_items(self, result: Any) -> list[TableLine]:
        """Return the rows of a result."""

    def summary(self, result: Any) -> str:
        """Return what is to be said of a result above its rows."""
        return ""

    def nothing_in(self, result: Any) -> str:
        """Return what to say of a result without rows."""
        return self.none

    def show_details(self, *, changed: bool) -> None:
        """Show what belongs to the current row; `changed` is whether the result is another one."""


def heading(theme: Theme, text: str) -> QLabel:
    """Return the heading of a part of a page."""
    label = QLabel(text)
    label.setFont(theme.heading_font())
    label.setContentsMargins(10, 6, 10, 2)
    return label


def panel(*contents: QWidget, tall: QWidget | None = None) -> QWidget:
    """Return a widget with the background of panels that contains these below each other."""
    shares = ((content, int(content is tall)) for content in contents)
    inside = holding(in_column(None, *shares, spacing=0))
    on_panel(inside)
    return inside


def with_label(text: str, field: QWidget) -> tuple[QLabel, QWidget]:
    """Return the label of a field, and the field."""
    label = QLabel(text)
    label.setBuddy(field)
    field.setAccessibleName(text.replace("&", ""))
    return label, field
