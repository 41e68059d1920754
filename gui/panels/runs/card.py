"""The run card, shown over the page when a run's row in the tree is chosen."""

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QWidget

from core.schema.formats import count, dollars, seconds, thousands
from core.trace.records import ATTACHED_NAME, RunRow
from gui.panels.runs.model import run_word
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import FlowLayout, holding, in_column, in_row, scrolled
from gui.widgets.remembered import OpenedTask
from gui.widgets.words import ElidedLabel, NoteLabel, dim_label, set_tone

_SIGNS = {"success": ("✓", "good"), "no success": ("✗", "bad"), "error": ("✗", "bad"), "running": ("●", "")}
_NOTHING_TO_COMPARE = "Show a step of another run first, to compare this run with it"


class RunCard(QWidget):
    """Opaque, over the live page, which stays shown below it."""

    step_requested = Signal(int, int)
    deciding_step_requested = Signal(int)
    compare_requested = Signal(int)
    again_requested = Signal(object)
    """An `OpenedTask`."""
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.row: RunRow | None = None
        """The run that is shown; None if the card is closed."""
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAutoFillBackground(True)
        bar = QFrame(self)
        bar.setProperty("coverBar", True)
        self.title = ElidedLabel("", bar)
        self.title.setFont(theme.text_font(bold=True))
        back = QPushButton("Back to the page (Esc)", bar)
        back.setToolTip("Show the page or the step in view again (Esc)")
        back.setProperty("accent", True)
        back.clicked.connect(self.close_card)
        in_row(bar, (self.title, 1), back, margins=(12, 4, 8, 4), spacing=10)
        self.outcome = QLabel(self)
        self.outcome.setFont(theme.text_font(bold=True))
        self.outcome.setContentsMargins(14, 12, 14, 0)
        self.reason = NoteLabel("", margins=(14, 2, 14, 0))
        self._grid = QGridLayout()
        self._grid.setContentsMargins(14, 8, 14, 8)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(1, 1)
        self.values: dict[str, NoteLabel] = {}
        self._names: dict[str, QLabel] = {}
        self.last = self._button("Open &last step", "Show the last step of the run (Alt+L)", self._on_last)
        self.deciding = self._button(
            "Dec&iding step",
            "Show the first step that no successful run with the same beginning took (Alt+I)",
            lambda row: self.deciding_step_requested.emit(row.run),
        )
        self.compare = self._button("Co&mpare…", "", lambda row: self.compare_requested.emit(row.run))
        self.again = self._button(
            "Open the &task again", "The same task and seed from the start (Alt+T)", self._on_again
        )
        buttons = (self.last, self.deciding, self.compare, self.again)
        facts = scrolled("What is known of the run", self.outcome, self.reason, holding(self._grid))
        foot = QWidget(self)
        flow = FlowLayout(foot, spacing=8)
        flow.setContentsMargins(12, 6, 12, 8)
        for button in buttons:
            flow.addWidget(button)
        in_column(self, bar, (facts, 1), foot, spacing=0)
        self.hide()

    def show_run(self, row: RunRow, *, current: bool, viewed: int | None) -> None:
        """Cover the page with the facts of a run; `viewed` is the run in view, to compare it with."""
        self.row = row
        self.title.setText(f"Run {row.run}" + (f" · {row.name}" if row.name else f" · {row.task}"))
        word = run_word(row, current=current)
        sign, tone = _SIGNS.get(word, ("", ""))
        reward = f", reward {round(row.verdict.reward, 3):g}" if row.verdict.reward is not None else ""
        by = f", judged by {row.verdict.judge}" if row.verdict.judge != "none" else ""
        self.outcome.setText(f"{sign} {word}{reward}{by}".strip())
        set_tone(self.outcome, tone)
        self.reason.show_text(row.verdict.reason)
        self._fill(facts_of(row))
        begun, other = row.steps > 0, viewed is not None and viewed != row.run
        self.last.setEnabled(begun)
        self.deciding.setEnabled(begun)
        self.compare.setEnabled(begun and other)
        self.compare.setToolTip(
            f"Compare with run {viewed}, step by step (Alt+M)" if other else _NOTHING_TO_COMPARE
        )
        self.again.setEnabled(row.environment != "import" and row.preset != ATTACHED_NAME)
        self.setAccessibleName(f"{self.title.text()}: {self.outcome.text()}")
        self.show()
        self.raise_()

    def close_card(self) -> None:
        """Close the card and show what is below it."""
        if self.row is not None:
            self.row = None
            self.hide()
            self.closed.emit()

    def _fill(self, facts: tuple[tuple[str, str], ...]) -> None:
        for name, text in facts:
            if name not in self.values:
                at = len(self.values)
                self._names[name] = dim_label(name)
                self.values[name] = NoteLabel("")
                top = Qt.AlignmentFlag.AlignTop
                self._grid.addWidget(self._names[name], at, 0, top)
                self._grid.addWidget(self.values[name], at, 1, top)
            self._names[name].setVisible(bool(text))
            self.values[name].show_text(text)

    def _button(self, text: str, words: str, do: Callable[[RunRow], object]) -> QPushButton:
        return key_button(text, words, "", lambda: self.row is not None and do(self.row), self)

    def _on_last(self, row: RunRow) -> None:
        self.step_requested.emit(row.run, last_step(row))

    def _on_again(self, row: RunRow) -> None:
        web = row.environment == "web"
        self.again_requested.emit(
            OpenedTask(
                task=row.task,
                seed=row.seed,
                url=row.start_url if web else "",
                instruction=row.instruction if web else "",
                profile=row.profile or "",
            )
        )


def last_step(row: RunRow) -> int:
    """Return the number of the last step of a run with steps; a branch continues the numbers of its parent."""
    return (row.parent_step or 1) + row.steps - 1


def facts_of(row: RunRow) -> tuple[tuple[str, str], ...]:
    """Return the facts of a run by name, always with the same names; a value is empty if there is nothing to show."""
    begun = datetime.fromtimestamp(row.started)
    asked = f", {seconds(row.seconds_in_llm)} of it in the LLM" if row.seconds_in_llm else ""
    branch = ""
    if row.parent_run is not None:
        grade = f"; its first page was restored: {row.grade}" if row.grade else ""
        branch = "\n".join(
            [
                f"Run {row.parent_run}, from before step {row.parent_step}{grade}",
                *(f"Differs by {difference}" for difference in row.differences),
            ]
        )
    return (
        ("Error", row.error),
        ("Task", row.task),
        ("Instruction", row.instruction),
        ("Seed", str(row.seed)),
        ("Answer", row.answer),
        ("Preset", row.preset),
        ("LLM", row.llm),
        ("Browser", row.browser + (f", profile {row.profile}" if row.profile else "")),
        ("Branch of", branch),
        ("Steps", f"{thousands(row.steps)}{', some by a person' if row.touched else ''}"),
        ("LLM calls", thousands(row.llm_calls)),
        (
            "Tokens",
            f"{count(row.prompt_tokens, 'token')} in, {thousands(row.completion_tokens)} out"
            if row.llm_calls
            else "",
        ),
        ("Cost", dollars(row.cost) if row.cost is not None else ""),
        ("Duration", f"{seconds(row.seconds)}{asked}" if row.seconds else ""),
        ("Started", f"{begun:%Y-%m-%d %H:%M:%S}"),
        ("Network", "Offline: its pages use recorded answers only" if row.offline else ""),
    )
