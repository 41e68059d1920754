"""Log: what the pages of the step in view reported, its LLM calls, and what the program did, in the order of time."""

from collections.abc import Callable, Iterable
from typing import Any, get_args

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QTimer, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QWidget

from core.browser.log.records import RequestEntry, counts
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.steps.views import CallView, StepView
from core.debugger.timeline.views import PageLogView
from core.schema.events import LogLine
from core.schema.formats import count, thousands
from core.schema.messages import Purpose
from gui.panels.log.rows import LogRow, call_row, clock, note_row, page_rows, program_row
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.copying import CopyEntry
from gui.widgets.item_views import ROW, Index, MenuEntry, RowMenu
from gui.widgets.line_list import Column, LineList, LineModel

KEPT = 10_000
"""How many lines of the program are kept."""
_SLACK = 1_000
"""How many more there are before the oldest are dropped."""
_READING = "The page log of this step is being read."
_QUIET = "The pages of this step reported nothing: no console messages, errors, requests or dialogs."
_NOTHING = (
    "Nothing is logged yet. Console, errors, requests and dialogs of the pages, LLM calls, and what the program does "
    "show here."
)

_OF_PAGES = ("console", "error", "request", "dialog", "note")
_CHOICES: tuple[tuple[str, Callable[[LogRow], bool]], ...] = (
    ("Everything", lambda row: True),
    ("This step", lambda row: row.source != "program"),
    ("LLM calls", lambda row: row.source == "call"),
    ("Page", lambda row: row.source in _OF_PAGES),
    ("Console", lambda row: row.source in ("console", "error")),
    ("Requests", lambda row: row.source == "request"),
    ("Dialogs", lambda row: row.source == "dialog"),
    ("Program", lambda row: row.source == "program"),
    ("Warnings and errors", lambda row: row.wrong),
)
"""The filter's choices, and which rows each shows."""


class LogModel(LineModel[LogRow]):
    """The lines of the step in view and of the program, of which those that match filter and search are rows."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[LogRow] = []
        self.rows: list[LogRow] = []
        self._program: list[LogRow] = []
        self.of_step: list[LogRow] = []

    @property
    def wrong(self) -> int:
        """How many of all lines report something wrong."""
        return sum(row.wrong for row in self.all)

    def show_step_rows(self, rows: Iterable[LogRow]) -> None:
        """Replace the lines of the step in view; what is current and selected has to be chosen again."""
        self.of_step = list(rows)
        self._merge()

    def add(self, lines: Iterable[LogLine]) -> None:
        """Add lines of the program."""
        new = [program_row(line) for line in lines][-KEPT:]
        if not new:
            return
        self._program += new
        over = len(self._program) > KEPT + _SLACK
        if over:
            del self._program[:-KEPT]
        if over or (self.all and self.all[-1].time > new[0].time):
            self._merge()
            return
        self.all += new
        fitting = [row for row in new if self.fits(row)]
        if fitting:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + len(fitting) - 1)
            self.rows.extend(fitting)
            self.endInsertRows()

    def clear(self) -> None:
        """Remove the lines of the program."""
        self._program.clear()
        self._merge()

    def _merge(self) -> None:
        self.all = sorted((*self.of_step, *self._program), key=lambda row: row.time)
        self.show_rows([row for row in self.all if self.fits(row)])

    def is_of(self, row: LogRow, chosen: int) -> bool:
        return _CHOICES[chosen][1](row)

    def searched(self, row: LogRow) -> str:
        return f"{row.sign} {row.whole} {row.of.level if isinstance(row.of, LogLine) else ''}"

    def copied(self, row: LogRow) -> str:
        level = f"{row.of.level:<7}  " if isinstance(row.of, LogLine) else ""
        return f"{clock(row.time)}  {row.moment:<6}  {row.sign:<10}  {level}{row.whole}"

    def spoken_text(self, row: LogRow) -> str:
        return f"{row.moment} {row.sign} {row.text}".strip()

    def whole(self, row: LogRow) -> str:
        return row.whole


def _columns(index: Index) -> tuple[Column, ...]:
    """Return time, part of the step, kind and text."""
    row: LogRow | None = index.data(ROW)
    if row is None:
        return ()
    what = (row.text, row.tone if row.wrong else "text", 0)
    moment = clock(row.time) if row.time else ""  # Nothing of a step may have a time.
    return (moment, "dim", 13), (row.moment, "dim", 7), (row.sign, row.tone, 10), what


class LogPanel(LineList):
    """Shows the log of the step in view between the lines of the program; stays at the end unless scrolled up."""

    call_wanted = Signal(int)
    """The number of the LLM call whose prompt to show."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at calls with the purpose of one in the list."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = LogModel()
        self._log = PageLogView()
        self._calls: tuple[CallView, ...] = ()
        self._is_live = False
        self._shown = (0, 0)
        """Run and number of the step whose lines are shown."""
        choice = ("Filter", "Which lines to show", [name for name, _fits in _CHOICES])
        super().__init__(theme, self.model, _columns, name="Log", choice=choice, parent=parent)
        RowMenu(self.list, self.entries, copies=self._copies, record=self._record)
        self.list.activated.connect(self._on_activated)
        emptied = "Remove the lines of the program; the trace keeps what belongs to runs (Ctrl+L in the list)"
        self.clear_button = key_button("Clear", emptied, "", self._on_clear, self)
        self.list.clear_wanted.connect(self._on_clear)
        self.head.addWidget(self.clear_button)
        self._gathering = QTimer(self, singleShot=True, interval=0)
        """Of a step, calls and page log come one after the other."""
        self._gathering.timeout.connect(self.gather)
        self._tell()

    @Slot(object)
    def show_lines(self, lines: tuple[LogLine, ...]) -> None:
        """Add lines of the program."""
        bar = self.list.verticalScrollBar()
        place, at_end = bar.value(), bar.value() >= bar.maximum()
        self.model.add(lines)
        self._go_back_to(place, at_end=at_end)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Show the LLM calls of a step."""
        self._calls, self._is_live = step.calls, step.live
        self._gathering.start()

    @Slot(object)
    def show_log(self, view: PageLogView) -> None:
        """Show what the pages of a step reported."""
        self._log = view
        self._gathering.start()

    def wait(self, run: int, step: int) -> None:
        """Show that the page log of another step is being read; of no step if it is 0."""
        if (run, step) != (self._log.run, self._log.step):
            self._log = PageLogView(run=run, step=step, message=_READING if step else "")
            self._gathering.start()

    def gather(self) -> None:
        """Show the lines of the step between those of the program."""
        self._gathering.stop()
        rows = [*page_rows(self._log.parts), *(call_row(call) for call in self._calls)]
        begun = min((row.time for row in rows), default=0.0)
        if note := self._note:
            rows.append(note_row(begun, note))
        if rows == self.model.of_step:
            self._tell()
            return
        bar = self.list.verticalScrollBar()
        place, at_end = bar.value(), bar.value() >= bar.maximum()
        chosen = {id(self.model.row(index)) for index in self.list.selectionModel().selectedIndexes()}
        chosen_rows = [row for row in self.model.rows if id(row) in chosen]
        self.model.show_step_rows(rows)
        for at, row in enumerate(self.model.rows if chosen_rows else ()):
            if row in chosen_rows:
                self.list.selectionModel().select(
                    self.model.index(at), QItemSelectionModel.SelectionFlag.Select
                )
        step = (self._log.run, self._log.step)
        same, self._shown = step == self._shown, step
        first = next((at for at, row in enumerate(self.model.rows) if row.time == begun), None)
        if same or self._is_live or first is None:
            self._go_back_to(place, at_end=at_end)
        else:
            self.list.scrollTo(self.model.index(first), QAbstractItemView.ScrollHint.PositionAtTop)
            self._tell()

    @property
    def _note(self) -> str:
        """Why there are no lines of pages, or an empty string."""
        if not self._log.step:
            return ""
        return self._log.message or ("" if page_rows(self._log.parts) else _QUIET)

    def _go_back_to(self, place: int, *, at_end: bool) -> None:
        bar = self.list.verticalScrollBar()
        if at_end:
            self.list.scrollToBottom()
        else:
            bar.setValue(place)
        self._tell()

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a line."""
        row = self.model.rows[index.row()]
        words = row.whole.partition("\n")[0]
        alike = MenuEntry("Show only lines like it", lambda: self.search.setText(row.sign), why=words)
        call = row.of
        if not isinstance(call, CallView):
            return (alike,)
        number, want = call.number, self.breakpoint_wanted.emit
        show = MenuEntry("Show its prompt", lambda: self.call_wanted.emit(number), key="Return")
        if call.purpose not in get_args(Purpose):  # from an imported trace
            return (show, alike)
        of_it = LLMCall.model_validate({"purpose": call.purpose})
        return (
            show,
            alike,
            MenuEntry(f"Stop before calls for {call.purpose}", lambda: want(of_it)),
            MenuEntry(f"Stop after calls for {call.purpose}", lambda: want(of_it.replace(when="after"))),
        )

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        from core.trace.exports.copied import call_command, request_command  # Only needed in a menu.

        of = self.model.rows[index.row()].of
        if isinstance(of, CallView):
            prompt = "\n\n".join(f"[{message.role}]\n{message.text}" for message in of.messages)
            none = "" if of.sent else "The prompt of this call was not stored"
            pictures = sum(message.images for message in of.messages)
            without = f" (without {count(pictures, 'picture')})" if pictures else ""
            command = call_command(of.model or of.llm, of.sent, of.tools, of.sampling)
            return (
                CopyEntry("Copy the prompt", prompt, none),
                CopyEntry("Copy the reply", of.reply, "" if of.reply else "There is no reply"),
                CopyEntry(f"Copy as cURL{without}", command, none),
            )
        if not isinstance(of, RequestEntry):
            return ()
        why_not = "A WebSocket message is not a request" if of.type == "WebSocket" else ""
        sent = of.url.startswith(("http:", "https:"))
        why_not = why_not or ("" if sent else "It was not sent over the network")
        # The log contains neither headers nor bodies.
        needs = "" if of.method in ("GET", "HEAD") else " (without its body)"
        return (CopyEntry(f"Copy as cURL{needs}", request_command(of.method, of.url), why_not),)

    def _record(self, index: QModelIndex) -> Any:
        row = self.model.rows[index.row()]
        return row.of or row

    def _on_activated(self, index: QModelIndex) -> None:
        of = self.model.rows[index.row()].of
        if isinstance(of, CallView):
            self.call_wanted.emit(of.number)

    def _on_filter(self) -> None:
        super()._on_filter()
        self.list.scrollToBottom()

    def _on_clear(self) -> None:
        self.model.clear()
        self._tell()

    def _tell(self) -> None:
        empty = "" if self.model.total else self._note or _NOTHING
        self.say(empty, "No line matches the filter and the search above.")
        left_out = sum(counts(self._log.parts).values()) - len(page_rows(self._log.parts))
        total, wrong = self.model.total + left_out, self.model.wrong
        self.fact_changed.emit(
            f"{thousands(total)}{f', {thousands(wrong)} wrong' if wrong else ''}" if total else ""
        )
