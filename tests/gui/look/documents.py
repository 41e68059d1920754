"""Pictures of the documentation, taken from runs: `python -m tests.gui.look.documents resources/pictures [NAME …]`.

It plays what the pages tell, with the built-in LLM: `debugging`, `exemplars`, and, where BACKSTEP_ADAPTERS names the
folder of `tests.campaigns.adapters`, `attached`. It ends with exit code 1 if a run differs from its page.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.attach.views import AttachRequest
from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.evaluations.records import Subject
from gui.compare.window import CompareWindow
from gui.evaluations.measuring import WorthDialog
from gui.evaluations.window import EvaluationsWindow
from gui.exemplars.library.library_window import LibraryWindow
from gui.exemplars.saving.window import SavingWindow
from gui.shell.main_window import MainWindow
from tests.gui.look.program import PASSING, PATIENCE, as_image, at_review, click, in_few_colours, run_program

_SETTLED_MS = 800
_ADAPTERS = "BACKSTEP_ADAPTERS"
Beside = TypeVar("Beside", bound=QWidget)


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
        window.place("Permissible actions").bring()
        rows = window.permissible.model
        found = [at for at, row in enumerate(rows.rows) if part in getattr(row, "text", "")]
        click(window.permissible.list, rows.index(found[0]) if found else QModelIndex(), double=True)
        self.wait(lambda: part in window.action.form.line.text())

    def point_at(self, name: str) -> None:
        """Click the link in the page that has this part in its name, while pointing."""
        window = self.window
        self.wait(lambda: window.page.pointing)
        found = (
            one for one in window.step_in_view.action.elements if one.role == "link" and name in one.name
        )
        element = next(found)
        place = element.box
        view = window.page_area.currentWidget().current_view()
        middle = QPoint(round(place.x + place.width / 2), round(place.y + place.height / 2))
        at = window.mapFromGlobal(view.mapToGlobal(middle))
        target = window.childAt(at)
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(window, at))
        self.wait(lambda: f"[{element.ref}]" in window.action.form.text)

    def beside(self, kind: type[Beside]) -> Beside:
        """Return a window next to the main one, when it is shown."""

        def shown() -> list[Beside]:
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


def exemplars(camera: Camera) -> None:
    """The agent chooses the wrong item; the correction is saved, the next run follows it, and its worth is measured."""
    window, right = camera.window, "Brellow Kite"
    window.resize(1440, 900)  # The right item is in view without scrolling.
    camera.run_to_end(success=False)
    camera.open_step(1, 4)
    camera.press("back")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run != 1)
    camera.press("step")
    camera.wait(lambda: at_review(window, 4))
    camera.press("point")
    camera.point_at(right)
    camera.take("exemplar-corrected")
    camera.run_to_end(success=True)
    branch = window.view.run
    camera.press("keep")
    saving = camera.beside(SavingWindow)
    camera.wait(saving.save_button.isEnabled)
    camera.take("exemplar-save", saving)
    saving.save_button.click()
    camera.wait(lambda: "at distance" in saving.saved.words.text())
    saving.close()
    camera.press("again")
    camera.wait(lambda: window.view.mode == "waiting" and window.view.run not in (1, branch))
    camera.run_to_end(success=True)
    camera.open_step(window.view.run, 4)
    window.place("Exemplars").bring()
    camera.take("exemplar-passing")
    camera.press("library")
    library = camera.beside(LibraryWindow)
    saved = f"shop/goal-013/run-{branch}"
    window.worth_requested.emit(Subject(name=saved))
    worth = camera.beside(WorthDialog)
    worth.llm.setCurrentIndex(worth.llm.findData("rules"))
    worth.tasks.setText("shop/goal-01?")
    worth.seeds.setText("1")
    worth.gate.setCurrentIndex(worth.gate.findData("allow"))
    camera.wait(worth.begin_button.isEnabled)
    worth.begin_button.click()
    evaluations = camera.beside(EvaluationsWindow)
    camera.wait(lambda: evaluations.view.item is not None and evaluations.view.item.state == "finished")
    cells = evaluations.matrix.cells
    camera.wait(lambda: bool(cells.rows) and [cell.cases for cell in cells.rows[0].cells] == [10, 10])
    camera.take("exemplar-worth", evaluations)
    evaluations.close()
    library.close()


def attached(camera: Camera) -> None:
    """An agent of browser-use is stopped before it clicks an item."""
    window = camera.window
    window.breakpoints.breakpoint_wanted.emit(ActionChosen(action="click", target="Islet"))
    camera.press("run")
    camera.wait(lambda: bool(window.view.stopped_at))
    camera.take("attached-light")


def _browser_use() -> AttachRequest:
    folder = os.environ.get(_ADAPTERS)
    if folder is None:
        raise SystemExit(f"{_ADAPTERS} must name the folder of tests.campaigns.adapters.")
    agent = Path(__file__).parents[3] / "resources/examples/browser_use_agent.py"
    return AttachRequest(command=(f"{folder}/browser_use/bin/python", str(agent)), task="shop/goal-004")


_PLAYS = {
    "debugging": (debugging, "shop/goal-021", "laser"),
    "exemplars": (exemplars, "shop/goal-013", "synapse"),
    "attached": (attached, "", ""),
}
"""What each page plays, with the task and the preset; an attached agent brings its own task."""


def main() -> int:
    folder, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if len(names) != 1:  # Each in a process of its own: a program has one application.
        arguments = [sys.executable, "-m", "tests.gui.look.documents", str(folder)]
        names = names or [name for name in _PLAYS if name != "attached" or _ADAPTERS in os.environ]
        return max(subprocess.run([*arguments, name]).returncode for name in names)
    steps, task, preset = _PLAYS[names[0]]

    def play(window: MainWindow) -> None:
        camera = Camera(window, folder)
        camera.wait(lambda: window.view.mode == "waiting" and bool(window.view.task))
        steps(camera)

    return run_program(task, preset, play, attach=None if task else _browser_use())


if __name__ == "__main__":
    sys.exit(main())
