"""Joins the pages on which exemplars are tried out to what does it."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.evaluation_views import ProvingDeskCommands, ProvingView
from core.debugger.experiments.records import Subject, WorthWanted
from core.debugger.snapshots import Catalogue
from gui.experiments.attribution_page import CreditPage
from gui.experiments.evaluation_page import WorthPage
from gui.experiments.replay_page import ReplayPage
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered


class ProvingController(QObject):
    """Sends what the pages ask to the desk and shows what comes back."""

    exemplar_opened = Signal(str)
    run_opened = Signal(int, int)
    compare_requested = Signal(int, int)

    def __init__(
        self, desk: ProvingDeskCommands, theme: Theme, remembered: Remembered, window: QWidget
    ) -> None:
        super().__init__(window)
        self._desk = desk
        self._remembered = remembered
        self.worth = WorthPage(theme, window)
        self.replay = ReplayPage(theme, window)
        self.credit = CreditPage(theme, window)
        self.pages: tuple[tuple[str, QWidget], ...] = (
            ("Worth", self.worth),
            ("Replay", self.replay),
            ("Credit", self.credit),
        )
        for _, page in self.pages:
            page.hide()
        self.worth.start_requested.connect(self._on_start)
        self.worth.subject_chosen.connect(desk.open)
        self.worth.cancel_requested.connect(desk.cancel)
        self.worth.export_requested.connect(desk.export)
        self.worth.run_opened.connect(self.run_opened)
        self.worth.compare_requested.connect(self.compare_requested)
        self.replay.replay_requested.connect(desk.replay)
        self.replay.cancel_requested.connect(desk.cancel)
        for page in (self.replay, self.credit):
            page.exemplar_opened.connect(self.exemplar_opened)
        self._asked_before = False
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)

    def refresh(self) -> None:
        """Read what is known anew; for when the pages come into view."""
        self._desk.open(self.worth.form.subject)

    def show_worth(self, subject: Subject) -> None:
        """Show what this is worth, and offer to try it."""
        self._desk.open(subject)

    def replay_these(self, ids: tuple[str, ...]) -> None:
        self._desk.replay(ids)

    @Slot(object)
    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self.worth.show_catalogue(catalogue)
        last = self._remembered.worth
        if last is not None and not self._asked_before and catalogue.presets:
            self._asked_before = True
            self.worth.form.choose_again(last)

    def close(self) -> None:
        self._changed.close()

    def _on_start(self, wanted: WorthWanted) -> None:
        self._remembered.worth = wanted
        self._desk.start(wanted)

    @Slot(object)
    def _show_view(self, view: ProvingView) -> None:
        for page in (self.worth, self.replay, self.credit):
            page.show_view(view)
