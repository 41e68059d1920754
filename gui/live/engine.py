"""Settings that QtWebEngine needs before a QApplication exists; and the embedded browser without a window.

Importing this module does not load Qt.
"""

import asyncio
import os
import secrets
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, cast

from core.browser.driver_process import begin_driver, drop_driver
from core.browser.host import free_port, runs_as_root
from core.schema.errors import Interrupted
from core.system.memory import GarbageCollector
from gui.first_import import import_qt

if TYPE_CHECKING:
    from PySide6.QtCore import QTimer

    from core.browser.host import BrowserHost

T = TypeVar("T")
_OFFSCREEN_SIZE = (1000, 780)
_COLLECT_MS = 100
_HARMLESS = (
    "This plugin does not support",
    "QRhiGles2",
    "Failed to create RHI",
    "QVulkanInstance",
    "GBM is not supported",
    "Remote debugging server started",
    "Path override failed",
    "GPUInfo not initialized",
    "Release of profile requested but WebEnginePage still not deleted",
)


def prepare_engine() -> str:
    """Choose a free loopback port for the engine's protocol and return its address.

    Call it once, before QApplication. The port is bound to 127.0.0.1, and WebSockets of pages to it are refused
    because of their origin.
    """
    # The worker thread runs Python while Qt serves the page. With the default of 5 ms, each call between them waits
    # that long.
    sys.setswitchinterval(0.0005)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    flags = [
        os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", ""),
        # Else the engine allows all origins; of this one no page can be.
        f"--remote-allow-origins=http://{secrets.token_hex(16)}.invalid",
        # A page that has not painted yet would lose its first clicks.
        "--allow-pre-commit-input",
        # For half a second, screenshots of a page without text would show the previous page.
        "--disable-features=PaintHolding",
        "--disable-background-networking",
        "--log-level=3",
        "--disable-component-update",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
    ]
    if runs_as_root():
        flags.append("--no-sandbox")
        print("Running as root: pages run without the browser's sandbox.", file=sys.stderr)
    os.environ["QTWEBENGINE_REMOTE_DEBUGGING"] = f"127.0.0.1:{port}"
    os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = " ".join(flag for flag in flags if flag)
    return address


def quiet_engine() -> None:
    """Keep pages' console messages and Qt's warnings about missing graphics cards out of the terminal."""
    from PySide6.QtCore import QLoggingCategory, QMessageLogContext, QtMsgType, qInstallMessageHandler

    # The engine's main thread must not run Python for each console line: a page can write any number of them.
    QLoggingCategory.setFilterRules("js=false")

    def handle(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if not message.startswith(_HARMLESS):
            print(message, file=sys.stderr)

    qInstallMessageHandler(handle)


def loud_engine() -> None:
    """Remove the message handler: Qt still writes messages when the interpreter is gone."""
    from PySide6.QtCore import qInstallMessageHandler

    qInstallMessageHandler(None)


def collect_garbage_here() -> "tuple[GarbageCollector, QTimer]":
    """Collect cyclic garbage only in this thread, as long as the returned objects exist and Qt's loop runs."""
    from PySide6.QtCore import QTimer

    collector = GarbageCollector()
    timer = QTimer(interval=_COLLECT_MS)
    timer.timeout.connect(collector.collect)
    timer.start()
    return collector, timer


def run_offscreen(
    work: "Callable[[BrowserHost], Awaitable[T]]",
    *,
    accept_dialogs: bool = True,
    profiles: str = "",
    allowed_profiles: Iterable[str] = (),
) -> T:
    """Run `work` in a worker's loop while Qt serves the browser in this thread; return its result.

    The first interrupt cancels the work, which then ends cleanly. Raises Interrupted if it returns no result, and
    any exception of `work`.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    endpoint = prepare_engine()
    outcome: dict[str, Any] = {}
    made: Future[BrowserHost] = Future()
    loop = asyncio.new_event_loop()
    task: list[asyncio.Task[T]] = []

    async def begin() -> T:
        current: asyncio.Task[Any] | None = asyncio.current_task()
        assert current is not None
        task.append(current)
        await begin_driver()  # The driver process starts while Qt loads.
        try:
            return await work(await asyncio.wrap_future(made))
        finally:
            await drop_driver()

    def serve() -> None:
        try:
            # Its end cancels what is left, such as a picture that nobody waits for any more.
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                outcome["result"] = runner.run(begin())
        except asyncio.CancelledError:
            outcome["error"] = Interrupted("Interrupted.")
        except BaseException as error:
            outcome["error"] = error
        finally:
            QTimer.singleShot(0, application, application.quit)

    import_qt()
    import shiboken6
    from PySide6.QtCore import QTimer

    thread = threading.Thread(target=serve, name="backstep worker", daemon=True)
    thread.start()
    quiet_engine()
    from PySide6.QtWidgets import QApplication

    from gui.live.embedded_host import EmbeddedHost
    from gui.live.page_area import PageArea

    application = QApplication.instance() or QApplication(sys.argv[:1])
    # Python handles signals only between its own instructions. The timer makes it run some while Qt's loop runs.
    collector, timer = collect_garbage_here()
    area = PageArea(accept_dialogs=accept_dialogs, profiles=profiles)
    area.resize(*_OFFSCREEN_SIZE)
    area.show()
    host = EmbeddedHost(area, endpoint, allowed_profiles)
    host.prepare()

    def interrupt(*_: object) -> None:
        if task and not loop.is_closed():
            loop.call_soon_threadsafe(task[0].cancel)

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    collector.keep_all()  # Objects that were created before the work begins are permanent.
    made.set_result(host)
    application.exec()
    thread.join(10)
    for number, handler in previous.items():
        signal.signal(number, handler)
    timer.stop()
    area.close_pages()
    collector.close()
    shiboken6.delete(area)
    loud_engine()
    if "error" in outcome:
        raise outcome["error"]
    return cast(T, outcome["result"])
