"""Agents written by others: the dialog that attaches one, and the last settings."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.attach.views import AttachRequest, AttachView
from core.debugger.catalogue import Catalogue
from core.schema.restore import Parted
from gui.attach.dialog import AttachDialog
from gui.attach.parted import PartedDialog
from gui.attach.patience import PatienceLabel
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.attach.service import AttachService


class AttachController(FeatureController):
    """Opens the dialog, passes on its requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "AttachService") -> None:
        super().__init__(window)
        self._service = service
        self._view = AttachView()
        self._tasks: tuple[str, ...] = ()
        self.dialog: AttachDialog | None = None
        """The dialog, after it was opened."""
        self.parted: PartedDialog | None = None
        """The dialog for an agent that diverged, after one did."""
        self.patience = PatienceLabel(window.theme, window)
        window.status.addPermanentWidget(self.patience)
        self.follow(service.changed, self._show_view)
        self.follow(window.session.catalogue_changed, self._show_catalogue)

    @Slot()
    def open(self) -> None:
        """Show the dialog with the settings that were last used."""
        if self.dialog is None:
            self.dialog = AttachDialog(self.window.theme, self.window)
            self.dialog.attach_requested.connect(self._on_attach)
            self.dialog.detach_requested.connect(self._service.detach)
            self.dialog.offer(self._view.request or self.window.remembered.attach)
            self.dialog.offer_tasks(self._tasks)
            self.dialog.show_view(self._view)
        present(self.dialog)

    def _on_attach(self, request: AttachRequest) -> None:
        self.window.remembered.attach = request
        self._service.attach(request)

    @Slot(object)
    def _show_view(self, view: AttachView) -> None:
        parted = view.parted if view.parted != self._view.parted else None
        if view.notices[len(self._view.notices) :]:
            self.window.page.messages.say("Partly attached", " ".join(view.notices), lasts=True)
        self._view = view
        self.patience.show_hold(view.hold)
        if parted is not None and parted.asked:
            self._show_parted(parted)
        if self.dialog is not None:
            self.dialog.show_view(view)
        elif view.problem or (view.addresses is not None and view.request and not view.request.command):
            self.open()  # There is something to read: a problem, or addresses for a program elsewhere.

    def _show_parted(self, parted: Parted) -> None:
        if self.parted is None:
            self.parted = PartedDialog(self.window.theme, self.window)
            self.parted.stop_requested.connect(self.window.session.run_commands.stop)
        self.parted.show_parted(parted)
        present(self.parted)

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self._tasks = tuple(task.id for task in catalogue.tasks)
        if self.dialog is not None:
            self.dialog.offer_tasks(self._tasks)


install = AttachController
