"""Readies QtWebEngine for this process, at import: it must be told its port and loaded before any QApplication.

Imported by the conftest of the window's tests, so that it comes first whatever is selected.
"""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from gui.live.engine import prepare_engine

ENDPOINT = prepare_engine()

import PySide6.QtWebEngineWidgets  # noqa: E402, F401
