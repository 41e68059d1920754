"""SectionFolding: a panel that has nothing to show for the run in view gives its space to the others."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from gui.shell.places import StackSection

_MECHANISMS: dict[str, frozenset[str]] = {
    "State": frozenset({"states"}),
    "Policy stack": frozenset({"policies"}),
    "Plan & remedies": frozenset({"plan", "remedies", "judgement"}),
    "Exemplars": frozenset({"memory"}),
}
"""Panels that are empty for some runs, with the mechanisms that fill each."""
_FILLED: dict[str, Callable[[StepView], object]] = {
    "State": lambda step: step.state.space not in ("", "none") or step.state.states or step.state.fits,
    "Policy stack": lambda step: step.stack.frames or step.stack.finished,
    "Plan & remedies": lambda step: (
        step.plan.subtasks or step.plan.remedies or step.plan.judgements or step.plan.experience
    ),
    "Exemplars": lambda step: step.exemplars.rows or step.exemplars.problems,
}
"""Whether a step has content for the panel."""


class SectionFolding(QObject):
    """Folds sections to their titles: where the layout or the run does not use them, or as the person chooses."""

    chosen = Signal()
    """The person has folded or unfolded a section."""

    def __init__(self, sections: Sequence[StackSection], parent: QObject) -> None:
        super().__init__(parent)
        self._sections = sections
        self._session = SessionView()
        self._step = StepView(run=0, number=0)
        self._told: dict[str, str] = {}
        """Why panels are empty that say so themselves."""
        self._filled: set[str] = set()
        """The panels that had content in the run in view."""
        self._open: frozenset[str] | None = None
        """The sections that the layout unfolds; None for all."""
        self.reasons: dict[str, str] = {}
        """Why each empty panel is empty."""
        self.by_hand: dict[str, bool] = {}
        """For each section that the person folded or unfolded: whether it is folded."""
        for section in sections:
            section.fold_wanted.connect(lambda folded, name=section.name: self.fold(name, folded))

    def show_session(self, view: SessionView) -> None:
        self._session = view
        self._judge()

    def show_step(self, step: StepView) -> None:
        if step.run != self._step.run:
            self._filled.clear()
        self._step = step
        self._filled.update(name for name, filled in _FILLED.items() if filled(step))
        self._judge()

    def tell(self, name: str, why: str) -> None:
        """Fold a panel that is empty for this reason; an empty one unfolds it."""
        if self._told.get(name, "") != why:
            self._told[name] = why
            self._judge()

    def fold(self, name: str, folded: bool) -> None:
        """Fold or unfold a section as the person chooses; what it would be without a choice is none."""
        if folded == self._is_unused(name):
            self.by_hand.pop(name, None)
        else:
            self.by_hand[name] = folded
        self._apply()
        self.chosen.emit()

    def restore(self, by_hand: Mapping[str, bool], unfolded: frozenset[str] | None) -> None:
        """Start with the sections that a layout unfolds, and those that the person folded and unfolded in it."""
        self.by_hand = dict(by_hand)
        self._open = unfolded
        self._apply()

    def _apply(self) -> None:
        for section in self._sections:
            name = section.name
            section.show_folded(self.by_hand.get(name, self._is_unused(name)), self.reasons.get(name, ""))

    def _is_unused(self, name: str) -> bool:
        return name in self.reasons or (self._open is not None and name not in self._open)

    def _judge(self) -> None:
        reasons = {name: why for name in _MECHANISMS if (why := self._why_empty(name))}
        reasons |= {name: why for name, why in self._told.items() if why}
        if reasons != self.reasons:
            self.reasons = reasons
            self._apply()

    def _why_empty(self, name: str) -> str:
        session, step = self._session, self._step
        if name in self._filled or (step.run == 0 and session.run is None):
            return ""
        if step.run not in (0, session.run):
            return f"nothing in run {step.run}"
        if session.attached:
            return "not told by the agent"
        switches = [mechanism for mechanism in session.mechanisms if mechanism.name in _MECHANISMS[name]]
        if not switches or any(switch.on for switch in switches):
            return ""
        return (
            "switched off"
            if any(switch.by_preset for switch in switches)
            else f"not used by {session.preset}"
        )
