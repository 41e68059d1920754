"""How long an agent that was started elsewhere is held; its own timeouts continue to run."""

import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QWidget

from core.debugger.attach.views import Hold
from gui.theme.theme import Theme
from gui.widgets.words import set_tone

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
