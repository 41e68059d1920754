"""The live page and the widgets over it: outlines, the shield, and recorded steps.

The live page is only covered and never hidden: a hidden view gets no animation frames, and clicks in it would wait
forever.
"""

from typing import Any

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from core.debugger.exemplars.saving.views import RecordingView
from core.debugger.live_page import LivePageView, Picked
from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from core.debugger.timeline.views import StepPictures
from core.schema.formats import count
from core.schema.observation import Box
from gui.page.message_bar import MessageBar
from gui.page.overlay import Overlay, way_to
from gui.page.shield import KeyGuard, Shield
from gui.page.step_cover import StepCover
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.enabled_commands import BUSY, can_hand_over
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, labelled, set_flag, set_tone

_GAP = 6
_WIDEST = 520


class ElementCard(QFrame):
    """Shows the element's line of the observation and its possible actions. Mouse events pass through it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("elementCard", True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.line, self.uses = ElidedLabel("", self), ElidedLabel("", self)
        self.line.setFont(theme.machine_font())
        self.uses.setFont(theme.small_font())
        set_tone(self.uses, "dim")
        in_column(self, self.line, self.uses, margins=(9, 6, 9, 6), spacing=2)
        self.hide()

    def show_words(self, line: str, uses: str, *, pinned: bool, beside: QRect, room: QRect) -> None:
        """Show this text below `beside`, or above it if there is no space, inside `room`."""
        self.line.setText(line)
        self.uses.setText(f"{uses} · pinned (Esc unpins it)" if pinned else uses)
        self.setAccessibleName(f"{line}. {uses}")
        set_flag(self, "pinned", pinned)
        widest = max(label.fontMetrics().horizontalAdvance(label.text()) for label in (self.line, self.uses))
        width, height = min(widest + 26, _WIDEST, room.width() - 2 * _GAP), self.sizeHint().height()
        below = beside.bottom() + _GAP
        top = below if below + height <= room.bottom() else beside.top() - _GAP - height
        left = min(max(beside.left(), room.left() + _GAP), room.right() - width - _GAP)
        top = min(max(top, room.top() + _GAP), room.bottom() - height - _GAP)
        self.setGeometry(left, top, width, height)
        self.show()
        self.raise_()


_HINT_MS = 2500
SIZE_KEY = "Ctrl+Alt+Z"


class PageStack(QWidget):
    """Stacks overlay, shield and cover over `page_area`.

    `page_area` has `view_rect()`, the position of the page in it, and `seen_rect()`, the part in which it is visible;
    `page_size`, and `page_scale()`, the size of a CSS pixel in it; the signal `view_moved`, sent when one of them
    changes; `set_fitted(on)` and `set_handed_over(on)`; and `said`, messages for the person.
    """

    handover_requested = Signal(bool)
    pointing_changed = Signal(bool)
    point_requested = Signal(float, float, bool)
    """x and y in the viewport, and whether it was a click."""
    scroll_requested = Signal(float, float, float, float)
    """x and y in the viewport, and the distance to the right and down."""
    target_requested = Signal()
    """Scroll the page to the target of the next action, or back."""
    back_requested = Signal()
    discard_requested = Signal()
    """Discard the recording."""
    hovered = Signal(float, float)
    """x and y in the viewport of the live page or of the recorded step's picture, while not pointing."""
    hover_ended = Signal()
    pressed = Signal()
    """The page or the picture was clicked while not pointing."""
    scrolled = Signal()
    """The outlines have moved, as given in `live_page`."""
    shown_changed = Signal(str)
    """Which page is in view, a `ShownPage`."""
    size_pressed = Signal()
    """Draw the page at its own size, or scaled to fit again."""

    def __init__(self, theme: Theme, page_area: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._area = page_area
        self._session = SessionView()
        self.live_page, self._action = LivePageView(), ""
        self.recording = RecordingView()
        self._over: list[QWidget] = []
        self._fitted = True
        self._seen = QRect()
        """Where the page is visible."""
        self._build_strip(theme)
        self.messages = MessageBar(theme, self)
        in_column(self, self._strip, (page_area, 1), self.messages, spacing=0)
        self.overlay = Overlay(theme, self)
        self.shield = Shield(self)
        self.keys = KeyGuard(page_area)
        self.marker = QPushButton(self)
        self.marker.setAccessibleName("Show the target of the next action")
        self.marker.setProperty("edge", True)
        self.marker.clicked.connect(self.target_requested)
        self.marker.hide()
        self.hint = QLabel("The page is the agent's: F6 hands it to you", self)
        self.hint.setProperty("toast", True)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.hide()
        self.cover = StepCover(theme, self)
        self.card = ElementCard(theme, self)
        self._hint_timer = QTimer(self, singleShot=True, interval=_HINT_MS)
        self._hint_timer.timeout.connect(self.hint.hide)
        page_area.view_moved.connect(self._lay_out)
        page_area.said.connect(self._on_said)
        self.shield.refused.connect(self._on_refused)
        self.keys.refused.connect(self._on_refused)
        self.keys.tabbed.connect(self.focusNextPrevChild)
        self.shield.pointed.connect(self._on_pointed)
        self.shield.turned.connect(self._on_turned)
        self.shield.left.connect(lambda: self.overlay.show_picked(None))
        self.shield.hovered.connect(self._on_hovered)
        self.shield.hover_ended.connect(self.hover_ended)
        self.shield.refused.connect(self.pressed)
        self.cover.picture.hovered.connect(self._on_cover_hovered)
        self.cover.picture.hover_ended.connect(self.hover_ended)
        self.cover.picture.pressed.connect(self.pressed)
        page_area.set_handed_over(False)
        self._tell_strip()

    def lay_over(self, widget: QWidget) -> None:
        """Let a child of this widget cover the whole page while it is shown."""
        self._over.append(widget)
        self._lay_out()

    @property
    def pointing(self) -> bool:
        return self.shield.pointing

    @property
    def covered(self) -> bool:
        """Whether a recorded step covers the live page."""
        return not self.cover.isHidden()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Cover the page with a recorded step, or uncover it."""
        if not step.live and self.pointing:
            self.set_pointing(False)
        self.cover.show_step(step)
        self._action = step.action.action
        self._follow_cover()

    def look(self, view: StepPictures, before: QImage, after: QImage) -> None:
        """Cover the page with pictures of a previewed step until a step is shown."""
        if self.pointing:
            self.set_pointing(False)
        self.cover.show_pictures(view, before, after)
        self._follow_cover()

    def _follow_cover(self) -> None:
        self.messages.set_aside(self.covered, self._session)
        self._tell_strip()
        self.shown_changed.emit(self.cover.shown)
        self._lay_out()

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Follow who has the page."""
        changed = view.handed_over != self._session.handed_over
        self._session = view
        self.messages.show_session(view)
        if changed:
            if view.handed_over and self.pointing:
                self.set_pointing(False)
            self.overlay.show_handed_over(view.handed_over)
            self.shield.setVisible(not view.handed_over)
            self.keys.open = view.handed_over
            self._area.set_handed_over(view.handed_over)
            self.hint.hide()
        self._tell_strip()

    @Slot(object)
    def show_live_page(self, view: LivePageView) -> None:
        """Outline the elements that can be chosen, and show where the next action's target is if out of view."""
        before, self.live_page = self.live_page.next, view
        if view.next is not None and view.next != before and not view.next.hidden:
            self._area.reveal(view.next.box)
        self.overlay.show_live_page(view)
        self._show_marker()
        self._tell_strip()
        self.scrolled.emit()

    @Slot(object)
    def show_recording(self, view: RecordingView) -> None:
        """Mark the page as being recorded, with the last action."""
        self.recording = view
        self._tell_strip()

    @Slot(object)
    def show_picked(self, picked: Picked) -> None:
        """Frame the element under the pointer; a click that hits an element ends pointing."""
        if self.pointing:
            self.overlay.show_picked(picked)
            if picked.final and picked.ref is not None:
                self.set_pointing(False)

    def mark(self, box: Box | None, line: str, uses: str, *, pinned: bool) -> None:
        """Frame an element in the live page or in the picture of a recorded step, with what is known of it.

        None, or pointing, removes the frame.
        """
        if self.pointing:
            box = None
        if self.covered and not self.cover.is_of_panels:
            box = None
        self.cover.picture.show_found(box if self.covered else None)
        self.overlay.frame(None if self.covered else box)
        frame = self.cover.picture.found() if self.covered else self.overlay.framed()
        if frame is None:
            self.card.hide()
            return
        over = self.cover.picture if self.covered else self.overlay
        room = QRect(over.mapTo(self, QPoint(0, 0)), over.size())
        beside = frame.toAlignedRect().translated(room.topLeft())
        self.card.show_words(line, uses, pinned=pinned, beside=beside, room=room)

    def set_pointing(self, on: bool) -> None:
        """Let the mouse choose an element, instead of keeping the mouse off the page."""
        if on == self.pointing:
            return
        self.shield.set_pointing(on)
        self.overlay.show_picked(None)
        self.hint.hide()
        self._tell_strip()
        self.pointing_changed.emit(on)

    def set_fitted(self, on: bool) -> None:
        """Draw the page, live and recorded, scaled to fit, or at its own size with scrolling."""
        self._fitted = on
        self._area.set_fitted(on)
        self.cover.set_fitted(on)
        self._tell_size()

    def _tell_size(self) -> None:
        """Show the size of the live page and its scale."""
        size = self._area.page_size
        scale = self._area.view_rect().width() / max(size.width(), 1)
        self.size_button.setText(f"{size.width()}×{size.height()} at {scale:.0%}".replace("%", " %"))
        does = "Draw the page at its own size, with scrolling" if self._fitted else "Scale the page to fit"
        labelled(self.size_button, f"{self.size_button.text()}. {does}", f"{does} ({SIZE_KEY})")
        self.size_button.setVisible(not self.covered)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().showEvent(event)
        self._lay_out()

    def _build_strip(self, theme: Theme) -> None:
        self._strip = QFrame(self)
        self.state_words = ElidedLabel("", self._strip)
        self.handover_button = QPushButton(self._strip)
        self.handover_button.clicked.connect(self._on_handover)
        self.discard_button = key_button(
            "Throw away",
            "Stop recording without an exemplar; your steps stay in the run",
            "Ctrl+Alt+D",
            self.discard_requested.emit,
            self._strip,
        )
        back = "Show the live page and the current step again"
        self.back_button = key_button(
            "Back to now (Esc)", back, "Esc", self.back_requested.emit, self._strip, accent=True
        )
        self.size_button = QPushButton(self._strip, autoDefault=False)
        self.size_button.setProperty("flat", True)
        self.size_button.clicked.connect(self.size_pressed)
        buttons = (self.size_button, self.discard_button, self.handover_button, self.back_button)
        self.task_words = ElidedLabel("", self._strip)
        row = in_row(None, (self.state_words, 1), *buttons, spacing=8)
        in_column(self._strip, row, self.task_words, margins=(12, 4, 8, 4), spacing=2)

    def _tell_strip(self) -> None:
        view = self._session
        recording = self.recording.recording and view.handed_over
        tone, handover = "agent", "Hand over (F6)"
        if self.covered:
            words, tone = self.cover.title, "recorded"
        elif recording:
            words, tone, handover = recording_words(self.recording), "recording", "Stop (Ctrl+Shift+D)"
        elif view.handed_over:
            words = "◆ You have the page: your mouse and keys reach it."
            tone, handover = "person", "Give back (F6)"
        elif self.pointing:
            words = "Point at an element and click it; Esc ends pointing."
        elif self.live_page.scrolled:
            words = "You scrolled the agent's page. It is put back before the agent acts (Shift+F7 puts it back now)."
        elif view.instruction:
            words = view.instruction
        elif view.run is None:
            words = view.message if view.mode == "opening" else "No page is open."
        else:
            words = "● The page is the agent's: your mouse and keys do not reach it."
        self.state_words.setText(words)
        self.state_words.setAccessibleName(words)
        self.task_words.setText(f"Task: {view.instruction}")
        self.task_words.setVisible(view.handed_over and bool(view.instruction) and not self.covered)
        set_flag(self._strip, "handover", tone)
        self.handover_button.setText(handover)
        self.handover_button.setVisible(not self.covered)
        self.back_button.setVisible(self.covered)
        set_flag(self.handover_button, "person", view.handed_over)
        self.handover_button.setToolTip(
            "Stop recording, and save it as an exemplar (Ctrl+Shift+D)"
            if recording
            else "Let your mouse and keys reach the page, or give it back (F6)"
        )
        self.handover_button.setEnabled(can_hand_over(view))
        self.discard_button.setVisible(recording and not self.covered)

    def _on_said(self, title: str, text: str) -> None:
        self.messages.say(title, text, lasts=True)

    def _show_marker(self) -> None:
        """Show at the border of the page where the next action's target is, or how to scroll back."""
        target, page = self.live_page.next, self._seen
        away = target is not None and (target.hidden or not self.overlay.is_in_view(target))
        self.marker.setVisible(
            (away or self.live_page.scrolled) and not self.covered and not self._session.handed_over
        )
        if self.marker.isHidden():
            return
        if away:
            assert target is not None
            way = way_to(target, QRectF(self.overlay.rect()), self._area.page_scale())
            self.marker.setText(f"{target.ref} next {way}: {self._action}"[:80])
            self.marker.setToolTip("Scroll the page to what the next action acts on (Shift+F7)")
        else:
            way = ""
            self.marker.setText("Scrolled by you: put back")
            self.marker.setToolTip(
                "Scroll the page back to where the agent saw it (Shift+F7); it is put back before the agent acts"
            )
        self.marker.setAccessibleName(self.marker.text())
        self.marker.adjustSize()
        x = page.center().x() - self.marker.width() // 2
        y = page.center().y() - self.marker.height() // 2
        if way[:1] == "→":
            x = page.right() - self.marker.width() - 8
        elif way[:1] == "←":
            x = page.left() + 8
        else:
            y = page.top() + 8 if way[:1] == "↑" else page.bottom() - self.marker.height() - 8
        self.marker.move(x, y)
        self.marker.raise_()

    def _on_turned(self, x: float, y: float, right: float, down: float) -> None:
        if self._session.mode in BUSY or self._session.run is None:
            self._on_refused()
            return
        if self._area.scroll_device(right, down):
            return
        scale = self._area.page_scale()
        self.scroll_requested.emit(x / scale, y / scale, right / scale, down / scale)

    def _on_handover(self) -> None:
        self.handover_requested.emit(not self._session.handed_over)

    def _on_refused(self) -> None:
        if self._session.run is None:
            return
        self.hint.adjustSize()
        page = self._seen
        self.hint.move(page.center().x() - self.hint.width() // 2, page.top() + 14)
        self.hint.show()
        self.hint.raise_()
        self._hint_timer.start()

    def _on_cover_hovered(self, x: float, y: float) -> None:
        if self.cover.is_of_panels:
            self.hovered.emit(x, y)

    def _on_hovered(self, x: float, y: float) -> None:
        scale = self._area.page_scale()
        self.hovered.emit(x / scale, y / scale)

    def _on_pointed(self, x: float, y: float, final: bool) -> None:
        scale = self._area.page_scale()
        self.point_requested.emit(x / scale, y / scale, final)
        if final:
            self.hint.hide()

    def _lay_out(self) -> None:
        rect: QRect = self._area.view_rect()
        rect = QRect(self._area.mapTo(self, QPoint(rect.x(), rect.y())), rect.size())
        seen = self._area.seen_rect()
        seen = QRect(self._area.mapTo(self, seen.topLeft()), seen.size())
        self.overlay.set_scale(self._area.page_scale())
        self._seen = rect & seen
        for over in (self.overlay, self.shield):
            over.setGeometry(rect)
            if seen.contains(rect):
                over.clearMask()
            else:
                over.setMask(seen.translated(-rect.topLeft()))
        self.cover.setGeometry(self._area.geometry())
        self.overlay.raise_()
        self.shield.raise_()
        self.hint.raise_()
        self._show_marker()
        if self.covered:
            self.cover.raise_()
        for widget in self._over:
            widget.setGeometry(self._strip.geometry().united(self._area.geometry()))
            widget.raise_()
        self._tell_size()


def recording_words(view: RecordingView) -> str:
    """Return the progress of a recording, and its last action."""
    if view.last is None:
        return "● Recording: do the task in the page as it should be done. Your steps show here."
    return f"● Recording: {count(view.steps, 'step')}. Last: {view.last.in_words}"
