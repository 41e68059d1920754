"""Page log: what the pages reported and requested in the step in view, including their content."""

import time
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QWidget

from core.browser.log.records import (
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogEntry,
    LogGap,
    LogKind,
    Moment,
    RequestEntry,
    counts,
)
from core.debugger.timeline.views import PageLogView
from gui.theme.theme import Theme
from gui.widgets.copying import CopyEntry
from gui.widgets.formats import as_read, count, milliseconds, thousands
from gui.widgets.item_views import ROW, Index, MenuEntry, RowMenu
from gui.widgets.line_list import Column, LineList, LineModel

_PLURALS: dict[LogKind, str] = {
    "console": "console lines",
    "error": "errors",
    "request": "requests",
    "dialog": "dialogs",
}
_TYPES = {"Stylesheet": "style", "EventSource": "events", "Ping": "beacon", "WebSocket": "socket"}
"""Types that have a shorter or better known name."""
_MOMENTS: dict[Moment, str] = {
    "before the action": "before",
    "in the action": "action",
    "after the last action": "after",
}
NONE = "No step is in view. Console, errors, requests and dialogs of its pages show here."
_READING = "Reading the log…"
_NOTHING = "The pages of this step reported nothing: no console messages, errors, requests or dialogs."
_KINDS: tuple[tuple[str, tuple[LogKind, ...], bool], ...] = (
    ("All", ("console", "error", "request", "dialog"), False),
    ("Console", ("console", "error"), False),
    ("Requests", ("request",), False),
    ("Dialogs", ("dialog",), False),
    ("Only errors", ("console", "error", "request"), True),
)
"""The filter choices: name, kinds, and whether only errors are shown."""


@dataclass(frozen=True)
class LogRow:
    """One line of the list."""

    time: float
    moment: str
    kind: LogKind
    sign: str
    """The kind of line, as a word."""
    tone: str
    text: str
    """As one line."""
    wrong: bool = False
    whole: str = ""
    """For tooltip and copy."""
    entry: LogEntry | None = None
    """What the page reported; None for entries that were left out."""


def lines_of(view: PageLogView) -> list[LogRow]:
    found: list[LogRow] = []
    for part in view.parts:
        moment = _MOMENTS[part.moment]
        rows = [_row(entry, moment) for entry in part.log.entries]
        rows += [_gap(gap, moment) for gap in part.log.left_out]
        # A gap comes after the last line before it.
        found += sorted(rows, key=lambda row: row.time)
    return found


def _row(entry: LogEntry, moment: str) -> LogRow:
    match entry:
        case ConsoleEntry():
            wrong = entry.level in ("warning", "error")
            tone = {"error": "bad", "warning": "remedy"}.get(entry.level, "dim")
            named = wrong or entry.level == "debug"
            return _made(
                entry, moment, entry.level if named else "console", tone, entry.text, entry.place, wrong=wrong
            )
        case ErrorEntry():
            return _made(entry, moment, "✗ error", "bad", entry.text, entry.place, wrong=True)
        case DialogEntry():
            text = f"{entry.dialog}: “{entry.text}” {entry.answer or 'answer not known'}"
            return _made(entry, moment, "dialog", "person", text, entry.place)
        case RequestEntry():
            wrong = entry.failed or (entry.status or 0) >= 400
            sign = _TYPES.get(entry.type, entry.type.lower()[:9]) or "request"
            return _made(entry, moment, sign, "bad" if wrong else "dim", _asked(entry), "", wrong=wrong)


def _asked(entry: RequestEntry) -> str:
    if entry.type == "WebSocket":
        said = f": {entry.text}" if entry.text else ""
        size = f" ({_size(entry.bytes)})" if entry.bytes is not None else ""
        return f"{entry.method} {entry.url}{f' {entry.status}' if entry.status else ''}{size}{said}"
    state = str(entry.status) if entry.status is not None else ""
    if entry.failed:
        state = f"✗ {entry.text}" if not state else f"{state} ✗ {entry.text}"
    elif not entry.ended:
        state = f"{state} still open" if state else "still open"
    parts = []
    parts += [milliseconds(entry.milliseconds)] if entry.milliseconds is not None else []
    parts += [_size(entry.bytes)] if entry.bytes is not None else []
    parts += ["begun before"] if entry.began_before else []
    return " · ".join([f"{state or 'ended'} {entry.method} {entry.url}", *parts])


def _size(number: int) -> str:
    return f"{thousands(number)} B" if number < 10_000 else f"{thousands(number // 1000)} kB"


def _made(
    entry: LogEntry, moment: str, sign: str, tone: str, text: str, place: str, *, wrong: bool = False
) -> LogRow:
    left_out = f"\n(… {count(entry.cut, 'further character')} left out)" if entry.cut else ""
    whole = text + (f"\nat {place}" if place else "") + left_out
    return LogRow(
        entry.time, moment, entry.kind, sign, tone, one_line(text), wrong=wrong, whole=whole, entry=entry
    )


def _gap(gap: LogGap, moment: str) -> LogRow:
    text = f"… {thousands(gap.count)} {_PLURALS[gap.kind]} left out here: too many came at once"
    return LogRow(gap.after + 1e-6, moment, gap.kind, "left out", "remedy", text, wrong=True, whole=text)


def one_line(text: str) -> str:
    """Return a page's text as one line that is drawn in the order in which it reads."""
    # Its text may run from right to left; the line that contains it does not.
    return f"\u2068{as_read(text[:600].replace(chr(10), ' ⏎ '))}\u2069"


def clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment)) + f".{int(moment % 1 * 1000):03d}"


class PageLogModel(LineModel[LogRow]):
    """The lines of a step, of which those that match kind and search are rows."""

    @property
    def wrong(self) -> int:
        """How many of all lines report an error."""
        return sum(row.wrong for row in self.all)

    def is_of(self, row: LogRow, chosen: int) -> bool:
        _, kinds, wrong = _KINDS[chosen]
        return row.kind in kinds and (row.wrong or not wrong)

    def searched(self, row: LogRow) -> str:
        return f"{row.sign} {row.whole}"

    def copied(self, row: LogRow) -> str:
        return f"{clock(row.time)}  {row.moment:<6}  {row.sign:<9}  {row.whole}"

    def spoken_text(self, row: LogRow) -> str:
        return f"{row.moment} {row.sign} {row.text}"

    def whole(self, row: LogRow) -> str:
        return row.whole


def _columns(index: Index) -> tuple[Column, ...]:
    """Return time, part of the step, kind and text."""
    row: LogRow | None = index.data(ROW)
    if row is None:
        return ()
    what = (row.text, row.tone if row.wrong else "text", 0)
    return (clock(row.time), "dim", 13), (row.moment, "dim", 7), (row.sign, row.tone, 10), what


class PageLogPanel(LineList):
    """Shows a `PageLogView`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._view = PageLogView(message=NONE)
        self.model = PageLogModel()
        choice = ("Kind", "Which kinds to show", [name for name, _, _ in _KINDS])
        super().__init__(theme, self.model, _columns, name="Page log", choice=choice, parent=parent)
        RowMenu(self.list, self.entries, copies=self._copies, record=self._record)
        self.or_words.say(NONE)

    @Slot(object)
    def show_log(self, view: PageLogView) -> None:
        """Replace what is shown with `view`; the position in the list stays if it is the same step."""
        same = (view.run, view.step) == (self._view.run, self._view.step)
        bar = self.list.verticalScrollBar()
        place, at_end = bar.value(), bar.value() >= bar.maximum() > 0
        if view != self._view:
            self._view = view
            self.model.show_lines(lines_of(view))
        if same:
            bar.setValue(bar.maximum() if at_end else place)
        self._tell()

    def wait(self, run: int, step: int) -> None:
        """Show that the log of another step is being read."""
        if (run, step) != (self._view.run, self._view.step):
            self._view = PageLogView(run=run, step=step, message=_READING if step else NONE)
            self.model.show_lines(())
            self._tell()

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a line."""
        row = self.model.rows[index.row()]
        words = row.whole.partition("\n")[0]
        return (MenuEntry("Show only lines like it", lambda: self.search.setText(row.sign), why=words),)

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        from core.trace.exports.copied import request_command  # Only needed in a menu.

        entry = self.model.rows[index.row()].entry
        if not isinstance(entry, RequestEntry):
            return ()
        why_not = "A WebSocket message is not a request" if entry.type == "WebSocket" else ""
        why_not = why_not or (
            "" if entry.url.startswith(("http:", "https:")) else "It was not sent over the network"
        )
        # The log contains neither headers nor bodies.
        needs = "" if entry.method in ("GET", "HEAD") else " (without its body)"
        return (CopyEntry(f"Copy as cURL{needs}", request_command(entry.method, entry.url), why_not),)

    def _record(self, index: QModelIndex) -> LogEntry | LogRow:
        row: LogRow = self.model.rows[index.row()]
        return row.entry or row

    def _tell(self) -> None:
        view = self._view
        empty = view.message or ("" if self.model.total else _NOTHING)
        self.say(empty, "No line matches the kind and the search above.")
        found = counts(view.parts)
        total = sum(found.values())
        wrong = self.model.wrong
        self.fact_changed.emit(
            "" if view.message or not total else thousands(total) + (f", {wrong} wrong" if wrong else "")
        )
