"""The results of asking again: how often each action was proposed, why, and how the question was changed."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QSizePolicy, QStyle, QWidget

from core.debugger.ask_again.views import ReplyAgain, WhatIf
from core.schema.formats import count, dollars, seconds
from gui.theme.theme import Theme
from gui.widgets.copying import action_copies
from gui.widgets.item_views import RIGHT, ROW, Index, RowDelegate, RowMenu, RowsModel
from gui.widgets.layouts import Section, in_column, on_panel, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.words import OrWords

UNUSABLE = ""
"""The key of the answers without an action."""
_HEIGHT = 42
_WIDE = 60
"""Maximum number of characters of an action in a row of the list."""
_MOST_LINES = 400
_MOST_ANSWERS = 100


class Bar(NamedTuple):
    """One action among the answers."""

    action: str
    times: int
    of: int
    recorded: bool

    @property
    def share(self) -> float:
        return self.times / self.of if self.of else 0.0

    @property
    def figures(self) -> str:
        return f"{self.times} of {self.of} · {self.share:.0%}"

    @property
    def words(self) -> str:
        """The action as a line, and whether it is the recorded one."""
        return f"{self.action or 'no usable answer'}{' · ✓ recorded' if self.recorded else ''}"


def bars_of(asked: WhatIf) -> tuple[Bar, ...]:
    """Return the actions, the most frequent first, with unusable answers after them.

    The recorded action is included even if it was not proposed again.
    """
    total = len(asked.answers)
    bars = [
        Bar(action, times, total, bool(action) and action == asked.recorded)
        for action, times in sorted(asked.distribution, key=lambda one: one[0] == UNUSABLE)
    ]
    if asked.recorded and not any(bar.recorded for bar in bars):
        bars.append(Bar(asked.recorded, 0, total, True))
    return tuple(bars)


class _BarPainter(RowDelegate):
    """Draws the action above its bar, with the numbers at the right."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        bar: Bar = index.data(ROW)
        self.draw_ground(painter, rect, state)
        room = rect.adjusted(10, 4, -10, -6)
        line = QRect(room.left(), room.top(), room.width(), self.theme.scaled(19))
        figures = self.write(painter, line, bar.figures, self.theme.small_font(), align=RIGHT)
        left = line.adjusted(0, 0, -figures - 12, 0)
        if bar.recorded:
            bold = self.theme.small_font(bold=True)
            wide = self.write(painter, left, "✓ recorded", bold, "agent", RIGHT)
            left = left.adjusted(0, 0, -wide - 12, 0)
        if bar.action:
            self.write(painter, left, bar.action, self.theme.machine_font())
        else:
            self.write(painter, left, "✗ no usable answer", self.theme.text_font(), "bad")
        track = QRect(room.left(), room.bottom() - 8, room.width(), 8)
        painter.fillRect(track, self.theme.colour("line"))
        filled = QRect(track.left(), track.top(), round(track.width() * bar.share), track.height())
        painter.fillRect(filled, self.theme.colour("agent" if bar.action else "bad"))


class Bars(QListView):
    """The distribution; the answers with the current bar's action are shown."""

    selected = Signal(object)
    """The action that is now current, or None."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        roles = Qt.ItemDataRole
        self.bars_model = RowsModel(
            {
                roles.DisplayRole: lambda bar: bar.action,
                roles.AccessibleTextRole: lambda bar: f"{bar.words}. {bar.figures}",
                roles.ToolTipRole: lambda bar: bar.words,
            },
            self,
        )
        self.setModel(self.bars_model)
        self._theme = theme
        self.setItemDelegate(_BarPainter(theme, QSize(120, _HEIGHT), self))
        self.setAccessibleName("Proposed actions")
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.selectionModel().currentChanged.connect(lambda: self.selected.emit(self.action))
        RowMenu(
            self,
            copies=lambda index: action_copies(index.data(ROW).action),
            record=lambda index: index.data(ROW)._asdict(),
        )
        theme.text_resized.connect(self._fit)

    @property
    def bars(self) -> Sequence[Bar]:
        return self.bars_model.rows

    @property
    def action(self) -> str | None:
        """The current action; `UNUSABLE` for the answers without one, None if there is nothing."""
        bar: Bar | None = self.currentIndex().data(ROW)
        return None if bar is None else bar.action

    def show_bars(self, bars: tuple[Bar, ...]) -> None:
        """Replace the bars; the current action stays if it still exists, otherwise the first becomes current."""
        if bars == self.bars:
            return
        action = self.action
        self.bars_model.show_rows(bars)
        self._fit()
        self.select_action(action)

    def _fit(self) -> None:
        rows = min(max(len(self.bars), 1), 6)
        self.setFixedHeight(rows * self._theme.scaled(_HEIGHT) + 2 * self.frameWidth())

    def select_action(self, action: str | None) -> None:
        row = next((at for at, bar in enumerate(self.bars) if bar.action == action), 0)
        self.setCurrentIndex(self.bars_model.index(row))


class AnswersPane(QWidget):
    """Shows one question with its answers."""

    action_selected = Signal(object)
    """The action that is now current, or None."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked: WhatIf | None = None
        self.bars = Bars(theme)
        self.bars.selected.connect(self._on_selected)
        self.thoughts = Rows(theme, "Thoughts")
        self.changes = Rows(theme, "What was changed in the prompt")
        self.distribution = Section(theme, "Proposed actions", self.bars)
        self.thoughts_section = Section(theme, "Thoughts", self.thoughts)
        self.changes_section = Section(theme, "Changed in the prompt", self.changes)
        area = scrolled("Answers", self.distribution, self.thoughts_section, self.changes_section)
        self.or_words = OrWords(area, self)
        on_panel(self)
        in_column(self, self.or_words)

    @property
    def action(self) -> str:
        """The chosen action; empty if it cannot be adopted."""
        return (self.bars.action or "") if self._asked is not None else ""

    @property
    def reply(self) -> str:
        """The first reply that proposes the chosen action; empty if no full reply is known."""
        answers = self._asked.answers if self._asked is not None else ()
        return next((answer.reply for answer in answers if answer.action == self.action), "")

    def show_asked(self, asked: WhatIf | None, words: str) -> None:
        """Show this question, or `words` if there is none or there is no answer yet."""
        self._asked = asked
        empty = asked is None or not asked.answers
        self.or_words.say(words if empty else "")
        if asked is None:
            self.bars.show_bars(())
            self.action_selected.emit(None)
            return
        self.bars.show_bars(bars_of(asked))
        self.distribution.show_fact(llm_words(asked))
        self.changes.show_rows(_change_rows(asked.changed))
        self.changes_section.show_fact(change_words(asked))
        self._on_selected(self.bars.action)

    def _on_selected(self, action: str | None) -> None:
        answers = self._asked.answers if self._asked is not None else ()
        chosen = [answer for answer in answers if answer.action == action]
        self.thoughts_section.title.setText("Unusable answers" if action == UNUSABLE else "Thoughts")
        self.thoughts_section.show_fact(count(len(chosen), "answer"))
        nobody = Row("The recorded action. None of the answers proposes it.", quiet=True)
        rows = [_answer_row(answer) for answer in chosen[:_MOST_ANSWERS]]
        self.thoughts.show_rows(rows or ([nobody] if action is not None else []))
        self.action_selected.emit(action)


def llm_words(asked: WhatIf) -> str:
    """Return the LLM and its settings, for example ``gpt-4o, temperature 0.7``."""
    warmth = "" if asked.temperature is None else f", temperature {asked.temperature:g}"
    return f"{asked.llm}{warmth}"


def change_words(asked: WhatIf) -> str:
    """Return a description of how much of the prompt was changed."""
    if not asked.changed:
        return "as recorded"
    taken = sum(line.startswith("-") for line in asked.changed)
    return f"−{taken} +{len(asked.changed) - taken} lines"


def question_row(asked: WhatIf, key: object) -> Row:
    """Return the row of a question in the list of questions."""
    came = len(asked.answers)
    number = f"{asked.number}. " if asked.number else ""
    bars = [bar for bar in bars_of(asked) if bar.times]
    most = max(bars, key=lambda bar: bar.times, default=None)
    often = "no answer yet"
    if most is not None:
        action = most.action if len(most.action) <= _WIDE else f"{most.action[:_WIDE]}…"
        often = f"{most.times} of {came}: {action or 'no usable answer'}"
    return Row(
        f"{number}{llm_words(asked)}",
        word=f"{datetime.fromtimestamp(asked.when):%H:%M:%S}",
        detail=f"{often}\n{change_words(asked)}"
        + (f" · {came} of {asked.count} answers came" if came < asked.count else ""),
        key=key,
        tooltip=f"Show the answers to this question again ({count(asked.count, 'time')} asked)",
    )


def _answer_row(answer: ReplyAgain) -> Row:
    text = answer.problem or answer.thought or "It gave no reason."
    also = f"then: {', '.join(answer.more)}" if answer.more else ""
    facts = [count(answer.tokens, "token"), seconds(answer.seconds)] if answer.tokens else []
    if answer.cost is not None:
        facts.append(dollars(answer.cost))
    thought = f"It thought: {answer.thought}" if answer.problem and answer.thought else ""
    return Row(
        text,
        icon="warning" if answer.problem else "comment",
        tone="bad" if answer.problem else "dim",
        detail="\n".join(filter(None, (thought, also, " · ".join(facts)))),
        quiet=not (answer.problem or answer.thought),
    )


def _change_rows(changed: tuple[str, ...]) -> list[Row]:
    if not changed:
        return [Row("The messages were sent as recorded.", quiet=True)]
    rows = [
        Row(
            f"{line[0]} {line[1:]}",
            tone="bad" if line.startswith("-") else "good",
            word="taken out" if line.startswith("-") else "put in",
            machine=True,
        )
        for line in changed[:_MOST_LINES]
    ]
    more = len(changed) - _MOST_LINES
    return [*rows, Row(f"and {count(more, 'more line')}", quiet=True)] if more > 0 else rows
