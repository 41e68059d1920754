"""Two steps beside each other: which of their parts differ, and the text of the chosen one."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.debugger.compare.views import PairView, Part, StepKey
from core.debugger.snapshots import ScreenshotView
from gui.page.step_cover import Picture
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import on_panel, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, OrWords, set_tone

PICTURE = "picture"
_NONE = "Choose two steps above; what each of them saw, was asked and did shows here side by side."


class StepsBeside(QWidget):
    """Shows the parts of two steps; it keeps to the chosen part while it differs in the next pair too."""

    fact_changed = Signal(str)
    """How many parts differ, in words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = PairView()
        self.names = Rows(theme, "Parts of the steps")
        self.names.selected.connect(self._show_part)
        self.left_title, self.right_title = ElidedLabel("", self), ElidedLabel("", self)
        for title in (self.left_title, self.right_title):
            title.setFont(theme.heading_font())
            title.setContentsMargins(8, 0, 8, 0)
        self.texts = SideBySide(theme, self)
        self.left_picture, self.right_picture = Picture(theme, self), Picture(theme, self)
        pictures = QWidget(self)
        beside = QHBoxLayout(pictures)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(1)
        beside.addWidget(self.left_picture, 1)
        beside.addWidget(self.right_picture, 1)
        self.shown = QStackedWidget(self)
        self.shown.addWidget(self.texts)
        self.shown.addWidget(pictures)
        self.fact = ElidedLabel("", self)
        self.fact.setFont(theme.small_font())
        set_tone(self.fact, "dim")
        self.only_changes = QCheckBox("Only what differs", self)
        self.only_changes.setToolTip("Leave out equal lines that are not beside a change (Alt+D)")
        self.only_changes.setShortcut("Alt+D")
        self.only_changes.toggled.connect(self._on_only_changes)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.texts.left, self.texts.right), self)
        foot = QHBoxLayout()
        foot.setContentsMargins(8, 3, 8, 3)
        foot.setSpacing(10)
        foot.addWidget(self.fact, 1)
        foot.addWidget(self.only_changes)
        foot.addWidget(self.finder)
        titles = QHBoxLayout()
        titles.setContentsMargins(0, 5, 0, 5)
        titles.setSpacing(1)
        titles.addWidget(self.left_title, 1)
        titles.addWidget(self.right_title, 1)
        right = QWidget(self)
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(titles)
        column.addWidget(self.shown, 1)
        column.addLayout(foot)
        parts = QWidget(self)
        parts.setMinimumWidth(150)
        on_panel(parts)
        column = QVBoxLayout(parts)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(scrolled("Parts of the steps", self.names))
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(parts)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setSizes([190, 800])
        split.setChildrenCollapsible(False)
        self.or_words = OrWords(split, self)
        self.or_words.say(_NONE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.or_words)

    @Slot(object)
    def show_pair(self, view: PairView) -> None:
        """Replace what is on screen with `view`."""
        self._view = view
        self.or_words.say(view.problem or ("" if view.left or view.right else _NONE))
        self.left_title.setText(title_of(view.left))
        self.right_title.setText(title_of(view.right))
        self.left_picture.show_screenshot(ScreenshotView(data=view.left_picture))
        self.right_picture.show_screenshot(ScreenshotView(data=view.right_picture))
        chosen, rows = self.names.key, self._rows()
        self.names.show_rows(rows)
        differing = [row.key for row in rows if row.strong]
        if chosen not in differing:
            self.names.select_key(differing[0] if differing else chosen or (rows[0].key if rows else None))
        self._show_part(self.names.key)
        self.fact_changed.emit(count(len(differing), "part differs", "parts differ") if rows else "")

    def wait(self, left: StepKey | None, right: StepKey | None) -> None:
        """Say that these steps are being read."""
        self._view = PairView(left=left, right=right)
        self.or_words.say("The two steps are being read…")

    def focus_search(self) -> None:
        self.finder.focus_search()

    def _rows(self) -> list[Row]:
        rows = [_row(part.name, part.left, part.right, same=part.same) for part in self._view.parts]
        pictures = self._view.left_picture, self._view.right_picture
        if any(pictures):
            rows.append(_row(PICTURE, *pictures, same=pictures[0] == pictures[1]))
        return rows

    def _part(self, key: object) -> Part | None:
        return next((part for part in self._view.parts if part.name == key), None)

    def _show_part(self, key: object) -> None:
        of_text = key != PICTURE
        self.shown.setCurrentIndex(0 if of_text else 1)
        self.only_changes.setVisible(of_text)
        self.finder.setVisible(of_text)
        part = self._part(key)
        if part is None:
            same = self._view.left_picture == self._view.right_picture
            self.fact.setText("" if of_text else "the same picture" if same else "the pictures differ")
            return
        self.texts.show_texts(part.left, part.right)
        self.finder.refresh()
        changed = self.texts.changed
        self.fact.setText(count(changed, "line differs", "lines differ") if changed else "no line differs")

    def _on_only_changes(self, on: bool) -> None:
        self.texts.set_only_changes(on)
        self.finder.refresh()


def title_of(step: StepKey | None) -> str:
    return f"Run {step[0]}, step {step[1]}" if step is not None else "no step"


def _row(name: str, left: str | bytes, right: str | bytes, *, same: bool) -> Row:
    """Return the row of a part: strong, and with a sign, where it differs."""
    if same:
        return Row(name, icon="check", word="same", quiet=True, key=name)
    word = "differs" if left and right else "only left" if left else "only right"
    return Row(name, icon="diff", tone="remedy", word=word, strong=True, key=name)
