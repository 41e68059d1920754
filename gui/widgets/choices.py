"""Combo boxes whose entries have a title and a value, and one that shrinks when space is short."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QWidget

from core.debugger.catalogue import PresetOption
from core.schema.messages import LLMChoice
from gui.widgets.words import labelled


def titled_box(
    choices: Iterable[tuple[str, object]], name: str = "", tooltip: str = "", parent: QWidget | None = None
) -> QComboBox:
    """Return a combo box with titles, each of which stands for a value."""
    box = labelled(QComboBox(parent), name, tooltip)
    for title, value in choices:
        box.addItem(title, value)
    return box


def choice_box(name: str, tooltip: str, *, letters: int = 0, parent: QWidget | None = None) -> QComboBox:
    """Return a combo box that fills the available width, with a minimum number of characters."""
    box = labelled(QComboBox(parent), name, tooltip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
    return box


def offer_choices(
    box: QComboBox, choices: Sequence[PresetOption | LLMChoice], first: str | None = None
) -> None:
    """Offer these after `first`, which stands for an empty name; keep the current choice or select the first."""
    chosen = box.currentData()
    with QSignalBlocker(box):
        box.clear()
        if first is not None:
            box.addItem(first, "")
        for choice in choices:
            box.addItem(choice.title, choice.name)
            box.setItemData(box.count() - 1, choice.description, Qt.ItemDataRole.ToolTipRole)
    box.setCurrentIndex(max(0, box.findData(chosen)))
