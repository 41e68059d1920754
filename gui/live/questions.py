"""Questions of pages to the person: shown one at a time over the page, or answered by rule."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QEventLoop, QMetaObject, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog

QuestionKind = Literal["alert", "confirm", "prompt", "leave", "sign-in", "permission"]


@dataclass(frozen=True)
class PageQuestion:
    kind: QuestionKind
    origin: str
    """The page that asks, as host and port, or the server that wants a user name."""
    text: str
    default: str = ""
    """The initial text in the field of a prompt."""


@dataclass(frozen=True)
class Answer:
    """The person's answer."""

    accepted: bool
    text: str = ""
    """The text typed into a prompt, or the user name."""
    password: str = ""

    def __repr__(self) -> str:
        return f"Answer(accepted={self.accepted})"  # The typed text may be a secret.


class PageQuestions(QObject):
    """The questions of the pages in one area; `changed` means that another question should be shown.

    The engine needs most answers at once and is blocked until it has them: `ask` runs its own event loop, in which
    the window keeps working but the browser responds to nobody. Code that needs the browser must wait for `quiet`
    first.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.person_has_page = False
        self._open: list[tuple[PageQuestion, Callable[[Answer | None], None]]] = []
        self._standing = 0
        self._dialog: QDialog | None = None
        self._waiting: list[Future[None]] = []

    @property
    def current(self) -> PageQuestion | None:
        """The question to show: the most recent one."""
        return self._open[-1][0] if self._open else None

    @property
    def engine_waits(self) -> bool:
        """Whether the browser is blocked until something is answered."""
        return self._standing > 0

    def ask(self, question: PageQuestion) -> Answer | None:
        """Return the person's answer; None if they do not have the page, or gave it back before they answered."""
        if not self.person_has_page:
            return None
        loop = QEventLoop(self)
        answers: list[Answer | None] = []

        def on_answer(answer: Answer | None) -> None:
            answers.append(answer)
            loop.quit()

        entry = question, on_answer
        self._open.append(entry)
        with self._engine_standing():
            self.changed.emit()
            loop.exec()
        if entry in self._open:  # The program is exiting.
            self._open.remove(entry)
        loop.deleteLater()
        return answers[0] if answers else None

    def await_agent(self, answer: "Future[Any]", seconds: float) -> None:
        """Return once an agent has answered, or after so many seconds; the window keeps working."""
        loop = QEventLoop(self)
        answer.add_done_callback(
            lambda _: QMetaObject.invokeMethod(loop, "quit", Qt.ConnectionType.QueuedConnection)
        )
        QTimer.singleShot(int(seconds * 1000), loop, loop.quit)
        with self._engine_standing():
            loop.exec()
        loop.deleteLater()

    def ask_meanwhile(self, question: PageQuestion, answered: Callable[[Answer | None], None]) -> None:
        """Ask a question that does not block the engine; `answered` gets None when `ask` would return it."""
        if not self.person_has_page:
            answered(None)
            return
        self._open.append((question, answered))
        self.changed.emit()

    def answer(self, answer: Answer | None) -> None:
        """Answer the question that is shown; with None, the rule answers it."""
        if self._open:
            _, answered = self._open.pop()
            answered(answer)
            self.changed.emit()

    def run(self, dialog: QDialog) -> bool:
        """Show a dialog that the engine waits for; return whether it was accepted."""
        self._dialog = dialog
        try:
            with self._engine_standing():
                return dialog.exec() == QDialog.DialogCode.Accepted
        finally:
            self._dialog = None

    def end(self) -> None:
        """Answer all open questions by the rule."""
        while self._open:
            self.answer(None)
        if self._dialog is not None:
            self._dialog.reject()

    def quiet(self) -> "Future[None]":
        """Return a future that is done as soon as the browser waits for no answer."""
        future: Future[None] = Future()
        if self.engine_waits:
            self._waiting.append(future)
        else:
            future.set_result(None)
        return future

    @contextmanager
    def _engine_standing(self) -> Iterator[None]:
        self._standing += 1
        try:
            yield
        finally:
            self._standing -= 1
            if not self._standing:
                waiting, self._waiting = self._waiting, []
                for future in waiting:
                    if future.set_running_or_notify_cancel():
                        future.set_result(None)
