"""The animation of the README, taken from a run: `python -m tests.gui.look.tour resources/pictures/tour.gif`.

It starts the program with the built-in LLM and separate folders, presses the keys that its captions name, and takes
pictures of the window during the run. Waiting is shortened, and a result is held for as long as it takes to read;
no frame is drawn by hand. It ends with exit code 1 if the run differs from the captions.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from gui.shell.main_window import MainWindow
from tests.gui.look.program import (
    PASSING,
    PATIENCE,
    SIZE,
    as_image,
    at_review,
    click,
    in_few_colours,
    run_program,
)

TASK = "shop/goal-021"
WRONG_STEP, RIGHT_ITEM = 2, "BKQMMRK0SZ"
WIDTH = 1000
CAPTION = 34
MOST = 4
"""Maximum number of frames in a row that are kept of a temporary state."""


class Film:
    """Frames with the milliseconds for which each is shown."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.frames: list[tuple[QImage, int]] = []
        self._passing: list[QImage] = []
        self._caption = ""

    def caption(self, text: str) -> None:
        self._caption = text

    def wait(self, condition: Callable[[], bool]) -> None:
        """Take pictures until the condition holds."""
        for _ in range(PATIENCE // PASSING):
            if condition():
                return
            QTest.qWait(PASSING)
            picture = self._take()
            if not self._passing or picture != self._passing[-1]:
                self._passing.append(picture)
        raise RuntimeError(f"{self._caption}: {self.window.view.mode}, {self.window.view.message}")

    def hold(self, seconds: float) -> None:
        """Show the current state for this time."""
        QTest.qWait(600)
        if not self.frames:
            self._passing.clear()  # The start of the program is not part of the story.
        self.frames += [(picture, PASSING) for picture in self._passing[-MOST:]]
        self._passing.clear()
        self.frames.append((self._take(), round(seconds * 1000)))

    def _take(self) -> QImage:
        picture = QImage(SIZE + QSize(0, CAPTION), QImage.Format.Format_RGB888)
        theme = self.window.theme
        picture.fill(theme.colour("text"))
        painter = QPainter(picture)
        painter.drawPixmap(0, 0, self.window.grab())
        painter.setPen(theme.colour("panel"))
        painter.setFont(theme.heading_font())
        bar = picture.rect().adjusted(16, SIZE.height(), -16, 0)
        painter.drawText(bar, Qt.AlignmentFlag.AlignVCenter, self._caption)
        painter.end()
        return picture

    def save(self, path: Path) -> None:
        """Write the frames with one palette, so that unchanged parts take no space."""
        images = [_scaled(picture) for picture, _ in self.frames]
        drawn = in_few_colours(images, self.window.theme)
        times = [milliseconds for _, milliseconds in self.frames]
        drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)


def _scaled(picture: QImage) -> Image.Image:
    smooth = picture.scaledToWidth(WIDTH, Qt.TransformationMode.SmoothTransformation)
    return as_image(smooth)


def play(window: MainWindow, film: Film) -> None:
    """Step, run into a mistake, go back to it, correct it and succeed."""

    def press(name: str, caption: str) -> None:
        film.caption(caption)
        film.wait(window.actions_by_name[name].isEnabled)
        window.actions_by_name[name].trigger()

    film.caption(f"{TASK}: the built-in LLM buys herbal tea in the bundled shop")
    film.wait(lambda: window.view.mode == "waiting" and bool(window.view.task))
    film.hold(1.6)
    press("step", "F10  Step: the agent reads the page and proposes an action, marked in the page")
    film.wait(lambda: at_review(window, 1))
    film.hold(1.5)
    press("step", "F10  Step: the action is carried out, and the next one is proposed")
    film.wait(lambda: at_review(window, 2))
    film.hold(1.5)
    press("run", "F5  Run: no success, it was the wrong tea")
    film.wait(lambda: window.view.mode == "ended")
    if window.view.success is not False:
        raise RuntimeError("The first run did not fail.")
    film.hold(1.8)
    film.caption("Alt+0  Causes: the step that decided it, what speaks for that, and the line to change")
    window.docks.reach("Causes")
    film.wait(lambda: window.causes.view.clues != ())
    film.hold(2.6)
    film.caption(f"Click step {WRONG_STEP}: what the agent saw and chose then")
    click(window.runs.tree, window.runs.model.step_index(1, WRONG_STEP))
    film.wait(lambda: window.page.cover.isVisible())
    film.hold(1.5)
    press("back", "Ctrl+B  Back: the page and the agent are restored to before that step, on a branch")
    film.wait(lambda: window.view.mode == "waiting" and window.view.run == 2)
    film.hold(1.6)
    press("step", "F10  Step: the same proposal again")
    film.wait(lambda: at_review(window, WRONG_STEP))
    window.place("Permissible actions").bring()
    film.hold(1.3)
    film.caption("Double-click another permissible action to correct it")
    rows = window.permissible.model
    right = [at for at, row in enumerate(rows.rows) if RIGHT_ITEM in getattr(row, "text", "")]
    click(window.permissible.list, rows.index(right[0]) if right else QModelIndex(), double=True)
    film.wait(lambda: RIGHT_ITEM in window.action.form.line.text())
    film.hold(1.5)
    press("accept", "Ctrl+Enter  Accept: your action is carried out, and the step keeps both versions")
    film.wait(lambda: window.view.mode == "waiting" and window.view.step > WRONG_STEP)
    film.hold(1.4)
    press("run", "F5  Run: success")
    film.wait(lambda: window.view.mode == "ended")
    if window.view.success is not True:
        raise RuntimeError("The branch did not come to success.")
    film.hold(2.6)


def main() -> int:
    """Record the film and write it; return the exit code."""
    target = Path(sys.argv[1]).resolve()

    def take(window: MainWindow) -> None:
        film = Film(window)
        play(window, film)
        film.save(target)

    return run_program(TASK, "laser", take)


if __name__ == "__main__":
    sys.exit(main())
