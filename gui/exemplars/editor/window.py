"""The editor of one exemplar: its looks, what they become in a prompt, what is wrong, and its versions."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from core.debugger.exemplars.editor.views import EditorView, OpenedExemplar, PageChoice, SaveWay
from core.memory.editing.faults import place_of, stopping
from gui.exemplars.editor.frame import EditorFrame
from gui.exemplars.editor.questions import ask_conflict, ask_to_leave
from gui.exemplars.editor.values_dialog import ValuesDialog
from gui.exemplars.editor.versions_page import CompareVersions
from gui.theme.theme import Theme
from gui.widgets.formats import count

_CHECK_MS = 300
"""So long after the last letter the draft is kept on the disk and checked."""
_READING = "The exemplar is being read…"
_LONGEST_WHY = 200


class EditorWindow(EditorFrame):
    """Shows `EditorView` and edits its draft; asks for things only by emitting."""

    check_requested = Signal(object, int, int, str)
    """The draft, the serial of what is open, the number of the edit, and the preset of the preview."""
    save_requested = Signal(object, int, str, str)
    """The draft, the serial, how (`SaveWay`), and what was changed in words."""
    test_requested = Signal(object, object)
    """The draft and a `PageChoice`."""
    cancel_test_requested = Signal()
    compare_requested = Signal(int, object)
    current_requested = Signal(int)
    version_requested = Signal(str, int)
    archive_requested = Signal(bool)
    take_up_requested = Signal(str)
    forget_requested = Signal(str)
    left = Signal(bool)
    """What was open is put away; whether its draft is to be kept."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._view = EditorView()
        self._serial = 0
        self._gone = 0
        """The serial of what was put away last."""
        self._edit = 0
        self._saves = 0
        self._comparing: tuple[int, int | None] | None = None
        """The versions whose texts are awaited."""
        self._then: Callable[[], None] | None = None
        """What is to be done once it is saved."""
        self.asking: QDialog | None = None
        """The question that is open, or was last."""
        self.compared: CompareVersions | None = None
        self.values: ValuesDialog | None = None
        self._check = QTimer(self)
        self._check.setSingleShot(True)
        self._check.setInterval(_CHECK_MS)
        self._check.timeout.connect(self._on_check)
        self._connect()
        self.wait()

    @property
    def opened(self) -> OpenedExemplar | None:
        return self._view.opened

    @property
    def modified(self) -> bool:
        """Whether there is something that is not saved."""
        return self.opened is not None and self.edits.now != self.opened.base

    def wait(self) -> None:
        """Say that something is being opened."""
        self.or_words.say(_READING)

    @Slot(object)
    def show_view(self, view: EditorView) -> None:
        """Replace what is shown beside the draft; the draft too where another one was opened."""
        opened = view.opened
        if opened is not None and opened.serial == self._gone:
            return  # It was sent before it was put away.
        before, self._view = self._view, view
        if opened is None:
            self.or_words.say(view.problem or _READING)
            self._refresh()
            return
        self.or_words.say("")
        self.head.show_view(view)
        if opened.serial != self._serial:
            self._serial = opened.serial
            self.edits.begin(opened.draft)
            self.looks.choose(0)
            self.note.show_text(opened.note)
            self.flush()
        self.preview.show_view(view)
        self.parser.show_view(view)
        self._show_checked()
        if view.texts is not None and (view.texts.left, view.texts.right) == self._comparing:
            self._comparing = None
            self._show_texts()
        if view.conflict is not None and view.conflict != before.conflict:
            self._then = None
            self.asking = ask_conflict(view.conflict, self._save, self)
        if view.problem:
            self._then = None
        if view.saves != self._saves:
            self._saves = view.saves
            self.note.show_text("")
        self._refresh()
        if self._then is not None and not self.modified:
            then, self._then = self._then, None
            then()

    def choose_preset(self, name: str) -> None:
        """Show the preview by this preset."""
        self.preview.choose(name)

    def flush(self) -> None:
        """Have the draft kept and checked now."""
        self._check.stop()
        self._on_check()

    def leave(self, then: Callable[[], None]) -> None:
        """Put away what is open and do this; where something is not saved the person is asked first."""
        if self.opened is None or not self.modified:
            self._put_away(then, keep=False)
            return
        can_save = not stopping(self.edits.now)
        self.asking = ask_to_leave(
            self.edits.now.task or self.edits.now.id or "the new exemplar",
            can_save=can_save,
            save=lambda: self._save_then(lambda: self._put_away(then, keep=False)),
            keep=lambda: self._put_away(then, keep=True),
            discard=lambda: self._put_away(then, keep=False),
            parent=self,
        )

    def reject(self) -> None:
        """Close as the window's button does: Escape loses nothing."""
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.opened is None or not self.isVisible():
            event.accept()
            return
        event.ignore()
        self.leave(self.hide)

    # Joining

    def _connect(self) -> None:
        for button, slot in (
            (self.values_button, self.generalise),
            (self.undo_button, self.edits.undo),
            (self.redo_button, self.edits.redo),
            (self.copy_button, lambda: self._save("copy")),
            (self.save_button, lambda: self._save("save")),
        ):
            button.clicked.connect(slot)
        self.edits.changed.connect(self._on_edited)
        self.looks.current_changed.connect(self.look.show_look)
        self.looks.noted.connect(self.note.show_text)
        self.preview.preset_chosen.connect(self._on_preset)
        self.problems.place_wanted.connect(self.go_to)
        self.parser.test_requested.connect(self._on_test)
        self.parser.cancel_requested.connect(self.cancel_test_requested)
        self.versions.compare_requested.connect(self._on_compare)
        self.versions.current_requested.connect(self.current_requested)
        self.versions.archive_requested.connect(self.archive_requested)
        self.versions.open_requested.connect(self._on_open_version)

    # Showing

    def _refresh(self) -> None:
        opened, history = self.opened, self.edits.history
        modified = self.modified
        self.setWindowModified(modified)
        self.problem.show_text(self._view.problem)
        if opened is not None:
            self.setWindowTitle(f"Edit {opened.id}[*]" if opened.id else "New exemplar[*]")
        self.undo_button.setEnabled(bool(history.undo_name))
        self.undo_button.setToolTip(f"Undo {history.undo_name or 'the last change'} (Ctrl+Z)")
        self.redo_button.setEnabled(bool(history.redo_name))
        self.redo_button.setToolTip(f"Redo {history.redo_name or 'what was undone'} (Ctrl+Shift+Z)")
        stops = stopping(self.edits.now) if opened is not None else ()
        self.save_button.setEnabled(opened is not None and modified and not stops)
        self.copy_button.setEnabled(opened is not None and not stops)
        self.values_button.setEnabled(opened is not None)
        self.save_button.setToolTip(
            f"It cannot be saved yet: {stops[0].where}: {stops[0].text}"
            if stops
            else "Store it as a new version (Ctrl+S)"
        )
        self.versions.show_view(self._view, modified=modified)
        self.fact.setText(self._facts(opened))
        self._show_drafts()

    def _facts(self, opened: OpenedExemplar | None) -> str:
        if opened is None:
            return ""
        parts = [count(self._view.checked.tokens, "token")]
        if opened.version:
            parts.append(
                f"version {opened.version}, saved {datetime.fromtimestamp(opened.saved):%d %b %Y %H:%M}"
            )
        else:
            parts.append("not in the library yet")
        if opened.archived:
            parts.append("in the archive")
        if self.modified:
            parts.append("not saved" if self._view.problem else "not saved; a draft is kept")
        elif self._view.notice:
            parts.append(self._view.notice)
        parts.append(f"from: {opened.origin}" if opened.origin else "")
        return " · ".join(part for part in parts if part)

    def _show_checked(self) -> None:
        checked = self._view.checked
        if checked.edit != self._edit:
            return  # The draft has changed since, and what is wrong with it now is under way.
        for part in (self.head, self.look, self.problems, self.contrasts, self.pairs):
            part.show_faults(checked.faults)
        self.looks.show_checked(checked.faults, checked.look_tokens)
        number = len(checked.faults)
        self.tabs.setTabText(1, f"Problems {number}" if number else "Problems")

    def _show_drafts(self) -> None:
        menu = self.drafts_button.menu()
        menu.clear()
        kept = self._view.drafts
        self.drafts_button.setText(f"Drafts {len(kept)}" if kept else "Drafts")
        self.drafts_button.setVisible(bool(kept))
        for one in kept:
            when = f"{datetime.fromtimestamp(one.when):%d %b %H:%M}"
            title = one.title if len(one.title) < 60 else f"{one.title[:59]}…"
            part = menu.addMenu(f"{title} · {when}".replace("&", "&&"))
            part.addAction("Open", partial(self._on_take_up, one.key))
            part.addAction("Delete", partial(self.forget_requested.emit, one.key))

    def _show_texts(self) -> None:
        texts, opened = self._view.texts, self.opened
        if texts is None or opened is None:
            return
        if self.compared is None:
            self.compared = CompareVersions(self._theme, self)
        self.compared.show_texts(opened.id, texts, self.edits.now)
        self.compared.show()
        self.compared.raise_()

    def go_to(self, where: str) -> None:
        """Show the part that a fault is in, with the cursor there."""
        place = place_of(where)
        if place.kind == "look":
            self.looks.choose(place.number)
            self.look.go_to(place.part, place.nth)
        elif place.kind == "contrast":
            self.tabs.setCurrentWidget(self.contrasts)
            self.contrasts.go_to(place.number, place.part)
        elif place.kind == "pair":
            self.tabs.setCurrentWidget(self.pairs)
            self.pairs.go_to(place.number, place.part)
        elif place.kind == "steps":
            self.looks.insert_button.setFocus()
        else:
            self.head.field(place.kind).setFocus()

    # What the person does

    def generalise(self) -> None:
        """Ask for a value and its placeholder; what is selected in a field is the value."""
        field = self.focusWidget()
        value = ""
        if isinstance(field, QLineEdit):
            value = field.selectedText()
        elif isinstance(field, QPlainTextEdit):
            value = field.textCursor().selectedText().replace("\u2029", "\n")
        self.values = ValuesDialog(self.edits.now, value.strip(), self)
        self.values.accepted.connect(self._on_values)
        self.values.open()

    def _on_values(self) -> None:
        if self.values is not None and not self.values.problem:
            self.edits.do(self.values.words, self.values.made)

    def _on_edited(self) -> None:
        self._edit += 1
        self._check.start()
        self._refresh()

    def _on_check(self) -> None:
        if self.opened is not None:
            self.check_requested.emit(self.edits.now, self._serial, self._edit, self.preview.chosen)

    def _on_preset(self, _name: str) -> None:
        self.flush()

    def _on_compare(self, left: int, right: int | None) -> None:
        self._comparing = (left, right)
        self.compare_requested.emit(left, right)

    def _on_test(self, page: PageChoice) -> None:
        self.test_requested.emit(self.edits.now, page)

    def _on_open_version(self, version: int) -> None:
        opened = self.opened
        if opened is not None:
            self.leave(lambda: self.version_requested.emit(opened.id, version))

    def _on_take_up(self, key: str) -> None:
        self.leave(lambda: self.take_up_requested.emit(key))

    def _save(self, way: SaveWay) -> None:
        if self.opened is None or stopping(self.edits.now):
            self.tabs.setCurrentWidget(self.problems)
            return
        self._check.stop()  # What is stored is no draft: an earlier check must not keep it as one.
        why = ", ".join(self.edits.history.names_since(self.opened.base))[:_LONGEST_WHY]
        self.save_requested.emit(self.edits.now, self._serial, way, why)
        self._check.start()

    def _save_then(self, then: Callable[[], None]) -> None:
        self._then = then
        self._save("save")

    def _put_away(self, then: Callable[[], None], *, keep: bool) -> None:
        if keep:
            self.flush()
        self._check.stop()
        self.left.emit(keep)
        self._gone = self._serial
        self._view = EditorView(saves=self._view.saves)
        self.wait()
        then()
