"""Folding: a panel that has nothing to show for the run in view gives its space to the others."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow

from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from gui.shell.panel_dock import PanelDock

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
    "Exemplars": lambda step: step.exemplars.rows or step.exemplars.progress or step.exemplars.problems,
}
"""Whether a step has content for the panel."""
_LEAST = 120
"""Height of a panel in pixels if its previous height is unknown."""


class DockFolding(QObject):
    """Folds docks to their titles: automatically if the run does not use them, or as the person chooses.

    Docks that are tabs of one another fold together, when all of them should be folded.
    """

    chosen = Signal()
    """The person has folded or unfolded a dock."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, PanelDock]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._session = SessionView()
        self._step = StepView(run=0, number=0)
        self._unfolded: list[PanelDock] = []
        self._growing = QTimer(self, singleShot=True, interval=0)
        self._growing.timeout.connect(self._grow)
        self._told: dict[str, str] = {}
        """Why panels are empty that say so themselves."""
        self._filled: set[str] = set()
        """The panels that had content in the run in view."""
        self.reasons: dict[str, str] = {}
        """Why each empty panel is empty."""
        self.by_hand: dict[str, bool] = {}
        """For each dock that the person folded or unfolded: whether it is folded."""
        for dock in docks.values():
            dock.fold_wanted.connect(lambda folded, dock=dock: self.fold(dock, folded))

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

    def fold(self, dock: PanelDock, folded: bool) -> None:
        """Fold or unfold a dock as the person chooses. Folding one of a group of tabs folds all of them."""
        self.by_hand.update(dict.fromkeys((one.name for one in self._group(dock)), folded))
        self.apply()
        self.chosen.emit()

    def restore(self, by_hand: Mapping[str, bool]) -> None:
        """Start with the docks that the person folded and unfolded in this layout."""
        self.by_hand = dict(by_hand)
        self.apply()

    def apply(self) -> None:
        """Fold and unfold docks as needed, also after a dock has moved."""
        wanted = {name: self.by_hand.get(name, name in self.reasons) for name in self._docks}
        open_areas = {
            self._window.dockWidgetArea(dock)
            for name, dock in self._docks.items()
            if not wanted[name] and dock.is_docked
        }
        for name, dock in self._docks.items():
            group = self._group(dock)
            folded = dock.is_docked and all(wanted[one.name] for one in group)
            if not any(one.name in self.by_hand for one in group):
                # A column that contains only titles would leave its space unused.
                folded = folded and self._window.dockWidgetArea(dock) in open_areas
            if dock.show_folded(folded, self.reasons.get(name, "")):
                self._unfolded.append(dock)
                self._growing.start()

    def _grow(self) -> None:
        """Restore the height of unfolded docks; their size limits apply only now."""
        unfolded = [dock for dock in self._unfolded if dock.is_in_front and not dock.folded]
        self._unfolded = []
        heights = [max(_LEAST, dock.unfolded_height) for dock in unfolded]
        self._window.resizeDocks(unfolded, heights, Qt.Orientation.Vertical)

    def _judge(self) -> None:
        reasons = {name: why for name in _MECHANISMS if (why := self._why_empty(name))}
        reasons |= {name: why for name, why in self._told.items() if why}
        if reasons == self.reasons:
            return
        self.reasons = reasons
        for name in reasons:
            self._bring_used(self._docks[name])
        self.apply()

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

    def _bring_used(self, dock: PanelDock) -> None:
        """If the front tab has no content, bring a tab to the front that has."""
        group = [one for one in self._group(dock) if not one.isHidden()]
        used = [one for one in group if one.name not in self.reasons]
        if used and not any(one.is_in_front for one in used):
            used[0].raise_()

    def _group(self, dock: QDockWidget) -> list[PanelDock]:
        """Return a dock and the docks that are tabs of the same group."""
        tabs = {id(one) for one in self._window.tabifiedDockWidgets(dock) if not one.isHidden()}
        return [one for one in self._docks.values() if one is dock or id(one) in tabs]
