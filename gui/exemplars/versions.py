"""The versions of an exemplar: listed, compared, and one of them chosen."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.library.views import ComparedVersions
from core.exemplars.library.records import Version
from core.schema.formats import thousands
from gui.exemplars.library.row_model import moment
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, OrWords


class VersionPane(QWidget):
    """Requests comparisons with a signal; the newest version is at the top.

    A version that is selected alone is compared with the current one, or with the text in the editor.
    """

    compare_wanted = Signal(str, int, object)
    """The exemplar's id, a version, and another one or None for the text in the editor."""
    version_wanted = Signal(str, int)
    """The button was pressed with this version selected."""

    def __init__(
        self, theme: Theme, verb: str, words: str, *, in_editor: bool = False, parent: QWidget | None = None
    ) -> None:
        """`verb` and `words` are the text and the tooltip of the button; with `in_editor`, a text is compared."""
        super().__init__(parent)
        self._id = ""
        self._current = 0
        self._in_editor = in_editor
        other = "your text" if in_editor else "the current one"
        self._choose = (
            f"Select two versions (Ctrl+click) to compare them. One alone is compared with {other}."
        )
        self.table = PlainTable(
            theme,
            "Versions, the newest first",
            (Column("Version"), Column("Saved"), Column("Tokens", number=True), Column("Why")),
            several=True,
        )
        self.table.marked.connect(self.compare)
        self.button = key_button(verb, words, "Alt+K", self._on_button, self)
        self.title = ElidedLabel(self._choose, self, tone="dim")
        self.texts = SideBySide(theme, self)
        self.texts.set_only_changes(True)
        head = in_row(None, (self.title, 1), self.button, margins=(10, 4, 10, 4))
        below = holding(in_column(None, head, (self.texts, 1), spacing=0))
        split = splitter(Qt.Orientation.Vertical, self.table, below, sizes=(130, 300))
        self.or_words = OrWords(split, self)
        in_column(self, self.or_words)

    def show_versions(self, id: str, versions: Iterable[Version], words: str) -> None:
        """Show the versions of an exemplar, or `words` if they are not empty."""
        if id != self._id:
            self._show_none()
        self._id = id
        versions = tuple(versions)
        self._current = next((version.number for version in versions if version.current), 0)
        self.or_words.say(words)
        self.table.show_lines(
            TableLine.of(
                (f"{version.number}, current" if version.current else str(version.number), version.number),
                (moment(version.saved), version.saved),
                (thousands(version.tokens), version.tokens),
                version.why,
                key=version.number,
            )
            for version in reversed(versions)
        )
        self._refresh()

    def show_compared(self, view: ComparedVersions) -> None:
        if view.id != self._id:
            return
        self.texts.show_texts(view.left_text, view.right_text)
        parts = ", ".join(difference.part for difference in view.differences)
        verb = f"differ in {parts}" if parts else "say the same"
        right = "your text" if view.right is None else view.right
        self.title.setText(f"Version {view.left}, left, and {right} {verb}.")

    def compare(self) -> None:
        """Request the comparison of what is selected."""
        self._refresh()
        chosen = sorted(self.table.selected)
        if len(chosen) == 1 and self._in_editor:
            self.compare_wanted.emit(self._id, chosen[0], None)
            return
        pair = sorted({*chosen, self._current}) if len(chosen) == 1 else chosen
        if len(pair) == 2:
            self.compare_wanted.emit(self._id, *pair)
        else:
            self._show_none()

    def _show_none(self) -> None:
        self.texts.show_texts("", "")
        self.title.setText(self._choose)

    def _refresh(self) -> None:
        chosen = self.table.selected
        self.button.setEnabled(len(chosen) == 1 and (self._in_editor or chosen[0] != self._current))

    def _on_button(self) -> None:
        if self.button.isEnabled():
            self.version_wanted.emit(self._id, self.table.selected[0])
