"""The rows of the permissible actions, as an item model."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.debugger.snapshots import PermissibleView
from core.schema.action_space import PermissibleRow
from gui.widgets.formats import thousands

ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


class PermissibleModel(QAbstractListModel):
    """The rows that match the search, under a heading for each kind of action.

    A heading is a `str`, a row is a `PermissibleRow`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = PermissibleView()
        self._entries: list[str | PermissibleRow] = []
        self._words: tuple[str, ...] = ()
        self.matching = 0

    def show_view(self, view: PermissibleView, search: str) -> None:
        words = tuple(search.lower().split())
        if view.rows is not self._view.rows or words != self._words:
            entries = self._grouped(view.rows, words)
            if entries != self._entries:
                self.beginResetModel()
                self._entries = entries
                self._words = words
                self._view = view
                self.endResetModel()
                return
        self._words = words
        self._view = view
        if self._entries:
            self.dataChanged.emit(self.index(0), self.index(len(self._entries) - 1))

    def _grouped(
        self, rows: tuple[PermissibleRow, ...], words: tuple[str, ...]
    ) -> list[str | PermissibleRow]:
        groups: dict[str, list[PermissibleRow]] = {}
        self.matching = 0
        for row in rows:
            text = f"{row.text} {row.label}".lower()
            if all(word in text for word in words):
                groups.setdefault(row.name, []).append(row)
                self.matching += 1
        entries: list[str | PermissibleRow] = []
        for name, some in groups.items():
            if len(some) > 1 or some[0].ref is not None:
                entries.append(f"{name}  {thousands(len(some))}")
            entries.extend(some)
        return entries

    def is_chosen(self, row: PermissibleRow) -> bool:
        if self._view.chosen_ref is not None:
            return row.ref == self._view.chosen_ref and row.name == self._view.chosen.partition(" ")[0]
        if row.ref is not None or not self._view.chosen:
            return False
        # A row whose arguments are still to be given stands for every action of its name.
        open_row = row.text == row.name or "[]" in row.text
        same_name = row.name == self._view.chosen.partition(" ")[0]
        return row.text == self._view.chosen or (same_name and open_row)

    def chosen_index(self) -> QModelIndex:
        for at, entry in enumerate(self._entries):
            if isinstance(entry, PermissibleRow) and self.is_chosen(entry):
                return self.index(at)
        return QModelIndex()

    def entry(self, index: Index) -> str | PermissibleRow | None:
        return self._entries[index.row()] if 0 <= index.row() < len(self._entries) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._entries)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.entry(index), str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry(index)
        if entry is None:
            return None
        if role == ROW:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if isinstance(entry, str):
                return entry
            marks = (", chosen" if self.is_chosen(entry) else "") + (
                ", cannot be undone" if entry.cannot_be_undone else ""
            )
            return f"{entry.text} {entry.label}{marks}"
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(entry, PermissibleRow):
            return f"{entry.text}\n{entry.label}\nDouble-click (Enter) puts it in place of the next action"
        return None
