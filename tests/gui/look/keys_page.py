"""Writes the commands and panels to the documentation's page of keys: `python -m tests.gui.look.keys_page`."""

import os
import tempfile
from collections.abc import Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gui.shell.command_set import plain
from gui.shell.docks import PANELS
from gui.shell.help import DOCS
from gui.shell.main_window import MainWindow
from gui.widgets.commands import MENU_BAR, SUBMENUS
from tests.gui.stand_ins import DrawnPage

PAGE = DOCS / "keys.md"
LAST = "## In panels and windows\n"
"""The heading after which the page is written by hand."""
_FIRST = """# Keys

Every command of the window, by its menu. Shift+F1 lists these keys with a filter, and the
[command palette](window.md#command-palette) finds commands by their words.
"""


def lines(window: MainWindow) -> Iterator[str]:
    """Yield the lines of the page that say what the commands and panels say."""
    yield _FIRST
    for menu in MENU_BAR:
        yield f"## {plain(menu)}\n\n| Key | Command | What it does |\n|---|---|---|"
        for bound in window.commands:
            record = bound.record
            if menu in (record.menu, SUBMENUS.get(record.menu, ("",))[0]):
                title = plain(record.title)
                if record.menu in SUBMENUS:
                    title = f"{plain(record.menu)}: {title}"
                keys = ", ".join(record.key.split(" or "))
                yield f"| {keys} | [{title}]({bound.help}) | {record.words} |"
        yield ""
    yield "## Panels\n"
    yield "The key of a panel shows it and moves the focus there. Pressed again, it folds or hides the panel.\n"
    yield "| Key | Panel |\n|---|---|"
    for place in PANELS:
        yield f"| {place.key} | [{place.name}]({window.place(place.name).help}) |"
    yield ""


def main() -> None:
    _application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(DrawnPage(), QSettings(f"{folder}/keys.ini", QSettings.Format.IniFormat))
        _old, heading, by_hand = PAGE.read_text(encoding="utf-8").partition(LAST)
        PAGE.write_text("\n".join(lines(window)) + f"\n{heading}{by_hand}", encoding="utf-8")


if __name__ == "__main__":
    main()
