"""A step's picture and action next to its row in the tree, while the pointer rests there or after Ctrl+Space."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeySequence, QMouseEvent, QPixmap, QShortcut
from PySide6.QtWidgets import QFrame, QLabel, QTreeView, QWidget

from core.debugger.timeline.views import StepPictures
from core.schema.formats import cut
from core.trace.records import StepRow
from gui.panels.runs.model import RunsModel, step_word
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.words import Paragraph, set_tone

KEY = "Ctrl+Space"
PICTURE = QSize(320, 220)
"""Maximum size of the picture, in pixels of the window."""
_DELAY_MS = 450
_WORDS = 300
_READING = "Reading the picture…"
_HIDING = (QEvent.Type.Leave, QEvent.Type.Wheel, QEvent.Type.MouseButtonPress)


class StepPreview(QFrame):
    """Is above other windows, takes no focus, and lets mouse events through."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.Box)
        self.setFixedWidth(PICTURE.width() + 20)
        self.step: tuple[int, int] | None = None
        """Run and number of the step that is shown."""
        self.title = Paragraph("", self)
        self.title.setFont(theme.text_font(bold=True))
        self.picture = QLabel(self)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.note = Paragraph("", self)
        set_tone(self.note, "dim")
        self.thought = Paragraph("", self)
        set_tone(self.thought, "dim")
        in_column(self, self.title, self.picture, self.note, self.thought, margins=(9, 8, 9, 8), spacing=6)

    def show_row(self, row: StepRow, place: QPoint) -> None:
        """Show a step's text at a screen position; its picture follows."""
        self.step = (row.run, row.number)
        self.title.setText(cut(f"{row.number} · {row.in_words} · {step_word(row)}", _WORDS))
        words = [cut(one, _WORDS) for one in (row.message, row.thought, row.url) if one]
        self.thought.setText("\n".join(words))
        self.thought.setVisible(bool(words))
        self.picture.hide()
        self._say(_READING)
        self.setAccessibleName(f"Step {self.title.text()}")
        self.adjustSize()
        self._lie_at(place)
        self.show()

    def show_picture(self, view: StepPictures, image: QImage) -> None:
        """Show the page as the step observed it, or why there is no picture."""
        if (view.run, view.number) != self.step or not self.isVisible():
            return
        image.setDevicePixelRatio(self.devicePixelRatioF())
        self.picture.setPixmap(QPixmap.fromImage(image))
        self.picture.setVisible(not image.isNull())
        unread = "The picture of this step cannot be read." if view.before.data else view.before.missing
        self._say(unread if image.isNull() else "")
        top = self.pos()
        self.adjustSize()
        self._lie_at(top)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _lie_at(self, place: QPoint) -> None:
        """Move to a position, or further up if the screen is too small."""
        room = self.screen().availableGeometry()
        left = max(min(place.x(), room.right() - self.width()), room.left())
        self.move(left, max(min(place.y(), room.bottom() - self.height()), room.top()))


class StepHover(QObject):
    """Shows the preview of the step under the pointer after a moment, or of the current row after a key press."""

    wanted = Signal(int, int)
    """Run and number of a step whose picture to show in `preview`."""

    def __init__(self, theme: Theme, tree: QTreeView, model: RunsModel) -> None:
        super().__init__(tree)
        self._tree = tree
        self._model = model
        self._row: StepRow | None = None
        self._by_key = False
        self.preview = StepPreview(theme, tree)
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._delay.timeout.connect(self._show)
        tree.viewport().setMouseTracking(True)
        tree.viewport().installEventFilter(self)
        tree.selectionModel().currentChanged.connect(self._on_current)
        shortcut = QShortcut(QKeySequence(KEY), tree, self.toggle)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)

    def toggle(self) -> None:
        """Show the preview of the current row, or hide it."""
        if self.preview.isVisible():
            self.hide()
            return
        self._by_key = True
        self._row = self._step_of(self._tree.currentIndex())
        self._show()

    def hide(self) -> None:
        self._delay.stop()
        self._row, self._by_key = None, False
        self.preview.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._on_moved(self._step_of(self._tree.indexAt(event.position().toPoint())))
        elif event.type() == QEvent.Type.ToolTip and self._row is not None:
            return True  # The preview shows the same, with the picture.
        elif event.type() in _HIDING:
            self.hide()
        return super().eventFilter(watched, event)

    def _on_moved(self, row: StepRow | None) -> None:
        if row is None:
            if not self._by_key:
                self.hide()
        elif self._row is None or (row.run, row.number) != (self._row.run, self._row.number):
            self.hide()
            self._row = row
            self._delay.start()

    def _on_current(self, index: QModelIndex) -> None:
        if self._by_key:
            self._row = self._step_of(index)
            if self._row is None:
                self.hide()
            else:
                self._show()

    def _step_of(self, index: QModelIndex) -> StepRow | None:
        node = self._model.node(index)
        return node.step if node is not None and node.kind == "step" else None

    def _show(self) -> None:
        row = self._row
        index = self._model.step_index(row.run, row.number) if row is not None else QModelIndex()
        if row is None or not index.isValid() or not self._tree.isVisible():
            self._by_key = False
            return
        place = self._tree.visualRect(index)
        edge = QPoint(self._tree.viewport().width() + 6, place.top())
        self.preview.show_row(row, self._tree.viewport().mapToGlobal(edge))
        self.wanted.emit(row.run, row.number)
