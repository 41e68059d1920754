"""Pictures of the documentation, taken from a run: `python -m tests.gui.look.documents resources/pictures`.

It plays the tour of debugging.md with the built-in LLM, and ends with exit code 1 if the run differs from the page.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.breakpoints.kinds.actions import ActionChosen
from gui.compare.window import CompareWindow
from gui.shell.main_window import MainWindow
from tests.gui.look.program import PASSING, PATIENCE, as_image, at_review, click, in_few_colours, run_program

_SETTLED_MS = 800


class Camera:
    """Takes pictures of a window as a person would see it at that moment."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        self.window = window
        self._folder = folder

    def wait(self, condition: Callable[[], bool]) -> None:
        for _ in range(PATIENCE // PASSING):
            if condition():
                return
            QTest.qWait(PASSING)
        raise RuntimeError(f"Waited in vain: {self.window.view.mode}, {self.window.view.message}")

    def press(self, name: str) -> None:
        self.wait(self.window.actions_by_name[name].isEnabled)
        self.window.actions_by_name[name].trigger()

    def open_step(self, run: int, step: int) -> None:
        """Click a step and wait for its recorded content."""
        self.wait(self.window.runs.model.step_index(run, step).isValid)
        click(self.window.runs.tree, self.window.runs.model.step_index(run, step))
        self.wait(self.window.page.cover.isVisible)

    def run_to_end(self, *, success: bool) -> None:
        self.press("run")
        self.wait(lambda: self.window.view.mode == "ended")
        if self.window.view.success is not success:
            raise RuntimeError(f"The run ended otherwise than the page says: {self.window.view.message}")

    def choose(self, part: str) -> None:
        """Double-click the permissible action that has this part in its text."""
        window = self.window
        window.dock("Permissible actions").bring()
        rows = window.permissible.model
        found = [at for at, row in enumerate(rows.rows) if part in getattr(row, "text", "")]
        click(window.permissible.list, rows.index(found[0]) if found else QModelIndex(), double=True)
        self.wait(lambda: part in window.action.form.line.text())

    def beside(self, kind: type[QWidget]) -> QWidget:
        """Return a window next to the main one, when it is shown."""

        def shown() -> list[QWidget]:
            return [
                one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()
            ]

        self.wait(lambda: bool(shown()))
        return shown()[0]

    def take(self, name: str, of: QWidget | None = None) -> None:
        """Write a picture with few colours, which keeps the file small."""
        QTest.qWait(_SETTLED_MS)
        picture = as_image((of or self.window).grab().toImage())
        (few,) = in_few_colours([picture], self.window.theme)
        few.save(self._folder / f"{name}.png", optimize=True)
        print(name, flush=True)


def debugging(camera: Camera) -> None:
    """A run buys the wrong tea; the next one is stopped before it buys, corrected, and compared."""
    window, right = camera.window, "BKQMMRK0SZ"
    camera.run_to_end(success=False)
    camera.take("tour-found")
    camera.open_step(1, 2)
    window.theme.choose("dark")
    camera.take("recorded-dark")
    window.theme.choose("light")
    window.breakpoints.breakpoint_wanted.emit(ActionChosen(action="buy_now"))
    camera.press("again")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run != 1)
    camera.press("run")
    camera.wait(lambda: bool(window.view.stopped_at))
    camera.take("tour-stopped")
    run = window.view.run
    camera.open_step(run, 2)
    camera.press("back")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run != run)
    camera.press("step")
    camera.wait(lambda: at_review(window, 2))
    camera.choose(right)
    camera.take("tour-pointed")
    camera.press("accept")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.step > 2)
    camera.press("run")
    camera.wait(lambda: bool(window.view.stopped_at))
    camera.run_to_end(success=True)
    window.compare_requested.emit(1, window.view.run)
    compared = camera.beside(CompareWindow)
    QTest.qWait(2000)
    camera.take("tour-compared", compared)
    compared.hide()


def main() -> int:
    folder = Path(sys.argv[1]).resolve()

    def play(window: MainWindow) -> None:
        camera = Camera(window, folder)
        camera.wait(lambda: window.view.mode == "waiting" and bool(window.view.task))
        debugging(camera)

    return run_program("shop/goal-021", "laser", play)


if __name__ == "__main__":
    sys.exit(main())
