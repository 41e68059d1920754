"""The least that a window with a driven page takes: Qt, a view and Playwright, and nothing of the program.

    python -m tests.benchmarks.floor_once STARTED URL [--beside]

Prints JSON: `shown_ms` from STARTED (seconds since the epoch) to the visible window, `ready_ms` to the first
answer of the loaded page over Playwright, `memory_mb` as window_once has it. The driver is imported and started
once the page has loaded, or --beside all else from the beginning.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from concurrent.futures import Future

from tests.benchmarks.memory import pss_mb


async def answer(port: int, loaded: "Future[None]", beside: bool) -> None:
    """Ask the page for its title once it is loaded."""
    if not beside:
        await asyncio.wrap_future(loaded)
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        await asyncio.wrap_future(loaded)
        browser = await playwright.chromium.connect_over_cdp(
            f"http://127.0.0.1:{port}", no_defaults=True, is_local=True
        )
        await browser.contexts[0].pages[0].title()


def main() -> None:
    started, url, beside = float(sys.argv[1]), sys.argv[2], "--beside" in sys.argv
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ["QTWEBENGINE_REMOTE_DEBUGGING"] = f"127.0.0.1:{port}"
    flags = f"--remote-allow-origins=http://127.0.0.1:{port} --log-level=3"
    os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = flags + (" --no-sandbox" if os.geteuid() == 0 else "")
    figures: dict[str, float] = {}
    loaded: Future[None] = Future()

    def drive() -> None:
        asyncio.run(answer(port, loaded, beside))
        figures["ready_ms"] = (time.time() - started) * 1000
        figures["memory_mb"] = pss_mb()
        QTimer.singleShot(0, application, application.quit)

    driver = threading.Thread(target=drive)
    driver.start()
    from PySide6.QtCore import QTimer
    from PySide6.QtWebEngineWidgets import QWebEngineView
    from PySide6.QtWidgets import QApplication, QMainWindow

    application = QApplication(sys.argv[:1])
    window, view = QMainWindow(), QWebEngineView()
    window.setCentralWidget(view)
    view.loadFinished.connect(lambda _: loaded.done() or loaded.set_result(None))
    view.load(url)
    window.resize(1280, 800)
    window.show()

    def look() -> None:
        if "shown_ms" not in figures and window.isVisible():
            figures["shown_ms"] = (time.time() - started) * 1000

    timer = QTimer(interval=5)
    timer.timeout.connect(look)
    timer.start()
    application.exec()
    driver.join()
    print(json.dumps(figures))
    sys.stdout.flush()
    os._exit(0)  # What Qt says about views that are left is of no interest.


if __name__ == "__main__":
    main()
