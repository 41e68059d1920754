"""Pages on exemplars in use: whether they still succeed on their tasks, and how much they influenced the LLM."""

from datetime import datetime
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.views import ReplayRow, WorthView
from core.debugger.experiments.worth_records import AttributionSum
from gui.experiments.page import JobFoot
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, on_panel
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import NoteLabel, OrWords

_NONE = (
    "No exemplar has been replayed yet. Replay all (Ctrl+Enter) opens the task of each exemplar in the background, "
    "carries out its actions and judges the result. Or select some in the library and press Replay."
)
_COLUMNS = (
    Column("Result"),
    Column("Exemplar"),
    Column("Task"),
    Column("Seed", number=True),
    Column("Looks", number=True, tooltip="How many actions were carried out"),
    Column("When"),
    Column("The reason, or what was uncertain"),
)
_TONES = {True: "good", False: "bad", None: "remedy"}
_NO_CREDIT = (
    "No credit has been measured yet. Open a step with exemplars in its prompt in "
    "Ask again and press Credit; The credit of each exemplar is summed here."
)
_CREDIT = (
    "How much more likely the step's own action is with the exemplar than without it. 1: only "
    "with it; 0: no difference. An exemplar that leads to a wrong action has credit, too."
)
_CREDIT_COLUMNS = (
    Column("Exemplar"),
    Column("Family"),
    Column("Steps", number=True, tooltip="Steps that were asked again without it"),
    Column("Credit", number=True, tooltip="Sum over these steps"),
    Column("Each", number=True, tooltip="On average"),
)


class ReplayPage(QWidget):
    """Shows `WorthView`; requests go out only as signals."""

    replay_requested = Signal(tuple)
    """Ids; empty for all."""
    cancel_requested = Signal()
    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = WorthView()
        self.table = PlainTable(theme, "Replayed exemplars", _COLUMNS, self)
        self.table.opened.connect(lambda key: self.exemplar_opened.emit(str(key)))
        self.table.current.connect(lambda _key: self._refresh())
        failed, kept = "All that did not succeed last time", "Cancel. Finished replays are kept"
        every = partial(self.replay_requested.emit, ())
        self.all_button = key_button("Replay all", "All exemplars, in the background", "Ctrl+Return", every)
        self.one_button = key_button("Replay this one", "Only the selected one", "Ctrl+R", self._on_one)
        self.failed_button = key_button("Replay what failed", failed, "Ctrl+Shift+R", self._on_failed)
        self.cancel_button = key_button("Cancel", kept, "Alt+C", self.cancel_requested.emit)
        inside = QWidget()
        in_column(inside, self.table)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        buttons = (self.cancel_button, self.one_button, self.failed_button, self.all_button)
        self.foot = JobFoot(self, "Exemplars replayed", *buttons)
        self.foot.put_below(self, self.or_words)
        self.show_view(WorthView())

    @Slot(object)
    def show_view(self, view: WorthView) -> None:
        """Replace what is shown; the running work is above the earlier results."""
        self._view = view
        fresh = {one.id: ReplayRow(found=one) for one in (view.replay.results if view.replay else ())}
        rows = {row.found.id: row for row in view.replays} | fresh
        ordered = sorted(rows.values(), key=lambda row: (row.found.id not in fresh, row.rank))
        starting = "The browser starts…" if view.starting or view.replay is not None else ""
        reading = "" if view.ready or view.problem else "Reading the library…"
        self.or_words.say("" if ordered else starting or reading or _NONE)
        self.table.show_lines([_line(row) for row in ordered])
        self.foot.problem.show_text(view.problem)
        self._refresh()

    def _failed(self) -> tuple[str, ...]:
        there = (row.found for row in self._view.replays if row.is_there)
        return tuple(one.id for one in there if one.success is False)

    def _refresh(self) -> None:
        view, replay, idle = self._view, self._view.replay, self._view.can_start
        self.all_button.setEnabled(idle)
        self.one_button.setEnabled(idle and self.table.current_key is not None)
        self.failed_button.setEnabled(idle and bool(self._failed()))
        self.cancel_button.setEnabled(replay is not None)
        if replay is not None:
            self.foot.show_progress(replay.done, replay.wanted, f"{replay.done} of {replay.wanted}")
        else:
            other = (
                "An experiment is running. Wait for its end, or cancel it there." if view.under_way else ""
            )
            self.foot.show_words(other or view.notice, busy=False)

    def _on_one(self) -> None:
        if self.table.current_key is not None:
            self.replay_requested.emit((self.table.current_key,))

    def _on_failed(self) -> None:
        if self._failed():
            self.replay_requested.emit(self._failed())


def _line(row: ReplayRow) -> TableLine:
    one = row.found
    result = one.outcome
    if not row.is_there:
        result += ", in the archive"
    elif row.is_old:
        result += ", changed since"
    guessed = f"Uncertain: {'; '.join(one.guessed)}" if one.guessed else ""
    why = " ".join(filter(None, (one.problem, guessed)))
    seed = str(one.seed) if one.task else ""
    when = f"{datetime.fromtimestamp(one.when):%d %b %H:%M}" if one.when else ""
    return TableLine(
        cells=(result, one.id, one.task, seed, str(one.looks), when, why),
        values=(result, one.id, one.task, one.seed, one.looks, one.when, why),
        key=one.id,
        tone=_TONES[one.success],
        tooltip=one.sentence,
    )


class AttributionPage(QWidget):
    """Shows the attributions of `WorthView`."""

    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = PlainTable(theme, "Credits", _CREDIT_COLUMNS, self)
        self.table.opened.connect(lambda key: self.exemplar_opened.emit(str(key)))
        note = NoteLabel("dim", _CREDIT, self)
        note.setContentsMargins(12, 8, 12, 8)
        inside = QWidget()
        in_column(inside, note, (self.table, 1), spacing=0)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        in_column(self, self.or_words)
        self.show_view(WorthView())

    @Slot(object)
    def show_view(self, view: WorthView) -> None:
        self.or_words.say("" if view.attributions else _NO_CREDIT)
        self.table.show_lines([_credit_line(one) for one in view.attributions])


def _credit_line(one: AttributionSum) -> TableLine:
    return TableLine(
        cells=(one.id, one.family, str(one.steps), f"{one.total:+.2f}", f"{one.mean:+.2f}"),
        values=(one.id, one.family, one.steps, one.total, one.mean),
        key=one.id,
    )
