"""Draws every screen onto a contact sheet, and lists what is wrong: ``python -m tests.gui.look.sheet OUTDIR``.

Options are those of the other scripts of this folder. Each screen is also kept by itself. With ``--all`` it draws them
for each of `SETTINGS`, each in a folder of its own, and lists each fault once with where it is seen.
"""

import importlib
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from PySide6.QtCore import QRect, QSettings, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from gui.shell.help import SECTIONS
from tests.gui.look import analyses
from tests.gui.look.judging import faults_of
from tests.gui.look.studio import Studio, draw_all, stages_of

MODULES = (
    "main_window", "panels", "film", "dialogs", "documents", "editing", "fix", "branching", "ask_again", "palette",
    "attach", "evaluations", "library", "editor", "saving",
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


if __name__ == "__main__":
    names = [argument for argument in sys.argv[1:] if argument != "--all"]
    if len(names) < len(sys.argv) - 1:
        draw_settings(Path(names[0]), names[1:])
    else:
        sheet = Sheet()
        draw_all((*sheet.stages, *_ANALYSES), sheet.draw)
        sheet.save(Path(next(name for name in names if not name.startswith("-"))))
