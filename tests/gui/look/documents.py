"""The pictures of the documentation, taken from runs: `python -m tests.gui.look.documents resources/pictures TOUR`.

A tour is `debugging` or `exemplars`, as in the pages of these names. It is played
with the built-in LLM as the page tells it; exit code 1 says that it went otherwise.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.breakpoints.kinds.actions import ActionChosen
from gui.compare.window import CompareWindow
from gui.exemplars.saving.window import SavingWindow
from gui.shell.main_window import MainWindow
from tests.gui.look.program import PASSING, PATIENCE, as_image, at_review, click, in_few_colours, run_program

_SETTLED_MS = 800
_TURNS = 30
"""Notches of the wheel after which it is given up."""
_EDGE = 60
"""Pixels of the view below what is pointed at."""
_WHERE = """(() => {
  const link = [...document.querySelectorAll("a")].find(one => one.href.includes("%s"));
  const box = link.getBoundingClientRect();
  return [box.left, box.top, box.width, box.height];
})()"""


class Camera:
    """Takes pictures of a window that a person would see at that moment."""

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
        """Click a step and wait for what was recorded of it."""
        self.wait(self.window.runs.model.step_index(run, step).isValid)
        click(self.window.runs.tree, self.window.runs.model.step_index(run, step))
        self.wait(self.window.page.cover.isVisible)

    def run_to_end(self, *, success: bool) -> None:
        self.press("run")
        self.wait(lambda: self.window.view.mode == "ended")
        if self.window.view.success is not success:
            raise RuntimeError(f"The run ended otherwise than the page says: {self.window.view.message}")

    def point_at(self, part: str) -> None:
        """Turn the wheel until the link whose address has this part is in view, point at it and click it."""
        view = next(one for one in self.window.findChildren(QWebEngineView) if one.isVisible())
        shield = self.window.page.shield
        # Far below, it is not laid out and its box is empty.
        for _ in range(_TURNS):
            box = self._box_of(view, part)
            if not box.isEmpty() and box.bottom() < view.height() - _EDGE:
                break
            _turn_wheel(shield)
            QTest.qWait(_SETTLED_MS)
        self.press("point")
        place = shield.mapFromGlobal(view.mapToGlobal(box.center()))
        QTest.mouseClick(shield, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        self.wait(lambda: part in self.window.action.form.line.text())

    def _box_of(self, view: QWebEngineView, part: str) -> QRect:
        """Return where the link is, in pixels of the view."""
        found: list[list[float]] = []
        view.page().runJavaScript(_WHERE % part, found.append)
        self.wait(lambda: bool(found))
        return QRect(*(round(one * view.zoomFactor()) for one in found[0]))

    def beside(self, kind: type[QWidget]) -> QWidget:
        """Return a window beside the main one, once it is shown."""

        def shown() -> list[QWidget]:
            return [
                one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()
            ]

        self.wait(lambda: bool(shown()))
        return shown()[0]

    def take(self, name: str, of: QWidget | None = None) -> None:
        """Write a picture in few colours, which keeps the file small."""
        QTest.qWait(_SETTLED_MS)
        picture = as_image((of or self.window).grab().toImage())
        (few,) = in_few_colours([picture], self.window.theme)
        few.save(self._folder / f"{name}.png", optimize=True)
        print(name, flush=True)


def _turn_wheel(over: QWidget) -> None:
    """Turn the wheel by a notch towards the person."""
    place, none = QPointF(over.rect().center()), Qt.KeyboardModifier.NoModifier
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    turned = QWheelEvent(
        place, over.mapToGlobal(place), QPoint(), QPoint(0, -120), buttons, none, phase, False
    )
    QApplication.sendEvent(over, turned)


def debugging(camera: Camera) -> None:
    """A run buys the wrong tea; the next one is stopped before it buys, put right, and compared."""
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
    camera.point_at(right)
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


def exemplars(camera: Camera) -> None:
    """A run buys the wrong trail mix; corrected once and saved, the next one passes by itself."""
    window, right = camera.window, "BK"
    camera.run_to_end(success=False)
    wrong = 4
    camera.open_step(1, wrong)
    camera.press("back")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run == 2)
    camera.press("step")
    camera.wait(lambda: at_review(window, wrong))
    camera.point_at(right)
    camera.take("exemplar-corrected")
    camera.press("accept")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.step > wrong)
    camera.run_to_end(success=True)
    camera.press("keep")
    saving = camera.beside(SavingWindow)
    assert isinstance(saving, SavingWindow)
    camera.wait(saving.save_button.isEnabled)
    camera.take("exemplar-save", saving)
    saving.save_button.click()
    QTest.qWait(3000)
    saving.hide()
    camera.press("again")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run == 3)
    window.dock("Exemplars").bring()
    camera.run_to_end(success=True)
    camera.open_step(3, wrong)
    camera.take("exemplar-passing")


TOURS: dict[str, tuple[str, str, Callable[[Camera], None]]] = {
    "debugging": ("shop/goal-021", "laser", debugging),
    "exemplars": ("shop/goal-013", "synapse", exemplars),
}


def main() -> int:
    folder, (task, preset, tour) = Path(sys.argv[1]).resolve(), TOURS[sys.argv[2]]

    def play(window: MainWindow) -> None:
        camera = Camera(window, folder)
        camera.wait(lambda: window.view.mode == "waiting" and bool(window.view.task))
        tour(camera)

    return run_program(task, preset, play)


if __name__ == "__main__":
    sys.exit(main())
