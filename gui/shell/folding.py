"""Folding: a panel that has nothing to show for the run in view leaves its room to the others."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow

from core.debugger.snapshots import SessionView, StepView
from gui.shell.panel_dock import PanelDock

_MECHANISMS: dict[str, frozenset[str]] = {
    "State": frozenset({"states"}),
    "Policy stack": frozenset({"policies"}),
    "Plan & remedies": frozenset({"plan", "remedies", "judgement"}),
    "Exemplars": frozenset({"memory"}),
}
"""The panels that some runs have nothing for, with the mechanisms that fill each."""
_FILLED: dict[str, Callable[[StepView], object]] = {
    "State": lambda step: step.state.space not in ("", "none") or step.state.states or step.state.fits,
    "Policy stack": lambda step: step.stack.frames or step.stack.finished,
    "Plan & remedies": lambda step: (
        step.plan.subtasks or step.plan.remedies or step.plan.judgements or step.plan.experience
    ),
    "Exemplars": lambda step: step.exemplars.rows or step.exemplars.progress or step.exemplars.problems,
}
"""Whether a step has something for the panel."""
_LEAST = 120
"""Pixels of height that a panel gets where it is not known how high it was."""


class DockFolding(QObject):
    """Folds docks to their titles: by itself where the run does not use them, or as the person wants it.

    Docks that are tabs over each other fold together, when none of them is to be open.
    """

    chosen = Signal()
    """A person has folded or unfolded a dock."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, PanelDock]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._session = SessionView()
        self._step = StepView(run=0, number=0)
        self._unfolded: list[PanelDock] = []
        self._growing = QTimer(self, singleShot=True, interval=0)
        self._growing.timeout.connect(self._grow)
        self._filled: set[str] = set()
        """The panels that had something to show in the run in view."""
        self.reasons: dict[str, str] = {}
        """Why each panel that has nothing to show has nothing."""
        self.by_hand: dict[str, bool] = {}
        """Whether each dock that a person folded or unfolded is folded."""
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

    def fold(self, dock: PanelDock, folded: bool) -> None:
        """Fold or unfold a dock as a person wants it; to fold one of a group of tabs folds them all."""
        self.by_hand.update(dict.fromkeys((one.name for one in self._group(dock)), folded))
        self.apply()
        self.chosen.emit()

    def restore(self, by_hand: Mapping[str, bool]) -> None:
        """Begin with what the person has folded and unfolded in this layout."""
        self.by_hand = dict(by_hand)
        self.apply()

    def apply(self) -> None:
        """Fold and unfold what is to be, after a dock has moved too."""
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
                # A column of titles alone would leave its room to nobody.
                folded = folded and self._window.dockWidgetArea(dock) in open_areas
            if dock.show_folded(folded, self.reasons.get(name, "")):
                self._unfolded.append(dock)
                self._growing.start()

    def _grow(self) -> None:
        """Give the docks that were unfolded their height again; their limits are in force only now."""
        unfolded = [dock for dock in self._unfolded if dock.is_in_front and not dock.folded]
        self._unfolded = []
        heights = [max(_LEAST, dock.unfolded_height) for dock in unfolded]
        self._window.resizeDocks(unfolded, heights, Qt.Orientation.Vertical)

    def _judge(self) -> None:
        reasons = {name: why for name in _MECHANISMS if (why := self._why_empty(name))}
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
        switches = [one for one in session.mechanisms if one.name in _MECHANISMS[name]]
        if not switches or any(one.on for one in switches):
            return ""
        return "switched off" if any(one.by_preset for one in switches) else f"not used by {session.preset}"

    def _bring_used(self, dock: PanelDock) -> None:
        """Where a tab has nothing to show, bring one to the front that has."""
        group = [one for one in self._group(dock) if not one.isHidden()]
        used = [one for one in group if one.name not in self.reasons]
        if used and not any(one.is_in_front for one in used):
            used[0].raise_()

    def _group(self, dock: QDockWidget) -> list[PanelDock]:
        """Return a dock with those that are tabs beside it."""
        tabs = {id(one) for one in self._window.tabifiedDockWidgets(dock) if not one.isHidden()}
        return [one for one in self._docks.values() if one is dock or id(one) in tabs]
