"""The strip above the status line: the filmstrip above the time bar, with their buttons."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolBar, QToolButton, QWidget

from core.debugger.timeline.views import Speed, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.bar import TimeArea
from gui.panels.timeline.film import FilmStrip
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import in_column, in_row
from gui.widgets.remembered import Remembered
from gui.widgets.words import labelled, small_label

_KEY = "Ctrl+T"
_NO_PICTURES = "no pictures were kept (pictures in the settings, --pictures)"
_KEY_STEP = 16
_PLAY, _PLAY_KEY = "Play the run in view back, step by step", "Ctrl+Alt+P"
_SPEEDS: tuple[tuple[str, Speed], ...] = (
    ("0.5×", "0.5"),
    ("1×", "1"),
    ("2×", "2"),
    ("4×", "4"),
    ("1 s a step", "even"),
)
_SPEED_WORDS = "Playback speed: 1× is the speed of the run, with at most two seconds for LLMs"


class HeightGrip(QWidget):
    """The upper edge of the filmstrip. Dragging it, or Up and Down, resizes the pictures."""

    grown = Signal(int)
    """Pixels by which to grow the filmstrip."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._from = 0.0
        self.setFixedHeight(6)
        self.setCursor(Qt.CursorShape.SplitVCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        labelled(self, "Height of the filmstrip", "Drag, or press Up and Down, to resize the filmstrip")
        theme.changed.connect(self.update)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._from = event.globalPosition().y()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        y = event.globalPosition().y()
        self.grown.emit(round(self._from - y))
        self._from = y

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.grown.emit(_KEY_STEP if event.key() == Qt.Key.Key_Up else -_KEY_STEP)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        middle = self.rect().center()
        tone = "agent" if self.hasFocus() else "faint"
        painter.fillRect(middle.x() - 18, middle.y() - 1, 36, 3, self._theme.colour(tone))
        painter.end()


class TimeStrip(QToolBar):
    """Is above the status line; it is hidden and shown like a tool bar, and its state is remembered."""

    shown_changed = Signal()
    """It was shown or hidden."""
    playing_changed = Signal(bool)
    """Start or stop the playback of the run in view."""

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__("Time bar", parent)
        self._theme = theme
        self._remembered = remembered
        self._playing = False
        self.setObjectName("timeStrip")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.area = TimeArea(theme)
        self.bar = self.area.bar
        self.film = FilmStrip(theme)
        self.grip = HeightGrip(theme)
        self.grip.grown.connect(self._on_grown)
        self.facts = small_label(theme)
        bar, button = self.bar, partial(self._button, theme)
        pictures = "Show a picture of each step over the time bar"
        self.pictures = button("device-camera", pictures)
        self.pictures.setCheckable(True)
        self.pictures.setChecked(remembered.film_shown)
        self.pictures.toggled.connect(self._on_pictures)
        folds = "Shorten waits, or draw everything to scale"
        self.fold = button("fold", folds)
        self.fold.setCheckable(True)
        self.fold.setChecked(remembered.waits_folded)
        self.fold.toggled.connect(self._on_folded)
        bar.set_folded(remembered.waits_folded)
        closer = button("zoom-in", "Zoom in (+ in the bar, or the wheel)", partial(bar.zoom_by, 1.5))
        farther = button("zoom-out", "Zoom out (− in the bar, or the wheel)", partial(bar.zoom_by, 1 / 1.5))
        self.fit = button("screen-full", "Show the whole run (0 in the bar)", bar.fit)
        hide = button("close", f"Hide the time bar; {_KEY} shows it again", self.hide)
        self.play = button("play", f"{_PLAY} ({_PLAY_KEY})", self.toggle_playing)
        self.play.setCheckable(True)
        self.speed = titled_box(_SPEEDS, "Speed", _SPEED_WORDS)
        self.speed.setFont(theme.small_font())
        self.speed.setCurrentIndex(self.speed.findData(remembered.play_speed))
        self.speed.currentIndexChanged.connect(self._on_speed)
        buttons = (self.play, self.speed, self.pictures, self.fold, closer, farther, self.fit, hide)
        head = in_row(None, (self.facts, 1), *buttons, margins=(8, 0, 4, 0), spacing=2)
        inside = QWidget(self)
        in_column(inside, self.grip, head, self.film, self.area, margins=(0, 0, 0, 1), spacing=1)
        self.addWidget(inside)
        self.visibilityChanged.connect(lambda _on: self.shown_changed.emit())
        theme.text_resized.connect(self._fit)
        self._fit()
        self._set_height(remembered.film_height)
        self._show_film()

    @Slot(object)
    def show_times(self, view: TimeView) -> None:
        """Replace what is shown with `view`."""
        facts = time_words.summary(view)
        if view.steps and not any(step.picture for step in view.steps):
            facts = f"{facts} · {_NO_PICTURES}"
        self.facts.setText(facts or "Time bar")
        self.area.show_times(view)
        self.film.show_times(view)
        self._show_film()

    def show_viewed(self, run: int, number: int) -> None:
        """Mark the step whose content the panels show."""
        self.bar.show_viewed(run, number)
        self.film.show_viewed(run, number)

    def reach(self) -> None:
        """Show and focus it; hide it if it already has the focus."""
        front = self.film if self.pictures.isChecked() and self.film.view.steps else self.bar
        if self.isVisible() and (self.film.hasFocus() or self.bar.hasFocus()):
            self.hide()
            return
        self.show()
        front.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def is_playing(self) -> bool:
        return self._playing

    def toggle_playing(self) -> None:
        """Play back the run in view, or stop at the step that is shown."""
        self._set_playing(not self._playing)

    def stop_playing(self) -> None:
        """Stop at the step that is shown."""
        self._set_playing(False)

    def _set_playing(self, on: bool) -> None:
        changed, self._playing = on != self._playing, on
        self.play.setChecked(on)
        self.play.setIcon(self._theme.icon("debug-pause" if on else "play"))
        words = "Pause at this step" if on else _PLAY
        labelled(self.play, words, f"{words} ({_PLAY_KEY})")
        if on:
            self.show()
        if changed:
            self.playing_changed.emit(on)

    def _on_speed(self) -> None:
        self._remembered.play_speed = self.speed.currentData()

    def _button(
        self, theme: Theme, icon: str, words: str, do: Callable[[], object] | None = None
    ) -> QToolButton:
        button = icon_button(theme, icon, words, do, self, size=12)
        button.setFixedSize(20, 18)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _show_film(self) -> None:
        shown = self.pictures.isChecked() and bool(self.film.view.steps) and not self.film.view.problem
        self.film.setVisible(shown)
        self.grip.setVisible(shown)

    def _set_height(self, height: int) -> None:
        self._remembered.film_height = height
        self.film.setFixedHeight(self._remembered.film_height)

    def _fit(self) -> None:
        # By default a combo box is too high for the line of buttons.
        self.speed.setFixedHeight(self._theme.scaled(20))

    def _on_grown(self, pixels: int) -> None:
        self._set_height(self.film.height() + pixels)

    def _on_pictures(self, on: bool) -> None:
        self._remembered.film_shown = on
        self._show_film()

    def _on_folded(self, on: bool) -> None:
        self._remembered.waits_folded = on
        self.bar.set_folded(on)
