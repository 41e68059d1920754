"""Corrections of a run that may go into an exemplar: what was tried, what was right, and why."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from core.debugger.exemplars.saving.views import SavingContrast
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.words import NoteLabel


class _Correction(QWidget):
    """One correction with its tick and its reason."""

    def __init__(self, one: SavingContrast, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.step = one.step
        self.tick = QCheckBox(f"Keep the correction of step {one.step} as a contrast", self)
        self.tick.setToolTip("What was tried and what was right stand in the exemplar, told apart as such")
        self.words = NoteLabel("dim", "", self)
        self.words.setFont(theme.machine_font())
        self.words.setContentsMargins(21, 0, 0, 0)
        self.reason = QLineEdit(self)
        self.reason.setPlaceholderText("Why, in a sentence; may be left empty")
        self.reason.setAccessibleName(f"Why the correction of step {one.step} is right")
        in_column(self, self.tick, self.words, self.reason, margins=(10, 2, 10, 4), spacing=2)
        self.show_correction(one)

    def show_correction(self, one: SavingContrast) -> None:
        self.tick.blockSignals(True)
        self.tick.setChecked(one.chosen)
        self.tick.blockSignals(False)
        self.words.show_text(f"tried  {one.tried}\nright  {one.right}")
        self.reason.setVisible(one.chosen)


class ContrastChoices(QWidget):
    """Lists the corrections of the steps that are chosen; a reason that was written stays."""

    edited = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.corrections: list[_Correction] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self._reasons: dict[int, str] = {}

    @property
    def chosen(self) -> frozenset[int]:
        return frozenset(one.step for one in self.corrections if one.tick.isChecked())

    @property
    def reasons(self) -> dict[int, str]:
        self._keep_reasons()
        return {step: text.strip() for step, text in self._reasons.items() if text.strip()}

    def begin(self) -> None:
        """Forget what was written for another run."""
        self.show_contrasts(())
        self._reasons.clear()

    def show_contrasts(self, contrasts: tuple[SavingContrast, ...]) -> None:
        if [one.step for one in contrasts] == [one.step for one in self.corrections]:
            for shown, one in zip(self.corrections, contrasts, strict=True):
                shown.show_correction(one)
            return
        self._keep_reasons()
        for old in self.corrections:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.corrections = []
        for one in contrasts:
            made = _Correction(one, self._theme, self)
            made.reason.setText(self._reasons.get(one.step, ""))
            made.tick.toggled.connect(lambda _on: self.edited.emit())
            made.reason.textChanged.connect(lambda _text: self.edited.emit())
            self._column.addWidget(made)
            self.corrections.append(made)

    def _keep_reasons(self) -> None:
        self._reasons |= {one.step: one.reason.text() for one in self.corrections}
