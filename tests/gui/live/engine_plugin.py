"""Prepares QtWebEngine at import: its port must be set and it must be loaded before any QApplication.

Imported by the conftest of the window's tests, so that it runs first regardless of the selected tests.
"""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from gui.live.engine import prepare_engine

ENDPOINT = prepare_engine()

import PySide6.QtWebEngineWidgets  # noqa: E402, F401
