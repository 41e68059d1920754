"""Stand-ins for a session and the live page in the window's tests."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.branching.branches import Branches
from core.debugger.catalogue import Catalogue
from core.debugger.editing.views import EditText, RefusedEdit
from core.debugger.interventions.corrections import Corrections
from core.debugger.interventions.edits import RunEditing
from core.debugger.interventions.live_page import LivePage
from core.debugger.live_page import LivePageView, Picked
from core.debugger.run_commands import AgentSettings, RunCommands, TaskCommands, TraceCommands
from core.debugger.service import ChangeAnswer
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import PersonQuestion, StepView
from core.debugger.timeline.views import StepPictures
from core.schema.events import LogLine
from core.schema.signal import Signal as CoreSignal
from gui.panels.runs.panel import RunsPanel


def move_mouse(widget: QWidget, place: QPoint) -> None:
    """Move the pointer over `widget`, regardless of other windows at that screen position."""
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


class AskedCommands:
    """Commands of one kind that only record their calls: the name of the method and its arguments, in order."""

    def __init__(self, kind: type, asked: list[tuple[Any, ...]]) -> None:
        self._kind = kind
        self._asked = asked

    def __getattr__(self, name: str) -> Callable[..., None]:
        signature = inspect.signature(getattr(self._kind, name))
        count = len(signature.parameters) - 1

        def ask(*given: Any, **named: Any) -> None:
            # To a function that accepts any arguments, Qt passes more than to the method, for example "checked".
            bound = signature.bind(None, *given[:count], **named)
            self._asked.append((name, *list(bound.arguments.values())[1:]))

        return ask


def choose_entry(runs: RunsPanel, index: QModelIndex, text: str) -> None:
    """Choose the entry that begins with `text` in the menu of a row of the tree; it must be enabled."""
    entry = next(one for one in runs.entries(index) if one.text.startswith(text))
    assert entry.enabled
    entry.do()


class AskedSession:
    """A session that only records its calls, in order."""

    session = SessionView()

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.tasks = AskedCommands(TaskCommands, self.asked)
        self.run_commands = AskedCommands(RunCommands, self.asked)
        self.agent = AskedCommands(AgentSettings, self.asked)
        self.corrections = AskedCommands(Corrections, self.asked)
        self.edits = AskedCommands(RunEditing, self.asked)
        self.live_page = AskedCommands(LivePage, self.asked)
        self.branches = AskedCommands(Branches, self.asked)
        self.trace = AskedCommands(TraceCommands, self.asked)
        self.catalogue_changed: CoreSignal[Catalogue] = CoreSignal()
        self.session_changed: CoreSignal[SessionView] = CoreSignal()
        self.live_page_changed: CoreSignal[LivePageView] = CoreSignal()
        self.runs_changed: CoreSignal[RunsView] = CoreSignal()
        self.step_changed: CoreSignal[StepView] = CoreSignal()
        self.text_offered: CoreSignal[EditText] = CoreSignal()
        self.edit_refused: CoreSignal[RefusedEdit] = CoreSignal()
        self.question_asked: CoreSignal[PersonQuestion | None] = CoreSignal()
        self.picked: CoreSignal[Picked] = CoreSignal()
        self.logged: CoreSignal[LogLine] = CoreSignal()


class AskedService:
    """A service that only records its commands, in order, with all their arguments.

    In addition to `changed`, it has the given signals.
    """

    def __init__(self, *signals: str) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.changed: CoreSignal[Any] = CoreSignal()
        self._tokens: list[int] = []
        for name in signals:
            setattr(self, name, CoreSignal())

    def __getattr__(self, name: str) -> Callable[..., None]:
        def ask(*arguments: Any, token: int = 0, **named: Any) -> None:
            self.asked.append((name, *arguments, *named.values()))
            self._tokens += [token] if token else []

        return ask

    def answer(self, problem: str = "", *, at: int = 0) -> None:
        """Answer one of the commands that wait, the oldest by default."""
        self.answered.send(ChangeAnswer(self._tokens.pop(at), problem))


class PicturingService(AskedService):
    """A service of the time bar that answers requests for pictures; `pictures` has them by name."""

    def __init__(self) -> None:
        super().__init__("logged", "pictured", "looked", "hovered")
        self.pictures: dict[str, bytes] = {}
        self.steps: dict[tuple[int, int], StepPictures] = {}
        """The answers for each step, by its run and number."""

    def read_pictures(self, names: tuple[str, ...]) -> None:
        self.asked.append(("read_pictures", names))
        self.pictured.send({one: self.pictures.get(one, b"") for one in names})

    def look(self, run: int, number: int) -> None:
        self.asked.append(("look", run, number))
        self.looked.send(self.steps.get((run, number), StepPictures(run=run, number=number)))

    def hover(self, run: int, number: int) -> None:
        self.asked.append(("hover", run, number))
        self.hovered.send(self.steps.get((run, number), StepPictures(run=run, number=number)))


BAR = 30


class DrawnPage(QWidget):
    """A page area without a browser: an address line, and below it a drawn page."""

    view_moved = Signal()
    said = Signal(str, str)
    inspected = Signal(object)
    browsed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.asked: list[str] = []
        """The requests of the page's commands, in order."""
        self.handed_over = False
        self.scale = 1.0
        self.presses = 0
        self.keys: list[str] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def page_scale(self) -> float:
        return self.scale

    def view_rect(self) -> QRect:
        return self.rect().adjusted(0, BAR, 0, 0)

    def seen_rect(self) -> QRect:
        return self.view_rect()

    @property
    def page_size(self) -> QSize:
        return self.view_rect().size() / self.scale

    def reveal(self, box: object) -> None:
        """All of it is shown."""

    def scroll_device(self, right: float, down: float) -> bool:
        return False

    def set_fitted(self, on: bool) -> None:
        self.fitted = on

    def show_sites(self, sites: Sequence[str]) -> None:
        self.sites = tuple(sites)

    def set_handed_over(self, on: bool) -> None:
        self.handed_over = on

    def equip(self, theme: object, remembered: object) -> None:
        """There is nothing to draw with them."""

    def record_before_leaving(self, record: object) -> None:
        """There is no page to leave."""

    def browse(self, what: str) -> None:
        self.asked.append(what)

    def search(self) -> None:
        self.asked.append("search")

    def reach_address(self) -> None:
        self.asked.append("address")

    def show_downloads(self) -> None:
        self.asked.append("downloads")

    def inspect(self) -> str:
        self.asked.append("inspect")
        self.inspected.emit(QWidget())
        return ""

    def close_devtools(self) -> None:
        self.asked.append("close inspector")
        self.inspected.emit(None)

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
