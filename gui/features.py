"""Installs the features of the debugger's table in the main window."""

from importlib import import_module
from typing import Any

from PySide6.QtCore import QObject

from core.debugger.features import FEATURES
from gui.shell.main_window import MainWindow


def install_features(window: MainWindow, services: Any) -> dict[str, QObject]:
    """Install every feature and return its controller by its name; `services` has the feature's service by its name."""
    return {
        name: import_module(f"gui.{name}.controller").install(window, services[name]) for name in FEATURES
    }
