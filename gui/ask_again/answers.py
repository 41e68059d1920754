"""The results of asking again: how often each action was proposed, why, and how the question was changed."""

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QWidget

from core.debugger.ask_again.views import ReplyAgain, WhatIf
from core.schema.formats import count, dollars, seconds
from gui.theme.theme import Theme
from gui.widgets.copying import action_copies
from gui.widgets.item_views import RIGHT, ROW, Index, RowDelegate, RowMenu
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


@dataclass(frozen=True)
class Bar(Row):
    """One action among the answers; the action is the key."""

    times: int = 0
    of: int = 0
    share: float = 0.0
    recorded: bool = False

    @property
    def record(self) -> dict[str, object]:
        """The bar as it is copied."""
        return {"action": self.key, "times": self.times, "of": self.of, "recorded": self.recorded}


def bars_of(asked: WhatIf) -> tuple[Bar, ...]:
    """Return the actions, the most frequent first, with unusable answers after them.

    The recorded action is included even if it was not proposed again.
    """
    proposed = sorted(asked.distribution, key=lambda one: one[0] == UNUSABLE)
    if asked.recorded and all(action != asked.recorded for action, _ in proposed):
        proposed.append((asked.recorded, 0))
    return tuple(_bar(asked, action, times) for action, times in proposed)


def _bar(asked: WhatIf, action: str, times: int) -> Bar:
    recorded, of = bool(action) and action == asked.recorded, len(asked.answers)
    share = times / of if of else 0.0
    words = f"{action or 'no usable answer'}{' · ✓ recorded' if recorded else ''}"
    figures = f"{times} of {of} · {share:.0%}"
    return Bar(
        words,
        word=figures,
        key=action,
        tooltip=words,
        times=times,
        of=of,
        share=share,
        recorded=recorded,
    )


class _BarPainter(RowDelegate):
    """Draws the action above its bar, with the numbers at the right."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        bar: Bar = index.data(ROW)
        self.draw_ground(painter, rect, state)
        room = rect.adjusted(10, 4, -10, -6)
        line = QRect(room.left(), room.top(), room.width(), self.theme.scaled(19))
        figures = self.write(painter, line, bar.word, self.theme.small_font(), align=RIGHT)
        left = line.adjusted(0, 0, -figures - 12, 0)
        if bar.recorded:
            bold = self.theme.small_font(bold=True)
            wide = self.write(painter, left, "✓ recorded", bold, "agent", RIGHT)
            left = left.adjusted(0, 0, -wide - 12, 0)
        if bar.key:
            self.write(painter, left, bar.key, self.theme.machine_font())
        else:
            self.write(painter, left, "✗ no usable answer", self.theme.text_font(), "bad")
        track = QRect(room.left(), room.bottom() - 8, room.width(), 8)
        painter.fillRect(track, self.theme.colour("line"))
        filled = QRect(track.left(), track.top(), round(track.width() * bar.share), track.height())
        painter.fillRect(filled, self.theme.colour("agent" if bar.key else "bad"))


class AnswersPane(QWidget):
    """Shows one question with its answers."""

    action_selected = Signal(object)
    """The action that is now current, or None."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked: WhatIf | None = None
        self.bars = Rows(theme, "Proposed actions")
        self.bars.setItemDelegate(_BarPainter(theme, QSize(120, _HEIGHT), self.bars))
        RowMenu(
            self.bars,
            copies=lambda index: action_copies(index.data(ROW).key),
            record=lambda index: index.data(ROW).record,
        )
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
        return (self.bars.key or "") if self._asked is not None else ""

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
            self.bars.show_rows(())
            self.action_selected.emit(None)
            return
        bars = bars_of(asked)
        self.bars.show_rows(bars)
        if self.bars.key is None and bars:
            self.bars.select_key(bars[0].key)
        self.distribution.show_fact(llm_words(asked))
        self.changes.show_rows(_change_rows(asked))
        self.changes_section.show_fact(change_words(asked))
        self._on_selected(self.bars.key)

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
    if not asked.messages:
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
        action = most.key if len(most.key) <= _WIDE else f"{most.key[:_WIDE]}…"
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


def _change_rows(asked: WhatIf) -> list[Row]:
    changed = asked.changed
    if not asked.messages:
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
