"""What every experiment is asked: how often, who answers, and where it ends at the latest."""

from abc import abstractmethod
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.experiments.measurement import MeasurementRequest
from core.debugger.snapshots import PresetOption
from core.schema.messages import LLMChoice
from gui.widgets.words import set_tone


class LimitFields(QWidget):
    """Where work that asks an LLM many times ends at the latest: two fields, of which zero is no limit."""

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


class ExperimentForm(QWidget):
    """Holds the choices; `problem` says why they cannot be used yet."""

    changed = Signal()

    def __init__(self, unit: str, times: str, most_times: int, parent: QWidget | None = None) -> None:
        """`unit` is what the limits count, such as "branch"; `times` names the field of how often."""
        super().__init__(parent)
        self.times = QSpinBox(self)
        self.times.setAccessibleName(times)
        self.times.setRange(1, most_times)
        self.times.setSuffix(" ×")
        self.preset, self.llm = self.combo("Preset"), self.combo("LLM")
        self.limits = LimitFields(unit, self)
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        self.times.valueChanged.connect(self.on_edited)
        self.limits.changed.connect(self.on_edited)

    @property
    @abstractmethod
    def request(self) -> MeasurementRequest:
        """The choices; only to be asked for where there is no `problem`."""

    @property
    @abstractmethod
    def problem(self) -> str:
        """Why the choices cannot be used, in a sentence, or nothing."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the choices come to, in a sentence."""

    @property
    def is_begun(self) -> bool:
        """Whether enough was chosen to call a problem one."""
        return True

    # For the forms

    def combo(self, name: str, choices: Sequence[tuple[str, str]] = ()) -> QComboBox:
        """Return a box with these values and their texts."""
        box = QComboBox(self)
        box.setAccessibleName(name)
        for value, text in choices:
            box.addItem(text, value)
        box.currentIndexChanged.connect(self.on_edited)
        return box

    def line(self, name: str, text: str = "") -> QLineEdit:
        field = QLineEdit(text, self)
        field.setAccessibleName(name)
        field.textChanged.connect(self.on_edited)
        return field

    def lay_out(
        self, first: Sequence[tuple[str, QWidget | QLayout]], last: Sequence[tuple[str, QWidget]] = ()
    ) -> None:
        """Put fields with their labels above and below how often and who answers."""
        form = QFormLayout(self)
        form.setContentsMargins(12, 10, 12, 8)
        form.setSpacing(7)
        common = (("Each", self.times), ("Preset", self.preset), ("LLM", self.llm))
        limits = (("At the most", self.limits), ("", self.total))
        for label, field in (*first, *common, *last, *limits):
            if isinstance(field, QLayout):
                form.addRow(label, field)
            else:
                form.addRow(label, field)

    def offer(
        self, box: QComboBox, choices: Sequence[PresetOption | LLMChoice], first: str | None = None
    ) -> None:
        """Offer these after `first`, which stands for an empty name; what is chosen stays so."""
        chosen = box.currentData()
        with QSignalBlocker(box):
            box.clear()
            if first is not None:
                box.addItem(first, "")
            for one in choices:
                box.addItem(one.title, one.name)
                box.setItemData(box.count() - 1, one.description, Qt.ItemDataRole.ToolTipRole)
        self.choose(box, chosen)

    def choose_common(self, request: MeasurementRequest) -> None:
        """Choose how often and who answers as was done before."""
        self.times.setValue(request.times)
        self.choose(self.preset, request.preset)
        self.choose(self.llm, request.llm)
        self.limits.choose(request.most_calls, request.most_cost)

    def choose(self, box: QComboBox, name: object) -> None:
        """Choose what has this name, or the first."""
        box.setCurrentIndex(max(0, box.findData(name)))

    def on_edited(self) -> None:
        problem = self.problem
        self.total.setText(problem or self.words)
        set_tone(self.total, "bad" if problem and self.is_begun else "dim")
        self.changed.emit()
