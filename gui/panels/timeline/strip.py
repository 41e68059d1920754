"""The axis of time over the window: which step is in view, which page of it, the filmstrip, and the time bar."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from core.debugger.steps.views import StepView
from core.debugger.timeline.views import Speed, TimeView
from gui.panels.runs.model import verdict_word
from gui.panels.timeline import text as time_words
from gui.panels.timeline.bar import TimeBar
from gui.panels.timeline.film import FilmStrip
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.remembered import CoverMode, Remembered, ShownPage
from gui.widgets.words import labelled, set_tone, small_label

_KEY = "Ctrl+T"
_NO_PICTURES = "no pictures were kept (pictures in the settings, --pictures)"
_KEY_STEP = 16
_PLAY, _PLAY_KEY = "Play the run in view back, step by step", "Ctrl+Alt+P"
_FOLD, _FOLD_KEY = "Fold the filmstrip to a line", "Ctrl+Shift+T"
_LEFT = 226
"""Width of the left part, which names the step, for the normal text size."""
_WIDEST = 16_777_215
"""The width that Qt uses for a widget without a limit."""
_SPEEDS: tuple[tuple[str, Speed], ...] = (
    ("0.5×", "0.5"),
    ("1×", "1"),
    ("2×", "2"),
    ("4×", "4"),
    ("1 s a step", "even"),
)
_SPEED_WORDS = "Playback speed: 1× is the speed of the run, with at most two seconds for LLMs"
_SIDES: dict[ShownPage, tuple[str, str]] = {
    "before": ("Before", "Show the page and its state before the action of the step (F4)"),
    "after": ("After", "Show the page and its state after the action of the step (F4)"),
    "live": ("Live", "Show the live page and the current step (Esc)"),
}
_COMPARISONS: dict[CoverMode, tuple[str, str]] = {
    "side": ("split-horizontal", "Show the page before the step next to the page after it (Ctrl+Alt+B)"),
    "slider": ("arrow-both", "Show both pages with a line between them that can be moved (Ctrl+Alt+B)"),
}


class HeightGrip(QWidget):
    """The lower edge of the filmstrip. Dragging it, or Up and Down, resizes the pictures."""

    grown = Signal(int)
    """Pixels by which to grow the filmstrip."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._from = 0.0
        self.setFixedHeight(5)
        self.setCursor(Qt.CursorShape.SplitVCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        labelled(self, "Height of the filmstrip", "Drag, or press Up and Down, to resize the filmstrip")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._from = event.globalPosition().y()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        y = event.globalPosition().y()
        self.grown.emit(round(y - self._from))
        self._from = y

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.grown.emit(_KEY_STEP if event.key() == Qt.Key.Key_Down else -_KEY_STEP)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        middle = self.rect().center()
        tone = "agent" if self.hasFocus() else "line"
        painter.fillRect(middle.x() - 18, middle.y() - 1, 36, 3, self._theme.colour(tone))
        painter.end()


class TimeStrip(QToolBar):
    """Is always shown; the filmstrip folds to a line, and the time bar below it is shown on request."""

    shown_changed = Signal()
    """The time bar was shown or hidden."""
    page_wanted = Signal(str)
    """The page of the step in view to show, a `Side`, or "live" for the live page and the current step."""
    mode_wanted = Signal(str)
    """How to show the page before and after the step, a `CoverMode`."""

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__("Steps", parent)
        self._theme = theme
        self._remembered = remembered
        self._low = False
        self._step = StepView(run=0, number=0)
        self._page: ShownPage = "live"
        self.setObjectName("timeStrip")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.film = FilmStrip(theme)
        self.film.framed.connect(self._name)
        self.bar = TimeBar(theme, self.film)
        self.grip = HeightGrip(theme)
        self.grip.grown.connect(lambda pixels: self._set_height(self.film.height() + pixels))
        inside = QWidget(self)
        self._left, right = holding(self._named(theme)), holding(self._controls(theme))
        right.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        row = in_row(None, self._left, (self.film, 1), right, spacing=0)
        self.details = self._details(theme)
        in_column(inside, row, self.grip, self.details, spacing=0)
        self.addWidget(inside)
        theme.text_resized.connect(self._fit)
        self._set_height(remembered.film_height)
        self._fold_film()
        self.show_bar(on=remembered.time_shown)
        self.show_step(self._step)
        self.show_page("live")

    def _named(self, theme: Theme) -> QBoxLayout:
        """Return the part that names the step and chooses its page."""
        self.title, self.words, self.where = QLabel(self), small_label(theme), small_label(theme)
        self.title.setFont(theme.text_font(bold=True))
        self.sides: dict[ShownPage, QToolButton] = {}
        for page, (text, words) in _SIDES.items():
            button = self.sides[page] = labelled(QToolButton(self), text, words)
            button.setText(text)
            button.setCheckable(True)
            button.setProperty("segment", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _on=False, page=page: self._on_side(page))
        self._naming = in_column(
            None,
            in_row(None, self.title, (self.words, 1), spacing=6),
            in_row(None, *self.sides.values(), 1, spacing=0),
            self.where,
            1,
            margins=(12, 5, 8, 2),
            spacing=3,
        )
        return self._naming

    def _controls(self, theme: Theme) -> QBoxLayout:
        """Return the buttons at the right."""
        button = partial(self._button, theme)
        self.play = button("play", f"{_PLAY} ({_PLAY_KEY})", None)
        self.play.setCheckable(True)
        self.play.toggled.connect(self._on_playing)
        self.speed = titled_box(_SPEEDS, "Speed", _SPEED_WORDS)
        self.speed.setFont(theme.small_font())
        self.speed.setCurrentIndex(self.speed.findData(self._remembered.play_speed))
        self.speed.currentIndexChanged.connect(self._on_speed)
        self.comparisons: dict[CoverMode, QToolButton] = {}
        for mode, (icon, words) in _COMPARISONS.items():
            one = self.comparisons[mode] = button(icon, words)
            one.setCheckable(True)
            one.clicked.connect(lambda on, mode=mode: self.mode_wanted.emit(mode if on else "one"))
        self.timed = button("history", f"Show the time bar: where the time went ({_KEY})", None)
        self.timed.setCheckable(True)
        self.timed.clicked.connect(lambda on: self.show_bar(on=on))
        self.folder = button("chevron-up", f"{_FOLD} ({_FOLD_KEY})", self.toggle_film)
        self._controlling = in_column(
            None,
            in_row(None, self.play, self.speed, spacing=2),
            in_row(None, *self.comparisons.values(), self.timed, 1, self.folder, spacing=2),
            1,
            margins=(6, 6, 6, 2),
            spacing=4,
        )
        return self._controlling

    def _details(self, theme: Theme) -> QWidget:
        """Return the time bar with its buttons."""
        bar, button = self.bar, partial(self._button, theme)
        self.facts = small_label(theme)
        self.fold = button("fold", "Shorten waits, or draw everything to scale", None)
        self.fold.setCheckable(True)
        self.fold.setChecked(self._remembered.waits_folded)
        self.fold.toggled.connect(self._on_folded)
        bar.set_folded(self._remembered.waits_folded)
        closer = button("zoom-in", "Zoom in (+ in the bar, or the wheel)", partial(bar.zoom_by, 1.5))
        farther = button("zoom-out", "Zoom out (− in the bar, or the wheel)", partial(bar.zoom_by, 1 / 1.5))
        self.fit = button("screen-full", "Show the whole run (0 in the bar)", bar.fit)
        hide = button("close", f"Hide the time bar ({_KEY} shows it again)", lambda: self.show_bar(on=False))
        buttons = (self.fold, closer, farther, self.fit, hide)
        head = in_row(None, (self.facts, 1), *buttons, margins=(12, 0, 6, 0), spacing=2)
        return holding(in_column(None, head, self.bar, margins=(0, 0, 0, 1), spacing=1))

    @Slot(object)
    def show_times(self, view: TimeView) -> None:
        """Replace what is shown with `view`."""
        facts = time_words.summary(view)
        if view.steps and not any(step.picture for step in view.steps):
            facts = f"{facts} · {_NO_PICTURES}"
        self.facts.setText(facts or "Time bar")
        description = time_words.description(view)
        for shown in (self.bar, self.film):
            shown.show_times(view)
            shown.setAccessibleDescription(description)
        self._name()

    def show_step(self, step: StepView) -> None:
        """Show which page of which step the window shows."""
        self._step = step
        self.film.show_viewed(step.run, step.number)
        self._name()
        acted = step.row is not None and step.row.outcome != "pending"
        for side in ("before", "after"):
            words = _SIDES[side][1]
            if not step.number:
                words = "No step is in view: open a task (Ctrl+N) or choose a run"
            elif not acted:
                words = f"Step {step.number} has not been carried out yet: the panels show the page before it"
            self.sides[side].setEnabled(acted and bool(step.number))
            self.sides[side].setToolTip(words)

    def show_page(self, page: ShownPage) -> None:
        """Show which page is in view."""
        self._page = page
        self._check_side()
        self._name()

    def _check_side(self) -> None:
        for page, button in self.sides.items():
            button.setChecked(page == self._page)

    def show_mode(self, mode: CoverMode) -> None:
        """Show how the page before and after the step is shown."""
        for one, button in self.comparisons.items():
            button.setChecked(one == mode)

    def flip(self) -> None:
        """Show the other page of the step in view."""
        shown = self._step.side if not self._step.live else "after"
        self.page_wanted.emit("before" if shown == "after" else "after")

    @property
    def why_no_flip(self) -> str:
        """Why there is no other page of the step in view, or an empty string."""
        return "" if self.sides["before"].isEnabled() else self.sides["before"].toolTip()

    def reach(self) -> None:
        """Show and focus the time bar; hide it if it already has the focus."""
        on = not self.bar.hasFocus()
        self.show_bar(on=on)
        if on:
            self.bar.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_bar(self, *, on: bool) -> None:
        """Show or hide the time bar."""
        self._remembered.time_shown = on
        self.timed.setChecked(on)
        self.details.setVisible(on)
        self.shown_changed.emit()

    def toggle_film(self) -> None:
        """Fold the filmstrip to a line, or unfold it."""
        self._remembered.film_shown = not self._remembered.film_shown
        self._fold_film()

    def set_low(self, on: bool) -> None:
        """Fold the filmstrip while the window is too low for it."""
        if on != self._low:
            self._low = on
            self._fold_film()

    def _on_playing(self, on: bool) -> None:
        self.play.setIcon(self._theme.icon("debug-pause" if on else "play"))
        words = "Pause at this step" if on else _PLAY
        labelled(self.play, words, f"{words} ({_PLAY_KEY})")

    def _name(self) -> None:
        """Name the step in view, and its run with its result."""
        run, number = self.film.viewed
        view = self.film.view
        known = view.row if view.run == run else None
        last = max([number, *(step.number for step in view.steps)]) if known is not None else 0
        title = f"Step {number} of {last}" if last else f"Step {number}"
        self.title.setText(title if number else "No step yet" if run else "No run in view")
        words = f"run {run}" if run else ""
        if known is not None:
            words = f"{words} · {verdict_word(known)}"
        self.words.setText(words)
        self.where.setText(self._where())
        failed = known is not None and known.verdict.success is False
        set_tone(self.words, "bad" if failed else "dim")
        framed = self.film.at
        told = f". {time_words.step_words(framed)}".replace("\n", ". ") if framed is not None else ""
        self.bar.setAccessibleName(f"Time bar{told}")
        self.film.setAccessibleName(f"Filmstrip{told}")

    def _where(self) -> str:
        """Return which page is in view, and which the panels describe if that is another one."""
        number, step = self.film.viewed[1], self._step
        if not number:
            return ""
        if self._page == "restored":
            return "the page as recorded and as restored"
        page = "now" if self._page == "live" else f"{self._page} step {number}"
        panels = f"{step.side} step {step.number}"
        if page == "now" and step.live and self.why_no_flip:
            return f"now, {panels}"
        return f"page and panels {page}" if page == panels else f"page {page}; panels {panels}"

    def _on_side(self, page: ShownPage) -> None:
        self._check_side()  # It changes with what is shown.
        self.page_wanted.emit(page)

    def _on_speed(self) -> None:
        self._remembered.play_speed = self.speed.currentData()

    def _button(
        self, theme: Theme, icon: str, words: str, do: Callable[[], object] | None = None
    ) -> QToolButton:
        button = icon_button(theme, icon, words, do, self, size=12)
        button.setFixedSize(22, 20)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    @property
    def _folded(self) -> bool:
        return self._low or not self._remembered.film_shown

    def _fold_film(self) -> None:
        folded = self._folded
        way = QBoxLayout.Direction.LeftToRight if folded else QBoxLayout.Direction.TopToBottom
        for layout in (self._naming, self._controlling):
            layout.setDirection(way)
        self.film.setVisible(not folded)
        self.grip.setVisible(not folded)
        self._fit()
        self.folder.setIcon(self._theme.icon("chevron-down" if folded else "chevron-up"))
        words = "Unfold the filmstrip" if folded else _FOLD
        labelled(self.folder, words, f"{words} ({_FOLD_KEY})")

    def _set_height(self, height: int) -> None:
        self._remembered.film_height = height
        self.film.setFixedHeight(self._remembered.film_height)

    def _fit(self) -> None:
        # By default a combo box is too high for the line of buttons.
        self.speed.setFixedHeight(self._theme.scaled(20))
        width = self._theme.scaled(_LEFT)
        self._left.setMinimumWidth(0 if self._folded else width)
        self._left.setMaximumWidth(_WIDEST if self._folded else width)

    def _on_folded(self, on: bool) -> None:
        self._remembered.waits_folded = on
        self.bar.set_folded(on)
