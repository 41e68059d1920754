"""What QtWebEngine must be told before there is a QApplication: its debugging port and its flags."""

import os
import random
import socket
import sys

from core.schema.errors import BrowserError

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

    Call once, before QApplication. The port is bound to 127.0.0.1, and pages'
    own WebSockets to it are refused by their origin.
    """
    # The worker thread computes in Python while Qt serves the page: with the usual 5 ms a call from one
    # to the other waits that long.
    sys.setswitchinterval(0.0005)
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    flags = [
        os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", ""),
        f"--remote-allow-origins={address}",
        # A page that has shown nothing yet would lose its first clicks.
        "--allow-pre-commit-input",
        # And one without words would be pictured as the page before it for half a second.
        "--disable-features=PaintHolding",
        "--disable-background-networking",
        "--log-level=3",
        "--disable-component-update",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")
        print("Running as root: pages run without the browser's sandbox.", file=sys.stderr)
    os.environ["QTWEBENGINE_REMOTE_DEBUGGING"] = f"127.0.0.1:{port}"
    os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = " ".join(flag for flag in flags if flag)
    return address


def _free_port() -> int:
    """Return a free port that stays free until the engine takes it, which is when its first page is made.

    The system gives out ports from 32768 (Linux) or 49152 upwards by itself:
    one from below is taken only by who asks for just that one.
    """
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise BrowserError("No free port was found for the embedded browser's protocol; close other programs.")


def quiet_engine() -> None:
    """Keep Qt's remarks about a machine without a graphics card off the terminal; all else is shown."""
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

    def handle(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if not message.startswith(_HARMLESS):
            print(message, file=sys.stderr)

    qInstallMessageHandler(handle)


def loud_engine() -> None:
    """Take the handler away again: Qt still speaks when the interpreter is gone."""
    from PySide6.QtCore import qInstallMessageHandler

    qInstallMessageHandler(None)
