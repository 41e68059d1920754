"""The desktop application: starts and ends Qt, the embedded browser and the window in the right order."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.browser.screen import Screen
from core.debugger.features import FEATURES, Features
from core.schema.signal import Signal
from gui.live.engine import collect_garbage_here, loud_engine, prepare_engine, quiet_engine
from gui.theme.theme import Choice

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from core.cli.window_arguments import WindowArguments
    from core.debugger.session import Session
    from core.debugger.worker import Worker
    from gui.shell.main_window import MainWindow

_CLOSE_SECONDS = 15.0
_PAGE_SECONDS = 3.0
"""How long the features leave this thread and the processor to the page that is being opened."""
_LOOK_MS = 20
_PAINTED_MS = 15
"""By then the window is painted: starting the engine blocks this thread for a while."""


def install_features(window: "MainWindow", services: Any) -> Iterator[tuple[str, "QObject"]]:
    """Install every feature and yield its name and controller; `services` has the feature's service by its name."""
    for name in FEATURES:
        yield name, import_module(f"gui.{name}.controller").install(window, services[name])


class Application:
    """Owns the QApplication and the live page. Create one before any other Qt object."""

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
        self._garbage, self._collecting = collect_garbage_here()
        self._collecting.stop()  # Before the window has started there is little garbage, and collecting it takes long.
        from gui.live.embedded_host import EmbeddedHost
        from gui.live.live_area import LiveArea
        from gui.live.page_area import PageArea
        from gui.live.screen_area import ScreenArea

        embedded = PageArea(accept_dialogs=accept_dialogs, profiles=profiles)
        self.host = EmbeddedHost(embedded, endpoint, allowed_profiles)
        self.screen = Screen()
        """Where a browser other than the embedded one is shown."""
        self.area = LiveArea(embedded, ScreenArea(self.screen))

    def show_window(
        self,
        make_session: "Callable[[], Session]",
        worker: "Worker",
        opening: "WindowArguments",
        *,
        embedded: bool = True,
    ) -> int:
        """Show the window until it is closed; return the exit code.

        The session is created and starts in the worker's thread while the window is already visible. The engine of
        the browser is started if it is the `embedded` one. Raises any exception of `make_session`.
        """
        import shiboken6
        from PySide6.QtCore import QSettings, QTimer

        from gui.shell.interrupts import closing_on_signals
        from gui.shell.main_window import MainWindow
        from gui.widgets.relay import Relay

        window = MainWindow(self.area, QSettings())
        window.theme.prefer(self._theme)
        window.show_at_first()
        made: Signal[Session] = Signal()
        relay = Relay(made, parent=window)
        relay.received.connect(lambda session: self._begin(window, session, opening))
        window.closed.connect(relay.close)
        making: Future[Session] = Future()

        async def make() -> None:
            try:
                session = make_session()
            except BaseException as error:
                making.set_exception(error)
                QTimer.singleShot(0, self._qt, self._qt.quit)
                return
            making.set_result(session)
            session.start()
            made.send(session)

        worker.post(make())
        if embedded:
            QTimer.singleShot(_PAINTED_MS, self._qt, self.host.prepare)
        with closing_on_signals(window, self._qt):
            code = int(self._qt.exec())
            try:
                self._end(making.result().close())
            finally:
                worker.stop()
            self.area.embedded.close_pages()
            shiboken6.delete(window)
            loud_engine()
        return code

    def _begin(self, window: "MainWindow", session: "Session", opening: "WindowArguments") -> None:
        """Connect the window and the session, and open what the window starts with."""
        from core.cli.window import print_attached
        from gui.widgets.remembered import OpenedTask

        features = Features(session)
        window.begin(session)
        window.restore_choices(preset=opening.preset, llm=opening.llm)
        opens_page = opening.attach is None and opening.run is None
        if opens_page:
            window.tasks.open_task(
                OpenedTask(
                    task=opening.task, seed=opening.seed, url=opening.url, instruction=opening.instruction
                )
            )

        def go_on() -> None:
            session.announce()
            if opening.attach is not None:
                print_attached(features["attach"].changed)
                features["attach"].attach(opening.attach)
            elif opening.run is not None:
                window.show_run(opening.run, opening.step)
            if not opening.chosen:
                window.tasks.welcome_at_first_start()

        self._install_beside(window, features, go_on, seconds=_PAGE_SECONDS if opens_page else 0)

    def _install_beside(
        self, window: "MainWindow", features: Features, then: Callable[[], None], *, seconds: float
    ) -> None:
        """Install the features one by one, when the page is there, or after a number of seconds without it."""
        from PySide6.QtCore import QTimer

        left = install_features(window, features)
        timer = QTimer(window, interval=_LOOK_MS)
        window.closed.connect(timer.stop)
        latest = time.monotonic() + seconds

        def install_next() -> None:
            if window.view.mode not in ("waiting", "ended", "failed") and time.monotonic() < latest:
                return
            timer.setInterval(0)
            if next(left, None) is None:
                timer.stop()
                self._garbage.keep_all()
                self._collecting.start()
                then()

        timer.timeout.connect(install_next)
        timer.start()

    def _end(self, closing: "Future[None]") -> None:
        # This thread serves the browser, and continues to do so while the session releases it.
        deadline = time.monotonic() + _CLOSE_SECONDS
        while not closing.done() and time.monotonic() < deadline:
            self._qt.processEvents()
            time.sleep(0.005)
