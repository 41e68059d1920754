"""Draws every screen onto a contact sheet, and lists what is wrong: ``python -m tests.gui.look.sheet OUTDIR [NAME …]``.

A name is that of a file of this folder, for all its screens, or of one screen, such as ``main_window.review``. Each
screen is also kept by itself, in both themes. ``--text 160`` draws with that text size in percent, ``--scale 2`` as on
a screen of double density, ``--size 1600x1000`` a window of that size, and ``--theme dark`` only that theme. With
``--all`` it draws them for each of `SETTINGS`, each in a folder of its own, and lists each fault once with where it is
seen.
"""

import argparse
import importlib
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from gui.shell.help import SECTIONS
from gui.theme.theme import TEXT_SIZES
from tests.gui.look import analyses
from tests.gui.look.judging import faults_of
from tests.gui.look.studio import Studio, stages_of

MODULES = (
    "main_window", "panels", "film", "dialogs", "editing", "fix", "branching", "ask_again", "palette", "attach",
    "evaluations", "library", "editor", "saving",
)  # fmt: skip
SETTINGS: dict[str, tuple[str, ...]] = {
    "1280x800-light": ("--theme", "light"),
    "1280x800-dark": ("--theme", "dark"),
    "1600x1000-light": ("--theme", "light", "--size", "1600x1000"),
    "900x600-dark": ("--theme", "dark", "--size", "900x600"),
    "double-light": ("--theme", "light", "--scale", "2"),
    "text-80-dark": ("--theme", "dark", "--text", "80"),
    "text-160-light": ("--theme", "light", "--text", "160"),
}
"""The screens, text sizes and themes that everything is drawn for, with the options of each."""
_ANALYSES = tuple(f"analyses.{name}" for name in analyses.STAGES)
_COLUMNS, _WIDTH, _HEIGHT, _HEAD = 5, 380, 240, 20
_AT_ONCE = 2


class Sheet:
    """The screens that were drawn, with what was found in each."""

    def __init__(self) -> None:
        self.stages = {
            f"{module}.{name}": stage
            for module in MODULES
            for name, stage in stages_of(importlib.import_module(f"tests.gui.look.{module}")).items()
        }
        self.drawn: dict[str, list[tuple[str, QImage]]] = {"light": [], "dark": []}
        self.faults: list[str] = []
        self._seen: set[str] = set()

    def names_of(self, words: Sequence[str]) -> list[str]:
        """Return the screens that are named, alone or with all of their file; raises KeyError for an unknown word."""
        every = [*self.stages, *_ANALYSES]
        found = []
        for word in words:
            chosen = [name for name in every if word in (name, name.partition(".")[0])]
            if not chosen:
                raise KeyError(word)
            found += chosen
        return found or every

    def draw_all(
        self, folder: Path, names: Sequence[str], themes: Sequence[str], size: QSize, text: int
    ) -> None:
        """Draw these screens in these themes, each into a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        application = QApplication.instance() or QApplication([])
        assert isinstance(application, QApplication)
        for theme in themes:
            for name in names:
                with tempfile.TemporaryDirectory() as data:
                    settings = QSettings(f"{data}/look.ini", QSettings.Format.IniFormat)
                    settings.setValue("theme", theme)
                    settings.setValue("text size", text)
                    self.draw(application, settings, size, name, str(folder / f"{name}-{theme}.png"))
                    # Without a loop that runs, nothing else deletes what was left for later.
                    application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
                    application.processEvents()
                print(f"{name}-{theme}.png")

    def draw_bench(self, settings: QSettings, size: QSize, name: str, file: str) -> None:
        """Draw a page of the analyses, which need a memory and no window."""
        bench = analyses.Bench(Path(settings.fileName()).parent, settings, size)
        analyses.STAGES[name.partition(".")[2]](bench)
        bench.settle()
        picture = bench.tabs.grab().toImage()
        picture.save(file)
        theme = str(settings.value("theme"))
        self.drawn[theme].append((name, picture))
        self.faults += [f"{name} ({theme}): {fault}" for fault in faults_of(bench.tabs, picture)]
        bench.close()

    def draw(self, application: QApplication, settings: QSettings, size: QSize, name: str, file: str) -> None:
        """Draw one screen."""
        if name in _ANALYSES:
            self.draw_bench(settings, size, name, file)
            return
        studio = Studio(application, settings, size)
        theme = str(settings.value("theme"))
        try:
            shown = self.stages[name](studio) or studio.window
            studio.settle()
            for widget in (shown, *shown.findChildren(QWidget)):
                if widget.isVisible():
                    self._seen.update(base.__name__ for base in type(widget).__mro__)
            picture = shown.grab().toImage()
            picture.save(file)
            self.drawn[theme].append((name, picture))
            self.faults += [f"{name} ({theme}): {fault}" for fault in faults_of(shown, picture)]
        except Exception as error:  # The others are drawn all the same.
            self.faults.append(f"{name} ({theme}): not drawn: {error!r}")
        studio.window.close()
        studio.window.deleteLater()

    def save(self, folder: Path) -> None:
        """Write a contact sheet for each theme, and the list of faults."""
        day = datetime.now(UTC).date()
        for theme, drawn in self.drawn.items():
            if not drawn:
                continue
            rows = ceil(len(drawn) / _COLUMNS)
            sheet = QImage(_COLUMNS * _WIDTH, _HEAD + rows * (_HEIGHT + _HEAD), QImage.Format.Format_RGB32)
            sheet.fill(QColor("#808080"))
            painter = QPainter(sheet)
            painter.setFont(QFont("sans-serif", 9))
            painter.drawText(8, 15, f"{len(drawn)} screens, {theme}, {day}")
            for at, (name, picture) in enumerate(drawn):
                left, top = at % _COLUMNS * _WIDTH, _HEAD + at // _COLUMNS * (_HEIGHT + _HEAD)
                painter.drawText(left + 4, top + 14, name)
                room = QSize(_WIDTH - 8, _HEIGHT - 8)
                small = picture.scaled(
                    room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
                )
                painter.drawImage(QRect(left + 4, top + _HEAD, small.width(), small.height()), small)
            painter.end()
            sheet.save(str(folder / f"sheet-{theme}.png"))
        if set(self.stages) <= {name for drawn in self.drawn.values() for name, _ in drawn}:
            self.faults += [f"{name}: no screen shows it" for name in SECTIONS if name not in self._seen]
        faults = list(dict.fromkeys(self.faults))
        (folder / "faults.txt").write_text("\n".join([f"{len(faults)} found, {day}", *faults, ""]))
        print(f"{len(faults)} faults are listed in {folder / 'faults.txt'}")


def draw_settings(folder: Path, stages: Sequence[str]) -> None:
    """Draw the stages, or all, for each of `SETTINGS`, and list what was found with where."""

    def draw(name: str) -> str:
        command = [sys.executable, "-m", "tests.gui.look.sheet", folder / name, *stages, *SETTINGS[name]]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        print(name, "drawn" if ended.returncode == 0 else f"ended with {ended.returncode}", flush=True)
        return "" if ended.returncode == 0 else f"not drawn to its end: {ended.stderr.strip()[-300:]}"

    places: dict[str, list[str]] = defaultdict(list)
    first: dict[str, str] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for name, problem in zip(SETTINGS, pool.map(draw, SETTINGS), strict=True):
            listed = folder / name / "faults.txt"
            lines = listed.read_text("utf-8").splitlines()[1:] if listed.exists() else []
            for line in filter(None, [problem, *lines]):
                fault = re.sub(r" \((light|dark)\):", ":", line, count=1)
                key = re.sub(r"[\d.]+", "#", fault)  # The same fault has other figures in other sizes.
                first.setdefault(key, fault)
                places[key].append(name)
    lines = [f"{first[key]} [{', '.join(names)}]" for key, names in sorted(places.items())]
    (folder / "faults.txt").write_text(
        "\n".join([f"{len(lines)} found, {datetime.now(UTC).date()}", *lines, ""])
    )
    print(f"{len(lines)} faults are listed in {folder / 'faults.txt'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--text", type=int, choices=TEXT_SIZES, default=100, help="percent")
    parser.add_argument("--scale", default="1", help="device pixels for each pixel")
    parser.add_argument("--size", default="1280x800", help="of the window")
    parser.add_argument("--theme", choices=("light", "dark"), help="both where none")
    parser.add_argument("--all", action="store_true", help="for all sizes, text sizes and themes")
    given = parser.parse_intermixed_args()
    sheet = Sheet()
    try:
        names = sheet.names_of(given.names)
    except KeyError as error:
        parser.error(f"There is no screen {error}.")
    if given.all:
        draw_settings(given.folder, given.names)
        return
    os.environ["QT_SCALE_FACTOR"] = given.scale
    themes = (given.theme,) if given.theme else ("light", "dark")
    size = QSize(*(int(part) for part in given.size.split("x")))
    sheet.draw_all(given.folder, names, themes, size, given.text)
    sheet.save(given.folder)


if __name__ == "__main__":
    main()
