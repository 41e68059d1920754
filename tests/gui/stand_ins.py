"""What the window's tests put in place of a session and of the live page."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.snapshots import (
    Catalogue,
    LivePageView,
    PersonQuestion,
    Picked,
    RunsView,
    SessionView,
    StepView,
)
from core.schema.log import LogLine
from core.schema.signal import Signal as CoreSignal
from gui.panels.runs.panel import RunsPanel


def move_mouse(widget: QWidget, place: QPoint) -> None:
    """Move the pointer over `widget`, whatever other window lies at that place of the screen."""
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(widget.mapToGlobal(place)),
        none,
        none,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, event)


def choose_entry(runs: RunsPanel, index: QModelIndex, text: str) -> None:
    """Choose the entry that begins with `text` in the menu of a row of the tree; it has to be enabled."""
    entry = next(one for one in runs.entries(index) if one.text.startswith(text))
    assert entry.enabled
    entry.do()


class AskedSession:
    """A session that does nothing but remember what it was asked, in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.catalogue_changed: CoreSignal[Catalogue] = CoreSignal()
        self.session_changed: CoreSignal[SessionView] = CoreSignal()
        self.live_page_changed: CoreSignal[LivePageView] = CoreSignal()
        self.runs_changed: CoreSignal[RunsView] = CoreSignal()
        self.step_changed: CoreSignal[StepView] = CoreSignal()
        self.question_asked: CoreSignal[PersonQuestion | None] = CoreSignal()
        self.picked: CoreSignal[Picked] = CoreSignal()
        self.logged: CoreSignal[LogLine] = CoreSignal()

    def open_task(
        self, task: str, seed: int, *, url: str = "", instruction: str = "", profile: str = ""
    ) -> None:
        self.asked.append(("open_task", task, seed, url, instruction, *([profile] if profile else [])))

    def set_preset(self, name: str) -> None:
        self.asked.append(("set_preset", name))

    def set_llm(self, name: str) -> None:
        self.asked.append(("set_llm", name))

    def set_mechanism(self, name: str, on: bool) -> None:
        self.asked.append(("set_mechanism", name, on))

    def set_amount(self, name: str, value: int) -> None:
        self.asked.append(("set_amount", name, value))

    def edit_plan(self, subtasks: tuple[str, ...], current: int) -> None:
        self.asked.append(("edit_plan", subtasks, current))

    def fire_remedy(self, number: int) -> None:
        self.asked.append(("fire_remedy", number))

    def step(self) -> None:
        self.asked.append(("step",))

    def phase(self) -> None:
        self.asked.append(("phase",))

    def run(self) -> None:
        self.asked.append(("run",))

    def pause(self) -> None:
        self.asked.append(("pause",))

    def stop(self) -> None:
        self.asked.append(("stop",))

    def end(self, success: bool) -> None:
        self.asked.append(("end", success))

    def set_pace(self, seconds: float) -> None:
        self.asked.append(("set_pace", seconds))

    def set_max_steps(self, count: int) -> None:
        self.asked.append(("set_max_steps", count))

    def edit_action(self, text: str) -> None:
        self.asked.append(("edit_action", text))

    def over(self) -> None:
        self.asked.append(("over",))

    def out(self) -> None:
        self.asked.append(("out",))

    def run_to_step(self, number: int) -> None:
        self.asked.append(("run_to_step", number))

    def run_to_subtask(self, subtask: int) -> None:
        self.asked.append(("run_to_subtask", subtask))

    def accept(self) -> None:
        self.asked.append(("accept",))

    def edit_queue(self, actions: tuple[str, ...]) -> None:
        self.asked.append(("edit_queue", actions))

    def skip(self) -> None:
        self.asked.append(("skip",))

    def ask_again(self) -> None:
        self.asked.append(("ask_again",))

    def answer(self, thought: str, action: str) -> None:
        self.asked.append(("answer", thought, action))

    def set_handover(self, on: bool) -> None:
        self.asked.append(("set_handover", on))

    def point(self, x: float, y: float, *, final: bool) -> None:
        self.asked.append(("point", x, y, final))

    def go_back(self, run: int, step: int) -> None:
        self.asked.append(("go_back", run, step))

    def make_current(self, run: int) -> None:
        self.asked.append(("make_current", run))

    def name_run(self, run: int, name: str) -> None:
        self.asked.append(("name_run", run, name))

    def show_step(self, run: int, number: int) -> None:
        self.asked.append(("show_step", run, number))

    def show_now(self) -> None:
        self.asked.append(("show_now",))

    def open_run(self, run: int) -> None:
        self.asked.append(("open_run", run))

    def search_runs(self, query: str) -> None:
        self.asked.append(("search_runs", query))

    def import_run(self, path: str) -> None:
        self.asked.append(("import_run", path))

    def export_run(self, run: int, form: str, path: str) -> None:
        self.asked.append(("export_run", run, form, path))


class AskedService:
    """A service that does nothing but remember its commands, in order, with all their arguments.

    Beside `changed` it has the signals that are named.
    """

    def __init__(self, *signals: str) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.changed: CoreSignal[Any] = CoreSignal()
        for name in signals:
            setattr(self, name, CoreSignal())

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments, **named: self.asked.append((name, *arguments, *named.values()))


BAR = 30


class DrawnPage(QWidget):
    """A page area without a browser: an address line, and below it a drawn page."""

    view_moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.handed_over = False
        self.presses = 0
        self.keys: list[str] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def view_rect(self) -> QRect:
        return self.rect().adjusted(0, BAR, 0, 0)

    def set_handed_over(self, on: bool) -> None:
        self.handed_over = on

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view_moved.emit()

    def mousePressEvent(self, event: Any) -> None:
        self.presses += 1

    def keyPressEvent(self, event: Any) -> None:
        self.keys.append(event.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_page(painter, self.view_rect())
        painter.setPen(self.palette().color(self.palette().ColorRole.PlaceholderText))
        painter.drawText(
            QRect(12, 0, self.width(), BAR),
            int(Qt.AlignmentFlag.AlignVCenter),
            "‹  ›  ⟳   http://127.0.0.1:41873/item/B09-LAMP-GRN",
        )


def paint_page(painter: QPainter, room: QRect) -> None:
    """Draw a page with a heading and a few buttons."""
    painter.fillRect(room, QColor("white"))
    painter.translate(room.topLeft())
    font = QFont("Liberation Sans")
    font.setPixelSize(15)
    painter.setFont(font)
    painter.setPen(QColor("#0b57d0"))
    painter.drawText(20, 38, "Back to search")
    painter.drawText(140, 38, "‹ Previous")
    font.setPixelSize(20)
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor("#1c1c1c"))
    painter.drawText(20, 82, "Minton ceramic table lamp, light green")
    font.setPixelSize(14)
    font.setBold(False)
    painter.setFont(font)
    for left, text, fill in (
        (20, "Buy now", "#ffd814"),
        (140, "Description", "#fff"),
        (260, "Features", "#fff"),
    ):
        painter.setPen(QPen(QColor("#888"), 1))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(left, 120, 104, 36, 16, 16)
        painter.setPen(QColor("#111"))
        painter.drawText(QRect(left, 120, 104, 36), int(Qt.AlignmentFlag.AlignCenter), text)
    painter.resetTransform()
