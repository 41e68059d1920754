"""The status bar: where the run stands, the legend of origins, and whether all is saved."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from core.debugger.snapshots import SessionView
from core.schema.step import Origin
from gui.theme.theme import Theme
from gui.widgets.formats import facts
from gui.widgets.origin import OriginMark
from gui.widgets.words import ElidedLabel, set_tone

_LEGEND: tuple[Origin, ...] = ("agent", "person", "remedy")


class StatusLine(QStatusBar):
    """Shows `SessionView` in one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.facts = ElidedLabel("", self)
        self.facts.setFont(theme.small_font())
        self.doing = ElidedLabel("", self)
        self.doing.setFont(theme.small_font())
        left = QWidget(self)
        row = QHBoxLayout(left)
        row.setContentsMargins(12, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self.facts)
        row.addWidget(self.doing, 1)
        self.addWidget(left, 1)
        legend = QWidget(self)
        marks = QHBoxLayout(legend)
        marks.setContentsMargins(0, 0, 10, 0)
        marks.setSpacing(14)
        for origin in _LEGEND:
            mark = OriginMark(theme, origin, legend)
            mark.setFont(theme.small_font())
            mark.show_origin(origin)
            marks.addWidget(mark)
        self.saved = QLabel(legend)
        self.saved.setFont(theme.small_font())
        marks.addWidget(self.saved)
        self.addPermanentWidget(legend)
        self.show_session(SessionView())

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Replace what is on screen with `view`."""
        self.facts.setText(facts(view))
        self.doing.setText("" if view.mode in ("failed", "ended") else view.message)
        self.saved.setText("✓ saved" if view.saved else "✗ not saved")
        self.saved.setToolTip(
            "Every sealed step is in the database"
            if view.saved
            else "The database did not take the last change; what was saved before is kept"
        )
        set_tone(self.saved, "good" if view.saved else "bad")
