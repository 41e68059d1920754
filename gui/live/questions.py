"""What pages ask the person: shown one at a time over the page, and answered by rule where the person cannot."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEventLoop, QObject, Signal
from PySide6.QtWidgets import QDialog

QuestionKind = Literal["alert", "confirm", "prompt", "leave", "sign-in", "permission"]


@dataclass(frozen=True)
class PageQuestion:
    """One question of a page."""

    kind: QuestionKind
    origin: str
    """The page that asks, as host and port, or the server that wants a user name."""
    text: str
    default: str = ""
    """What stands in the field of a prompt at first."""


@dataclass(frozen=True)
class Answer:
    """What the person answered."""

    accepted: bool
    text: str = ""
    """What was typed into a prompt, or the user name."""
    password: str = ""

    def __repr__(self) -> str:
        return f"Answer(accepted={self.accepted})"  # What was typed may be a secret.


class PageQuestions(QObject):
    """Questions of the pages in one area; `changed` says that another one is to be shown.

    The engine wants most answers at once, and does nothing at all until it has
    them: `ask` runs an event loop of its own, in which the window goes on working
    but the browser answers nobody. Whoever waits for the browser waits for
    `quiet` first.
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
        """The question that is to be shown: the one asked last."""
        return self._open[-1][0] if self._open else None

    @property
    def engine_waits(self) -> bool:
        """Whether the browser stands still until something is answered."""
        return self._standing > 0

    def ask(self, question: PageQuestion) -> Answer | None:
        """Return the person's answer; None where they do not have the page, or gave it back before they answered."""
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
        if entry in self._open:  # The program ends.
            self._open.remove(entry)
        loop.deleteLater()
        return answers[0] if answers else None

    def ask_meanwhile(self, question: PageQuestion, answered: Callable[[Answer | None], None]) -> None:
        """Ask what the engine can wait for; `answered` gets None where `ask` would return it."""
        if not self.person_has_page:
            answered(None)
            return
        self._open.append((question, answered))
        self.changed.emit()

    def answer(self, answer: Answer | None) -> None:
        """Answer the question that is shown; None leaves it to the rule."""
        if self._open:
            _, answered = self._open.pop()
            answered(answer)
            self.changed.emit()

    def run(self, dialog: QDialog) -> bool:
        """Show a dialog that the engine waits for; returns whether it was accepted."""
        self._dialog = dialog
        try:
            with self._engine_standing():
                return dialog.exec() == QDialog.DialogCode.Accepted
        finally:
            self._dialog = None

    def end(self) -> None:
        """Leave everything that is open to the rule."""
        while self._open:
            self.answer(None)
        if self._dialog is not None:
            self._dialog.reject()

    def quiet(self) -> "Future[None]":
        """Return what is done as soon as the browser waits for no answer."""
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
