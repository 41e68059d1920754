"""Leads to where a text stands: the panel that has it is shown, and the words in it are marked."""

from PySide6.QtCore import QObject, Slot

from core.debugger.provenance.views import SourceKind, SourcePlace
from core.debugger.snapshots import StepView
from gui.shell.main_window import MainWindow

_DOCKS: dict[SourceKind, str] = {
    "prompt": "Prompt",
    "page": "Observation",
    "clean observation": "Observation",
    "exemplar": "Exemplars",
    "plan": "Plan & remedies",
    "remedy": "Plan & remedies",
    "buffer": "State",
}
_AT_WORK = ("none", "thinking", "pending")
"""Outcomes of an action that has not changed the page yet."""


class WhyLeads(QObject):
    """Shows the step of a place first, where another one is in view."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._waiting: SourcePlace | None = None
        self._marked: tuple[int, int] | None = None
        window.step_shown.connect(self._on_step)

    def follow(self, place: SourcePlace) -> None:
        """Lead to a place."""
        step = self._window.step_in_view
        lead = place.lead
        if lead.step and (step is None or (step.run, step.number) != (lead.run, lead.step)):
            # A step before a branch is one of the run in view as well, where it has the parent's number.
            self._waiting = place
            self._window.session.trace.show_step(lead.run, lead.step)
            return
        self._show(place)

    def clear(self) -> None:
        """Take away what was marked in the page."""
        self._waiting = None
        if self._marked is not None:
            self._marked = None
            self._window.page.mark(None)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        if self._marked is not None and self._marked != (step.run, step.number):
            self._marked = None
            self._window.page.mark(None)
        place, self._waiting = self._waiting, None
        if place is None:
            return
        if (step.run, step.number) == (place.lead.run, place.lead.step):
            self._show(place)
        else:
            self._waiting = place

    def _show(self, place: SourcePlace) -> None:
        window, lead = self._window, place.lead
        if (name := self._dock_of(place)) is not None:
            dock = window.dock(name)
            dock.show()
            dock.raise_()
        match place.kind:
            case "prompt":
                window.prompt.show_place(lead.part, place.found, place.nth)
            case "page":
                self._show_element(place)
            case "clean observation":
                window.observation.show_place(place.found, place.nth, clean=True)
            case "exemplar":
                window.exemplars.show_place(lead.exemplar, place.found)

    def _dock_of(self, place: SourcePlace) -> str | None:
        if place.kind == "policy":
            return "State" if place.title.startswith("Instruction of the state") else "Policy stack"
        if place.kind == "buffer" and place.title.startswith("Note "):
            return "Policy stack"
        return _DOCKS.get(place.kind)

    def _show_element(self, place: SourcePlace) -> None:
        window, ref = self._window, place.lead.ref
        step = window.step_in_view
        if ref is None or step is None:
            window.observation.show_place(place.found, place.nth, clean=False)
            return
        element = next((one for one in step.action.elements if one.ref == ref), None)
        window.observation.show_place(f"[{ref}] {element.role if element else ''}".rstrip(), 0, clean=False)
        # The live page is another one once the action was carried out.
        if not step.live or step.action.outcome in _AT_WORK:
            self._marked = (step.run, step.number)
            window.page.mark(element)
