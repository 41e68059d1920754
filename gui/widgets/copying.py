"""Formats for copying rows: the text that they show, JSON, and formats that a panel adds."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTableView

from core.schema.observation import Element
from core.schema.record import Record


@dataclass(frozen=True)
class CopyEntry:
    """Another format in which a row can be copied."""

    text: str
    """The menu text, for example ``Copy as cURL``."""
    what: str = ""
    why_not: str = ""
    """Why there is nothing to copy."""


def to_clipboard(lines: Sequence[str]) -> None:
    # A clipboard ends its text at the first NUL.
    QApplication.clipboard().setText("\n".join(lines).replace("\x00", "\u2400"))


def chosen_rows(view: QAbstractItemView, index: QModelIndex) -> list[QModelIndex]:
    """Return the selected rows from the top if the one at `index` is among them, otherwise only that one."""
    selection = view.selectionModel()
    found = (
        {row.siblingAtColumn(0) for row in selection.selectedIndexes()} if selection is not None else set()
    )
    first = index.siblingAtColumn(0)
    if first not in found:
        return [first]
    return sorted(found, key=_place)


def _place(index: QModelIndex) -> tuple[int, ...]:
    """Return the position of a row: its number, after the numbers of its parents."""
    above = _place(index.parent()) if index.parent().isValid() else ()
    return (*above, index.row())


def text_of(view: QAbstractItemView, index: QModelIndex) -> str:
    """Return a row as text; the cells of a table are separated by tabs."""
    model = index.model()
    if isinstance(view, QTableView):
        header = view.horizontalHeader()
        columns = [header.logicalIndex(at) for at in range(header.count())]
        shown = [column for column in columns if not view.isColumnHidden(column)]
        return "\t".join(_words(model, index.siblingAtColumn(column)) for column in shown)
    row = index.data(Qt.ItemDataRole.UserRole)
    if hasattr(model, "copied") and row is not None:
        return str(model.copied(row))
    if hasattr(row, "natural"):
        return str(row.natural)
    return _words(model, index)


def _words(model: QAbstractItemModel, index: QModelIndex) -> str:
    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        if (text := model.data(index, role)) is not None:
            return str(text)
    return ""


def record_of(view: QAbstractItemView, index: QModelIndex) -> Any:
    """Return a row's record, or its cells' texts by the headings of their columns."""
    model = index.model()
    if (lines := getattr(model, "lines", None)) is not None and isinstance(lines[index.row()].key, Record):
        return lines[index.row()].key
    if isinstance(view, QTableView):
        across = Qt.Orientation.Horizontal
        return {
            str(model.headerData(at, across) or at + 1): _words(model, index.siblingAtColumn(at))
            for at in range(model.columnCount())
        }
    row = index.data(Qt.ItemDataRole.UserRole)
    if isinstance(getattr(row, "key", None), Record):
        return row.key
    if isinstance(row, Record) or dataclasses.is_dataclass(row):
        return row
    return {"text": text_of(view, index)}


def as_json(value: Any) -> str:
    """Return a record, or several, as indented JSON; values that are not data are left out."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: _plain(one) for name, one in fields if one not in ("", (), None)}
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def action_copies(text: str, elements: Iterable[Element] = (), words: str = "") -> tuple[CopyEntry, ...]:
    """Return an action as text and as a line of Playwright; empty if there is none."""
    # Only needed in a menu.
    from core.trace.exports.copied import playwright_line
    from core.trace.exports.playwright_script import NotExpressibleError

    if not text:
        return ()
    try:
        line, why_not = playwright_line(text, elements, words), ""
    except NotExpressibleError as error:
        line, why_not = "", f"Not as one line: {error}"
    return CopyEntry("Copy the action", text), CopyEntry("Copy as a Playwright line", line, why_not)
