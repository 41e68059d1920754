"""The versions of an exemplar: listed, two of them compared line by line, one of them made the current one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.library.views import ComparedVersions, DetailView
from gui.exemplars.library.row_model import moment
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import thousands
from gui.widgets.layouts import in_column, in_row, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, OrWords, set_tone

_NONE = "An exemplar of a file has no versions here: it is read only. Keep a copy (Ctrl+D) to change it."
_ONE = "This is the only version. Saving it again keeps this one beside the new one, to be compared here."
_CHOOSE = "Select two versions (Ctrl+click) to compare them; one alone is compared with the current one."


class VersionPane(QWidget):
    """Asks for comparisons by emitting; the newest stands on top."""

    compare_wanted = Signal(str, int, int)
    current_wanted = Signal(str, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._id = ""
        self._current = 0
        self._numbers: tuple[int, ...] = ()
        self.table = PlainTable(
            theme,
            "Versions, the newest first",
            (Column("Version"), Column("Saved"), Column("Tokens", number=True), Column("Why")),
            several=True,
        )
        self.table.marked.connect(self._on_marked)
        self.current_button = key_button(
            "Make current",
            "Go by the selected version from now on; none is lost",
            "Alt+K",
            self._on_current,
            self,
        )
        self.title = ElidedLabel(_CHOOSE, self)
        set_tone(self.title, "dim")
        self.texts = SideBySide(theme, self)
        self.texts.set_only_changes(True)
        head = in_row(None, (self.title, 1), self.current_button, margins=(10, 4, 10, 4))
        below = QWidget()
        in_column(below, head, (self.texts, 1), spacing=0)
        split = splitter(Qt.Orientation.Vertical, self.table, below, sizes=(130, 300))
        self.or_words = OrWords(split, self)
        in_column(self, self.or_words)

    def show_detail(self, view: DetailView) -> None:
        if view.id != self._id:
            self.texts.show_texts("", "")
            self.title.setText(_CHOOSE)
        self._id = view.id
        self._numbers = tuple(one.number for one in view.versions)
        self._current = next((one.number for one in view.versions if one.current), 0)
        self.or_words.say(_NONE if not view.versions else _ONE if len(view.versions) == 1 else "")
        self.table.show_lines(
            TableLine(
                (
                    f"{one.number}, current" if one.current else str(one.number),
                    moment(one.saved),
                    thousands(one.tokens),
                    one.why,
                ),
                values=(one.number, one.saved, one.tokens, one.why),
                key=one.number,
            )
            for one in reversed(view.versions)
        )
        self._refresh()

    def show_compared(self, view: ComparedVersions) -> None:
        """Show two versions side by side."""
        if view.id != self._id:
            return
        self.texts.show_texts(view.left_text, view.right_text)
        parts = ", ".join(one.part for one in view.differences)
        verb = f"differ in {parts}" if parts else "say the same"
        self.title.setText(f"Version {view.left}, left, and {view.right} {verb}.")

    def _on_marked(self) -> None:
        self._refresh()
        chosen = sorted(self.table.selected)
        if len(chosen) == 2:
            self.compare_wanted.emit(self._id, *chosen)
        elif len(chosen) == 1 and chosen[0] != self._current:
            self.compare_wanted.emit(self._id, *sorted((chosen[0], self._current)))
        else:
            self.texts.show_texts("", "")
            self.title.setText(_CHOOSE)

    def _refresh(self) -> None:
        chosen = self.table.selected
        self.current_button.setEnabled(len(chosen) == 1 and chosen[0] != self._current)

    def _on_current(self) -> None:
        if self.current_button.isEnabled():
            self.current_wanted.emit(self._id, self.table.selected[0])
