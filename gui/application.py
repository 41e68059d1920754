"""The desktop application: Qt, the embedded browser and the window, begun and ended in the right order."""

import sys
import time
from collections.abc import Iterable
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.browser.screen import Screen
from core.debugger.features import FEATURES, Features
from gui.live.engine import collect_garbage_here, loud_engine, prepare_engine, quiet_engine
from gui.theme.theme import Choice

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from core.cli.window import WindowArguments
    from core.debugger.session import Session
    from gui.shell.main_window import MainWindow

_CLOSE_SECONDS = 15.0


def install_features(window: "MainWindow", services: Any) -> dict[str, "QObject"]:
    """Install every feature and return its controller by its name; `services` has the feature's service by its name."""
    return {
        name: import_module(f"gui.{name}.controller").install(window, services[name]) for name in FEATURES
    }


class Application:
    """Owns the QApplication and the live page; make one, before anything else of Qt."""

    def __init__(
        self,
        *,
        theme: Choice = "system",
        accept_dialogs: bool = True,
        profiles: str = "",
        allowed_profiles: Iterable[str] = (),
    ) -> None:
        endpoint = prepare_engine()
        quiet_engine()
        from PySide6.QtWidgets import QApplication

        self._qt = QApplication.instance() or QApplication(sys.argv[:1])
        self._qt.setApplicationName("backstep")
        self._qt.setOrganizationName("backstep")
        self._theme = theme
        self._garbage = collect_garbage_here()
        from gui.live.embedded_host import EmbeddedHost
        from gui.live.live_area import LiveArea
        from gui.live.page_area import PageArea
        from gui.live.screen_area import ScreenArea

        embedded = PageArea(accept_dialogs=accept_dialogs, profiles=profiles)
        self.host = EmbeddedHost(embedded, endpoint, allowed_profiles)
        self.screen = Screen()
        """Where another browser than the embedded one is shown."""
        self.area = LiveArea(embedded, ScreenArea(self.screen))

    def show_window(self, session: "Session", features: Features, opening: "WindowArguments") -> int:
        """Show the window on a session until it is closed; returns the exit code."""
        import shiboken6
        from PySide6.QtCore import QSettings

        from core.cli.window import print_addresses
        from gui.shell.main_window import MainWindow
        from gui.widgets.remembered import OpenedTask

        session.start()  # The browser's driver starts in the worker while the window is built.
        window = MainWindow(session, self.area, QSettings())
        if self._theme != "system":
            window.theme.choose(self._theme)
        install_features(window, features)
        window.show_at_first()
        session.announce()
        window.restore_choices(preset=opening.preset, llm=opening.llm)
        task = OpenedTask(
            task=opening.task, seed=opening.seed, url=opening.url, instruction=opening.instruction
        )
        if opening.attach is not None:
            if not opening.attach.command:
                print_addresses(features["attach"].changed)
            features["attach"].attach(opening.attach)
        elif opening.run is not None:
            window.show_run(opening.run, opening.step)
        else:
            window.tasks.open_task(task)
        if not opening.chosen:
            window.tasks.welcome_at_first_start()
        code = int(self._qt.exec())
        self._end(session.close())
        session.stop_worker()
        self.area.embedded.close_pages()
        shiboken6.delete(window)
        loud_engine()
        return code

    def _end(self, closing: "Future[None]") -> None:
        # The browser is served by this thread: it goes on serving while the session lets go of it.
        deadline = time.monotonic() + _CLOSE_SECONDS
        while not closing.done() and time.monotonic() < deadline:
            self._qt.processEvents()
            time.sleep(0.005)
