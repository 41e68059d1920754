"""Calls: the time, tokens and cost of each LLM call of the step."""

from typing import get_args

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.steps.views import CallView, StepView
from core.schema.messages import Purpose
from gui.theme.theme import Theme
from gui.widgets.copying import CopyEntry
from gui.widgets.formats import count, dollars, seconds, thousands
from gui.widgets.item_views import MenuEntry, RowMenu, TableRows
from gui.widgets.layouts import in_column
from gui.widgets.plain_table import Column, PlainModel, TableLine
from gui.widgets.words import OrWords, labelled

_NONE = "No LLM was asked in this step. This panel lists each call with time, tokens, cost and retries."
_COLUMNS = (
    Column("#", number=True),
    Column("For"),
    Column("LLM"),
    Column("Prompt", number=True),
    Column("Cached", number=True),
    Column("Reply", number=True),
    Column("Cost", number=True),
    Column("Time", number=True),
    Column("Retries", number=True),
    Column("Error"),
)
_PROMPT, _REPLY, _COST, _RETRIES, _ERROR = 3, 5, 6, 8, 9
_WIDTHS = (28, 78, 96, 62, 66, 56, 60, 58, 66, 60)


class CallsPanel(QWidget):
    """Shows the calls of a step as a table."""

    fact_changed = Signal(str)
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at calls with the purpose of this one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = PlainModel(theme, _COLUMNS, self)
        self.table = labelled(QTableView(self, showGrid=False, wordWrap=False), "LLM calls")
        self.table.setModel(self.model)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        RowMenu(self.table, self.entries, copies=self._copies)
        self.table.verticalHeader().hide()
        TableRows(theme, 24, self.table)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in enumerate(_WIDTHS):
            self.table.setColumnWidth(column, theme.scaled(width))
        self.or_words = OrWords(self.table, self, _NONE)
        in_column(self, self.or_words)
        theme.changed.connect(self.table.viewport().update)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_calls(step.calls)

    def show_calls(self, calls: tuple[CallView, ...]) -> None:
        """Replace what is shown with `calls`."""
        self.model.show_lines([_line(call) for call in calls])
        self.or_words.say("" if calls else _NONE)
        failed = sum(1 for call in calls if call.error)
        fact = f"{len(calls)}, {failed} failed" if failed else str(len(calls))
        self.fact_changed.emit(fact if calls else "")

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a call."""
        call: CallView = self.model.lines[index.row()].key
        want = self.breakpoint_wanted.emit
        if call.purpose not in get_args(Purpose):  # from an imported trace
            return ()
        of_it = LLMCall.model_validate({"purpose": call.purpose})
        after = of_it.replace(when="after")
        return (
            MenuEntry(f"Stop before calls for {call.purpose}", lambda: want(of_it)),
            MenuEntry(f"Stop after calls for {call.purpose}", lambda: want(after)),
        )

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        from core.trace.exports.copied import call_command  # Only needed in a menu.

        call: CallView = self.model.lines[index.row()].key
        prompt = "\n\n".join(f"[{message.role}]\n{message.text}" for message in call.messages)
        none = "" if call.sent else "The prompt of this call was not stored"
        pictures = sum(message.images for message in call.messages)
        without = f" (without {count(pictures, 'picture')})" if pictures else ""
        command = call_command(call.model or call.llm, call.sent, call.tools, call.sampling)
        return (
            CopyEntry("Copy the prompt", prompt, none),
            CopyEntry("Copy the reply", call.reply, "" if call.reply else "There is no reply"),
            CopyEntry(f"Copy as cURL{without}", command, none),
        )


def _line(call: CallView) -> TableLine:
    about = "~" if call.tokens_estimated else ""
    estimated = "Estimated here: the server did not count" if call.tokens_estimated else ""
    reasoned = f"Reasoning: {count(call.reasoning_tokens, 'token')}" if call.reasoning_tokens else ""
    reply = "\n".join(filter(None, (estimated, reasoned, call.note)))
    cost = f"For cached prompt tokens: {dollars(call.cached_cost)}" if call.cached_cost else ""
    return TableLine(
        cells=(
            str(call.number),
            call.purpose,
            call.llm if not call.model or call.model == call.llm else f"{call.llm} ({call.model})",
            about + thousands(call.prompt_tokens),
            thousands(call.cached_tokens) if call.cached_tokens else "–",
            about + thousands(call.completion_tokens),
            dollars(call.cost),
            seconds(call.seconds),
            count(len(call.retries), "retry", "retries") if call.retries else "–",
            call.error,
        ),
        key=call,
        tooltips={_PROMPT: estimated, _REPLY: reply, _COST: cost, _RETRIES: "\n".join(call.retries)},
        tone="bad",
        toned=_ERROR,
    )
