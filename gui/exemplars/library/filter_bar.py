"""The query of the library: words or what is nearest to them, and filters with the values and days to choose from."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from functools import partial

from PySide6.QtCore import QDate, QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDateEdit,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
    QWidgetAction,
)

from core.debugger.exemplars.library.views import CountsView, Query
from core.exemplars.library.records import ANY, IN_USE, Filter
from core.schema.exemplar import Status
from core.schema.formats import thousands
from gui.theme.theme import Theme
from gui.widgets.buttons import PickerButton, key_button
from gui.widgets.choices import titled_box
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import FlowLayout, holding, in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import ElidedLabel, labelled, set_flag

_ANY = "any"
_HEIGHT = 300
_SEARCHED = 8
"""Number of values from which a search field is shown."""
_DAYS = (("Today", 1), ("7 days", 7), ("30 days", 30))


class ValuePicker(PickerButton):
    """Shows the choice. Its menu has the values, the most frequent first, and a search field.

    With `several`, any number of them can be chosen.
    """

    picked = Signal()

    def __init__(
        self, theme: Theme, name: str, *, several: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, name, width=190, parent=parent)
        self._several = several
        self._chosen: tuple[str, ...] = ()
        self._values: dict[str, int] = {}
        self.field = SearchField(theme, f"Find a value of {name}")
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self.values = QListWidget()
        self.values.setAccessibleName(f"Values of {name}")
        RowMenu(self.values)
        self.values.setMinimumWidth(250)
        self.values.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.values.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.values.itemClicked.connect(self._on_item)
        self.values.itemActivated.connect(self._on_item)
        action = QWidgetAction(self)
        action.setDefaultWidget(
            holding(in_column(None, self.field, self.values, margins=(6, 4, 6, 4), spacing=4))
        )
        self.menu().addAction(action)
        self.menu().aboutToShow.connect(self._on_opened)
        self._show()

    @property
    def chosen(self) -> tuple[str, ...]:
        return self._chosen

    def choose(self, chosen: tuple[str, ...]) -> None:
        """Show this choice without emitting a change."""
        self._chosen = chosen
        self._show()

    def offer(self, values: Mapping[str, int]) -> None:
        """Offer these values; chosen ones are never left out."""
        kept = {value: number for value, number in values.items() if value}
        self._values = {**{one: 0 for one in self._chosen if one not in kept}, **kept}
        if self.menu().isVisible():
            self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self.values.setFocus()
                return False
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._on_item(self.values.item(0 if self._several else min(1, self.values.count() - 1)))
                return True
        return super().eventFilter(watched, event)

    def _on_opened(self) -> None:
        self.field.setVisible(len(self._values) >= _SEARCHED)
        with QSignalBlocker(self.field):
            self.field.clear()
        self._fill()
        (self.field if self.field.isVisibleTo(self.menu()) else self.values).setFocus()

    def _fill(self) -> None:
        words = self.field.text().casefold()
        self.values.clear()
        if not self._several:
            self._add(_ANY, "", _ANY, not self._chosen)
        for value, number in self._values.items():
            if words in value.casefold():
                self._add(f"{value}  ·  {thousands(number)}", value, value, value in self._chosen)
        if self.values.count() == 0:
            item = QListWidgetItem("No exemplar has one." if not words else "Nothing matches.")
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.values.addItem(item)
        rows = min(self.values.count(), 12)
        self.values.setFixedHeight(min(_HEIGHT, rows * 27 + 10))

    def _add(self, text: str, value: str, tooltip: str, on: bool) -> None:
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setToolTip(tooltip)
        if self._several:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self.values.addItem(item)
        if on and not self._several:
            self.values.setCurrentItem(item)

    def _on_item(self, item: QListWidgetItem | None) -> None:
        value = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if not isinstance(value, str) or item is None:
            return
        if self._several:
            on = value not in self._chosen
            rest = tuple(one for one in self._chosen if one != value)
            self._chosen = (*rest, value) if on else rest
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        else:
            self._chosen = (value,) if value else ()
            self.menu().hide()
        self._show()
        self.picked.emit()

    def _show(self) -> None:
        words = ", ".join(self._chosen) or _ANY
        set_flag(self, "narrowed", bool(self._chosen))
        self.show_value(words, f"{self._name}: {words}. Space opens the values.")


class DatePicker(PickerButton):
    """From a first to a last day, both included; either may be left open."""

    picked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Made", width=210, parent=parent)
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(10, 6, 10, 6)
        self.since, self.since_day = self._day("From", inside)
        self.until, self.until_day = self._day("Until", inside)
        for row, (box, day) in enumerate(((self.since, self.since_day), (self.until, self.until_day))):
            grid.addWidget(box, row, 0)
            grid.addWidget(day, row, 1)
        quick = QHBoxLayout()
        for words, days in _DAYS:
            tip = "Made on this day" if days == 1 else f"Made in the last {words}"
            quick.addWidget(key_button(words, tip, "", partial(self._on_quick, days), inside))
        grid.addLayout(quick, 2, 0, 1, 2)
        action = QWidgetAction(self)
        action.setDefaultWidget(inside)
        self.menu().addAction(action)
        self._show()

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Start and end in seconds since the epoch; the end is excluded."""
        since = _moment(self.since_day.date()) if self.since.isChecked() else None
        until = _moment(self.until_day.date().addDays(1)) if self.until.isChecked() else None
        return since, until

    def choose(self, since: float | None, until: float | None) -> None:
        """Show this choice without emitting a change."""
        blocked = [QSignalBlocker(one) for one in (self.since, self.until, self.since_day, self.until_day)]
        self.since.setChecked(since is not None)
        self.until.setChecked(until is not None)
        if since is not None:
            self.since_day.setDate(_day_of(since))
        if until is not None:
            self.until_day.setDate(_day_of(until).addDays(-1))
        del blocked
        self._show()

    def _day(self, name: str, inside: QWidget) -> tuple[QCheckBox, QDateEdit]:
        box = QCheckBox(name, inside)
        day = QDateEdit(QDate.currentDate(), inside)
        day.setDisplayFormat("yyyy-MM-dd")
        day.setAccessibleName(f"{name} this day")
        box.toggled.connect(self._on_changed)
        day.dateChanged.connect(lambda _day, box=box: box.setChecked(True))
        day.dateChanged.connect(self._on_changed)
        return box, day

    def _on_quick(self, days: int) -> None:
        start = datetime.combine(date.today() - timedelta(days=days - 1), time())
        self.choose(start.timestamp(), None)
        self.menu().hide()
        self.picked.emit()

    def _on_changed(self) -> None:
        self._show()
        self.picked.emit()

    def _show(self) -> None:
        ends = (("from", self.since, self.since_day), ("until", self.until, self.until_day))
        chosen = (f"{word} {day.text()}" for word, box, day in ends if box.isChecked())
        words = " ".join(chosen) or "any day"
        self.show_value(words, f"Made: {words}. Space opens the days.")


def _moment(day: QDate) -> float:
    return datetime(day.year(), day.month(), day.day()).timestamp()


def _day_of(seconds: float) -> QDate:
    found = datetime.fromtimestamp(seconds)
    return QDate(found.year, found.month, found.day)


_WORDS_MS = 160
_MEANING_MS = 500
"""A search for the nearest costs an embedding, so it waits longer for typing to end."""
_STATES: tuple[tuple[str, tuple[Status, ...]], ...] = (
    ("New and reviewed", IN_USE),
    ("New", ("new",)),
    ("Reviewed", ("reviewed",)),
    ("Retired", ("retired",)),
    ("Any status", ANY),
)

_PICKERS = {
    "family": "Family",
    "found": "Found",
    "tag": "Tags",
    "origin": "Origin",
    "file": "File",
    "run": "Run",
    "environment": "Environment",
    "site": "Site",
    "llm": "LLM",
}
"""The filters by a value, with their titles."""
_SEVERAL = {"found": "found", "tag": "tags"}
"""Those of which several can be chosen, with their fields of a filter."""


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
        self.meaning = QPushButton("Nearest", self, autoDefault=False)
        self.meaning.setCheckable(True)
        self.meaning.setToolTip(
            "List the exemplars that are nearest to the words by the embedding, with distances (Ctrl+M). The built-in "
            "embedding compares words, not their meaning"
        )
        self.meaning.setShortcut("Ctrl+M")
        self.pickers = {
            name: ValuePicker(theme, title, several=name in _SEVERAL, parent=self)
            for name, title in _PICKERS.items()
        }
        self.made = DatePicker(theme, self)
        kept = "Runs recall what is reviewed. Retired exemplars are kept"
        self.state = titled_box(_STATES, "Status", kept, self)
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
        values: dict[str, object] = {
            _SEVERAL.get(name, name): picker.chosen if name in _SEVERAL else picker.chosen[0]
            for name, picker in self.pickers.items()
            if picker.chosen
        }
        return self._order.replace(
            filter=Filter.model_validate(
                {
                    **values,
                    "words": "" if meaning else words,
                    "made_from": since,
                    "made_until": until,
                    "statuses": self.state.currentData(),
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
            states = [statuses for _, statuses in _STATES]
            self.state.setCurrentIndex(states.index(wanted.statuses) if wanted.statuses in states else 0)
        for name, picker in self.pickers.items():
            value = getattr(wanted, _SEVERAL.get(name, name))
            picker.choose(value if isinstance(value, tuple) else ((str(value),) if value else ()))
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
