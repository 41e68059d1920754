"""Diff: the step in view beside another step of its run, the one before it at first."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from core.debugger.compare.views import PairView, StepKey
from core.debugger.timeline.views import StepSpan
from gui.panels.diff.steps import StepsBeside
from gui.theme.theme import Theme
from gui.widgets.words import ElidedLabel, OrWords

_NONE = "No step is in view. Observation, prompt and plan of a step show here beside those of another one."
_ONLY = "The run has one step as yet: take another one (F10) to see what has changed since."
_FIRST = "This is the first step of its run: choose another one above to see it beside this one."


class DiffPanel(QWidget):
    """Asks for pairs while it is `seen`; the other step stays chosen until the run is another one."""

    pair_requested = Signal(object, object)
    """The other step and the one in view, each as run and number."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._viewed: StepKey | None = None
        self._steps: tuple[StepSpan, ...] = ()
        self._chosen: int | None = None
        """The number of the other step; None for the one before that in view."""
        self._wanted: tuple[StepKey, StepKey] | None = None
        self._stale = False
        self._seen = False
        self.other = QComboBox(self)
        self.other.setAccessibleName("Compare with")
        self.other.setToolTip("The step on the left; the step in view is on the right")
        self.other.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.other.setMinimumContentsLength(16)
        self.other.activated.connect(self._on_chosen)
        self.beside = StepsBeside(theme, self)
        self.beside.fact_changed.connect(self.fact_changed)
        head = QHBoxLayout()
        head.setContentsMargins(10, 3, 8, 3)
        head.setSpacing(6)
        head.addWidget(ElidedLabel("Compare with", self))
        head.addWidget(self.other)
        head.addStretch(1)
        self.or_words = OrWords(self.beside, self)
        self.or_words.say(_NONE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.or_words, 1)

    def show_viewed(self, run: int, number: int, *, again: bool = False) -> None:
        """Follow the step in view; `again` where it is the same and has come further."""
        viewed = (run, number) if number else None
        if viewed is not None and self._viewed is not None and viewed[0] != self._viewed[0]:
            self._chosen = None
        changed = viewed != self._viewed
        self._viewed = viewed
        if changed or again:
            self._stale = True
            self._refresh()

    def show_steps(self, steps: tuple[StepSpan, ...]) -> None:
        """Offer these steps, those of the run in view."""
        if [(one.run, one.number, one.action) for one in steps] == [
            (one.run, one.number, one.action) for one in self._steps
        ]:
            return
        self._steps = steps
        with QSignalBlocker(self.other):
            self.other.clear()
            self.other.addItem("the step before")
            self.other.addItems([f"step {one.number}: {one.action or 'no action'}"[:90] for one in steps])
            numbers = [one.number for one in steps]
            self.other.setCurrentIndex(numbers.index(self._chosen) + 1 if self._chosen in numbers else 0)
        self._refresh()

    @Slot(object)
    def show_pair(self, view: PairView) -> None:
        """Show two steps where they are still the ones that were asked for."""
        if (view.left, view.right) == self._wanted:
            self.beside.show_pair(view)

    def focus_search(self) -> None:
        self.beside.focus_search()

    def set_seen(self, on: bool) -> None:
        """Say whether it can be seen: a tab behind others counts as shown with Qt."""
        self._seen = on
        self._refresh()

    def _on_chosen(self, at: int) -> None:
        self._chosen = self._steps[at - 1].number if 0 < at <= len(self._steps) else None
        self._refresh()

    def _other(self) -> StepKey | None:
        if self._viewed is None:
            return None
        before = [one for one in self._steps if one.number < self._viewed[1]]
        chosen = next((one for one in self._steps if one.number == self._chosen), None)
        found = chosen or (before[-1] if before else None)
        return (found.run, found.number) if found is not None else None

    def _refresh(self) -> None:
        other = self._other()
        if self._viewed is None or other is None:
            self._wanted = None
            alone = _ONLY if len(self._steps) < 2 else _FIRST
            self.or_words.say(_NONE if self._viewed is None else alone)
            self.fact_changed.emit("")
            return
        self.or_words.say("")
        wanted = (other, self._viewed)
        if not self._seen or (wanted == self._wanted and not self._stale):
            return
        if wanted != self._wanted:
            self.beside.wait(*wanted)
        self._wanted, self._stale = wanted, False
        self.pair_requested.emit(*wanted)
