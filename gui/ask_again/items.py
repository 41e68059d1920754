"""The exemplars and the policy of a prompt by their names: to leave out, reorder, switch or rewrite."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QInputDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.debugger.ask_again.prompt_parts import (
    Arranged,
    Item,
    content_of,
    dropped,
    found_again,
    moved,
    rewritten,
    switched,
)
from core.debugger.ask_again.views import AskView, Attribution, ExemplarChoice
from core.schema.formats import count
from core.schema.messages import PromptPart
from gui.ask_again.messages import MessagesEditor
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.item_views import ROW, MenuEntry, RowMenu
from gui.widgets.layouts import Section, in_column, in_row, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.words import ElidedLabel, NoteLabel, labelled, set_tone

_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_IDLE_MS = 120
_HIGHEST = 150
_UNKNOWN = "This run did not record which exemplars are in the prompt. Edit the messages themselves."
_LOST = "edited by hand: its parts can no longer be told apart"


class ExemplarChooser(QDialog):
    """Lists exemplars by family; the words in the search field must occur in task, family or id."""

    def __init__(
        self, choices: tuple[ExemplarChoice, ...], title: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._choices = choices
        self.search = labelled(QLineEdit(self, clearButtonEnabled=True), "Search exemplars")
        self.search.setPlaceholderText("Search task, family or id")
        self.search.textChanged.connect(self._fill)
        self.search.installEventFilter(self)
        self.names = labelled(QListWidget(self), "Exemplars")
        self.names.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.names.itemActivated.connect(lambda _item: self._accept())
        self.names.currentItemChanged.connect(self._tell)
        self.fact = ElidedLabel("", self)
        set_tone(self.fact, "dim")
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("Switch")
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for widget in (self.search, self.names, self.fact, buttons):
            layout.addWidget(widget)
        self.resize(620, 440)
        self._fill()

    @property
    def chosen(self) -> str:
        """The id of the current exemplar; empty if the search finds none."""
        item = self.names.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _KEYS:
            self.names.event(event)
            return True
        return super().eventFilter(watched, event)

    def _fill(self) -> None:
        words = self.search.text().lower().split()
        before = self.chosen
        self.names.clear()
        for choice in self._choices:
            text = f"{choice.family}: {choice.task}"
            if all(word in f"{text} {choice.id}".lower() for word in words):
                item = QListWidgetItem(text.replace("\n", " "))
                item.setData(Qt.ItemDataRole.UserRole, choice.id)
                item.setToolTip(f"{choice.task}\n{choice.family} · {choice.id}")
                self.names.addItem(item)
                if choice.id == before:
                    self.names.setCurrentItem(item)
        if self.names.currentItem() is None and self.names.count():
            self.names.setCurrentRow(0)
        self._tell()

    def _tell(self) -> None:
        found = self.names.count()
        none = "The memory has no other exemplar." if not self._choices else "No exemplar matches."
        self.fact.setText(f"{count(found, 'exemplar')} · {self.chosen}" if found else none)
        self.ok.setEnabled(bool(self.chosen))

    def _accept(self) -> None:
        if self.chosen:
            self.accept()


class PromptItems(QWidget):
    """Shows the parts of the prompt in an editor of its messages, and changes the messages with them."""

    exemplar_requested = Signal(str)
    """The id of an exemplar to render in the format of this prompt."""

    def __init__(self, theme: Theme, editor: MessagesEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._view = AskView(run=0, step=0)
        self._parts: tuple[PromptPart, ...] = ()
        """The parts of the messages with which the editor started, or which were last set from here."""
        self._awaited: tuple[PromptPart, str] | None = None
        """The exemplar to replace, and the id of the new one."""
        self.items: tuple[Item, ...] = ()
        self.rows = Rows(theme, "Exemplars and policy in this prompt")
        self.rows.chosen.connect(self._on_chosen)
        self.rows.selected.connect(self._refresh)
        RowMenu(self.rows, self._entries)
        up, down = "Move the exemplar up", "Move the exemplar down"
        other = "Replace it with another exemplar"
        self.up_button = key_button("Up", up, "Alt+PgUp", lambda: self.shift(-1), self)
        self.down_button = key_button("Down", down, "Alt+PgDown", lambda: self.shift(1), self)
        self.drop_button = key_button("Leave out", "Leave the exemplar out", "Alt+X", self.drop, self)
        self.switch_button = key_button("Switch…", other, "Alt+W", self.switch, self)
        self.rewrite_button = key_button("Rewrite…", "Rewrite the policy's text", "Alt+P", self.rewrite, self)
        self._for_exemplars = (self.up_button, self.down_button, self.drop_button, self.switch_button)
        self.note = NoteLabel("dim", parent=self)
        self.note.setContentsMargins(10, 2, 10, 4)
        buttons = in_row(
            None, *self._for_exemplars, self.rewrite_button, 1, margins=(10, 2, 10, 4), spacing=6
        )
        self.area = scrolled("Exemplars and policy", self.rows)
        self.area.setMaximumHeight(_HIGHEST)
        self.section = Section(theme, "Exemplars and policy", self.area, parent=self)
        in_column(self, self.section, buttons, self.note, spacing=0)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self.follow)
        editor.changed.connect(self._idle.start)
        editor.was_reset.connect(self._on_reset)

    def show_view(self, view: AskView) -> None:
        """Replace the available items; call it when the editor shows the messages of `view`."""
        other = (view.run, view.step, view.parts) != (self._view.run, self._view.step, self._view.parts)
        self._view = view
        if other:
            self._parts = view.parts
            self._awaited = None
        written = view.written
        if written is not None and self._awaited is not None and written.id == self._awaited[1]:
            self._put_in()
        self.follow()

    def follow(self) -> None:
        """Find the parts again in the current messages."""
        self._idle.stop()
        self._find_items()
        shown = [at for at, item in enumerate(self.items) if item.part.kind != "exemplars"]
        self.rows.show_rows(self._row(self.items[at], at) for at in shown)
        exemplars = sum(item.part.kind == "exemplar" for item in self.items)
        self.section.show_fact(count(exemplars, "exemplar") if exemplars else "")
        unknown = bool(self._view.messages) and not self._view.parts_known
        self.setVisible(bool(shown) or unknown)
        self.area.setVisible(bool(shown))
        self.note.show_text(_UNKNOWN if unknown else self._view.memory_note)
        self._refresh()

    def _find_items(self) -> None:
        self.items = found_again(self._editor.base, self._parts, self._editor.traced)

    # Commands for an item

    def drop(self) -> None:
        at = self._exemplar()
        if at is not None:
            self._arrange(dropped(self._editor.messages, self.items, at))

    def shift(self, offset: int) -> None:
        at = self._exemplar()
        if at is not None and self._can_move(at, offset):
            part = self.items[at].part
            self._arrange(moved(self._editor.messages, self.items, at, offset))
            self._select(part)

    def switch(self) -> None:
        """Ask which exemplar to insert; it is inserted after it was rendered."""
        at = self._exemplar()
        if at is None or not self.switch_button.isEnabled():
            return
        chooser = ExemplarChooser(self._others(), f"Switch {self.items[at].part.id} for", self)
        part = self.items[at].part
        chooser.accepted.connect(lambda: self.switch_for(part, chooser.chosen))
        chooser.finished.connect(chooser.deleteLater)
        chooser.open()

    def switch_for(self, part: PromptPart, id: str) -> None:
        """Replace an exemplar by the one with this id, after it was rendered."""
        self._awaited = (part, id)
        self.exemplar_requested.emit(id)

    def rewrite(self) -> None:
        """Ask for another text of the policy."""
        at = self._policy()
        if at is None:
            return
        part = self.items[at].part
        dialog = QInputDialog(self)
        dialog.setWindowTitle(f"Rewrite {part.title}")
        dialog.setLabelText("The policy's instruction. Its file stays as it is:")
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setTextValue(str(content_of(self._editor.messages, part)))
        dialog.resize(620, 420)
        dialog.textValueSelected.connect(self.rewrite_as)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def rewrite_as(self, words: str) -> None:
        """Replace the text of the policy."""
        self.follow()
        at = self._policy()
        if at is not None:
            self._arrange(rewritten(self._editor.messages, self.items, at, words))

    def _put_in(self) -> None:
        assert self._awaited is not None
        assert self._view.written is not None
        (part, _), written = self._awaited, self._view.written
        self._awaited = None
        self._find_items()
        at = next((at for at, item in enumerate(self.items) if item.part == part), None)
        if at is None:
            return  # The messages were edited in between.
        coming = part.replace(id=written.id, title=written.task, family=written.family)
        self._arrange(switched(self._editor.messages, self.items, at, coming, written.content))
        self._select(coming)

    def _arrange(self, arranged: Arranged) -> None:
        self._parts = arranged.parts
        self._editor.show_arranged(arranged.messages)
        self.follow()

    # Selection of an item

    def _usable(self, kind: str) -> list[int]:
        """Return the items of a kind that can be told apart."""
        items = enumerate(self.items)
        return [at for at, item in items if item.part.kind == kind and item.state != "lost"]

    def _exemplar(self) -> int | None:
        """Return the current exemplar if it can be told apart."""
        return self.rows.key if self.rows.key in self._usable("exemplar") else None

    def _policy(self) -> int | None:
        return next(iter(self._usable("policy")), None)

    def _can_move(self, at: int, offset: int) -> bool:
        usable = self._usable("exemplar")
        return 0 <= usable.index(at) + offset < len(usable)

    def _others(self) -> tuple[ExemplarChoice, ...]:
        there = {item.part.id for item in self.items if item.part.kind == "exemplar"}
        return tuple(one for one in self._view.memory if one.id not in there)

    def _select(self, part: PromptPart) -> None:
        found = next((at for at, item in enumerate(self.items) if item.part.id == part.id), None)
        if found is not None:
            self.rows.select_key(found)

    # Display

    def _row(self, item: Item, at: int) -> Row:
        part, lost = item.part, item.state == "lost"
        policy = part.kind == "policy"
        words = {"as sent": "", "edited": "edited", "lost": "not told apart"}[item.state]
        where = f"messages {part.message + 1} to {part.message + part.messages}" if part.messages else ""
        facts = ("policy", part.id) if policy else (part.family, part.id, "" if lost else where)
        credits = [credit for credit in self._view.credits if credit.id == part.id and not policy]
        detail = " · ".join(filter(None, (*facts, credit_words(credits[-1]) if credits else "")))
        return Row(
            part.title.replace("\n", " "),
            icon="symbol-method" if policy else "book",
            tone="remedy" if lost else "dim",
            word=words,
            detail=f"{detail}\n{_LOST}" if lost else detail,
            quiet=lost,
            key=at,
        )

    def _entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        row: Row | None = index.data(ROW)
        if row is None:
            return ()
        self.rows.setCurrentIndex(index)
        if self._exemplar() is None:
            return (_entry(self.rewrite_button),)
        buttons = (self.drop_button, self.up_button, self.down_button, self.switch_button)
        return tuple(_entry(button) for button in buttons)

    def _refresh(self, _key: object = None) -> None:
        at = self._exemplar()
        self.drop_button.setEnabled(at is not None)
        self.up_button.setEnabled(at is not None and self._can_move(at, -1))
        self.down_button.setEnabled(at is not None and self._can_move(at, 1))
        self.switch_button.setEnabled(at is not None and bool(self._others()))
        self.rewrite_button.setVisible(any(item.part.kind == "policy" for item in self.items))
        self.rewrite_button.setEnabled(self._policy() is not None)
        exemplars = any(item.part.kind == "exemplar" for item in self.items)
        for button in self._for_exemplars:
            button.setVisible(exemplars)

    def _on_chosen(self, _key: object) -> None:
        if self._exemplar() is not None:
            self.switch()
        else:
            self.rewrite()

    def _on_reset(self) -> None:
        self._parts = self._view.parts
        self.follow()


def _entry(button: QPushButton) -> MenuEntry:
    """Return a button as a menu entry."""
    key = button.shortcut().toString()
    return MenuEntry(button.text(), button.click, key, button.isEnabled(), why=button.toolTip())


def credit_words(one: Attribution) -> str:
    """Return by how much an exemplar raised the probability of the step's action."""
    counts = f"{one.with_same} of {one.with_all} with it, {one.without_same} of {one.without_all} without"
    return f"no credit: {counts}" if one.share is None else f"credit {one.share:+.2f}: {counts}"
