"""Rows, columns and splitters in one call each."""

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSplitter, QVBoxLayout, QWidget

Content = QWidget | QLayout | int
"""A number is an empty stretch of this share."""
Margins = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""
AnyBox = TypeVar("AnyBox", bound=QBoxLayout)


def in_column(
    owner: QWidget | None,
    *contents: Content | tuple[QWidget | QLayout, int],
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QVBoxLayout:
    """Lay contents under each other, in a widget or for another layout; one with a number takes this share of room."""
    return _filled(QVBoxLayout(owner) if owner is not None else QVBoxLayout(), contents, margins, spacing)


def in_row(
    owner: QWidget | None,
    *contents: Content | tuple[QWidget | QLayout, int],
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QHBoxLayout:
    """Lay contents beside each other, as `in_column` does under each other."""
    return _filled(QHBoxLayout(owner) if owner is not None else QHBoxLayout(), contents, margins, spacing)


def splitter(
    direction: Qt.Orientation, *contents: QWidget, sizes: tuple[int, ...], stretch: tuple[int, ...] = ()
) -> QSplitter:
    """Return widgets with movable lines between them, none of which can be closed; `sizes` in pixels."""
    made = QSplitter(direction)
    for content in contents:
        made.addWidget(content)
    for at, share in enumerate(stretch):
        made.setStretchFactor(at, share)
    made.setSizes(list(sizes))
    made.setChildrenCollapsible(False)
    return made


def _filled(
    box: AnyBox,
    contents: tuple[Content | tuple[QWidget | QLayout, int], ...],
    margins: Margins,
    spacing: int | None,
) -> AnyBox:
    box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for content in contents:
        item, share = content if isinstance(content, tuple) else (content, 0)
        if isinstance(item, int):
            box.addStretch(item)
        elif isinstance(item, QWidget):
            box.addWidget(item, share)
        else:
            box.addLayout(item, share)
    return box
