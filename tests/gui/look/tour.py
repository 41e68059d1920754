"""The moving picture of the README, taken from a run: `python -m tests.gui.look.tour resources/pictures/tour.gif`.

It starts the program with the built-in LLM and folders of its own, presses the
keys that its captions name, and takes pictures of the window meanwhile. Waiting
is shortened and a result is held for as long as it takes to read; no frame is
drawn by hand. It ends with exit code 1 if the run does not go as the captions say.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication

from core.cli.window import make_session
from core.cli.window_arguments import WindowArguments
from core.debugger.worker import Worker
from core.settings.settings import load_settings
from gui.application import Application
from gui.shell.main_window import MainWindow

TASK = "shop/goal-021"
WRONG_STEP, RIGHT_ITEM = 2, "BKQMMRK0SZ"
SIZE, WIDTH = QSize(1280, 800), 1000
CAPTION = 34
PASSING, MOST = 120, 4
"""Milliseconds that a frame of something passing stays, and how many such frames in a row are kept."""
PATIENCE = 120_000
_MARKS = ("agent", "person", "remedy", "good", "bad")
"""Colours that are kept as they are."""


class Film:
    """Frames with the milliseconds that each is shown."""

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
        """Show what there is now for so long."""
        QTest.qWait(600)
        if not self.frames:
            self._passing.clear()  # The start of the program is no part of the story.
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
        """Write the frames with one palette, so that what stays the same costs nothing."""
        images = [_scaled(picture) for picture, _ in self.frames]
        seen: Counter[bytes] = Counter()
        for image in images:
            seen.update({bytes(colour): many for many, colour in image.getcolors(1 << 24)})
        # Counted by area alone, few colours would be left for texts and marks.
        some = b"".join(colour * round(many**0.5) for colour, many in seen.items())
        palette = Image.frombytes("RGB", (len(some) // 3, 1), some).quantize(240)
        marks = [self.window.theme.colour(name).getRgb()[:3] for name in _MARKS]
        palette.putpalette(
            [*(palette.getpalette() or [])[: 240 * 3], *(part for mark in marks for part in mark)]
        )
        drawn = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
        times = [milliseconds for _, milliseconds in self.frames]
        drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)


def _scaled(picture: QImage) -> Image.Image:
    smooth = picture.scaledToWidth(WIDTH, Qt.TransformationMode.SmoothTransformation)
    smooth = smooth.convertToFormat(QImage.Format.Format_RGB888)
    size = smooth.width(), smooth.height()
    return Image.frombuffer("RGB", size, smooth.constBits(), "raw", "RGB", smooth.bytesPerLine(), 1)


def play(window: MainWindow, film: Film) -> None:
    """Step, run into a mistake, go back to it, correct it and come to success."""

    def press(name: str, caption: str) -> None:
        film.caption(caption)
        film.wait(window.actions_by_name[name].isEnabled)
        window.actions_by_name[name].trigger()

    def at_review(step: int) -> bool:
        rests = window.view.mode == "waiting" and window.view.phase == "review"
        return rests and window.view.step == step and window.action.editable

    film.caption(f"{TASK}: the built-in LLM buys herbal tea in the bundled shop")
    film.wait(lambda: window.view.mode == "waiting" and bool(window.view.task))
    film.hold(1.6)
    press("step", "F10  Step: the agent reads the page and proposes an action, marked in the page")
    film.wait(lambda: at_review(1))
    film.hold(1.5)
    press("step", "F10  Step: the action is carried out, and the next one is proposed")
    film.wait(lambda: at_review(2))
    film.hold(1.5)
    press("run", "F5  Run: no success, it was the wrong tea")
    film.wait(lambda: window.view.mode == "ended")
    if window.view.success is not False:
        raise RuntimeError("The first run did not fail.")
    film.hold(1.8)
    film.caption(f"Click step {WRONG_STEP}: what the agent saw and chose then")
    _click(window.runs.tree, window.runs.model.step_index(1, WRONG_STEP))
    film.wait(lambda: window.page.cover.isVisible())
    film.hold(1.5)
    press("back", "Ctrl+B  Back: the page and the agent are restored to before that step, on a branch")
    film.wait(lambda: window.view.mode == "waiting" and window.view.run == 2)
    film.hold(1.6)
    press("step", "F10  Step: the same proposal again")
    film.wait(lambda: at_review(WRONG_STEP))
    window.dock("Permissible actions").bring()
    film.hold(1.3)
    film.caption("Double-click another permissible action to correct it")
    rows = window.permissible.model
    right = [at for at, row in enumerate(rows.rows) if RIGHT_ITEM in getattr(row, "text", "")]
    _click(window.permissible.list, rows.index(right[0]) if right else QModelIndex(), double=True)
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


def _click(view: QAbstractItemView, index: QModelIndex, *, double: bool = False) -> None:
    """Click a row as the mouse does."""
    if not index.isValid():
        raise RuntimeError("The row to be clicked is not there.")
    view.scrollTo(index)
    place = view.visualRect(index).center()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(view.viewport(), left, none, place)
    if double:
        QTest.mouseDClick(view.viewport(), left, none, place)


def main() -> int:
    """Take the film and write it; return the exit code."""
    target = Path(sys.argv[1]).resolve()
    folder = tempfile.mkdtemp(prefix="backstep-film-")
    os.environ.update(
        BACKSTEP_CONFIG_DIR=f"{folder}/config",
        BACKSTEP_DATA_DIR=f"{folder}/data",
        XDG_CONFIG_HOME=f"{folder}/window",
    )
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    settings = load_settings()
    worker = Worker()
    worker.start()
    application = Application(theme="light")
    arguments = WindowArguments(task=TASK, preset="laser", llm="rules", chosen=True)
    lost: list[RuntimeError] = []

    def begin() -> None:
        (window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        window.showNormal()  # It begins maximised where the screen is small.
        window.resize(SIZE)
        window.actions_by_name["reset_layout"].trigger()  # The panels had the sizes for that screen.
        film = Film(window)
        try:
            play(window, film)
            film.save(target)
        except RuntimeError as error:
            lost.append(error)
        finally:
            window.close()

    QTimer.singleShot(0, begin)
    application.show_window(
        lambda: make_session(settings, application.host, application.screen, arguments, worker),
        worker,
        arguments,
    )
    for error in lost:
        print(error, file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
