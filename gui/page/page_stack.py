"""The live page and what lies over it: outlines, the shield, and recorded steps.

The live page is never hidden, only covered: a hidden view gets no animation
frames and its clicks would wait for ever.
"""

from typing import Any

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from core.debugger.exemplars.recording.views import RecordingView
from core.debugger.snapshots import LivePageView, Picked, SessionView, StepView
from core.schema.observation import Box, Element, Ref
from gui.page.key_guard import KeyGuard
from gui.page.message_bar import MessageBar
from gui.page.overlay import Overlay
from gui.page.shield import Shield
from gui.page.step_cover import StepCover
from gui.theme.theme import Theme
from gui.widgets.enabled_commands import can_hand_over
from gui.widgets.formats import count, step_text
from gui.widgets.words import ElidedLabel, set_flag

_HINT_MS = 2500


class PageStack(QWidget):
    """Stacks overlay, shield and cover over `page_area`.

    `page_area` has `view_rect()`, where the web view lies in it, the signal
    `view_moved`, and `set_handed_over(on)`.
    """

    handover_requested = Signal(bool)
    pointing_changed = Signal(bool)
    point_requested = Signal(float, float, bool)
    """x and y in the viewport, and whether it was a click."""
    back_requested = Signal()
    discard_requested = Signal()
    """What is being recorded is not to be kept."""

    def __init__(self, theme: Theme, page_area: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._area = page_area
        self._session = SessionView()
        self._recording = RecordingView()
        self._build_strip(theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._strip)
        layout.addWidget(page_area, 1)
        self.overlay = Overlay(theme, self)
        self.shield = Shield(self)
        self.keys = KeyGuard(page_area)
        self.hint = QLabel("The page is the agent's: F6 hands it to you", self)
        self.hint.setProperty("toast", True)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.hide()
        self.cover = StepCover(theme, self)
        self.messages = MessageBar(theme, self)
        self._hint_timer = QTimer(self)
        self._hint_timer.setSingleShot(True)
        self._hint_timer.setInterval(_HINT_MS)
        self._hint_timer.timeout.connect(self.hint.hide)
        page_area.view_moved.connect(self._lay_out)
        self.shield.refused.connect(self._on_refused)
        self.keys.refused.connect(self._on_refused)
        self.keys.tabbed.connect(self.focusNextPrevChild)
        self.shield.pointed.connect(self.point_requested)
        self.shield.pointed.connect(self._on_pointed)
        self.shield.left.connect(self._on_left)
        self.cover.back_requested.connect(self.back_requested)
        page_area.set_handed_over(False)
        self._tell_strip()

    @property
    def pointing(self) -> bool:
        return self.shield.pointing

    @property
    def covered(self) -> bool:
        """Whether a recorded step covers the live page."""
        return not self.cover.isHidden()

    @Slot(object)
    def show_live_page(self, view: LivePageView) -> None:
        """Draw the outlines of `view`."""
        self.overlay.show_live_page(view)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Cover the page with a recorded step, or uncover it."""
        if not step.live and self.pointing:
            self.set_pointing(False)
        self.cover.show_step(step)
        self.messages.set_aside(self.covered, self._session)
        self._lay_out()

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Follow who has the page."""
        changed = view.handed_over != self._session.handed_over
        self._session = view
        self.messages.show_session(view)
        self.messages.lie_in(self.rect())
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
    def show_recording(self, view: RecordingView) -> None:
        """Mark the page as one that is being recorded, with what was done last."""
        self._recording = view
        self._tell_strip()

    @Slot(object)
    def show_picked(self, picked: Picked) -> None:
        """Frame the element under the pointer; a click ends pointing where it met one."""
        if self.pointing:
            self.overlay.show_picked(picked)
            if picked.final and picked.ref is not None:
                self.set_pointing(False)

    def show_kept(self, boxes: tuple[Box, ...]) -> None:
        """Outline what the abstraction kept; an empty tuple takes it away."""
        self.overlay.show_kept(boxes)

    def mark(self, element: Element | None) -> None:
        """Frame an element, in the live page or in the picture of a recorded step; None takes the frame away."""
        seen = element if element is not None and element.in_viewport else None
        self.cover.picture.show_found(seen.box if seen is not None else None)
        if not self.pointing:
            label = "" if seen is None else f"{seen.role} “{seen.name[:60]}”"
            picked = None if seen is None else Picked(ref=seen.ref, label=label, box=seen.box)
            self.overlay.show_picked(None if self.covered else picked)

    @Slot(object)
    def highlight(self, ref: Ref | None) -> None:
        self.overlay.highlight(ref)

    def set_pointing(self, on: bool) -> None:
        """Choose an element with the mouse instead of keeping the mouse off the page."""
        if on == self.pointing:
            return
        self.shield.set_pointing(on)
        self.overlay.show_picked(None)
        self.hint.hide()
        self._tell_strip()
        self.pointing_changed.emit(on)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().showEvent(event)
        self._lay_out()

    def _build_strip(self, theme: Theme) -> None:
        self._strip = QFrame(self)
        self.state_words = ElidedLabel("", self._strip)
        self.handover_button = QPushButton("Hand over (F6)", self._strip)
        self.handover_button.clicked.connect(self._on_handover)
        self.discard_button = QPushButton("Throw away", self._strip)
        self.discard_button.setShortcut("Ctrl+Alt+D")
        self.discard_button.setToolTip(
            "End the recording and keep no exemplar; what you did stays in the run (Ctrl+Alt+D)"
        )
        self.discard_button.clicked.connect(self.discard_requested)
        row = QHBoxLayout(self._strip)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.state_words, 1)
        row.addWidget(self.discard_button)
        row.addWidget(self.handover_button)

    def _tell_strip(self) -> None:
        view = self._session
        recording = self._recording.recording and view.handed_over
        if recording:
            words, tone = recording_words(self._recording), "recording"
            self.handover_button.setText("Stop (Ctrl+Shift+D)")
        elif view.handed_over:
            words, tone = "◆ You have the page: your mouse and keys reach it.", "person"
            self.handover_button.setText("Give back (F6)")
        elif self.pointing:
            words, tone = "Point at an element and click it; Esc ends pointing.", "agent"
            self.handover_button.setText("Hand over (F6)")
        elif view.run is None:
            words, tone = view.message if view.mode == "opening" else "No page is open.", "agent"
            self.handover_button.setText("Hand over (F6)")
        else:
            words, tone = "● The page is the agent's: your mouse and keys do not reach it.", "agent"
            self.handover_button.setText("Hand over (F6)")
        if view.instruction and not view.handed_over and not self.pointing:
            words = view.instruction
        self.state_words.setText(words)
        self.state_words.setAccessibleName(words)
        set_flag(self._strip, "handover", tone)
        set_flag(self.handover_button, "person", view.handed_over)
        self.handover_button.setToolTip(
            "End the recording, and keep it as an exemplar (Ctrl+Shift+D)"
            if recording
            else "Let your mouse and keys reach the page, or give it back (F6)"
        )
        self.handover_button.setEnabled(can_hand_over(view))
        self.discard_button.setVisible(recording)

    def _on_handover(self) -> None:
        self.handover_requested.emit(not self._session.handed_over)

    def _on_refused(self) -> None:
        if self._session.run is None:
            return
        self.hint.adjustSize()
        self.hint.move(
            self.shield.geometry().center().x() - self.hint.width() // 2, self.shield.geometry().top() + 14
        )
        self.hint.show()
        self.hint.raise_()
        self._hint_timer.start()

    def _on_pointed(self, x: float, y: float, final: bool) -> None:
        if final:
            self.hint.hide()

    def _on_left(self) -> None:
        self.overlay.show_picked(None)

    def _lay_out(self) -> None:
        rect: QRect = self._area.view_rect()
        rect = QRect(self._area.mapTo(self, QPoint(rect.x(), rect.y())), rect.size())
        self.overlay.setGeometry(rect)
        self.shield.setGeometry(rect)
        self.cover.setGeometry(self.rect())
        self.overlay.raise_()
        self.shield.raise_()
        self.hint.raise_()
        if self.covered:
            self.cover.raise_()
        self.messages.lie_in(self.rect())


def recording_words(view: RecordingView) -> str:
    """Return how far a recording is, and what was done last."""
    if view.last is None:
        return "● Recording: do the task in the page as it should be done. Your steps show here."
    return f"● Recording: {count(view.steps, 'step')}. Last: {step_text(view.last)}"
