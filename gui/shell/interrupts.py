"""Closes the window on Ctrl+C in the terminal and on SIGTERM, even if Qt's thread does not answer."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QTimer

from core.setup import EXIT_INTERRUPTED
from gui.shell.main_window import MainWindow


@contextmanager
def closing_on_signals(window: MainWindow, application: QCoreApplication) -> Iterator[None]:
    """Let the first Ctrl+C close the window as its button does, the second without a question, the third at once.

    SIGTERM counts as a second one.
    """
    ours, systems = socket.socketpair()
    systems.setblocking(False)

    def close() -> None:
        print("Closing. Press Ctrl+C again to close without a question.", file=sys.stderr, flush=True)
        window.close()

    def close_anyway() -> None:
        window.closing.disconnect()
        window.close()
        application.exit(EXIT_INTERRUPTED)

    def listen() -> None:
        came = 0
        with ours:
            while number := ours.recv(1):
                came = max(came + 1, 2 if number[0] == signal.SIGTERM else 1)
                if came > 2:
                    os._exit(EXIT_INTERRUPTED)
                QTimer.singleShot(0, application, close if came == 1 else close_anyway)

    before: dict[int, Callable[..., object] | int | None] = {
        number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)
    }
    fd = signal.set_wakeup_fd(systems.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=listen, name="backstep signals", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd)
        for one, handler in before.items():
            signal.signal(one, handler)
        systems.close()
