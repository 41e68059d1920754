"""An agent that diverged from its record while going back to a step: both questions, side by side."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QWidget

from core.schema.restore import Parted
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import Finder
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import Paragraph, small_label

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
