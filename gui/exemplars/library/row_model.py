"""The rows of the library as a table reads them, with only the last pages in memory, and how a cell is drawn."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePath
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QWidget

from core.debugger.exemplars.library.views import PAGE, ListView, Query
from core.exemplars.library.records import LibraryRow, Order
from core.schema.formats import count, thousands
from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, RIGHT, Index, RowDelegate, draw_cut

_PAGES = 40
"""Number of pages in memory."""
_AT_ONCE = 2
"""Number of pages requested at the same time."""
_IDLE_MS = 15
_SIDE = 8
"""As used in headings."""
_PLAIN = ("id", "family", "task")
HIDDEN = (
    "like",
    "file",
    "run",
    "environment",
    "site",
    "llm",
    "retrieved",
    "credit",
    "weight",
    "played",
    "made",
)
"""Columns that are hidden by default."""


class LibraryColumn(NamedTuple):
    """One column; `order` is the sort key of its heading, if it has one."""

    name: str
    title: str
    width: int
    order: Order | None = None
    number: bool = False
    tooltip: str = ""


COLUMNS: tuple[LibraryColumn, ...] = (
    LibraryColumn("like", "Distance", 74, number=True, tooltip="Distance from the search, by the embedding"),
    LibraryColumn("id", "Id", 114, "id"),
    LibraryColumn("family", "Family", 88, "family"),
    LibraryColumn("task", "Task", 130, "task"),
    LibraryColumn("status", "Status", 78, "status", tooltip="Runs recall what is reviewed"),
    LibraryColumn(
        "plays", "Plays", 72, "plays", tooltip="Whether its last replay (Ctrl+R) was a success"
    ),
    LibraryColumn("used", "Used", 54, "used", True, "Runs that chose it. Those of evaluations are not counted"),
    LibraryColumn("helped", "Helped", 68, "helped", True, "Successes of the judged runs that chose it"),
    LibraryColumn(
        "worth", "Worth", 142, "worth", True,
        "How many percentage points more succeed with it, and the 95 % interval, as measured last (Ctrl+Shift+W)",
    ),
    LibraryColumn(
        "nearest", "Nearest", 150, "distance", tooltip="The nearest other one, as compared last (Ctrl+Shift+A)"
    ),
    LibraryColumn(
        "taken_for", "Found as", 100, "taken_for",
        tooltip="The family that is found for its task without it, as compared last (Ctrl+Shift+A)",
    ),
    LibraryColumn(
        "origin", "Origin", 148, "origin", tooltip="Where it came from. Bundled ones are read-only"
    ),
    LibraryColumn("file", "File", 120, "file", tooltip="The file that it was imported from, or is in"),
    LibraryColumn("run", "Run", 52, "run", True, "The run that it was saved from"),
    LibraryColumn("environment", "Environment", 102, "environment"),
    LibraryColumn("site", "Site", 100, "site"),
    LibraryColumn("llm", "LLM", 90, "llm", tooltip="The LLM that decided the actions"),
    LibraryColumn("steps", "Steps", 54, "steps", True, "Number of observations"),
    LibraryColumn("tokens", "Tokens", 64, "tokens", True, "Approximate number in a prompt"),
    LibraryColumn("retrieved", "Retrieved", 80, "retrieved", True, "Runs that retrieved it, whether used or not"),
    LibraryColumn(
        "credit", "Credit", 60, "credit", True,
        "How much likelier it made single actions, from -1 to 1, on average (Credit in Ask again)",
    ),
    LibraryColumn(
        "weight", "Weight", 70, "weight", tooltip="Divides its distance when runs look up. Pinned: before nearer ones"
    ),
    LibraryColumn("tags", "Tags", 110),
    LibraryColumn("played", "Played", 132, "played", tooltip="When it was replayed last"),
    LibraryColumn("changed", "Changed", 132, "changed"),
    LibraryColumn("made", "Made", 132, "made"),
)  # fmt: skip


class RowModel(QAbstractTableModel):
    """Holds the last pages that were viewed; a missing row is shown as missing and requested."""

    page_wanted = Signal(object, int)
    """A `Query`, and the index of the first row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.query = Query()
        self.total = 0
        self._pages: OrderedDict[int, tuple[LibraryRow, ...]] = OrderedDict()
        self._distances: tuple[float, ...] = ()
        self._asked: set[int] = set()
        self.visible: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """Returns the first visible row and the end of the visible rows."""
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._ask)

    @property
    def held(self) -> int:
        """How many rows are in memory."""
        return sum(len(page) for page in self._pages.values())

    def row(self, at: int) -> LibraryRow | None:
        """Return a row; None if it is not loaded yet."""
        page = self._pages.get(at // PAGE)
        return page[at % PAGE] if page is not None and at % PAGE < len(page) else None

    def show_list(self, view: ListView) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self.query, self.total = view.query, view.total
        self._pages.clear()
        self._asked.clear()
        self._distances = view.distances
        for start in range(0, len(view.rows), PAGE):
            self._keep((view.first + start) // PAGE, view.rows[start : start + PAGE])
        self.endResetModel()

    def show_page(self, view: ListView) -> None:
        """Insert requested rows; those of another list are dropped."""
        if view.query != self.query:
            return
        page = view.first // PAGE
        self._asked.discard(page)
        if view.rows:
            self._keep(page, view.rows)
            last = min(self.total, view.first + len(view.rows)) - 1
            self.dataChanged.emit(self.index(view.first, 0), self.index(last, len(COLUMNS) - 1))
        if not view.problem:
            self._idle.start()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self.total

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT if column.number else LEFT)
        if role == Qt.ItemDataRole.ToolTipRole:
            sorts = "Click to sort" if column.order else "Cannot be sorted"
            return ". ".join(part for part in (column.tooltip, sorts) if part)
        return column.title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            row, name = self.row(index.row()), COLUMNS[index.column()].name
            return told(row, name) or None if row is not None and name != "like" else None
        return None

    def text(self, at: int, column: int) -> str:
        """Return the text of a cell as one line; a missing row is requested."""
        row, name = self.row(at), COLUMNS[column].name
        if row is None:
            if not self._idle.isActive():
                self._idle.start()
            return "…" if name == "id" else ""
        if name == "like":
            return f"{self._distances[at]:.3f}" if at < len(self._distances) else ""
        return cell(row, name).replace("\n", " ")

    def _ask(self) -> None:
        """Request the missing rows that are visible now; rows that were only scrolled past are not requested."""
        first, end = self.visible()
        for page in range(first // PAGE, max(first, end - 1) // PAGE + 1):
            if page * PAGE >= self.total or page in self._asked:
                continue
            if page in self._pages:
                self._pages.move_to_end(page)
            elif len(self._asked) < _AT_ONCE:
                self._asked.add(page)
                self.page_wanted.emit(self.query, page * PAGE)

    def _keep(self, page: int, rows: tuple[LibraryRow, ...]) -> None:
        self._pages[page] = rows
        self._pages.move_to_end(page)
        while len(self._pages) > _PAGES:
            self._pages.popitem(last=False)


def cell(row: LibraryRow, name: str) -> str:
    """Return the text of a cell."""
    if name in _CELLS:
        return _CELLS[name](row)
    value = getattr(row.standing if name in _STANDING else row, name)
    if value is None or (name in _STANDING and not row.standing.retrieved):
        return ""
    if name in ("changed", "made", "played"):
        return moment(value)
    return thousands(value) if isinstance(value, int) and name != "run" else str(value)


def told(row: LibraryRow, name: str) -> str:
    """Return the tooltip of a cell."""
    one, words = row.standing, cell(row, name)
    if name == "task" and row.note:
        return f"{words}\n{row.note}"
    if name == "plays" and row.is_played_old:
        return f"{words}\nIt was changed since it was replayed."
    if name == "worth" and row.is_worth_old:
        return f"{words}\nIt was changed since it was measured."
    if name in (*_STANDING, "helped") and one.measured:
        return f"{words}\n{count(one.measured, 'run')} of evaluations used it, too."
    return row.file if name == "file" else words


def tone(row: LibraryRow, name: str) -> str:
    """Return the tone of a cell that is good or bad; empty for one that is neither."""
    if name == "plays" and row.plays is not None:
        return "good" if row.plays else "bad"
    if name == "worth" and row.worth is not None and row.worth_low is not None and row.worth_high is not None:
        good, bad = row.worth_low > 0, row.worth_high < 0
        return "" if row.is_worth_old else "good" if good else "bad" if bad else ""
    return "remedy" if name == "taken_for" and row.taken_for not in (None, row.family) else ""


_STANDING = ("retrieved", "used")


def _plays(row: LibraryRow) -> str:
    if row.played is None:
        return ""
    words = {True: "yes", False: "no", None: "not judged"}[row.plays]
    return f"{words}, old" if row.is_played_old else words


def _helped(row: LibraryRow) -> str:
    judged = row.standing.successes + row.standing.failures
    return f"{row.standing.successes} of {judged}" if judged else ""


def _worth(row: LibraryRow) -> str:
    if row.worth is None or row.worth_low is None or row.worth_high is None:
        return ""
    old = ", old" if row.is_worth_old else ""
    return f"{row.worth * 100:+.0f} ({row.worth_low * 100:+.0f} to {row.worth_high * 100:+.0f}){old}"


_CELLS: dict[str, Callable[[LibraryRow], str]] = {
    "origin": lambda row: f"{row.origin}{', read only' if row.read_only else ''}",
    "status": lambda row: row.review.status,
    "tags": lambda row: ", ".join(row.tags),
    "file": lambda row: PurePath(row.file).name,
    "plays": _plays,
    "weight": lambda row: ", ".join([f"{row.weight:g}"] * (row.weight != 1) + ["pinned"] * row.pinned),
    "helped": _helped,
    "worth": _worth,
    "credit": lambda row: "" if row.credit is None else f"{row.credit:+.2f}",
    "nearest": lambda row: "" if row.distance is None else f"{row.distance:.2f} {row.nearest}",
}
"""The texts of cells that are not a field as it is."""


def moment(seconds: float) -> str:
    """Return a time as lists show it; empty if it is not known."""
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}" if seconds else ""


class CellDelegate(RowDelegate):
    """Draws `RowModel.text` of a cell with one access to its row: Qt itself asks the model seven times."""

    def __init__(self, theme: Theme, model: RowModel, table: QWidget) -> None:
        super().__init__(theme, QSize(80, 24), table)
        self._model = model

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        self.draw_ground(painter, rect, state)
        row, column = index.row(), COLUMNS[index.column()]
        text = self._model.text(row, index.column())
        if not text:
            return
        held = self._model.row(row)
        dim = column.name not in _PLAIN or held is None or held.review.status == "retired"
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        colour = (held and tone(held, column.name)) or ("dim" if dim else "text")
        painter.setPen(self.theme.colour("text" if is_selected else colour))
        align: Qt.AlignmentFlag = RIGHT if column.number else LEFT
        draw_cut(painter, rect.adjusted(_SIDE, 0, -_SIDE, 0), text, align)
