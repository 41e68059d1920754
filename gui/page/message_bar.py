"""A bar below the page that shows how a run ended, what failed or why it stopped."""

from collections.abc import Collection

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from core.debugger.session_view import SessionView
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button, key_button
from gui.widgets.enabled_commands import can_say_how_it_ended
from gui.widgets.layouts import FlowLayout, in_row
from gui.widgets.words import Paragraph, set_flag, set_tone

_TOLD_MS = 10_000
"""How long the outcome of a command is shown, unless the mouse is over it."""
_DONE = "✓ Done"
_ABOVE_LINE = 6
"""Pixels above and below the text, so that its first line is level with title and buttons."""
_LEAST_TEXT = 240
"""Width in pixels of the message next to the buttons, including margins."""


class MessageBar(QFrame):
    """Shows the message of a failed, ended or stopped session until it is closed or replaced.

    The outcome of a command is shown instead for a while, also over a recorded step.
    """

    shown_changed = Signal()
    """It was shown or hidden."""
    end_requested = Signal(bool)
    """The person says whether the run succeeded."""
    fix_requested = Signal()
    """Open Fix for the run."""
    again_requested = Signal()
    """Open the task again with the same seed."""
    next_seed_requested = Signal()
    back_requested = Signal()
    """Go back although that does not undo something, or does it again."""
    pictures_requested = Signal(int)
    """Show the page that this run begins in as it was recorded, beside the page as it was restored."""
    wait_requested = Signal()
    always_requested = Signal()
    """Wait for the page that does not respond."""
    end_script_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._shown: tuple[object, ...] = ()
        self._closed = False
        self._aside = False
        self._session = SessionView()
        self._said: tuple[str, str, str] | None = None
        """Title, tone and text that are shown instead of the session's message."""
        self._lasts = False
        """Whether that is shown for its full time, regardless of the session."""
        self._asks: set[str] = set()
        """What it asks for, if it stays until that is done."""
        self._told = 0
        """The number of the last message."""
        self._patience = QTimer(self, singleShot=True, interval=_TOLD_MS)
        self._patience.timeout.connect(self._end_said)
        self.setAutoFillBackground(True)
        self.setMinimumHeight(40)
        self.title = QLabel(self)
        self.title.setFont(theme.text_font(bold=True))
        self.text = Paragraph("", self)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        for label in (self.title, self.text):
            label.setContentsMargins(0, _ABOVE_LINE, 0, _ABOVE_LINE)
        self.success_button = QPushButton("It succeeded", self)
        self.success_button.setToolTip("Record that the run did what was asked (Ctrl+Shift+Y)")
        self.success_button.clicked.connect(lambda: self.end_requested.emit(True))
        self.failure_button = QPushButton("It did not", self)
        self.failure_button.setToolTip("Record that the run did not do what was asked (Ctrl+Shift+X)")
        self.failure_button.clicked.connect(lambda: self.end_requested.emit(False))
        self.fix_button = QPushButton("Fix…", self)
        self.fix_button.setToolTip("Fix the run at the step that decided it (Ctrl+.)")
        self.fix_button.clicked.connect(self.fix_requested)
        self.again_button = QPushButton("Again", self)
        self.again_button.setToolTip("Open the task again with the same seed (Ctrl+R)")
        self.again_button.clicked.connect(self.again_requested)
        self.next_seed_button = QPushButton("Next seed", self)
        self.next_seed_button.setToolTip("Open the task with the next seed (Ctrl+Shift+N)")
        self.next_seed_button.clicked.connect(self.next_seed_requested)
        back = "Go back to the step although this cannot be undone"
        self.back_button = key_button("Go back anyway", back, "Ctrl+P, Z", self.back_requested.emit, self)
        always = "Let it go, and allow this site for this task from now on, also at the next start"
        self.always_button = key_button("Always allow", always, "Ctrl+P, U", self.always_requested.emit, self)
        compare = "Show the recorded page beside the restored one"
        self.pictures_button = key_button("Compare pictures", compare, "Ctrl+P, V", self._want_pictures, self)
        wait = "Wait for the page until it answers, however long its script takes"
        self.wait_button = key_button("Keep waiting", wait, "Ctrl+P, W", self.wait_requested.emit, self)
        end = "End the script that keeps the page from answering"
        self.end_script_button = key_button(
            "End the script", end, "Ctrl+P, K", self.end_script_requested.emit, self
        )
        close = "Close this message (Esc)"
        self.close_button = icon_button(theme, "close", close, self.dismiss, self, size=12)
        self._buttons = {
            self.success_button: "judge",
            self.failure_button: "judge",
            self.fix_button: "fix",
            self.again_button: "again",
            self.next_seed_button: "seed",
            self.back_button: "back",
            self.always_button: "always",
            self.pictures_button: "pictures",
            self.wait_button: "wait",
            self.end_script_button: "script",
        }
        top = Qt.AlignmentFlag.AlignTop
        self._asked = QWidget(self)
        flow = FlowLayout(self._asked, spacing=10)
        for button in self._buttons:
            flow.addWidget(button)
        self._row = in_row(None, spacing=10)
        self._row.addWidget(self.title, 0, top)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self._asked, 0, top)
        row = in_row(self, (self._row, 1), margins=(12, 8, 8, 8), spacing=10)
        row.addWidget(self.close_button, 0, top)
        self.hide()

    @property
    def shown(self) -> bool:
        return not self.isHidden()

    def show_session(self, view: SessionView) -> None:
        """Show how the run ended or what failed; nothing in other modes."""
        asks: set[str] = {"judge"} if can_say_how_it_ended(view) and view.mode == "ended" else set()
        if view.mode == "ended" and not view.attached and view.task:
            asks.update(("again", "seed") if view.seeded else ("again",))
        if view.mode == "ended" and view.success is False:
            asks.add("fix")
        if _doubted(view):
            asks.add("pictures")
        if view.crossing:
            asks.add("always")
        if view.script is not None:
            asks = {"script"} if view.script.left is None else {"wait", "script"}
        message = "script" if view.script is not None else view.stopped_at or view.message
        title, tone, text = _words(view)
        shown = (view.mode, message, view.run, view.success, asks)
        moved_on = view.mode != self._session.mode and self._said is not None and self._said[0] != _DONE
        self._session = view
        if shown != self._shown:
            self._shown, self._closed = shown, False
            moved_on = moved_on or bool(title)
        if moved_on and not self._lasts:
            self._said = None
        told = view.told
        if told is not None and told.number != self._told:
            self._told, self._lasts = told.number, False
            done, tone = (_DONE, "info") if told.done else (told.title or "✗ Not done", "remedy")
            self._said = done, tone, told.text
            self._asks = {"back"} if told.asks else {"close"} if told.title else set()
            if self._asks:
                self._patience.stop()
            else:
                self._patience.start()
        if self._said is not None:
            self._put(*self._said, self._asks)
            self.show()
        else:
            self._put(title, tone, text, asks)
            self.setVisible(bool(title) and not self._closed and not self._aside)

    def _want_pictures(self) -> None:
        if self._session.run is not None:
            self.pictures_requested.emit(self._session.run)

    def say(self, title: str, text: str, *, lasts: bool = False) -> None:
        """Show another message until it is closed or the session has a new message.

        A message that `lasts` is shown for a while, regardless of the session.
        """
        self._patience.stop()
        self._said, self._lasts, self._asks = (title, "info", text), lasts, set()
        if lasts:
            self._patience.start()
        self._put(*self._said, set())
        self.show()

    def set_aside(self, aside: bool, view: SessionView) -> None:
        """Hide while a recorded step is in view, and return afterwards."""
        if aside != self._aside:
            self._aside = aside
            self.show_session(view)

    def dismiss(self) -> None:
        """Close the message until there is a new one; if it replaced the session's message, show that again."""
        if self._said is not None:
            self._end_said()
        else:
            self._closed = True
            self.hide()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._patience.stop()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._said is not None and not self._asks:
            self._patience.start()

    def _end_said(self) -> None:
        self._patience.stop()
        self._said, self._lasts = None, False
        self.show_session(self._session)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.shown_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Stack title, text and buttons if space is short."""
        wide = sum(button.sizeHint().width() + 10 for button in self._buttons if not button.isHidden())
        beside = self.title.sizeHint().width() + wide + _LEAST_TEXT <= self.width()
        self._asked.setVisible(wide > 0)
        self._asked.setMinimumWidth(wide if beside else 0)
        self._row.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        self._row.setSpacing(10 if beside else 4)

    def _put(self, title: str, tone: str, text: str, asks: Collection[str]) -> None:
        self.title.setText(title)
        set_tone(self.title, "" if tone == "info" else tone)
        self.text.setText(text)
        self.text.setAccessibleName(f"{title}: {text}")
        set_flag(self, "messageBar", "failed" if tone == "bad" else tone)
        for button, of in self._buttons.items():
            button.setVisible(of in asks)
        self._fit()


_AFTER_LOST = "Or go back to an earlier step (Ctrl+B), or open the task again (Ctrl+R)."


def _doubted(view: SessionView) -> bool:
    return view.mode == "waiting" and bool(view.doubt and view.message)


def _words(view: SessionView) -> tuple[str, str, str]:
    """Return title, tone and text for a session."""
    if view.script is not None:
        busy = f"Its script has been running for {view.script.seconds} s."
        ends = (
            "You wait for it." if view.script.left is None else f"It will be ended in {view.script.left} s."
        )
        return "The page does not answer", "remedy", f"{busy} {ends}"
    if view.stopped_at:
        return "‖ Stopped", "remedy", view.stopped_at
    if _doubted(view) and view.doubt == "picture":
        return "The page looks different", "remedy", view.message
    if _doubted(view):
        return "✗ Not the recorded page", "bad", f"{view.message} {_AFTER_LOST}"
    if view.mode == "failed":
        return "✗ Failed", "bad", view.message or "Something outside Backstep failed. See the Log."
    if view.mode != "ended":
        return "", "info", ""
    answer = f' Answer: "{view.answer}".' if view.answer else ""
    names_reward = "reward" in view.message.lower()
    reward = f" Reward {round(view.reward, 3):g}." if view.reward is not None and not names_reward else ""
    if view.success is True:
        return "✓ Success", "good", f"{view.message}{reward}{answer}".strip()
    if view.success is False:
        return "✗ No success", "bad", f"{view.message}{reward}{answer}".strip()
    asked = view.judged or "say how it ended" in view.message
    asks = "" if asked else " This task has no judge. Did the run do what was asked?"
    return "The run has ended", "info", f"{view.message}{answer}{asks}".strip()
