"""The embedded browser without a window: for a run from the command line."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from core.browser.host import BrowserHost
from core.schema.errors import Interrupted

T = TypeVar("T")
SIZE = (1000, 780)


def run_offscreen(
    work: Callable[[BrowserHost], Awaitable[T]], *, accept_dialogs: bool = True, profiles: str = ""
) -> T:
    """Run `work` in a worker's loop while Qt serves the browser in this thread; returns what it returns.

    The first interruption cancels the work, which then ends in order; raises
    Interrupted where it returns nothing, and whatever `work` raises.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from gui.live.engine import loud_engine, prepare_engine, quiet_engine

    endpoint = prepare_engine()
    quiet_engine()
    import shiboken6
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from gui.live.embedded_host import EmbeddedHost
    from gui.live.page_area import PageArea

    application = QApplication.instance() or QApplication(sys.argv[:1])
    area = PageArea(accept_dialogs=accept_dialogs, profiles=profiles)
    area.resize(*SIZE)
    area.show()
    host = EmbeddedHost(area, endpoint)
    outcome: dict[str, Any] = {}
    loop = asyncio.new_event_loop()
    task: list[asyncio.Task[T]] = []

    async def begin() -> T:
        current: asyncio.Task[Any] | None = asyncio.current_task()
        assert current is not None
        task.append(current)
        return await work(host)

    def serve() -> None:
        try:
            outcome["result"] = loop.run_until_complete(begin())
        except asyncio.CancelledError:
            outcome["error"] = Interrupted("Interrupted.")
        except BaseException as error:
            outcome["error"] = error
        finally:
            loop.close()
            QTimer.singleShot(0, application, application.quit)

    def interrupt(*_: object) -> None:
        if task and not loop.is_closed():
            loop.call_soon_threadsafe(task[0].cancel)

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    # Python looks at signals only between its own instructions, and Qt's loop runs none.
    tick = QTimer()
    tick.timeout.connect(lambda: None)
    tick.start(100)
    thread = threading.Thread(target=serve, name="backstep worker", daemon=True)
    thread.start()
    application.exec()
    thread.join(10)
    for number, handler in previous.items():
        signal.signal(number, handler)
    tick.stop()
    area.close_pages()
    shiboken6.delete(area)
    loud_engine()
    if "error" in outcome:
        raise outcome["error"]
    return cast(T, outcome["result"])
