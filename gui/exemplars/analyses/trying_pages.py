"""Pages on exemplars in use: whether they still succeed, what they were worth, and how they influenced the LLM."""

from datetime import datetime
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.evaluations.records import WorthResult
from core.debugger.exemplars.trying.views import AttributionSum, ReplayRow, TryingView
from gui.exemplars.analyses.page import AnalysisPage, panel
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import NoteLabel, OrWords

_NO_REPLAY = (
    "No exemplar has been replayed yet. Replay all (Ctrl+Enter) opens the task of each exemplar in the background, "
    "carries out its actions and judges the result. Or select some in the library and press Replay."
)
_REPLAYS = (
    Column("Result"),
    Column("Exemplar"),
    Column("Task"),
    Column("Seed", number=True),
    Column("Looks", number=True, tooltip="How many actions were carried out"),
    Column("When"),
    Column("The reason, or what was uncertain"),
)
_TONES = {True: "good", False: "bad", None: "remedy"}
_NO_WORTH = (
    "Nothing has been measured yet. Measure… (Ctrl+Enter) runs tasks at the same seeds with and without an exemplar, "
    "a family or a change of one. The results show here, and their runs in Evaluations."
)
_WORTHS = (
    Column("Measured"),
    Column("Difference", number=True, tooltip="How many percentage points more succeed with it"),
    Column("95 % interval", number=True),
    Column("Judged", number=True, tooltip="Pairs of runs that were judged"),
    Column("Flips", tooltip="Pairs that are a success only with it (▲) or only without it (▼)"),
    Column("Shown", number=True, tooltip="Runs in which the LLM saw it"),
    Column("Preset"),
    Column("LLM"),
    Column("When"),
)
_NO_CREDIT = (
    "No credit has been measured yet. Open a step with exemplars in its prompt in "
    "Ask again and press Credit. The credit of each exemplar is summed here."
)
_CREDIT = (
    "How much more likely the step's own action is with the exemplar than without it. 1: only "
    "with it; 0: no difference. An exemplar that leads to a wrong action has credit, too."
)
_CREDITS = (
    Column("Exemplar"),
    Column("Family"),
    Column("Steps", number=True, tooltip="Steps that were asked again without it"),
    Column("Credit", number=True, tooltip="Sum over these steps"),
    Column("Each", number=True, tooltip="On average"),
)


class _TryingPage(AnalysisPage):
    """A table of results, or what to do while there are none."""

    def __init__(
        self, theme: Theme, name: str, columns: tuple[Column, ...], nothing: str, parent: QWidget | None
    ) -> None:
        super().__init__(theme, "Cancel. What is finished is kept", parent)
        self.view = TryingView()
        self._nothing = nothing
        self.table = PlainTable(theme, name, columns, self)
        self.table.current.connect(lambda _key: self.refresh())
        self.or_words = OrWords(panel(self.table, tall=self.table), self)
        self.column.addWidget(self.or_words, 1)

    def show_lines(self, view: TryingView, lines: list[TableLine]) -> None:
        self.view = view
        reading = "" if view.ready or view.problem else "Reading the library…"
        self.or_words.say("" if lines else reading or self._nothing)
        self.table.show_lines(lines)
        self.refresh()

    def refresh(self) -> None:
        """Update the buttons."""


class ReplayPage(_TryingPage):
    """The last replay of each exemplar."""

    replay_requested = Signal(tuple)
    """Ids; empty for all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Replayed exemplars", _REPLAYS, _NO_REPLAY, parent)
        self.table.opened.connect(lambda key: self.exemplar_opened.emit(str(key)))
        failed, every = "All that did not succeed last time", partial(self.replay_requested.emit, ())
        self.all_button = key_button("Replay all", "All exemplars, in the background", "Ctrl+Return", every)
        self.one_button = key_button("Replay this one", "Only the selected one", "Ctrl+R", self._on_one)
        self.failed_button = key_button("Replay what failed", failed, "Ctrl+Shift+R", self._on_failed)
        self.add(self.all_button, self.one_button, self.failed_button)
        self.add(self.words, self.progress, self.cancel_button)
        self.show_view(TryingView())

    @Slot(object)
    def show_view(self, view: TryingView) -> None:
        """Replace what is shown; what the current job has replayed is above the earlier results."""
        began = view.began if view.busy else float("inf")
        rows = sorted(view.replays, key=lambda row: (row.result.when < began, row.rank))
        self.show_lines(view, [_replay_line(row) for row in rows])

    def _failed(self) -> tuple[str, ...]:
        there = (row.result for row in self.view.replays if row.is_there)
        return tuple(result.id for result in there if result.success is False)

    def refresh(self) -> None:
        idle = self.view.ready and not self.view.busy
        self.all_button.setEnabled(idle)
        self.one_button.setEnabled(idle and self.table.current_key is not None)
        self.failed_button.setEnabled(idle and bool(self._failed()))
        self.show_working(self.view)

    def _on_one(self) -> None:
        if self.table.current_key is not None:
            self.replay_requested.emit((self.table.current_key,))

    def _on_failed(self) -> None:
        if self._failed():
            self.replay_requested.emit(self._failed())


class WorthPage(_TryingPage):
    """What exemplars, families and changes of them were worth in evaluations."""

    worth_requested = Signal()
    evaluation_opened = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "What exemplars were worth", _WORTHS, _NO_WORTH, parent)
        self.measure_button = key_button(
            "Measure…",
            "Run tasks with and without an exemplar",
            "Ctrl+Return",
            self.worth_requested.emit,
            accent=True,
        )
        self.runs_button = key_button("Runs", "Show its runs in Evaluations (Enter)", "Alt+R", self._on_open)
        self.table.opened.connect(lambda _key: self._on_open())
        self.add(self.measure_button, self.runs_button, self.words)
        self.cancel_button.hide()
        self.progress.hide()
        self.show_view(TryingView())

    @Slot(object)
    def show_view(self, view: TryingView) -> None:
        self.show_lines(view, [_worth_line(result) for result in view.worths])

    def refresh(self) -> None:
        self.runs_button.setEnabled(self._evaluation() is not None)

    def _evaluation(self) -> int | None:
        """Return the evaluation of the current result, if the window has its database open."""
        key = self.table.current_key
        return key[1] if isinstance(key, tuple) and key[0] == self.view.trace else None

    def _on_open(self) -> None:
        if (number := self._evaluation()) is not None:
            self.evaluation_opened.emit(number)


class CreditPage(_TryingPage):
    """The sums of the credits that were measured."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Credits", _CREDITS, _NO_CREDIT, parent)
        self.table.opened.connect(lambda key: self.exemplar_opened.emit(str(key)))
        self.bar.addWidget(NoteLabel("dim", _CREDIT, self), 1)
        for widget in (self.cancel_button, self.progress, self.words):
            widget.hide()
        self.show_view(TryingView())

    @Slot(object)
    def show_view(self, view: TryingView) -> None:
        self.show_lines(view, [_credit_line(total) for total in view.attributions])


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%d %b %H:%M}" if seconds else ""


def _replay_line(row: ReplayRow) -> TableLine:
    result = row.result
    outcome = result.outcome
    if not row.is_there:
        outcome += ", in the archive"
    elif row.is_old:
        outcome += ", changed since"
    guessed = f"Uncertain: {'; '.join(result.guessed)}" if result.guessed else ""
    why = " ".join(filter(None, (result.problem, guessed)))
    seed, looks = str(result.seed) if result.task else "", str(result.looks)
    return TableLine(
        cells=(outcome, result.id, result.task, seed, looks, _when(result.when), why),
        values=(outcome, result.id, result.task, result.seed, result.looks, result.when, why),
        key=result.id,
        tone=_TONES[result.success],
        tooltip=result.sentence,
    )


def _worth_line(result: WorthResult) -> TableLine:
    change = result.difference
    points = "not judged" if change is None else f"{change * 100:+.0f} points"
    interval = "" if change is None else f"{result.low * 100:+.0f} to {result.high * 100:+.0f}"
    flips = " ".join(
        f"{sign} {number}" for sign, number in (("▲", result.to_success), ("▼", result.to_failure)) if number
    )
    shown = f"{result.used} of {result.cases}"
    certain = change is not None and not result.low <= 0 <= result.high
    return TableLine(
        cells=(
            result.subject.words,
            points,
            interval,
            str(result.judged),
            flips,
            shown,
            result.preset,
            result.llm,
            _when(result.when),
        ),
        values=(
            result.subject.words,
            -2.0 if change is None else change,
            result.low,
            result.judged,
            flips,
            result.used,
            result.preset,
            result.llm,
            result.when,
        ),
        key=(result.trace, result.evaluation),
        tone=("good" if (change or 0) > 0 else "bad") if certain else "",
        tooltip=f"{result.name}. {result.sentence}",
    )


def _credit_line(total: AttributionSum) -> TableLine:
    return TableLine(
        cells=(total.id, total.family, str(total.steps), f"{total.total:+.2f}", f"{total.mean:+.2f}"),
        values=(total.id, total.family, total.steps, total.total, total.mean),
        key=total.id,
    )
