"""Paints the rows of the tree of runs."""

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QWidget

from core.schema.restore import Grade
from gui.panels.plan.panel import GRADE_MARKS
from gui.panels.runs.model import NODE, Node, describe, differs_text, run_text, run_word, step_word
from gui.theme.theme import Theme
from gui.widgets.formats import step_text
from gui.widgets.item_views import LEFT, RIGHT, Index, RowDelegate, draw_cut
from gui.widgets.origin import paint_chosen, paint_origin

_MARK = 16
_TONES = {"success": "good", "no success": "bad", "error": "bad", "current": "agent"}


class RunsDelegate(RowDelegate):
    """A step's shape, number, action and outcome; a run's number, name or task, grade and verdict."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, QSize(120, 24), parent)
        self.viewed: tuple[int, int] | None = None
        """The run and number of the step in view."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        node: Node | None = index.data(NODE)
        if node is None:
            return
        viewed = node.kind == "step" and (node.step.run, node.step.number) == self.viewed
        if viewed or state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected" if viewed else "raised"))
        if viewed:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self.theme.colour("agent"))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.colour("agent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        inner = rect.adjusted(6, 0, -8, 0)
        if node.kind == "step":
            self._paint_step(painter, inner, node)
        elif node.kind == "run":
            self._paint_run(painter, inner, node)
        else:
            painter.setFont(self.theme.small_font())
            painter.setPen(self.theme.colour("agent"))
            painter.drawText(inner, int(LEFT), describe(node))

    def _paint_step(self, painter: QPainter, room: QRect, node: Node) -> None:
        row, tokens = node.step, self.theme.tokens
        failed = row.outcome == "failed"
        mark = QRectF(room.left(), room.center().y() - 5, 11, 11)
        paint_origin(
            painter,
            mark,
            row.origin,
            self.theme.colour("bad") if failed else QColor(tokens.of(row.origin)),
            hollow=row.outcome in ("failed", "skipped", "pending"),
        )
        painter.setFont(self.theme.small_font())
        painter.setPen(self.theme.colour("dim"))
        digits = painter.fontMetrics().horizontalAdvance(str(max(99, row.number)))
        number = QRect(room.left() + 14, room.top(), digits + 2, room.height())
        painter.drawText(number, int(RIGHT), str(row.number))
        word = step_word(row)
        painter.setPen(self.theme.colour("bad" if failed else "dim"))
        width = painter.fontMetrics().horizontalAdvance(word)
        painter.drawText(room, int(RIGHT), word)
        text = room.adjusted(14 + digits + 10, 0, -width - 8, 0)
        font = self.theme.text_font()
        font.setStrikeOut(failed or row.outcome == "skipped")
        painter.setFont(font)
        painter.setPen(self.theme.colour("dim" if failed or row.outcome == "skipped" else "text"))
        draw_cut(painter, text, step_text(row).replace("\n", " "))

    def _paint_run(self, painter: QPainter, room: QRect, node: Node) -> None:
        row = node.run
        word = run_word(row, current=node.current)
        tone = _TONES.get(word, "dim")
        painter.setFont(self.theme.small_font())
        painter.setPen(self.theme.colour(tone))
        width = painter.fontMetrics().horizontalAdvance(word)
        painter.drawText(room, int(RIGHT), word)
        room = room.adjusted(0, 0, -width - 8, 0)
        if row.touched:
            mark = QRectF(room.right() - 10, room.center().y() - 5, 10, 10)
            paint_origin(painter, mark, "person", self.theme.colour("person"))
            room = room.adjusted(0, 0, -15, 0)
        if node.current:
            paint_chosen(
                painter, QRectF(room.left(), room.center().y() - 4, 9, 10), self.theme.colour("agent")
            )
            room = room.adjusted(13, 0, 0, 0)
        under_step = node.parent is not None and node.parent.kind == "step"
        told = row.parent_run is None or under_step
        number = f"{row.run}" if told else f"{row.run} from step {row.parent_step}"
        painter.setFont(self.theme.text_font(bold=True))
        painter.setPen(self.theme.colour("text"))
        painter.drawText(room, int(LEFT), number)
        room = room.adjusted(painter.fontMetrics().horizontalAdvance(number) + 8, 0, 0, 0)
        grade = row.grade if row.parent_run is not None else ""
        painter.setFont(self.theme.small_font())
        beside = painter.fontMetrics().horizontalAdvance(grade) + _MARK + 10 if grade else 0
        painter.setFont(self.theme.text_font())
        painter.setPen(self.theme.colour("text"))
        text = (row.name or differs_text(row) or ("" if under_step else run_text(row))).replace("\n", " ")
        widest = max(0, room.width() - beside)
        draw_cut(painter, QRect(room.left(), room.top(), widest, room.height()), text)
        if grade:
            wide = min(widest, painter.fontMetrics().horizontalAdvance(text))
            self._paint_grade(painter, room.adjusted(wide + 8 if text else 0, 0, 0, 0), grade)

    def _paint_grade(self, painter: QPainter, room: QRect, grade: Grade) -> None:
        """Draw how well a branch began, as a mark and a word."""
        icon, tone = GRADE_MARKS[grade]
        self.theme.icon(icon, tone=tone).paint(painter, QRect(room.left(), room.center().y() - 6, 13, 13))
        painter.setFont(self.theme.small_font())
        painter.setPen(self.theme.colour(tone))
        draw_cut(painter, room.adjusted(_MARK, 0, 0, 0), grade)
