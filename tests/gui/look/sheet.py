"""Draws every screen onto a contact sheet, and lists what is wrong: ``python -m tests.gui.look.sheet OUTDIR``.

Options are those of the other scripts of this folder. Each screen is also kept by itself.
"""

import importlib
import sys
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from PySide6.QtCore import QRect, QSettings, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from tests.gui.look.judging import faults_of
from tests.gui.look.studio import Studio, draw_all, stages_of

MODULES = (
    "main_window", "panels", "film", "dialogs", "documents", "editing", "fix", "branching", "ask_again", "palette",
    "attach", "evaluations", "library", "editor", "saving",
)  # fmt: skip
_COLUMNS, _WIDTH, _HEIGHT, _HEAD = 5, 380, 240, 20


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

    def draw(self, application: QApplication, settings: QSettings, size: QSize, name: str, file: str) -> None:
        """Draw one screen."""
        studio = Studio(application, settings, size)
        theme = str(settings.value("theme"))
        try:
            shown = self.stages[name](studio) or studio.window
            studio.settle()
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
        faults = list(dict.fromkeys(self.faults))
        (folder / "faults.txt").write_text("\n".join([f"{len(faults)} found, {day}", *faults, ""]))
        print(f"{len(faults)} faults are listed in {folder / 'faults.txt'}")


if __name__ == "__main__":
    sheet = Sheet()
    draw_all(sheet.stages, sheet.draw)
    sheet.save(Path(next(one for one in sys.argv[1:] if not one.startswith("-"))))
