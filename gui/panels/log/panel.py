"""Log: what the pages of the step in view reported, its LLM calls, and what the program did, in the order of time."""

from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QTimer, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QWidget

from core.browser.log.records import RequestEntry, counts
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.steps.views import CallView, StepView
from core.debugger.timeline.views import PageLogView
from core.schema.events import LogLine
from core.schema.formats import count, thousands
from gui.panels.log.lines import CHOICES, LogList, LogModel
from gui.panels.log.rows import call_row, note_row, page_rows
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.copying import CopyEntry, to_clipboard
from gui.widgets.item_views import MenuEntry, RowMenu
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords, labelled

_READING = "The page log of this step is being read."
_QUIET = "The pages of this step reported nothing: no console messages, errors, requests or dialogs."
_NOTHING = (
    "Nothing is logged yet. Console, errors, requests and dialogs of the pages, LLM calls, and what the program does "
    "show here."
)


class LogPanel(QWidget):
    """Shows the log of the step in view between the lines of the program; stays at the end unless scrolled up."""

    fact_changed = Signal(str)
    call_wanted = Signal(int)
    """The number of the LLM call whose prompt to show."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at calls with the purpose of one in the list."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = LogModel(self)
        self._log = PageLogView()
        self._calls: tuple[CallView, ...] = ()
        self._is_live = False
        self._shown = (0, 0)
        """Run and number of the step whose lines are shown."""
        self.choice = labelled(QComboBox(self), "Filter", "Which lines to show")
        self.choice.addItems([name for name, _fits in CHOICES])
        self.choice.currentIndexChanged.connect(self._on_filter)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.setMaximumWidth(230)
        self.search.textChanged.connect(self._on_filter)
        copied = "Copy the selected lines, or all that show (Ctrl+C in the list)"
        self.copy_button = key_button("Copy", copied, "", self.copy, self)
        self.list = LogList(theme, self.model, self)
        RowMenu(self.list, self.entries, copies=self._copies, record=self._record)
        self.list.activated.connect(self._on_activated)
        self.list.copy_wanted.connect(self.copy)
        self.list.clear_wanted.connect(self._on_clear)
        emptied = "Remove the lines of the program; the trace keeps what belongs to runs (Ctrl+L in the list)"
        self.clear_button = key_button("Clear", emptied, "", self._on_clear, self)
        self.or_words = OrWords(self.list, self)
        right = ((self.search, 1), self.copy_button, self.clear_button)
        head = in_row(None, self.choice, 1, *right, margins=(10, 3, 8, 3), spacing=6)
        in_column(self, head, (self.or_words, 1), spacing=0)
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
        if not isinstance(row.of, CallView):
            return (alike,)
        call = row.of.record
        number, want = call.number, self.breakpoint_wanted.emit
        show = MenuEntry("Show its prompt", lambda: self.call_wanted.emit(number), key="Return")
        of_it = LLMCall(purpose=call.purpose)
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
            command = call_command(of.record.model or of.record.llm, of.sent, of.tools, of.sampling)
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
            self.call_wanted.emit(of.record.number)

    def focus_search(self) -> None:
        self.search.reach()

    def copy(self) -> None:
        """Copy the selected lines, or all shown lines if none is selected."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        rows = [self.model.rows[at] for at in chosen] or self.model.rows
        to_clipboard([self.model.copied(row) for row in rows])

    def _on_filter(self) -> None:
        self.model.show_only(self.choice.currentIndex(), self.search.text())
        self._tell()
        self.list.scrollToBottom()

    def _on_clear(self) -> None:
        self.model.clear()
        self._tell()

    def _tell(self) -> None:
        empty = "" if self.model.total else self._note or _NOTHING
        none_fits = "" if self.model.rows else "No line matches the filter and the search above."
        self.or_words.say(empty or none_fits)
        left_out = sum(counts(self._log.parts).values()) - len(page_rows(self._log.parts))
        notes = sum(row.source == "note" for row in self.model.of_step)
        total, wrong = self.model.total + left_out - notes, self.model.wrong
        self.fact_changed.emit(
            f"{thousands(total)}{f', {thousands(wrong)} wrong' if wrong else ''}" if total else ""
        )
