"""The messages of a prompt as sections that can be edited, left out, duplicated and reordered."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QToolButton, QWidget

from core.llm.costs import count_tokens
from core.schema.formats import count
from core.schema.messages import Message
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_column, in_row, scrolled
from gui.widgets.text_view import TextView
from gui.widgets.words import NoteLabel, small_label

_MOST = 200_000
"""Maximum number of characters that can be edited in place; a longer text is read-only."""
_LONGEST = 5_000
"""The same for one line."""
_OPEN = 8
"""With at least this many messages, those between the first and the last are folded at first."""
_LINES = (2, 14)
"""Minimum and maximum number of lines of an editor."""
_SIDES = 28
"""Width of frame, margins and scroll bar."""
_ABOVE_AND_BELOW = 20
_COUNT_MS = 250
_TOO_LONG = "This text is too long to edit here. Send it as it is, or leave it out."


class MessageSection(QFrame):
    """One message: its role, tokens, text, and commands."""

    changed = Signal()
    delete_requested = Signal()
    duplicate_requested = Signal()
    move_requested = Signal(int)
    """-1 for up, 1 for down."""

    def __init__(
        self, theme: Theme, message: Message, *, folded: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message = message
        self.origin: int | None = None
        """Its index among the messages with which the editor started; None for a copy."""
        self._tokens: int | None = None
        self.folded = folded
        self.setProperty("card", True)
        self.editor: QPlainTextEdit | None = None
        """None until the message is unfolded; a long one is read-only."""
        self.fold_button = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold_button.setFont(theme.heading_font())
        self.fold_button.clicked.connect(lambda: self.set_folded(not self.folded))
        self.fact = small_label(theme, self)
        up, down = partial(self.move_requested.emit, -1), partial(self.move_requested.emit, 1)
        self.up_button = self._button("arrow-up", "Move up", "Alt+Up", up)
        self.down_button = self._button("arrow-down", "Move down", "Alt+Down", down)
        self.copy_button = self._button("copy", "Duplicate", "Alt+D", self.duplicate_requested.emit)
        self.delete_button = self._button("trash", "Leave out", "Alt+Delete", self.delete_requested.emit)
        buttons = (self.up_button, self.down_button, self.copy_button, self.delete_button)
        head = in_row(None, self.fold_button, (self.fact, 1), *buttons, margins=(4, 2, 4, 2), spacing=2)
        self.note = NoteLabel("dim", parent=self)
        self.note.setContentsMargins(9, 0, 9, 4)
        self.note.setFont(theme.small_font())
        self._column = in_column(self, head, self.note, margins=(1, 1, 1, 1), spacing=0)
        self._idle = QTimer(self, singleShot=True, interval=_COUNT_MS)
        self._idle.timeout.connect(self.count)
        self.set_folded(folded)

    @property
    def message(self) -> Message:
        """The message with its current text; pictures and tool calls stay part of it."""
        if self.editor is None or self.editor.isReadOnly() or not self.editor.document().isModified():
            return self._message
        # The raw text, because the plain one has normal spaces instead of no-break spaces.
        text = self.editor.document().toRawText().replace("\u2029", "\n")
        return self._message if text == self._message.text else self._message.replace(text=text)

    @property
    def counted(self) -> bool:
        return self._tokens is not None

    @property
    def tokens(self) -> int:
        """The tokens of the text, as last counted."""
        return self._tokens or 0

    def count(self) -> None:
        """Count the tokens again, which takes a moment for a long text."""
        self._tokens = count_tokens(self.message.text)
        self._tell()
        self.changed.emit()

    def set_folded(self, folded: bool) -> None:
        self.folded = folded
        if not folded and self.editor is None:
            self.editor = self._make_editor()
            self._column.insertWidget(1, self.editor)
            self._fit()
        if self.editor is not None:
            self.editor.setVisible(not folded)
        self.note.show_text("" if folded else self._remarks())
        self.fold_button.setIcon(self._theme.icon("chevron-right" if folded else "chevron-down"))
        self.fold_button.setToolTip(("Unfold" if folded else "Fold") + " this message (Space)")
        self._tell()

    def show_place(self, number: int, total: int) -> None:
        """Show its number and the total, and enable the possible moves."""
        self.fold_button.setText(f"{number}. {self._message.role}")
        self.fold_button.setAccessibleName(f"Message {number} of {total}: {self._message.role}")
        self.up_button.setEnabled(number > 1)
        self.down_button.setEnabled(number < total)
        self.delete_button.setEnabled(total > 1)

    def _make_editor(self) -> QPlainTextEdit:
        text = self._message.text
        if len(text) > _MOST or max(map(len, text.split("\n"))) > _LONGEST:
            view = TextView(self._theme, f"Text of the {self._message.role} message", self)
            view.show_text(text)
            return view
        editor = QPlainTextEdit(text, self, tabChangesFocus=True)
        editor.setFont(self._theme.machine_font())
        editor.setAccessibleName(f"Text of the {self._message.role} message")
        editor.document().setDocumentMargin(6)
        editor.document().setModified(False)
        editor.textChanged.connect(self._on_text)
        return editor

    def _remarks(self) -> str:
        remarks = [f"Calls {call.name}({call.arguments})" for call in self._message.tool_calls]
        pictures = len(self._message.images)
        if pictures:
            remarks.append(f"{count(pictures, 'picture')} {'goes' if pictures == 1 else 'go'} with it.")
        if self.editor is not None and self.editor.isReadOnly():
            remarks.append(_TOO_LONG)
        return "\n".join(remarks)

    def _button(self, icon: str, words: str, key: str, work: Callable[[], None]) -> QToolButton:
        button = icon_button(self._theme, icon, f"{words} ({key})", work, self)
        shortcut = QShortcut(QKeySequence(key), self, button.click)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        return button

    def _on_text(self) -> None:
        self._fit()
        self._idle.start()
        self.changed.emit()

    def _fit(self) -> None:
        """Adapt the height to the text, within limits."""
        assert self.editor is not None
        text = self.editor.document()
        width = self.width() - _SIDES
        letter = QFontMetricsF(self.editor.font()).horizontalAdvance("x")
        line = QFontMetricsF(self.editor.font()).lineSpacing()
        columns, rows = max(20, int(width / letter)), 0
        block = text.begin()
        while block.isValid() and rows < _LINES[1]:
            rows += max(1, -(-block.length() // columns))
            block = block.next()
        self.editor.setFixedHeight(round(min(max(rows, _LINES[0]), _LINES[1]) * line) + _ABOVE_AND_BELOW)

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        if self.editor is not None and event.size().width() != event.oldSize().width():
            self._fit()

    def _tell(self) -> None:
        tokens = "" if self._tokens is None else f"~{count(self._tokens, 'token')}"
        if self.folded:
            begins = self.message.text.lstrip()[:200].partition("\n")[0]
            self.fact.setText(" · ".join(filter(None, (tokens, begins))))
        else:
            self.fact.setText(tokens)


class MessagesEditor(QWidget):
    """Edits the messages of a prompt; `changed` is sent after every edit."""

    changed = Signal()
    was_reset = Signal()
    """All edits were reverted."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._recorded: tuple[Message, ...] = ()
        self.base: tuple[Message, ...] = ()
        """The messages before they were edited by hand."""
        self.sections: list[MessageSection] = []
        self._counting = QTimer(self, interval=0)
        self._counting.timeout.connect(self._count_next)
        self._inside = QWidget()
        self._column = in_column(self._inside, 1, margins=(8, 2, 8, 2), spacing=6)
        self.area = scrolled("Messages", self._inside)
        in_column(self, self.area)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(section.message for section in self.sections)

    @property
    def traced(self) -> tuple[tuple[int | None, Message], ...]:
        """The messages, each with its index in `base`."""
        return tuple((section.origin, section.message) for section in self.sections)

    @property
    def edited(self) -> bool:
        """Whether they differ from the recorded messages."""
        return self.messages != self._recorded

    @property
    def tokens(self) -> int:
        return sum(section.tokens for section in self.sections)

    def show_messages(self, messages: tuple[Message, ...]) -> None:
        """Replace all sections by the recorded messages; if they are the same ones, edits stay."""
        if messages != self._recorded:
            self._recorded = messages
            self.reset()

    def reset(self) -> None:
        """Revert all edits."""
        self.show_arranged(self._recorded)
        self.was_reset.emit()

    def show_arranged(self, messages: tuple[Message, ...]) -> None:
        """Replace all messages by these; edits are still detected against the recorded ones."""
        open_now = {section.message for section in self.sections if not section.folded}
        for section in self.sections:
            self._remove(section)
        self.sections = []
        self.base = messages
        last = len(messages) - 1
        for at, message in enumerate(messages):
            folded = len(messages) > _OPEN and 0 < at < last and message not in open_now
            self._insert(at, message, folded=folded).origin = at
        self._renumber()

    def _insert(self, at: int, message: Message, *, folded: bool) -> MessageSection:
        section = MessageSection(self._theme, message, folded=folded, parent=self._inside)
        section.changed.connect(self.changed)
        section.delete_requested.connect(lambda: self._delete(section))
        section.duplicate_requested.connect(lambda: self._duplicate(section))
        section.move_requested.connect(lambda offset: self._move(section, offset))
        self.sections.insert(at, section)
        self._column.insertWidget(at, section)
        self._counting.start()
        return section

    def _count_next(self) -> None:
        """Count the tokens of one section between two rounds of the event loop."""
        section = next((one for one in self.sections if not one.counted), None)
        if section is None:
            self._counting.stop()
        else:
            section.count()

    def _delete(self, section: MessageSection) -> None:
        at = self.sections.index(section)
        if len(self.sections) > 1:
            self.sections.remove(section)
            self._remove(section)
            self._renumber()
            self._focus(self.sections[min(at, len(self.sections) - 1)])

    def _duplicate(self, section: MessageSection) -> None:
        at = self.sections.index(section) + 1
        made = self._insert(at, section.message, folded=section.folded)
        self._renumber()
        self._focus(made)

    def _move(self, section: MessageSection, offset: int) -> None:
        to = self.sections.index(section) + offset
        if 0 <= to < len(self.sections):
            self.sections.remove(section)
            self.sections.insert(to, section)
            self._column.removeWidget(section)
            self._column.insertWidget(to, section)
            self._renumber()
            self._focus(section)

    def _remove(self, section: MessageSection) -> None:
        self._column.removeWidget(section)
        section.hide()
        section.deleteLater()

    def _focus(self, section: MessageSection) -> None:
        section.fold_button.setFocus()
        QTimer.singleShot(0, section, lambda: self.area.ensureWidgetVisible(section, 0, 10))

    def _renumber(self) -> None:
        for number, section in enumerate(self.sections, start=1):
            section.show_place(number, len(self.sections))
        for one, other in zip(self.sections, self.sections[1:], strict=False):
            QWidget.setTabOrder(one.delete_button, other.fold_button)
        self.changed.emit()
