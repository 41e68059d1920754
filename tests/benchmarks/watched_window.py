"""The program in this process, as its command line starts it, with its window looked at on a timer."""

import sys
from collections.abc import Callable
from typing import Any

from gui import first_import
from main import entry


def run_watched(words: list[str], look: Callable[[Any], None], every_ms: int) -> None:
    """Run the program with these words until its window is closed; `look` is called with the `MainWindow`.

    Raises SystemExit, as the program does.
    """
    sys.argv = ["main.py", *words]
    import_qt = first_import.import_qt

    def import_and_watch() -> None:
        # Not before: what is imported ahead of Qt costs less, and the program would not start as it does.
        import_qt()
        from gui.application import Application

        show = Application.show_window

        def show_watched(*arguments: Any, **options: Any) -> int:
            from PySide6.QtCore import QTimer
            from PySide6.QtWidgets import QApplication

            def on_time() -> None:
                windows = [
                    one for one in QApplication.topLevelWidgets() if type(one).__name__ == "MainWindow"
                ]
                if windows:
                    look(windows[0])

            timer = QTimer()
            timer.timeout.connect(on_time)
            timer.start(every_ms)
            return show(*arguments, **options)

        Application.show_window = show_watched  # type: ignore[method-assign]

    first_import.import_qt = import_and_watch
    entry()
