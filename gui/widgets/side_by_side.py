"""Two texts side by side, line by line, with differences marked by a sign and a shade."""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Literal, NamedTuple

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from core.debugger.compare.line_diff import LinePair, line_pairs
from core.debugger.compare.views import comparable
from core.schema.formats import count
from gui.theme.theme import Theme
from gui.widgets.layouts import in_row
from gui.widgets.lined_text import LineSign
from gui.widgets.text_view import TextView

Mark = Literal["", "taken out", "put in", "gap", "left out"]
_SIGNS: dict[Mark, str] = {"taken out": "−", "put in": "+"}
_TONES: dict[Mark, str] = {"taken out": "bad", "put in": "good"}
_AROUND = 3
"""Number of equal lines that are shown around a change."""
_FEWEST = 20
_IDLE_MS = 80


class SideLine(NamedTuple):
    """A line of one side as it is drawn."""

    text: str
    mark: Mark = ""
    first: bool = True
    """Whether it begins a line of the text; otherwise it continues a long one."""


class SideText(TextView):
    """One side: lines that do not wrap, each with its mark in the margin."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent, signs=True)
        self.lines: tuple[SideLine, ...] = ()
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)

    @property
    def columns(self) -> int:
        """How many characters fit in a line."""
        letter = QFontMetricsF(self.font()).horizontalAdvance("x")
        room = self.viewport().width() - 2 * self.document().documentMargin() - 2
        return max(_FEWEST, int(room / letter))

    def show_lines(self, lines: Sequence[SideLine]) -> None:
        self.lines = tuple(lines)
        self.show_text("\n".join(line.text for line in lines))
        self.show_signs({at: _sign(line) for at, line in enumerate(lines) if line.mark})

    def go_to_line(self, line: int) -> None:
        """Scroll so that this line is near the top."""
        self.verticalScrollBar().setValue(max(0, line - _AROUND))


def _sign(line: SideLine) -> LineSign:
    if line.mark in _SIGNS:
        return LineSign(_TONES[line.mark], _SIGNS[line.mark] if line.first else "")
    return LineSign("raised", opaque=True)


class SideBySide(QWidget):
    """Shows two texts that scroll together, starting at the first difference."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts = ("", "")
        self._pairs: tuple[LinePair, ...] = ()
        self._only_changes = False
        self._columns = 0
        self.left = SideText(theme, "Left", self)
        self.right = SideText(theme, "Right", self)
        for view, other in ((self.left, self.right), (self.right, self.left)):
            view.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            view.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
            view.filled.connect(self._on_filled)
        self.left.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._on_resized)
        self._go_to: int | None = None
        in_row(self, (self.left, 1), (self.right, 1), spacing=1)

    @property
    def changed(self) -> int:
        """How many lines differ."""
        return sum(not pair.same for pair in self._pairs)

    def show_texts(self, left: str, right: str) -> None:
        """Replace both texts and go to the first line that differs."""
        if (left, right) == self._texts:
            return
        self._texts = (left, right)
        self._pairs = line_pairs(left, right, key=comparable)
        self._lay_out(from_start=True)

    def set_only_changes(self, on: bool) -> None:
        """Hide equal lines that are not near a change, or show all."""
        if on != self._only_changes:
            self._only_changes = on
            self._lay_out(from_start=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._idle.start()

    def _on_resized(self) -> None:
        if self._pairs and self._columns != min(self.left.columns, self.right.columns):
            self._lay_out(from_start=False)

    def _lay_out(self, *, from_start: bool) -> None:
        """Break both texts at the same width, so that each line is level with its counterpart."""
        self._columns = min(self.left.columns, self.right.columns)
        share = self.right.verticalScrollBar().value() / max(1, len(self.right.lines))
        rows = list(self._rows())
        lefts, rights = [one for one, _ in rows], [other for _, other in rows]
        changed = next((at for at, line in enumerate(lefts) if line.mark not in ("", "left out")), 0)
        self._go_to = None
        self.left.show_lines(lefts)
        self.right.show_lines(rights)
        self._go_to = changed if from_start else round(share * len(rows)) + _AROUND
        self._on_filled()

    def _rows(self) -> Iterator[tuple[SideLine, SideLine]]:
        for left_out, pairs in groupby(zip(self._pairs, self._kept(), strict=True), lambda one: not one[1]):
            shown = [pair for pair, _ in pairs]
            if left_out:
                gap = SideLine(f"⋯ {count(len(shown), 'equal line')}", "left out")
                yield gap, gap
                continue
            for pair in shown:
                yield from _level(pair, self._columns)

    def _kept(self) -> list[bool]:
        """For each pair, return whether it is shown."""
        if not self._only_changes:
            return [True] * len(self._pairs)
        kept = [False] * len(self._pairs)
        for at, pair in enumerate(self._pairs):
            if not pair.same:
                start = max(0, at - _AROUND)
                kept[start : at + _AROUND + 1] = [True] * len(kept[start : at + _AROUND + 1])
        return kept

    def _on_filled(self) -> None:
        if self._go_to is not None and self.left.complete and self.right.complete:
            self.right.go_to_line(self._go_to)
            self.left.go_to_line(self._go_to)
            self._go_to = None


def _level(pair: LinePair, columns: int) -> Iterator[tuple[SideLine, SideLine]]:
    """Yield the rows of one pair of lines, the same number on either side."""
    lefts = _side(pair.left, "" if pair.same else "taken out", columns)
    rights = _side(pair.right, "" if pair.same else "put in", columns)
    yield from zip_longest(lefts, rights, fillvalue=SideLine("", "" if pair.same else "gap"))


def _side(line: str | None, mark: Mark, columns: int) -> list[SideLine]:
    if line is None:
        return []
    return [SideLine(part, mark, first=not at) for at, part in enumerate(_broken(line, columns))]


def _broken(line: str, columns: int) -> list[str]:
    """Break a line at spaces, and within a word only if it is longer than a row."""
    rest, found = line.expandtabs(4), []
    start = 0
    while len(rest) - start > columns:
        space = rest.rfind(" ", start + columns // 2, start + columns + 1)
        end = space + 1 if space >= 0 else start + columns
        found.append(rest[start:end])
        start = end
    return [*found, rest[start:]]
