"""The program itself, with separate folders and driven by a script: with the built-in LLM and real pages."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence

from PIL import Image
from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication

from core.cli.window import make_session
from core.cli.window_arguments import WindowArguments
from core.debugger.attach.views import AttachRequest
from core.debugger.worker import Worker
from core.settings.settings import load_settings
from gui.application import Application
from gui.shell.main_window import MainWindow
from gui.theme.theme import Theme

SIZE = QSize(1280, 800)
PASSING = 120
"""Milliseconds between two checks of a condition."""
PATIENCE = 120_000
_MARKS = ("agent", "person", "remedy", "good", "bad")
"""Colours that are kept unchanged."""


def run_program(
    task: str, preset: str, play: Callable[[MainWindow], None], *, attach: AttachRequest | None = None
) -> int:
    """Start the program with a task or an agent, let `play` use its window, and close it; return the exit code.

    A `RuntimeError` of `play` is printed, and the code is then 1.
    """
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
    arguments = WindowArguments(task=task, preset=preset, llm="rules", chosen=True, attach=attach)
    lost: list[RuntimeError] = []

    def begin() -> None:
        (window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        window.showNormal()  # It starts maximised if the screen is small.
        window.resize(SIZE)
        window.actions_by_name["reset_layout"].trigger()  # The panels had the sizes for that screen.
        try:
            play(window)
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


def as_image(picture: QImage) -> Image.Image:
    """Return a Qt picture as a Pillow image."""
    rgb = picture.convertToFormat(QImage.Format.Format_RGB888)
    size = rgb.width(), rgb.height()
    return Image.frombuffer("RGB", size, rgb.constBits(), "raw", "RGB", rgb.bytesPerLine(), 1)


def in_few_colours(images: Sequence[Image.Image], theme: Theme) -> list[Image.Image]:
    """Return images with one palette: the files are small, and unchanged parts of a film take no space."""
    seen: Counter[bytes] = Counter()
    for image in images:
        seen.update({bytes(colour): many for many, colour in image.getcolors(1 << 24)})
    # If colours were counted only by area, few would be left for texts and marks.
    some = b"".join(colour * round(many**0.5) for colour, many in seen.items())
    palette = Image.frombytes("RGB", (len(some) // 3, 1), some).quantize(240)
    marks = [theme.colour(name).getRgb()[:3] for name in _MARKS]
    palette.putpalette([*(palette.getpalette() or [])[: 240 * 3], *(part for mark in marks for part in mark)])
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


def at_review(window: MainWindow, step: int) -> bool:
    """Return whether the action of a step waits to be carried out."""
    rests = window.view.mode == "waiting" and window.view.phase == "review"
    return rests and window.view.step == step and window.action.editable


def click(view: QAbstractItemView, index: QModelIndex, *, double: bool = False) -> None:
    """Click a row with the mouse."""
    if not index.isValid():
        raise RuntimeError("The row to be clicked is not there.")
    view.scrollTo(index)
    place = view.visualRect(index).center()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(view.viewport(), left, none, place)
    if double:
        QTest.mouseDClick(view.viewport(), left, none, place)
