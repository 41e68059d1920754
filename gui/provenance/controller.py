"""Where it comes from: opened for words of a step, from any panel; leads to the sources."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from core.debugger.provenance.views import SourceKind, SourcePlace, WhyView
from core.debugger.steps.views import StepView
from gui.provenance.window import WhyWindow
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.provenance.service import ProvenanceService
_DOCKS: dict[SourceKind, str] = {
    "prompt": "Prompt",
    "page": "Observation",
    "clean observation": "Observation",
    "exemplar": "Exemplars",
    "plan": "Plan & remedies",
    "remedy": "Plan & remedies",
    "buffer": "State",
}


class ProvenanceController(FeatureController):
    """Opens the window, passes on its questions, and leads to the sources."""

    def __init__(self, window: MainWindow, service: "ProvenanceService") -> None:
        super().__init__(window)
        self._service = service
        self.shown: WhyWindow | None = None
        """The window, after it was opened."""
        self.leads = WhyLeads(window)
        self.follow(service.changed, self._show_view)
        window.why_requested.connect(self.explain)

    @Slot(int, int, str)
    def explain(self, run: int, step: int, text: str) -> None:
        """Open the window for a step, and look for `text` if there is any."""
        if self.shown is None:
            self.shown = WhyWindow(self.window.theme, self.window)
            self.shown.asked.connect(self._service.explain)
            self.shown.lead_requested.connect(self.leads.follow)
            self.shown.left.connect(self.leads.clear)
            # Over the docks at the right, so that page and prompt, to which it leads, stay visible.
            corner = self.window.mapToGlobal(self.window.rect().topRight())
            self.shown.move(corner.x() - self.shown.width() - 8, corner.y() + 90)
        self.shown.begin(run, step, text)
        present(self.shown)

    @Slot(object)
    def _show_view(self, view: WhyView) -> None:
        if self.shown is not None:
            self.shown.show_view(view)


class WhyLeads(QObject):
    """Shows the step of a place first, if another one is in view."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._waiting: SourcePlace | None = None
        window.step_shown.connect(self._on_step)

    def follow(self, place: SourcePlace) -> None:
        """Go to a place."""
        step = self._window.step_in_view
        lead = place.lead
        if lead.step and (step is None or (step.run, step.number) != (lead.run, lead.step)):
            # A step before a branch also belongs to the run in view, under the parent's number.
            self._waiting = place
            self._window.session.trace.show_step(lead.run, lead.step)
            return
        self._show(place)

    def clear(self) -> None:
        """Remove the mark of the element in the page."""
        self._waiting = None
        self._window.elements.pin(None)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        shown, place = (step.run, step.number), self._waiting
        if place is not None and shown == (place.lead.run, place.lead.step):
            self._waiting = None
            self._show(place)

    def _show(self, place: SourcePlace) -> None:
        window, lead = self._window, place.lead
        if (name := self._dock_of(place)) is not None:
            window.place(name).bring()
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
        window.elements.pin(ref)


install = ProvenanceController
