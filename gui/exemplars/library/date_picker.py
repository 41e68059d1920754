"""A button for the days in which exemplars were made."""

from datetime import date, datetime, time, timedelta

from PySide6.QtCore import QDate, QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDateEdit,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QWidget,
    QWidgetAction,
)

from gui.theme.theme import Theme
from gui.widgets.buttons import PickerButton

_DAYS = (("Today", 1), ("7 days", 7), ("30 days", 30))


class DatePicker(PickerButton):
    """From a day on, and up to one, both included; either may be left open."""

    picked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Made", widest=210, parent=parent)
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
            button = QPushButton(words, inside)
            button.setAutoDefault(False)
            button.setToolTip("Made on this day" if days == 1 else f"Made in the last {words}")
            button.clicked.connect(lambda _on=False, days=days: self._on_quick(days))
            quick.addWidget(button)
        grid.addLayout(quick, 2, 0, 1, 2)
        action = QWidgetAction(self)
        action.setDefaultWidget(inside)
        self.menu().addAction(action)
        self._show()

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Seconds since the epoch from which on, and before which."""
        since = _moment(self.since_day.date()) if self.since.isChecked() else None
        until = _moment(self.until_day.date().addDays(1)) if self.until.isChecked() else None
        return since, until

    def choose(self, since: float | None, until: float | None) -> None:
        """Show this as chosen, without telling."""
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
        parts = []
        if self.since.isChecked():
            parts.append(f"from {self.since_day.date().toString('yyyy-MM-dd')}")
        if self.until.isChecked():
            parts.append(f"until {self.until_day.date().toString('yyyy-MM-dd')}")
        words = " ".join(parts) or "any day"
        self.show_value(words, f"Made: {words}. Space opens the days.")


def _moment(day: QDate) -> float:
    return datetime(day.year(), day.month(), day.day()).timestamp()


def _day_of(seconds: float) -> QDate:
    found = datetime.fromtimestamp(seconds)
    return QDate(found.year, found.month, found.day)
