"""The form of the retrieval bench: a task with its page, and the settings it is looked up by."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.exemplars.analyses.views import BenchQuery
from core.schema.exemplar import RecallSettings
from gui.exemplars.analyses.page import heading
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import set_flag

_BY = (("family", "by family: the nearest vote"), ("exemplars", "the nearest themselves"))


class SettingsForm(QWidget):
    """Shows and changes `RecallSettings`."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: dict[str, RecallSettings] = {}
        self.preset = QComboBox(self)
        self.preset.setToolTip("Take the settings that a preset has")
        self.by = QComboBox(self)
        for value, words in _BY:
            self.by.addItem(words, value)
        self.votes = QSpinBox(self)
        self.votes.setRange(1, 50)
        self.votes.setToolTip("How many of the nearest vote, or go in")
        self.reach = QDoubleSpinBox(self)
        self.reach.setRange(0.0, 2.0)
        self.reach.setSingleStep(0.05)
        self.reach.setToolTip("How much farther than the nearest one may lie to have a vote; with 2 all vote")
        self.most = QSpinBox(self)
        self.most.setRange(1, 50)
        self.most.setToolTip("How many are prompted with at the most")
        self.has_threshold = QCheckBox("none beyond", self)
        self.has_threshold.setToolTip("Use none where the nearest lies beyond this distance")
        self.threshold = QDoubleSpinBox(self)
        self.threshold.setRange(0.0, 2.0)
        self.threshold.setSingleStep(0.05)
        self.threshold.setDecimals(3)
        self.threshold.setValue(1.0)
        self.threshold.setEnabled(False)
        self.has_threshold.toggled.connect(self.threshold.setEnabled)
        self.others = QCheckBox("of other environments, too", self)
        limit = QWidget(self)
        in_row(limit, self.has_threshold, (self.threshold, 1))
        form = QFormLayout(self)
        form.setContentsMargins(12, 2, 12, 6)
        form.setSpacing(6)
        for label, field in (
            ("As in preset", self.preset),
            ("Choose", self.by),
            ("Votes", self.votes),
            ("Within", self.reach),
            ("At the most", self.most),
            ("Threshold", limit),
            ("Exemplars", self.others),
        ):
            form.addRow(label, field)
            field.setAccessibleName(f"{name}: {label}")
        self.threshold.setAccessibleName(f"{name}: the threshold")
        self.preset.activated.connect(self._on_preset)
        self.show_settings(RecallSettings())

    @property
    def settings(self) -> RecallSettings:
        return RecallSettings(
            by=self.by.currentData(),
            votes=self.votes.value(),
            reach=round(self.reach.value(), 2),
            most=self.most.value(),
            threshold=self.threshold.value() if self.has_threshold.isChecked() else None,
            other_environments=self.others.isChecked(),
        )

    def show_settings(self, settings: RecallSettings) -> None:
        self.by.setCurrentIndex(self.by.findData(settings.by))
        self.votes.setValue(settings.votes)
        self.reach.setValue(settings.reach)
        self.most.setValue(settings.most)
        self.has_threshold.setChecked(settings.threshold is not None)
        if settings.threshold is not None:
            self.threshold.setValue(settings.threshold)
        self.others.setChecked(settings.other_environments)

    def show_presets(self, presets: Sequence[tuple[str, RecallSettings]]) -> None:
        if dict(presets) == self._presets and self.preset.count():
            return
        self._presets = dict(presets)
        self.preset.clear()
        self.preset.addItem("choose one…" if presets else "no preset recalls", None)
        for name, _ in presets:
            self.preset.addItem(name, name)

    def _on_preset(self) -> None:
        settings = self._presets.get(str(self.preset.currentData()))
        if settings is not None:
            self.show_settings(settings)


class BenchForm(QWidget):
    """What is looked up; `look_up_wanted` is sent where Enter is pressed in the choice of last ones."""

    look_up_wanted = Signal()
    take_wanted = Signal(int, int)
    """A run and one of its steps."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = ""
        self._last: tuple[BenchQuery, ...] = ()
        self.last = QComboBox(self)
        self.last.setAccessibleName("The last lookups")
        self.last.setToolTip("Put one of the last lookups into the form again")
        self.last.activated.connect(self._on_last)
        self.task = self._text("The task", 64)
        self.task.setPlaceholderText("A task, such as: Book the cheapest flight from Oslo to Rome.")
        self.observation = self._text("The page", 90)
        self.observation.setFont(theme.machine_font())
        self.observation.setPlaceholderText(
            "What the page shows at the start, as the LLM would see it; may be empty."
        )
        self.run, self.step = self._number("Run"), self._number("Step")
        self.take_button = key_button(
            "Take",
            "Take the task of this run with the page of this step",
            "Alt+T",
            lambda: self.take_wanted.emit(self.run.value(), self.step.value()),
            self,
        )
        self.source = QLabel(self)
        self.source.setWordWrap(True)
        self.source.setContentsMargins(12, 0, 12, 0)
        self.environment = QComboBox(self)
        self.environment.setEditable(True)
        self.environment.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.environment.setAccessibleName("The environment of the task")
        self.environment.setToolTip("It counts only where exemplars of other environments do not")
        self.settings = SettingsForm("Settings", self)
        self.compare = QCheckBox("Compare with other settings", self)
        self.other = SettingsForm("Other settings", self)
        self.other.hide()
        self.compare.toggled.connect(self._on_compare)
        column = in_column(
            self,
            heading(theme, "Last lookups"),
            _inset(self.last),
            heading(theme, "Task"),
            _inset(self.task),
            heading(theme, "Page"),
            _inset(self.observation),
            margins=(0, 0, 0, 8),
            spacing=2,
        )
        row = QWidget(self)
        in_row(
            row,
            QLabel("From run"),
            self.run,
            QLabel("step"),
            self.step,
            self.take_button,
            1,
            margins=(12, 4, 12, 2),
        )
        column.addWidget(row)
        column.addWidget(self.source)
        column.addWidget(heading(theme, "Environment of the task"))
        column.addWidget(_inset(self.environment))
        column.addWidget(heading(theme, "Settings"))
        column.addWidget(self.settings)
        column.addWidget(_inset(self.compare))
        column.addWidget(self.other)
        self.task.textChanged.connect(self._on_edited)
        self.observation.textChanged.connect(self._on_edited)
        self.show_last(())
        self._on_edited()

    @property
    def query(self) -> BenchQuery:
        return BenchQuery(
            task=self.task.toPlainText().strip(),
            observation=self.observation.toPlainText(),
            environment=self.environment.currentText().strip(),
            settings=self.settings.settings,
            other=self.other.settings if self.compare.isChecked() else None,
            source=self._source,
        )

    def show_task(self, query: BenchQuery) -> None:
        """Put task and page into the form; the settings stay."""
        self.task.setPlainText(query.task)
        self.observation.setPlainText(query.observation)
        self.environment.setEditText(query.environment)
        self._source = query.source
        self._show_source()

    def show_query(self, query: BenchQuery) -> None:
        """Put all of a lookup into the form."""
        self.show_task(query)
        self.settings.show_settings(query.settings)
        self.compare.setChecked(query.other is not None)
        if query.other is not None:
            self.other.show_settings(query.other)

    def show_last(self, queries: Sequence[BenchQuery]) -> None:
        """Offer these again."""
        self._last = tuple(queries)
        self.last.clear()
        self.last.addItem("choose one…" if queries else "none yet")
        for one in queries:
            words = " ".join(one.task.split())
            self.last.addItem(words if len(words) <= 70 else words[:69] + "…")
        self.last.setEnabled(bool(queries))

    def show_environments(self, names: Sequence[str]) -> None:
        if [self.environment.itemText(at) for at in range(self.environment.count())] != ["", *names]:
            text = self.environment.currentText()
            self.environment.clear()
            self.environment.addItems(["", *names])
            self.environment.setEditText(text)

    def _text(self, name: str, height: int) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        field.setFixedHeight(height)
        set_flag(field, "framed", True)
        return field

    def _number(self, name: str) -> QSpinBox:
        field = QSpinBox(self)
        field.setRange(1, 9_999_999)
        field.setAccessibleName(name)
        field.setMinimumWidth(70)
        return field

    def _on_last(self, at: Any) -> None:
        if at > 0:
            self.show_query(self._last[at - 1])
            self.look_up_wanted.emit()

    def _on_compare(self, on: bool) -> None:
        if on:
            self.other.show_settings(self.settings.settings)
        self.other.setVisible(on)

    def _on_edited(self) -> None:
        self._source = ""
        self._show_source()

    def _show_source(self) -> None:
        self.source.setText(f"Taken from {self._source}." if self._source else "")
        self.source.setVisible(bool(self._source))


def _inset(field: QWidget) -> QWidget:
    around = QWidget()
    in_column(around, field, margins=(12, 0, 12, 2))
    return around
