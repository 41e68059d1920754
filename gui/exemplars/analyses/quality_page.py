"""Quality: what is wrong with exemplars and what they are worth, one part at a time."""

from functools import partial

from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from gui.exemplars.analyses.duplicates import DuplicatesPage
from gui.exemplars.analyses.leave_one_out import LeaveOneOutPage
from gui.exemplars.analyses.page import PartPage
from gui.exemplars.analyses.trying import CreditPage, ReplayPage, WorthPage
from gui.shell.undo import UndoHistory
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row


class QualityPage(QWidget):
    """A row of buttons chooses which part is shown."""

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.duplicates = DuplicatesPage(theme, history)
        self.leave_one_out = LeaveOneOutPage(theme)
        self.worth = WorthPage(theme)
        self.replay = ReplayPage(theme)
        self.credit = CreditPage(theme)
        self.parts: tuple[PartPage, ...] = (
            self.duplicates,
            self.leave_one_out,
            self.worth,
            self.replay,
            self.credit,
        )
        self.stack = QStackedWidget(self)
        self._choices = QButtonGroup(self)
        row = in_row(None, margins=(12, 8, 12, 0), spacing=6)
        for at, part in enumerate(self.parts):
            self.stack.addWidget(part)
            choice = key_button(
                part.name, f"Show {part.name}", f"Alt+{at + 1}", partial(self.show_part, part), self
            )
            choice.setCheckable(True)
            self._choices.addButton(choice, at)
            row.addWidget(choice)
        row.addStretch(1)
        in_column(self, row, (self.stack, 1), spacing=0)
        self.show_part(self.duplicates)

    def show_part(self, part: PartPage) -> None:
        """Show one of the parts."""
        self.stack.setCurrentWidget(part)
        self._choices.button(self.parts.index(part)).setChecked(True)
