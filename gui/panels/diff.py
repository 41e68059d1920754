"""Diff: the step in view compared with another step of its run, by default the one before it."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QStackedWidget, QWidget

from core.debugger.compare.views import PairView, StepKey
from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import StepSpan
from core.schema.formats import count
from gui.page.picture import Picture
from gui.theme.theme import Theme
from gui.widgets.choices import choice_box
from gui.widgets.layouts import in_column, in_row, on_panel, scrolled, splitter
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, OrWords, small_label

PICTURE = "picture"
_NONE = "No step is in view. This panel compares a step with another step of the run."
_ONLY = "The run has only one step. Take another one (F10) to compare them."
_FIRST = "This is the first step of its run. Choose another step above to compare it with."
_NO_STEPS = "Choose two steps above to compare what they saw, asked and did."


class StepsBeside(QWidget):
    """Shows the parts of two steps; the selected part stays selected while it also differs in the next pair."""

    fact_changed = Signal(str)
    """How many parts differ, as text."""

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
        in_row(pictures, (self.left_picture, 1), (self.right_picture, 1), spacing=1)
        self.shown = QStackedWidget(self)
        self.shown.addWidget(self.texts)
        self.shown.addWidget(pictures)
        self.fact = small_label(theme, self)
        self.only_changes = QCheckBox("Only what differs", self)
        self.only_changes.setToolTip("Hide unchanged lines away from changes (Alt+O)")
        self.only_changes.setShortcut("Alt+O")
        self.only_changes.toggled.connect(self._on_only_changes)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.texts.left, self.texts.right), self)
        foot = in_row(None, (self.fact, 1), self.only_changes, self.finder, margins=(8, 3, 8, 3), spacing=10)
        titles = in_row(None, (self.left_title, 1), (self.right_title, 1), margins=(0, 5, 0, 5), spacing=1)
        right = QWidget(self)
        in_column(right, titles, (self.shown, 1), foot, spacing=0)
        parts = QWidget(self, minimumWidth=150)
        on_panel(parts)
        in_column(parts, scrolled("Parts of the steps", self.names))
        split = splitter(
            Qt.Orientation.Horizontal, parts, right, sizes=(theme.scaled(190), 800), stretch=(0, 1)
        )
        self.or_words = OrWords(split, self, _NO_STEPS)
        in_column(self, self.or_words)

    @Slot(object)
    def show_pair(self, view: PairView) -> None:
        """Replace what is shown with `view`."""
        self._view = view
        self.or_words.say(view.problem or ("" if view.left or view.right else _NO_STEPS))
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
        """Show that these steps are being read."""
        self._view = PairView(left=left, right=right)
        self.or_words.say("Reading the two steps…")

    def focus_search(self) -> None:
        self.finder.focus_search()

    def _rows(self) -> list[Row]:
        rows = [_row(part.name, part.left, part.right, same=part.same) for part in self._view.parts]
        pictures = self._view.left_picture, self._view.right_picture
        if any(pictures):
            rows.append(_row(PICTURE, *pictures, same=pictures[0] == pictures[1]))
        return rows

    def _show_part(self, key: object) -> None:
        of_text = key != PICTURE
        self.shown.setCurrentIndex(0 if of_text else 1)
        self.only_changes.setVisible(of_text)
        self.finder.setVisible(of_text)
        part = next((part for part in self._view.parts if part.name == key), None)
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


def _offered(step: StepSpan) -> tuple[int, int, str]:
    """Return the text of a step in the picker."""
    return step.run, step.number, step.action


def title_of(step: StepKey | None) -> str:
    return f"Run {step[0]}, step {step[1]}" if step is not None else "no step"


def _row(name: str, left: str | bytes, right: str | bytes, *, same: bool) -> Row:
    """Return the row of a part: bold and with a sign if it differs."""
    if same:
        return Row(name, icon="check", word="same", quiet=True, key=name)
    word = "differs" if left and right else "only left" if left else "only right"
    return Row(name, icon="diff", tone="remedy", word=word, strong=True, key=name)


class DiffPanel(QWidget):
    """Requests pairs while it is `seen`; the other step stays selected until another run is shown."""

    pair_requested = Signal(object, object)
    """The other step and the one in view, each as run and number."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._viewed: StepKey | None = None
        self._steps: tuple[StepSpan, ...] = ()
        self._chosen: int | None = None
        """The number of the other step; None for the one before the step in view."""
        self._wanted: tuple[StepKey, StepKey] | None = None
        self._stale = False
        self._seen = False
        sides = "The step on the left; the step in view is on the right"
        self.other = choice_box("Compare with", sides, letters=16, parent=self)
        self.other.activated.connect(self._on_chosen)
        self.beside = StepsBeside(theme, self)
        self.beside.fact_changed.connect(self.fact_changed)
        label = ElidedLabel("Compare with", self)
        head = in_row(None, label, self.other, 1, margins=(10, 3, 8, 3), spacing=6)
        self.or_words = OrWords(self.beside, self, _NONE)
        in_column(self, head, (self.or_words, 1), spacing=0)

    def show_viewed(self, run: int, number: int, *, again: bool = False) -> None:
        """Follow the step in view; `again` means that it is the same step with new content."""
        viewed = (run, number) if number else None
        if viewed is not None and self._viewed is not None and viewed[0] != self._viewed[0]:
            self._chosen = None
        changed = viewed != self._viewed
        self._viewed = viewed
        if changed or again:
            self._stale = True
            self._refresh()

    def show_steps(self, steps: tuple[StepSpan, ...]) -> None:
        """Offer these steps of the run in view."""
        if [_offered(step) for step in steps] == [_offered(step) for step in self._steps]:
            return
        self._steps = steps
        texts = [
            "the step before",
            *(f"step {step.number}: {step.action or 'no action'}"[:90] for step in steps),
        ]
        with QSignalBlocker(self.other):
            there = [self.other.itemText(at) for at in range(self.other.count())]
            pairs = enumerate(zip(there, texts, strict=False))
            same = next((at for at, (old, new) in pairs if old != new), min(len(there), len(texts)))
            for at in reversed(range(same, len(there))):
                self.other.removeItem(at)
            self.other.addItems(texts[same:])
            numbers = [step.number for step in steps]
            self.other.setCurrentIndex(numbers.index(self._chosen) + 1 if self._chosen in numbers else 0)
        self._refresh()

    @Slot(object)
    def show_pair(self, view: PairView) -> None:
        """Show two steps if they are still the requested ones."""
        if (view.left, view.right) == self._wanted:
            self.beside.show_pair(view)

    def focus_search(self) -> None:
        self.beside.focus_search()

    def set_seen(self, on: bool) -> None:
        """Set whether it is visible; Qt also reports a tab behind others as shown."""
        self._seen = on
        self._refresh()

    def _on_chosen(self, at: int) -> None:
        self._chosen = self._steps[at - 1].number if 0 < at <= len(self._steps) else None
        self._refresh()

    def _other(self) -> StepKey | None:
        if self._viewed is None:
            return None
        before = [step for step in self._steps if step.number < self._viewed[1]]
        chosen = next((step for step in self._steps if step.number == self._chosen), None)
        found = chosen or (before[-1] if before else None)
        return (found.run, found.number) if found is not None else None

    def _refresh(self) -> None:
        other = self._other()
        if self._viewed is None or other is None:
            self._wanted = None
            alone = _ONLY if len(self._steps) < 2 else _FIRST
            self.or_words.say(_NONE if self._viewed is None else alone)
            self.fact_changed.emit("")
            return
        self.or_words.say("")
        wanted = (other, self._viewed)
        if not self._seen or (wanted == self._wanted and not self._stale):
            return
        if wanted != self._wanted:
            self.beside.wait(*wanted)
        self._wanted, self._stale = wanted, False
        self.pair_requested.emit(*wanted)
