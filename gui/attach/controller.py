"""Agents written by others: the dialog that attaches one, how long one is held, and one that diverged."""

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QWidget

from core.debugger.attach.views import AttachRequest, AttachView, Hold
from core.debugger.catalogue import Catalogue
from core.schema.formats import count
from core.schema.restore import Parted
from gui.attach.dialog import AttachDialog
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import Finder
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import Paragraph, set_tone, small_label

_LIVE = "Close this dialog. From here on, its questions go to the LLM as you step the run"
_STOP = "End the run and the agent's program"


class PartedDialog(QDialog):
    """Shows where an agent diverged from its record, and asks what to do with it; if closed, it continues live."""

    stop_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("The agent took another way")
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self.words = Paragraph("", self)
        self.texts = SideBySide(theme, self)
        titles = [QLabel("Asked when it was recorded", self), QLabel("Asked now", self)]
        for title in titles:
            title.setFont(theme.heading_font())
            title.setContentsMargins(8, 0, 8, 0)
        left, right = titles
        self.fact = small_label(theme, self)
        self.only_changes = QCheckBox("Only what differs", self)
        self.only_changes.setToolTip("Leave out equal lines that are not next to a change (Alt+D)")
        self.only_changes.setShortcut("Alt+D")
        self.only_changes.toggled.connect(self._on_only_changes)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.texts.left, self.texts.right), self)
        self.stop_button = key_button("Stop the agent", _STOP, "Alt+S", self._on_stop, self)
        self.live_button = key_button("Go on live", _LIVE, "Ctrl+Return", self.accept, self, accent=True)
        foot = ((self.fact, 1), self.only_changes, self.finder, self.stop_button, self.live_button)
        in_column(
            self,
            in_row(None, (self.words, 1), margins=(12, 10, 12, 6)),
            in_row(None, (left, 1), (right, 1), margins=(0, 5, 0, 5), spacing=1),
            (self.texts, 1),
            in_row(None, *foot, margins=(12, 8, 12, 10), spacing=8),
            spacing=0,
        )
        theme.size_window(self, 900, 560)

    def show_parted(self, parted: Parted) -> None:
        """Show where an agent diverged from its record, by its questions."""
        self.words.setText(f"{parted.why} It waits there for an answer.")
        self.texts.show_texts(parted.recorded, parted.asked)
        self.only_changes.setChecked(True)
        self.fact.setText(count(self.texts.changed, "line differs", "lines differ"))
        self.finder.refresh()

    def _on_only_changes(self, on: bool) -> None:
        self.texts.set_only_changes(on)
        self.finder.refresh()

    def _on_stop(self) -> None:
        self.stop_requested.emit()
        self.accept()


_USUAL = {
    "action": (30, "By default, Playwright gives up an action after 30 s"),
    "call": (60, "By default, clients give up a call after 60 s or more, browser-use after 75 s"),
}
_WHY = (
    "Backstep did not start this agent, so its clock cannot be stopped. Let it continue (F5, F10) before its own "
    "timeout, or start it with Run > Attach your agent…"
)


class PatienceLabel(QLabel):
    """Counts the seconds; hidden if nothing is held."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hold: Hold | None = None
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._refresh)
        self.setFont(theme.small_font())
        self.setContentsMargins(0, 0, 12, 0)
        self.hide()

    def show_hold(self, hold: Hold | None) -> None:
        """Count from the beginning of a hold; None stops counting."""
        self._hold = hold
        self.setVisible(hold is not None)
        if hold is None:
            self._timer.stop()
            return
        self._refresh()
        self._timer.start()

    def _refresh(self) -> None:
        hold = self._hold
        if hold is None:
            return
        held = max(0, round(time.monotonic() - hold.since))
        patience, usual = _USUAL[hold.what]
        if hold.gave_up:
            patience, usual = round(hold.gave_up), f"The agent last gave up after {hold.gave_up:.0f} s"
        left = patience - held
        words = f"about {left} s left" if left > 0 else "it may have given up"
        self.setText(f"Agent held for {held} s, {words}")
        self.setToolTip(f"{usual}.\n{_WHY}")
        set_tone(self, "remedy" if left > patience / 3 else "bad")


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
