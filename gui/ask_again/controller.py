"""Joins Ask again to what answers it."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.ask_again.views import AskDeskCommands, AskView
from core.debugger.snapshots import Catalogue
from gui.ask_again.window import AskAgain
from gui.theme.theme import Theme
from gui.widgets.relay import Relay


class AskAgainController(QObject):
    """Opens the dialog, sends its questions to the desk and shows what comes back."""

    adopt_requested = Signal(str)
    """An action, as text, that is to be taken in place of the next one."""

    def __init__(self, desk: AskDeskCommands, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._window = window
        self._step = (0, 0)
        self._under_review: tuple[int, int] | None = None
        self._catalogue = Catalogue()
        self.dialog: AskAgain | None = None
        """The dialog, once it was opened."""
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)

    def open(self, run: int, step: int) -> None:
        """Show what can be asked again of this step; edits are kept where it is the step in view."""
        if self.dialog is None:
            self.dialog = AskAgain(self._theme, self._window)
            self.dialog.ask_requested.connect(self._desk.ask)
            self.dialog.credit_requested.connect(self._desk.ask_credit)
            self.dialog.cancel_requested.connect(self._desk.cancel)
            self.dialog.exemplar_requested.connect(self._desk.write_exemplar)
            self.dialog.adopt_requested.connect(self.adopt_requested)
            self.dialog.show_llms(self._catalogue.llms)
        if (run, step) != self._step:
            self._step = (run, step)
            self.dialog.wait(run, step)
        if not self.dialog.busy:
            self._desk.open(run, step)
        self._tell_adoptable()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    @Slot(object)
    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these LLMs."""
        self._catalogue = catalogue
        if self.dialog is not None:
            self.dialog.show_llms(catalogue.llms)

    def show_review(self, run: int | None, step: int, *, under_review: bool) -> None:
        """Say which step rests at its review, so that an action of its answers can be adopted."""
        self._under_review = (run, step) if under_review and run is not None else None
        self._tell_adoptable()

    def _tell_adoptable(self) -> None:
        if self.dialog is not None:
            self.dialog.set_adoptable(self._step == self._under_review)

    @Slot(object)
    def _show_view(self, view: AskView) -> None:
        """Show what belongs to the step in view; of others only what went wrong is said."""
        if self.dialog is None:
            return
        if (view.run, view.step) == self._step:
            self.dialog.show_view(view)
        elif view.problem:
            self.dialog.show_problem(view.problem)
