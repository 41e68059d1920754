"""Observation: the page as it was read, what the prompt shows of it, and its HTML."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPushButton, QSplitter, QVBoxLayout, QWidget

from core.debugger.snapshots import ObservationView
from gui.theme import Theme
from gui.widgets.finder import Finder
from gui.widgets.formats import count, thousands
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, OrWords, set_tone

_NONE = "The page has not been read yet. F10 takes the first step, which begins by observing the page."


class ObservationPanel(QWidget):
    """Shows `ObservationView`: raw and clean side by side, or the HTML."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.raw = TextView(theme, "Raw observation")
        self.clean = TextView(theme, "Clean observation")
        self.html = TextView(theme, "HTML")
        self.raw_fact = _fact(theme)
        self.clean_fact = _fact(theme)
        self.html_fact = _fact(theme)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setHandleWidth(1)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(_under(self.raw_fact, self.raw))
        self._split.addWidget(_under(self.clean_fact, self.clean))
        self._page = _under(self.html_fact, self.html)
        self.raw_fact.setToolTip("Reused: read at the end of the last action, and not read anew")
        self.sides = QPushButton("Raw and clean", self)
        self.source = QPushButton("HTML", self)
        choice = QButtonGroup(self)
        for button, words in (
            (self.sides, "Show what was read beside what the prompt shows (Alt+Q)"),
            (self.source, "Show the page's HTML (Alt+W)"),
        ):
            button.setProperty("chip", True)
            button.setCheckable(True)
            button.setShortcut(words[-6:-1])
            button.setToolTip(words)
            choice.addButton(button)
        self.sides.setChecked(True)
        self.source.toggled.connect(self._on_source)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.raw, self.clean), self)
        self.where = ElidedLabel("", self)
        self.where.setFont(theme.small_font())
        set_tone(self.where, "dim")
        head = QHBoxLayout()
        head.setContentsMargins(10, 4, 8, 4)
        head.setSpacing(6)
        head.addWidget(self.sides)
        head.addWidget(self.source)
        head.addWidget(self.where, 1)
        head.addWidget(self.finder)
        body = QWidget(self)
        self._stack = QVBoxLayout(body)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.setSpacing(0)
        self._stack.addLayout(head)
        self._stack.addWidget(self._split, 1)
        self._stack.addWidget(self._page, 1)
        self._page.hide()
        self.or_words = OrWords(body, self)
        self.or_words.say(_NONE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.or_words)

    @Slot(object)
    def show_observation(self, view: ObservationView) -> None:
        """Replace what is on screen with `view`."""
        there = bool(view.raw or view.clean or view.html or view.url)
        self.or_words.say("" if there else _NONE)
        self.raw.show_text(view.raw)
        self.clean.show_text(view.clean)
        self.html.show_text(view.html)
        reused = " · reused" if view.reused else ""
        self.raw_fact.setText(
            f"raw · {count(view.raw_elements, 'element')} · {count(view.raw_tokens, 'token')}{reused}"
        )
        self.clean_fact.setText(_clean_fact(view))
        self.html_fact.setText(f"HTML · {count(len(view.html), 'character')}")
        self.where.setText(" · ".join(part for part in (view.title, view.url) if part))
        self.finder.refresh()
        self.fact_changed.emit(
            f"{thousands(view.raw_tokens)} → {thousands(view.clean_tokens)} tokens" if there else ""
        )

    def focus_search(self) -> None:
        self.finder.focus_search()

    def _on_source(self, on: bool) -> None:
        self._split.setVisible(not on)
        self._page.setVisible(on)
        self.finder.search_in((self.html,) if on else (self.raw, self.clean))


def _clean_fact(view: ObservationView) -> str:
    if not view.clean:
        return "clean · not made yet"
    smaller = ""
    if view.clean_tokens and view.raw_tokens >= 2 * view.clean_tokens:
        smaller = f" ({view.raw_tokens / view.clean_tokens:.0f}× smaller)"
    return f"clean · {thousands(view.clean_elements)} kept · {count(view.clean_tokens, 'token')}{smaller}"


def _fact(theme: Theme) -> ElidedLabel:
    label = ElidedLabel()
    label.setFont(theme.machine_font())
    label.setContentsMargins(12, 4, 8, 0)
    set_tone(label, "dim")
    return label


def _under(fact: QLabel, view: TextView) -> QWidget:
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(fact)
    column.addWidget(view, 1)
    return both
