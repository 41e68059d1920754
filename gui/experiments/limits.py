"""Where work that asks an LLM many times ends at the latest: after so many calls, or at a cost."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget


class Limits(QWidget):
    """Two fields; zero is no limit."""

    changed = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        """`what` is begun no more beyond them, such as "branch"."""
        super().__init__(parent)
        self.calls = QSpinBox(self)
        self.calls.setAccessibleName("LLM calls at the most")
        self.calls.setRange(0, 1_000_000)
        self.calls.setSpecialValueText("no limit of calls")
        self.calls.setSuffix(" LLM calls")
        self.calls.setToolTip(f"No further {what} is begun once so many calls were made")
        self.cost = QDoubleSpinBox(self)
        self.cost.setAccessibleName("Cost at the most")
        self.cost.setRange(0, 100_000)
        self.cost.setDecimals(2)
        self.cost.setPrefix("$")
        self.cost.setSpecialValueText("no limit of cost")
        self.cost.setToolTip(
            f"No further {what} is begun beyond it; calls without a known price do not count"
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for field in (self.calls, self.cost):
            row.addWidget(field, 1)
            field.valueChanged.connect(lambda _value: self.changed.emit())

    @property
    def most_calls(self) -> int | None:
        return self.calls.value() or None

    @property
    def most_cost(self) -> float | None:
        """US dollars."""
        return round(self.cost.value(), 2) or None

    def choose(self, calls: int | None, cost: float | None) -> None:
        self.calls.setValue(calls or 0)
        self.cost.setValue(cost or 0.0)
