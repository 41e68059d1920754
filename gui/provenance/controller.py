"""Where it comes from: opened for words of a step, from any panel."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.provenance.views import WhyView
from gui.provenance.leads import WhyLeads
from gui.provenance.window import WhyWindow
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.provenance.service import ProvenanceService


def install(window: MainWindow, service: "ProvenanceService") -> "ProvenanceController":
    return ProvenanceController(window, service)


class ProvenanceController(FeatureController):
    """Opens the window, passes on its questions, and leads to what it found."""

    def __init__(self, window: MainWindow, service: "ProvenanceService") -> None:
        super().__init__(window)
        self._service = service
        self.shown: WhyWindow | None = None
        """The window, once it was opened."""
        self.leads = WhyLeads(window)
        self.follow(service.changed, self._show_view)
        window.why_requested.connect(self.explain)

    @Slot(int, int, str)
    def explain(self, run: int, step: int, text: str) -> None:
        """Open the window for a step, and look for `text` where there is one."""
        if self.shown is None:
            self.shown = WhyWindow(self.window.theme, self.window)
            self.shown.asked.connect(self._service.explain)
            self.shown.lead_requested.connect(self.leads.follow)
            self.shown.left.connect(self.leads.clear)
            # Over the docks at the right: page and prompt, where it leads to, stay in sight.
            corner = self.window.mapToGlobal(self.window.rect().topRight())
            self.shown.move(corner.x() - self.shown.width() - 8, corner.y() + 90)
        self.shown.begin(run, step, text)
        present(self.shown)

    @Slot(object)
    def _show_view(self, view: WhyView) -> None:
        if self.shown is not None:
            self.shown.show_view(view)
