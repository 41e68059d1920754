"""The editor of one exemplar: its looks, their text in a prompt, its problems, and its versions."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QWidget,
)

from core.debugger.exemplars.editor.views import EditorView, OpenedExemplar, SaveWay
from core.memory.editing.faults import place_of, stopping
from gui.exemplars.editor.dialogs import ValuesDialog, ask_conflict, ask_to_leave
from gui.exemplars.editor.entries_page import CONTRASTS, PAIRS, EntriesPage
from gui.exemplars.editor.fields import Edits
from gui.exemplars.editor.forms import HeadForm, LookForm
from gui.exemplars.editor.looks_list import LooksList
from gui.exemplars.editor.pages import CompareVersions, PreviewPage, ProblemsPage, VersionsPage
from gui.exemplars.editor.parser_page import ParserPage
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton, add_undo_keys
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, cut
from gui.widgets.layouts import holding, in_column, in_row, on_panel, splitter
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag

_SIZE = QSize(1280, 800)
_CHECK_MS = 300
"""Time after the last letter at which the draft is stored on disk and checked."""
_READING = "The exemplar is being read…"
_LONGEST_WHY = 200


class EditorWindow(QDialog):
    """Shows `EditorView` and edits its draft; requests go out only as signals."""

    check_requested = Signal(object, int, int, str)
    """The draft, the serial of the opened exemplar, the number of the edit, and the preset of the preview."""
    save_requested = Signal(object, int, str, str)
    """The draft, the serial, how to save (`SaveWay`), and a description of the changes."""
    test_requested = Signal(object, object)
    """The draft and a `PageChoice`."""
    compare_requested = Signal(int, object)
    version_requested = Signal(str, int)
    take_up_requested = Signal(str)
    forget_requested = Signal(str)
    left = Signal(bool)
    """The opened exemplar is closed; whether to keep its draft."""

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = history
        self.setWindowTitle("Edit an exemplar[*]")
        self._theme = theme
        self._view = EditorView()
        self._serial = 0
        self._gone = 0
        """The serial of what was closed last."""
        self._edit = 0
        self._saves = 0
        self._comparing: tuple[int, int | None] | None = None
        """The versions whose texts were requested."""
        self._then: Callable[[], None] | None = None
        """What to do after saving."""
        self.asking: QDialog | None = None
        """The open question, or the last one."""
        self.compared: CompareVersions | None = None
        self.values: ValuesDialog | None = None
        self._check = QTimer(self, singleShot=True, interval=_CHECK_MS)
        self._check.timeout.connect(self._on_check)
        self._make_parts(theme)
        self._lay_out()
        add_undo_keys(self, history)
        history.said.connect(self._on_not_undone)
        self.resize(_SIZE.boundedTo(self.screen().availableSize()))
        self.wait()

    @property
    def opened(self) -> OpenedExemplar | None:
        return self._view.opened

    @property
    def modified(self) -> bool:
        """Whether there are unsaved changes."""
        return self.opened is not None and self.edits.now != self.opened.base

    def wait(self) -> None:
        """Show that something is being opened."""
        self.or_words.say(_READING)

    @Slot(object)
    def show_view(self, view: EditorView) -> None:
        """Replace what is shown next to the draft; also the draft if another one was opened."""
        opened = view.opened
        if opened is not None and opened.serial == self._gone:
            return  # It was sent before the exemplar was closed.
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
        elif before.opened is not None and opened.base != before.opened.base:
            if len(self.edits.history.states) == 1 and self.edits.now == before.opened.base:
                self.edits.begin(opened.base or opened.draft)  # Nothing was typed: show the current version.
            self._check.start()
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

    def flush(self) -> None:
        """Store and check the draft now."""
        self._check.stop()
        self._on_check()

    def leave(self, then: Callable[[], None]) -> None:
        """Close what is open and run this; if there are unsaved changes, ask the person first."""
        if self.opened is None or not self.modified:
            self._put_away(then, keep=False)
            return
        can_save = not stopping(self.edits.now)

        def save() -> None:
            self._then = lambda: self._put_away(then, keep=False)
            self._save("save")

        self.asking = ask_to_leave(
            self.edits.now.task or self.edits.now.id or "the new exemplar",
            can_save=can_save,
            save=save,
            keep=lambda: self._put_away(then, keep=True),
            discard=lambda: self._put_away(then, keep=False),
            parent=self,
        )

    def reject(self) -> None:
        """Close like the window's button does: Escape loses nothing."""
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.opened is None or not self.isVisible():
            event.accept()
            return
        event.ignore()
        self.leave(self.hide)

    # Building

    def _make_parts(self, theme: Theme) -> None:
        """Create the parts, which share one `Edits`."""
        self.edits = Edits(self._history, self)
        self.head = HeadForm(theme, self.edits, self)
        self.look = LookForm(theme, self.edits, self)
        self.looks = LooksList(theme, self.edits, lambda: self.look.action, self)
        self.preview = PreviewPage(theme, self)
        self.problems = ProblemsPage(theme, self)
        self.parser = ParserPage(theme, self.edits, self)
        self.versions = VersionsPage(theme, self)
        self.contrasts = EntriesPage(theme, self.edits, CONTRASTS, self)
        self.pairs = EntriesPage(theme, self.edits, PAIRS, self)
        self.edits.changed.connect(self._on_edited)
        self.looks.current_changed.connect(self.look.show_look)
        self.preview.preset_chosen.connect(lambda _name: self.flush())
        self.problems.place_wanted.connect(self.go_to)
        self.parser.test_requested.connect(lambda page: self.test_requested.emit(self.edits.now, page))
        self.versions.compare_requested.connect(self._on_compare)
        self.versions.open_requested.connect(self._on_open_version)

    def _lay_out(self) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("About the exemplar")
        for page, name in (
            (self.preview, "Preview"),
            (self.problems, "Problems"),
            (self.parser, "Parser"),
            (self.versions, "Versions"),
            (self.contrasts, "Contrasts"),
            (self.pairs, "Pairs"),
        ):
            on_panel(page)
            self.tabs.addTab(page, name)
        self.look.setMinimumWidth(300)
        self.tabs.setMinimumWidth(240)
        columns = (self.looks, self.look, self.tabs)
        for widget in columns:
            on_panel(widget)
        split = splitter(Qt.Orientation.Horizontal, *columns, sizes=(240, 520, 520), stretch=(0, 1, 1))
        line = QFrame(self)
        line.setProperty("line", True)
        self.or_words = OrWords(holding(in_column(None, self.head, line, (split, 1), spacing=0)), self)
        self.problem = NoteLabel("bad", parent=self, margins=(12, 4, 12, 2))
        self.note = NoteLabel("remedy", parent=self, margins=(12, 4, 12, 2))
        self.looks.noted.connect(self.note.show_text)
        in_column(self, (self.or_words, 1), self.note, self.problem, self._foot(), spacing=0)

    def _foot(self) -> QHBoxLayout:
        self.fact = ElidedLabel("", self, tone="dim")
        self.drafts_button = key_button(
            "Drafts", "What was edited and not saved", "Alt+D", lambda: None, self
        )
        self.drafts_button.setMenu(QMenu(self.drafts_button))
        self.values_button = self._button(
            "Generalise…", "Replace a value with a placeholder, or back", "Ctrl+G", self.generalise
        )
        self.undo_button = UndoButton(self._history, self)
        self.redo_button = UndoButton(self._history, self, redo=True)
        self.copy_button = self._button(
            "Save as a copy",
            "Save it as another exemplar, with a free id",
            "Ctrl+Shift+S",
            lambda: self._save("copy"),
        )
        self.save_button = self._button(
            "Save", "Save it as a new version", "Ctrl+S", lambda: self._save("save")
        )
        set_flag(self.save_button, "accent", True)
        return in_row(
            None,
            (self.fact, 1),
            self.drafts_button,
            self.values_button,
            self.undo_button,
            self.redo_button,
            self.copy_button,
            self.save_button,
            margins=(12, 8, 12, 10),
            spacing=8,
        )

    def _button(self, text: str, words: str, key: str, do: Callable[[], None]) -> QPushButton:
        """Return a button whose key works even if it is disabled; otherwise a text field would use the key itself."""
        button = key_button(text, f"{words} ({key})", "", do, self)
        QShortcut(QKeySequence(key), self).activated.connect(button.click)
        return button

    # Display

    def _refresh(self) -> None:
        opened = self.opened
        modified = self.modified
        self.setWindowModified(modified)
        self.problem.show_text(self._view.problem)
        if opened is not None:
            self.setWindowTitle(f"Edit {opened.id}[*]" if opened.id else "New exemplar[*]")
        stops = stopping(self.edits.now) if opened is not None else ()
        self.save_button.setEnabled(opened is not None and modified and not stops)
        self.copy_button.setEnabled(opened is not None and not stops)
        self.values_button.setEnabled(opened is not None)
        self.save_button.setToolTip(
            f"Cannot be saved yet: {stops[0].where}: {stops[0].text}"
            if stops
            else "Save it as a new version (Ctrl+S)"
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
            parts.append("not saved" if self._view.problem else "not saved, draft kept")
        elif self._view.notice:
            parts.append(self._view.notice)
        parts.append(f"from: {opened.origin}" if opened.origin else "")
        return " · ".join(part for part in parts if part)

    def _show_checked(self) -> None:
        checked = self._view.checked
        if checked.edit != self._edit:
            return  # The draft has changed since then, and its new check is still running.
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
            part = menu.addMenu(f"{cut(one.title, 60)} · {when}".replace("&", "&&"))
            take_up = partial(self.take_up_requested.emit, one.key)
            part.addAction("Open", partial(self.leave, take_up))
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
        """Show the part that contains a fault, with the cursor there."""
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

    # Input of the person

    def generalise(self) -> None:
        """Ask for a value and its placeholder; the text selected in a field is the value."""
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

    def _on_not_undone(self, title: str, why: str) -> None:
        if self.isVisible() and self.opened is not None:
            self.problem.show_text(f"{title}. {why}")

    def _on_edited(self) -> None:
        self._edit += 1
        self._check.start()
        self._refresh()

    def _on_check(self) -> None:
        if self.opened is not None:
            self.check_requested.emit(self.edits.now, self._serial, self._edit, self.preview.chosen)

    def _on_compare(self, left: int, right: int | None) -> None:
        self._comparing = (left, right)
        self.compare_requested.emit(left, right)

    def _on_open_version(self, version: int) -> None:
        opened = self.opened
        if opened is not None:
            self.leave(lambda: self.version_requested.emit(opened.id, version))

    def _save(self, way: SaveWay) -> None:
        if self.opened is None or stopping(self.edits.now):
            self.tabs.setCurrentWidget(self.problems)
            return
        self._check.stop()  # A stored exemplar is not a draft: an earlier check must not keep it as one.
        why = ", ".join(self.edits.history.names_since(self.opened.base))[:_LONGEST_WHY]
        self.save_requested.emit(self.edits.now, self._serial, way, why)
        self._check.start()

    def _put_away(self, then: Callable[[], None], *, keep: bool) -> None:
        if keep:
            self.flush()
        self._check.stop()
        self.left.emit(keep)
        self.edits.forget()
        self._gone = self._serial
        self._view = EditorView(saves=self._view.saves)
        self.wait()
        then()
