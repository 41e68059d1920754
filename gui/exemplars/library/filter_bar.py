"""The query of the library: words or their meaning, and filters with the values to choose from."""

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from core.debugger.exemplars.library.views import CountsView, Query
from core.memory.library.records import Filter
from gui.exemplars.library.pickers import DatePicker, ValuePicker
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import FlowLayout, in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import ElidedLabel, labelled

_WORDS_MS = 160
_MEANING_MS = 500
"""A search by meaning costs an embedding, so it waits longer for typing to end."""
_STATES: tuple[tuple[str, bool | None], ...] = (
    ("In use", False),
    ("In the archive", True),
    ("In use and archived", None),
)

_PICKERS = {
    "family": "Family",
    "environment": "Environment",
    "site": "Site",
    "origin": "Origin",
    "llm": "LLM",
    "tag": "Tags",
}
"""The filters by a value, with their titles."""


class FilterBar(QWidget):
    """Sends the query whenever a part of it changes."""

    changed = Signal()
    left = Signal()
    """Enter or Down in the search field: the focus moves to the rows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._order = Query()
        self.search = SearchField(
            theme, "Search task, family, id, tags, note, thoughts and actions (Ctrl+F)", self
        )
        self.meaning = QPushButton("By meaning", self, autoDefault=False)
        self.meaning.setCheckable(True)
        self.meaning.setToolTip(
            "Search by meaning: list the exemplars nearest to the words, with distances (Ctrl+M)"
        )
        self.meaning.setShortcut("Ctrl+M")
        self.pickers = {
            name: ValuePicker(theme, title, several=name == "tag", parent=self)
            for name, title in _PICKERS.items()
        }
        self.made = DatePicker(theme, self)
        kept = "Archived exemplars are kept but not recalled"
        self.state = titled_box(_STATES, "Archive", kept, self)
        self.state.currentIndexChanged.connect(self._on_picked)
        self.clear_button = key_button("Clear", "Clear words and filters", "Ctrl+Shift+C", self.clear, self)
        self.words = labelled(ElidedLabel("", self, tone="dim"), "How many")
        self._idle = QTimer(self, singleShot=True)
        self._idle.timeout.connect(self.changed)
        self._lay_out()
        self.search.textChanged.connect(self._on_typed)
        self.search.next_wanted.connect(self._on_enter)
        self.meaning.toggled.connect(self._on_meaning)
        for picker in self.pickers.values():
            picker.picked.connect(self._on_picked)
        self.made.picked.connect(self._on_picked)

    @property
    def query(self) -> Query:
        """The current query, in the order that was set last."""
        words, meaning = self.search.text().strip(), self.meaning.isChecked()
        since, until = self.made.span
        values = {name: "".join(picker.chosen) for name, picker in self.pickers.items() if name != "tag"}
        return self._order.replace(
            filter=Filter.model_validate(
                {
                    **values,
                    "words": "" if meaning else words,
                    "tags": self.pickers["tag"].chosen,
                    "made_from": since,
                    "made_until": until,
                    "archived": self.state.currentData(),
                }
            ),
            like=words if meaning else "",
        )

    @property
    def narrowed(self) -> bool:
        """Whether any word or filter is set."""
        query = self.query
        return bool(query.like) or query.filter != Filter()

    def show_query(self, query: Query) -> None:
        """Show a query without emitting a change."""
        self._order = query
        wanted = query.filter
        with QSignalBlocker(self.search), QSignalBlocker(self.meaning), QSignalBlocker(self.state):
            self.search.setText(query.like or wanted.words)
            self.meaning.setChecked(bool(query.like))
            self.state.setCurrentIndex([archived for _, archived in _STATES].index(wanted.archived))
        for name, picker in self.pickers.items():
            value = wanted.tags if name == "tag" else getattr(wanted, name)
            picker.choose(value if isinstance(value, tuple) else ((value,) if value else ()))
        self.made.choose(wanted.made_from, wanted.made_until)
        self.clear_button.setEnabled(self.narrowed)

    def show_counts(self, view: CountsView) -> None:
        """Offer the existing values."""
        for name, picker in self.pickers.items():
            picker.offer(view.offers.get(name, {}))

    def sort_by(self, order: str, reverse: bool) -> None:
        self._order = Query.model_validate({**self._order.model_dump(), "order": order, "reverse": reverse})
        self.changed.emit()

    def clear(self) -> None:
        self.show_query(Query(order=self._order.order, reverse=self._order.reverse))
        self._tell()

    def _lay_out(self) -> None:
        first = in_row(None, (self.search, 1), self.meaning, spacing=6)
        pickers = QWidget(self)
        flow = FlowLayout(pickers, spacing=5)
        for one in (*self.pickers.values(), self.made, self.state, self.clear_button):
            flow.addWidget(one)
        in_column(self, first, pickers, self.words, margins=(10, 8, 10, 6), spacing=6)

    def _on_typed(self) -> None:
        self.clear_button.setEnabled(self.narrowed)
        self._idle.start(_MEANING_MS if self.meaning.isChecked() else _WORDS_MS)

    def _on_enter(self) -> None:
        if self._idle.isActive():
            self._tell()
        self.left.emit()

    def _on_meaning(self) -> None:
        if self.search.text().strip():
            self._tell()
        else:
            self.search.setFocus()

    def _on_picked(self) -> None:
        self.clear_button.setEnabled(self.narrowed)
        self._tell()

    def _tell(self) -> None:
        """Send the current query, and do not send it again when typing ends."""
        self._idle.stop()
        self.changed.emit()
