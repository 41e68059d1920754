"""Walks the README's *Five minutes* by its keys, in the program itself: ``python -m tests.gui.look.walk OUTDIR``.

After each point it checks what the README says of it and draws the window; it ends with 1 at the first that is not so.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gui.shell.main_window import MainWindow
from tests.gui.look.program import PASSING, PATIENCE, at_review, click, run_program

KEY = Qt.Key
CTRL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)
TASK, WRONG_STEP, RIGHT_ITEM = "shop/goal-021", 2, "BKQMMRK0SZ"


class Walk:
    """The window, its keys, and a picture after each point."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        self.window = window
        self._folder = folder
        self._point = ""

    def point(self, words: str) -> None:
        self._point = words

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        widget = QApplication.activeWindow() or self.window
        QTest.keyClick(widget.focusWidget() or widget, key, modifiers)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        for _ in range(PATIENCE // PASSING):
            if condition():
                return
            QTest.qWait(PASSING)
        view = self.window.view
        raise RuntimeError(f"{self._point}: {what} was waited for in vain ({view.mode}: {view.message}).")

    def waits_at(self, step: int) -> None:
        self.wait(lambda: at_review(self.window, step), f"the review of step {step}")

    def ends(self, *, success: bool) -> None:
        self.wait(lambda: self.window.view.mode == "ended", "the end of the run")
        self.wait(lambda: self.window.view.success is success, f"success {success}")

    def dialog(self, what: str) -> QWidget:
        """Wait for a window in front of the main one, and return it."""
        self.wait(lambda: QApplication.activeWindow() not in (None, self.window), what)
        return QApplication.activeWindow() or self.window

    def close(self) -> None:
        shown = QApplication.activeWindow()
        self.press(KEY.Key_Escape)
        self.wait(lambda: shown is None or not shown.isVisible(), "the end of a window by Esc")
        self.in_front()

    def in_front(self) -> None:
        """Bring the main window to the front."""
        self.window.activateWindow()
        self.wait(lambda: QApplication.activeWindow() is self.window, "the main window")

    def done(self) -> None:
        """Draw what is in front, and say that the point holds."""
        QTest.qWait(600)
        (QApplication.activeWindow() or self.window).grab().save(
            str(self._folder / f"{self._point[:1]}-{self._point[3:].replace(' ', '-').lower()}.png")
        )
        print(f"{self._point}: as the README says", flush=True)


def play(walk: Walk) -> None:
    window = walk.window
    walk.point("1. Step")
    walk.wait(lambda: window.view.mode == "waiting" and bool(window.view.task), "the first task")
    walk.in_front()
    walk.press(KEY.Key_F10)
    walk.waits_at(1)
    walk.press(KEY.Key_F10)
    walk.waits_at(2)
    walk.done()
    walk.press(KEY.Key_F5)
    walk.ends(success=False)

    walk.point("3. Look back")
    click(window.runs.tree, window.runs.model.step_index(1, WRONG_STEP))
    walk.wait(window.page.cover.isVisible, "the recorded page")
    walk.wait(lambda: (step := window.step_in_view) is not None and step.number == WRONG_STEP, "the step")
    walk.done()

    walk.point("5. Fix")
    walk.press(KEY.Key_0, Qt.KeyboardModifier.AltModifier)
    walk.wait(lambda: window.causes.view.clues != (), "the causes below the page")
    walk.press(KEY.Key_Period, CTRL)
    fix = walk.dialog("Fix")
    walk.wait(lambda: fix.view.ready and fix.view.clues != (), "the causes")  # type: ignore[attr-defined]
    walk.done()
    walk.close()
    walk.press(KEY.Key_Escape)
    walk.wait(lambda: not window.page.cover.isVisible(), "now")

    walk.point("4. Go back")
    click(window.runs.tree, window.runs.model.step_index(1, WRONG_STEP))
    walk.wait(window.page.cover.isVisible, "the recorded page")
    walk.press(KEY.Key_B, CTRL)
    walk.wait(lambda: window.view.mode == "waiting" and window.view.run == 2, "the branch")
    walk.done()

    walk.point("2. Correct")
    walk.in_front()
    walk.press(KEY.Key_F10)
    walk.waits_at(WRONG_STEP)
    rows = window.permissible.model
    right = next(at for at, row in enumerate(rows.rows) if RIGHT_ITEM in getattr(row, "text", ""))
    click(window.permissible.list, rows.index(right), double=True)
    walk.wait(lambda: RIGHT_ITEM in window.action.form.line.text(), "the action")
    walk.press(KEY.Key_F7)
    walk.wait(lambda: window.page.pointing, "pointing")
    walk.press(KEY.Key_F7)
    walk.done()
    walk.press(KEY.Key_Return, CTRL)
    walk.wait(lambda: window.view.mode == "waiting" and window.view.step > WRONG_STEP, "the next step")

    walk.point("6. Set a breakpoint")
    walk.press(KEY.Key_B, CTRL | SHIFT)
    walk.dialog("the breakpoint")
    walk.done()
    walk.close()

    walk.point("7. Take over")
    walk.in_front()
    walk.press(KEY.Key_F6)
    walk.wait(lambda: window.view.handed_over, "the page to be yours")
    walk.done()
    walk.press(KEY.Key_F6)
    walk.wait(lambda: not window.view.handed_over, "the page to be the agent's")

    walk.point("8. Keep what worked")
    walk.in_front()
    walk.press(KEY.Key_F5)
    walk.ends(success=True)
    walk.press(KEY.Key_K, CTRL | SHIFT)
    walk.dialog("saving")
    walk.done()
    walk.close()

    for number, (words, key, modifiers) in enumerate(
        (("Another task", KEY.Key_N, CTRL), ("Every command", KEY.Key_P, CTRL | SHIFT)), 9
    ):
        walk.point(f"{number % 10}. {words}")
        walk.in_front()
        walk.press(key, modifiers)
        QTest.qWait(1500)
        walk.done()
        walk.press(KEY.Key_Escape)
        QTest.qWait(500)


def main() -> int:
    """Walk through all points; return the exit code."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    return run_program(TASK, "laser", lambda window: play(Walk(window, folder)))


if __name__ == "__main__":
    sys.exit(main())
