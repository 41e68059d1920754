"""Parts on exemplars in use: whether they still succeed, what they were worth, and how they influenced the LLM."""

from datetime import datetime
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from core.debugger.evaluations.records import WorthResult
from core.debugger.exemplars.trying.views import AttributionSum, ReplayRow, TryingResults
from gui.exemplars.analyses.page import PartPage
from gui.theme.theme import Theme
from gui.widgets.plain_table import Column, TableLine

_TONES = {True: "good", False: "bad", None: "remedy"}


class _TryingPage(PartPage):
    """Its results are read from the library, so there is nothing to start."""

    start = "Reading the library…"

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table.opened.connect(self._on_opened)

    @property
    def results(self) -> TryingResults:
        return self.view.result or TryingResults()

    def _nothing(self) -> str:
        return self.none if self.view.problem else super()._nothing()

    def _on_opened(self, key: Any) -> None:
        self.exemplar_opened.emit(str(key))


class ReplayPage(_TryingPage):
    """The last replay of each exemplar."""

    replay_requested = Signal(tuple)
    """Ids; empty for all."""

    name = "Replay"
    title = "Replayed exemplars"
    columns = (
        Column("Result"),
        Column("Exemplar"),
        Column("Task"),
        Column("Seed", number=True),
        Column("Looks", number=True, tooltip="How many actions were carried out"),
        Column("When"),
        Column("The reason, or what was uncertain"),
    )
    none = (
        "No exemplar has been replayed yet. Replay all (Ctrl+Enter) opens the task of each exemplar in the "
        "background, carries out its actions and judges the result. Or select some in the library and press Replay."
    )

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.all_button = self.button(
            "Replay all",
            "All exemplars, in the background",
            "Ctrl+Return",
            lambda: self._replay(()),
            when=self._idle,
        )
        self.one_button = self.button(
            "Replay this one",
            "Only the selected one",
            "Ctrl+R",
            lambda: self._replay((self.table.current_key,)),
            when=lambda: self._idle() and self.table.current_key is not None,
        )
        self.failed_button = self.button(
            "Replay what failed",
            "All that did not succeed last time",
            "Ctrl+Shift+R",
            lambda: self._replay(self._failed()),
            when=lambda: self._idle() and bool(self._failed()),
        )
        self.add(self.all_button, self.one_button, self.failed_button)
        self.add(self.words, self.progress, self.cancel_button)
        self.begin()

    def line_items(self, result: TryingResults) -> list[TableLine]:
        return [_replay_line(row) for row in result.replays]

    def _idle(self) -> bool:
        return self.view.result is not None and not self.view.busy

    def _failed(self) -> tuple[str, ...]:
        there = (row.result for row in self.results.replays if row.is_there)
        return tuple(result.id for result in there if result.success is False)

    def _replay(self, ids: tuple[str, ...]) -> None:
        self.replay_requested.emit(ids)


class WorthPage(_TryingPage):
    """What exemplars, families and changes of them were worth in evaluations."""

    worth_requested = Signal()
    evaluation_opened = Signal(int)

    name = "Worth"
    title = "What exemplars were worth"
    works = False
    columns = (
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
    none = (
        "Nothing has been measured yet. Measure… (Ctrl+Enter) runs tasks at the same seeds with and without an "
        "exemplar, a family or a change of one. The results show here, and their runs in Evaluations."
    )

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.measure_button = self.button(
            "Measure…",
            "Run tasks with and without an exemplar",
            "Ctrl+Return",
            self.worth_requested.emit,
            when=lambda: True,
            accent=True,
        )
        self.runs_button = self.button(
            "Runs",
            "Show its runs in Evaluations (Enter)",
            "Alt+R",
            lambda: self._on_opened(self.table.current_key),
            when=lambda: self._evaluation(self.table.current_key) is not None,
        )
        self.add(self.measure_button, self.runs_button)
        self.bar.addStretch(1)
        self.begin()

    def line_items(self, result: TryingResults) -> list[TableLine]:
        return [_worth_line(worth) for worth in result.worths]

    def _evaluation(self, key: Any) -> int | None:
        """Return the evaluation of a result, if the window has its database open."""
        return key[1] if isinstance(key, tuple) and key[0] == self.results.trace else None

    def _on_opened(self, key: Any) -> None:
        if (number := self._evaluation(key)) is not None:
            self.evaluation_opened.emit(number)


class CreditPage(_TryingPage):
    """The sums of the credits that were measured."""

    name = "Credit"
    title = "Credits"
    works = False
    columns = (
        Column("Exemplar"),
        Column("Steps", number=True, tooltip="Steps that were asked again without it"),
        Column("Credit", number=True, tooltip="Sum over these steps"),
        Column("Each", number=True, tooltip="On average"),
        Column("Family"),
    )
    none = (
        "No credit has been measured yet. Open a step with exemplars in its prompt in Ask again and press Credit. "
        "The credit of each exemplar is summed here."
    )

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.begin()

    def line_items(self, result: TryingResults) -> list[TableLine]:
        return [_credit_line(total) for total in result.attributions]

    def summary(self, result: TryingResults) -> str:
        return (
            "How much more likely the step's own action is with the exemplar than without it. 1: only with it; 0: "
            "no difference. An exemplar that leads to a wrong action has credit, too."
        )


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%d %b %H:%M}" if seconds else ""


def _replay_line(row: ReplayRow) -> TableLine:
    result = row.result
    outcome = result.outcome
    if not row.is_there:
        outcome += ", retired"
    elif row.is_old:
        outcome += ", changed since"
    guessed = f"Uncertain: {'; '.join(result.guessed)}" if result.guessed else ""
    why = " ".join(filter(None, (result.problem, guessed)))
    return TableLine.of(
        outcome,
        result.id,
        result.task,
        (str(result.seed) if result.task else "", result.seed),
        (str(result.looks), result.looks),
        (_when(result.when), result.when),
        why,
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
    certain = change is not None and not result.low <= 0 <= result.high
    return TableLine.of(
        result.subject.words,
        (points, -2.0 if change is None else change),
        (interval, result.low),
        (str(result.judged), result.judged),
        flips,
        (f"{result.used} of {result.cases}", result.used),
        result.preset,
        result.llm,
        (_when(result.when), result.when),
        key=(result.trace, result.evaluation),
        tone=("good" if (change or 0) > 0 else "bad") if certain else "",
        tooltip=f"{result.name}. {result.sentence}",
    )


def _credit_line(total: AttributionSum) -> TableLine:
    return TableLine.of(
        total.id,
        (str(total.steps), total.steps),
        (f"{total.total:+.2f}", total.total),
        (f"{total.mean:+.2f}", total.mean),
        total.family,
        key=total.id,
    )
