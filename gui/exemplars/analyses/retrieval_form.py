"""The form of a lookup: a task with its page, and the retrieval settings."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.exemplars.analyses.views import BenchQuery
from core.schema.exemplar import RecallSettings
from core.schema.formats import cut
from gui.exemplars.analyses.page import heading
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.words import NoteLabel, set_flag

_BY = (("by family: the nearest vote", "family"), ("the nearest themselves", "exemplars"))


class SettingsForm(QWidget):
    """Shows and changes `RecallSettings`."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: dict[str, RecallSettings] = {}
        self.preset = QComboBox(self)
        self.preset.setToolTip("Use the settings of a preset")
        self.by = titled_box(_BY, parent=self)
        self.votes = QSpinBox(self, minimum=1, maximum=50)
        self.votes.setToolTip("How many of the nearest vote, or are used")
        self.reach = QDoubleSpinBox(self, minimum=0.0, maximum=2.0, singleStep=0.05)
        self.reach.setToolTip("How much farther than the nearest a voter may be. With 2, all vote")
        self.most = QSpinBox(self, minimum=1, maximum=50)
        self.most.setToolTip("The most exemplars in a prompt")
        self.tokens = QSpinBox(self, minimum=100, maximum=1_000_000, singleStep=1000)
        self.tokens.setToolTip("The most tokens of all exemplars in a prompt. The nearest that fit are used")
        self.has_threshold = QCheckBox("none beyond", self)
        self.has_threshold.setToolTip("Use none if the nearest is beyond this distance")
        self.threshold = QDoubleSpinBox(
            self, decimals=3, minimum=0.0, maximum=2.0, singleStep=0.05, value=1.0
        )
        self.threshold.setEnabled(False)
        self.has_threshold.toggled.connect(self.threshold.setEnabled)
        self.others = QCheckBox("also of other environments", self)
        self.new = QCheckBox("also new ones", self)
        self.new.setToolTip("Also those that nobody has reviewed")
        limit = holding(in_row(None, self.has_threshold, (self.threshold, 1)))
        form = QFormLayout(self)
        form.setContentsMargins(12, 2, 12, 6)
        form.setSpacing(6)
        for label, field in (
            ("As in preset", self.preset),
            ("Choose", self.by),
            ("Votes", self.votes),
            ("Within", self.reach),
            ("At the most", self.most),
            ("Tokens", self.tokens),
            ("Threshold", limit),
            ("Exemplars", self.others),
            ("Review", self.new),
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
            tokens=self.tokens.value(),
            threshold=self.threshold.value() if self.has_threshold.isChecked() else None,
            other_environments=self.others.isChecked(),
            unreviewed=self.new.isChecked(),
        )

    def show_settings(self, settings: RecallSettings) -> None:
        self.by.setCurrentIndex(self.by.findData(settings.by))
        self.votes.setValue(settings.votes)
        self.reach.setValue(settings.reach)
        self.most.setValue(settings.most)
        self.tokens.setValue(settings.tokens)
        self.has_threshold.setChecked(settings.threshold is not None)
        if settings.threshold is not None:
            self.threshold.setValue(settings.threshold)
        self.others.setChecked(settings.other_environments)
        self.new.setChecked(settings.unreviewed)

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


class RetrievalForm(QWidget):
    """The query of a lookup; `look_up_wanted` is sent when Enter is pressed in the list of previous lookups."""

    look_up_wanted = Signal()
    take_wanted = Signal(int, int)
    """A run and one of its steps."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = ""
        self._last: tuple[BenchQuery, ...] = ()
        again = "Repeat one of the last lookups"
        self.last = titled_box((), "The last lookups", again, self)
        self.last.activated.connect(self._on_last)
        self.task = self._text("The task", 64)
        self.task.setPlaceholderText("A task, such as: Book the cheapest flight from Oslo to Rome.")
        self.observation = self._text("The page", 90)
        self.observation.setFont(theme.machine_font())
        self.observation.setPlaceholderText("The page at the start, as the LLM would see it. May be empty.")
        self.run, self.step = self._number("Run"), self._number("Step")
        self.take_button = key_button(
            "Take",
            "Use the task of this run with the page of this step",
            "Alt+T",
            lambda: self.take_wanted.emit(self.run.value(), self.step.value()),
            self,
        )
        self.source = NoteLabel("", parent=self, margins=(12, 0, 12, 0))
        self.environment = QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.environment.setAccessibleName("The environment of the task")
        self.environment.setToolTip("Used only if exemplars of other environments are left out")
        self.settings = SettingsForm("Settings", self)
        self.compare = QCheckBox("Compare with other settings", self)
        self.other = SettingsForm("Other settings", self)
        self.other.hide()
        self.compare.toggled.connect(self._on_compare)
        take = (QLabel("From run"), self.run, QLabel("step"), self.step, self.take_button, 1)
        in_column(
            self,
            heading(theme, "Last lookups"),
            _inset(self.last),
            heading(theme, "Task"),
            _inset(self.task),
            heading(theme, "Page"),
            _inset(self.observation),
            holding(in_row(None, *take, margins=(12, 4, 12, 2))),
            self.source,
            heading(theme, "Environment of the task"),
            _inset(self.environment),
            heading(theme, "Settings"),
            self.settings,
            _inset(self.compare),
            self.other,
            margins=(0, 0, 0, 8),
            spacing=2,
        )
        self.task.textChanged.connect(lambda: self._show_source(""))
        self.observation.textChanged.connect(lambda: self._show_source(""))
        self.show_last(())

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
        """Show task and page in the form; the settings stay, unless it was taken from a run."""
        self.task.setPlainText(query.task)
        self.observation.setPlainText(query.observation)
        self.environment.setEditText(query.environment)
        if query.preset:
            self.settings.show_settings(query.settings)
        self._show_source(query.source)

    def show_query(self, query: BenchQuery) -> None:
        """Show all fields of a lookup."""
        self.show_task(query)
        self.settings.show_settings(query.settings)
        self.compare.setChecked(query.other is not None)
        if query.other is not None:
            self.other.show_settings(query.other)

    def show_last(self, queries: Sequence[BenchQuery]) -> None:
        """Offer these previous lookups."""
        self._last = tuple(queries)
        self.last.clear()
        self.last.addItem("choose one…" if queries else "none yet")
        for query in queries:
            self.last.addItem(cut(" ".join(query.task.split()), 70))
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
        field = QSpinBox(self, minimum=1, maximum=9_999_999)
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

    def _show_source(self, source: str) -> None:
        self._source = source
        self.source.show_text(f"Taken from {source}." if source else "")


def _inset(field: QWidget) -> QLayout:
    return in_column(None, field, margins=(12, 0, 12, 2))
