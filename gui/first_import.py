"""Qt's first import, which has special rules; importing this module does not load Qt."""

import sys
from typing import Any


def import_qt() -> None:
    """Import Qt while no other thread imports a module, because Qt looks through all loaded modules."""
    import PySide6.QtCore  # noqa: F401

    # WORKAROUND: Qt reads the source of every module imported after it, to see whether it is written in snake_case
    # (6.11). None here is, and it takes a tenth of the start.
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = _uses_none


def _uses_none(_module: object) -> bool:
    return False
