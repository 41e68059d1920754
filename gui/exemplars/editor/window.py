"""The editor of one exemplar: its text with its problems, the prompt, the result of its program, and its versions."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QMenu, QTabWidget, QWidget

from core.debugger.exemplars.editor.views import EditorView, NewText, OpenedExemplar, SaveWay
from core.exemplars.editing import changes
from core.exemplars.editing.reading import TextProblem, read
from core.exemplars.placeholders import offered
from core.schema.errors import UsageError
from core.schema.formats import count, cut
from core.settings.toml_layout import layout
from gui.exemplars.editor.dialogs import ReplaceDialog, ask_conflict, ask_to_leave
from gui.exemplars.editor.pages import ParserPage, PreviewPage, ProblemList
from gui.exemplars.versions import VersionPane
from gui.shell.command_set import CommandSet
from gui.theme.theme import Theme
from gui.widgets.buttons import action_button, key_button
from gui.widgets.code_editor import CodeEditor
from gui.widgets.commands import Command
from gui.widgets.layouts import holding, in_column, in_row, on_panel, splitter
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag

_SIZE = QSize(1280, 800)
_CHECK_MS = 300
"""Time after the last letter at which the text is stored on disk and checked."""
_CURSOR_MS = 60
_READING = "The exemplar is being read…"
_UNSAVED = "Not in the library yet. The first save (Ctrl+S) is version 1."


def _table_command(
    id: str, title: str, key: str, place: float, edit: Callable[[str, int, int], changes.Edit]
) -> Command:
    """Return a command for the table with the cursor, or the selected tables."""
    return Command(
        id,
        title,
        key,
        "",
        "",
        place,
        title,
        lambda window: window.change(edit),
        lambda window: window.why_closed,
    )


class EditorWindow(QDialog):
    """Edits the text of `EditorView`; requests go out only as signals."""

    check_requested = Signal(str, int, int, str)
    """The text, the serial of the opened exemplar, the number of the edit, and the preset of the preview."""
    save_requested = Signal(str, int, str)
    """The text, the serial, and how to save (`SaveWay`)."""
    test_requested = Signal(str, object)
    """The text and a `PageChoice`."""
    compare_requested = Signal(int, object, str)
    """A version, another one or None for the text, and the text."""
    version_requested = Signal(int)
    """The version whose text to edit."""
    take_up_requested = Signal(str)
    forget_requested = Signal(str)
    left = Signal(bool)
    """The opened exemplar is closed; whether to keep its draft."""

    COMMANDS = (
        _table_command("insert", "Insert a step", "Insert", 1.1, changes.inserted),
        _table_command("contrast", "Add a contrast to this step", "Ctrl+Shift+A", 1.2,
            partial(changes.inserted, kind="contrasts")),
        _table_command("pair", "Add a pair for abstraction", "Ctrl+Alt+A", 1.3,
            partial(changes.inserted, kind="abstraction")),
        _table_command("merge", "Merge with the next step", "Ctrl+M", 1.4, changes.merged),
        _table_command("split", "Split the step at this action", "Ctrl+Shift+M", 1.5, changes.split),
        _table_command("duplicate", "Duplicate", "Ctrl+D", 1.6, changes.duplicated),
        _table_command("up", "Move up", "Alt+Up", 1.7, partial(changes.moved, by=-1)),
        _table_command("down", "Move down", "Alt+Down", 1.8, partial(changes.moved, by=1)),
        _table_command("delete", "Delete", "Alt+Delete", 1.9, changes.deleted),
        Command("replace", "Replace a value…", "Ctrl+G", "", "", 2.1, "Replace a value wherever it occurs",
            lambda window: window.replace_value(), lambda window: window.why_closed),
        Command("revert", "Revert to what is saved", "Alt+R", "", "", 2.4,
            "Put the saved text in place of yours; Ctrl+Z brings yours back",
            lambda window: window.text.put(window.opened.base), lambda window: window.why_unchanged),
        Command("undo", "Undo", "Ctrl+Z", "", "", 3.1, "Undo the last edit",
            lambda window: window.text.undo(),
            lambda window: "" if window.text.document().isUndoAvailable() else "There is no edit to undo"),
        Command("redo", "Redo", "Ctrl+Shift+Z", "", "", 3.2, "Redo the edit",
            lambda window: window.text.redo(),
            lambda window: "" if window.text.document().isRedoAvailable() else "There is no edit to redo"),
        Command("copy", "Save as a copy", "Ctrl+Shift+S", "", "", 3.3,
            "Save it as another exemplar, with a free id",
            lambda window: window.save("copy"), lambda window: window.why_closed or window.why_unsaved),
        Command("save", "Save", "Ctrl+S", "", "", 3.4, "Save it as a new version",
            lambda window: window.save("save"),
            lambda window: window.why_closed or window.why_unsaved
            or ("" if window.modified else "There is nothing to save")),
    )  # fmt: skip

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Edit an exemplar[*]")
        self._view = EditorView()
        self._serial = 0
        self._gone = 0
        """The serial of what was closed last."""
        self._edit = self._revision = 0
        self._is_copying = False
        """Whether the text is being saved under another id."""
        self._then: Callable[[], None] | None = None
        """What to do after saving."""
        self.asking: QDialog | None = None
        """The open question, or the last one."""
        self._check = QTimer(self, singleShot=True, interval=_CHECK_MS)
        self._check.timeout.connect(self._on_check)
        self._moving = QTimer(self, singleShot=True, interval=_CURSOR_MS)
        self._moving.timeout.connect(self._show_place)
        self._make_parts(theme)
        self.commands = CommandSet(theme, [(self, "")], self)
        for bound in self.commands:
            self.addAction(bound.action)
        for available in (self.text.undoAvailable, self.text.redoAvailable):
            available.connect(lambda _on: self.commands.refresh())
        self._lay_out()
        self.resize(_SIZE.boundedTo(self.screen().availableSize()))
        self.or_words.say(_READING)

    @property
    def opened(self) -> OpenedExemplar | None:
        return self._view.opened

    @property
    def modified(self) -> bool:
        """Whether there are unsaved changes."""
        return self.opened is not None and self.text.text != self.opened.base

    @property
    def problems(self) -> tuple[TextProblem, ...]:
        """What was found in the text as it is now; nothing while it is being checked."""
        checked = self._view.checked
        return checked.problems if checked.edit == self._edit else ()

    @Slot(object)
    def show_view(self, view: EditorView) -> None:
        """Replace what is shown beside the text; also the text if another exemplar was opened."""
        opened = view.opened
        if opened is not None and opened.serial == self._gone:
            return  # It was sent before the exemplar was closed.
        before, self._view = self._view, view
        if opened is None:
            self.or_words.say(view.problem or _READING)
            self._refresh()
            return
        self.or_words.say("")
        if opened.serial != self._serial:
            self._open(opened)
        elif before.opened is not None and opened.base != before.opened.base:
            self._follow(before.opened.base, opened)
        self.preview.show_view(view)
        self.parser.show_view(view)
        self.text.words = view.words
        if opened is not before.opened or view.versions != before.versions:
            self.versions.show_versions(opened.id, view.versions, "" if view.versions else _UNSAVED)
        if view.checked.edit != before.checked.edit:
            self._show_checked()
        if view.problem:
            self._then, self._is_copying = None, False
        self._refresh()
        if self._then is not None and not self.modified:
            then, self._then = self._then, None
            then()

    @Slot(object)
    def show_new_text(self, new: NewText) -> None:
        """Put a text in place of the one on screen."""
        self.text.put(new.text)
        self.note.show_text(new.note)

    @Slot(object)
    def show_conflict(self, text: str) -> None:
        """Ask how to save, because something else is stored in the exemplar's place."""
        self._then = None
        self.asking = ask_conflict(text, self.save, self)

    def flush(self) -> None:
        """Store and check the text now."""
        self._check.stop()
        self._on_check()

    def leave(self, then: Callable[[], None]) -> None:
        """Close what is open and run this; if there are unsaved changes, ask the person first."""
        if self.opened is None or not self.modified:
            self._put_away(then, keep=False)
            return

        def save() -> None:
            self._then = lambda: self._put_away(then, keep=False)
            self.save("save")

        draft = self._view.checked.draft
        self.asking = ask_to_leave(
            (draft and (draft.task or draft.id)) or self.opened.id or "the new exemplar",
            can_save=not self.why_unsaved,
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
        self.text = CodeEditor(theme, self)
        self.text.setAccessibleName("The exemplar")
        self.text.textChanged.connect(self._on_edited)
        self.text.cursorPositionChanged.connect(self._moving.start)
        self.place = ElidedLabel("", self, tone="dim")
        self.problem_list = ProblemList(theme, self)
        self.problem_list.place_wanted.connect(self.go_to)
        self.preview = PreviewPage(theme, self)
        self.preview.preset_chosen.connect(lambda _name: self.flush())
        self.parser = ParserPage(theme, self)
        self.parser.test_requested.connect(lambda page: self.test_requested.emit(self.text.text, page))
        take_up = (
            "Put this version in place of your text. Saving it makes a new version; Ctrl+Z brings yours back"
        )
        self.versions = VersionPane(theme, "Edit this version", take_up, in_editor=True, parent=self)
        self.versions.compare_wanted.connect(
            lambda _id, left, right: self.compare_requested.emit(left, right, self.text.text)
        )
        self.versions.version_wanted.connect(lambda _id, version: self.version_requested.emit(version))

    def _lay_out(self) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("About the exemplar")
        pages = (self.preview, "Preview"), (self.parser, "Parser"), (self.versions, "Versions")
        for page, name in pages:
            on_panel(page)
            self.tabs.addTab(page, name)
        self.tabs.currentChanged.connect(lambda _at: self._compare())
        place = in_row(None, self.place, margins=(10, 4, 10, 4))
        written = holding(in_column(None, (self.text, 1), place, spacing=0))
        left = splitter(Qt.Orientation.Vertical, written, self.problem_list, sizes=(520, 170), stretch=(1, 0))
        for widget in (left, self.tabs):
            on_panel(widget)
            widget.setMinimumWidth(300)
        split = splitter(Qt.Orientation.Horizontal, left, self.tabs, sizes=(720, 560), stretch=(1, 1))
        self.or_words = OrWords(split, self)
        self.problem = NoteLabel("bad", parent=self, margins=(12, 4, 12, 2))
        self.note = NoteLabel("remedy", parent=self, margins=(12, 4, 12, 2))
        in_column(self, (self.or_words, 1), self.note, self.problem, self._foot(), spacing=0)

    def _foot(self) -> QHBoxLayout:
        self.fact = ElidedLabel("", self, tone="dim")
        self.drafts_button = key_button(
            "Drafts", "What was edited and not saved", "Alt+D", lambda: None, self
        )
        self.drafts_button.setMenu(QMenu(self.drafts_button))
        self.change_button = key_button(
            "Change", "Commands for the step with the cursor", "Alt+E", lambda: None, self
        )
        self.change_button.setMenu(self._menu())
        self.undo_button, self.redo_button, self.copy_button, self.save_button = (
            action_button(self.commands.by_id[id].action, self) for id in ("undo", "redo", "copy", "save")
        )
        set_flag(self.save_button, "accent", True)
        buttons = (self.undo_button, self.redo_button, self.copy_button, self.save_button)
        left = (self.drafts_button, self.change_button)
        return in_row(None, (self.fact, 1), *left, *buttons, margins=(12, 8, 12, 10), spacing=8)

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for bound in self.commands:
            if bound.record.place == 2.1:
                menu.addSeparator()
            if bound.record.place < 3:
                menu.addAction(bound.action)
        # The text itself has these keys.
        menu.addAction("Find…\tCtrl+F", self.text.open_finder)
        menu.addAction("Next problem\tF8", partial(self.text.go_to_problem, 1))
        menu.addAction("Previous problem\tShift+F8", partial(self.text.go_to_problem, -1))
        menu.addAction("Find and replace…\tCtrl+H", partial(self.text.open_finder, replaces=True))
        return menu

    # Display

    def _open(self, opened: OpenedExemplar) -> None:
        self._serial = opened.serial
        self._is_copying = False
        self.problem_list.show_problems(())
        self.text.show_problems(())
        self._begin(opened.text, opened)
        self.text.setFocus()
        self.note.show_text(opened.note)
        self._on_edited()
        self.flush()
        self._show_place()

    def _begin(self, text: str, opened: OpenedExemplar) -> None:
        self.text.begin(text, name=opened.key, language="toml")
        self._revision = self.text.document().revision()

    def _follow(self, base: str | None, opened: OpenedExemplar) -> None:
        """Follow what was saved, or undone or redone elsewhere."""
        if self._is_copying:
            self._is_copying = False
            self.text.put(changes.with_id(self.text.text, opened.id))
        self.note.show_text("")
        if self.text.text == base and self.text.document().revision() == self._revision:
            self._begin(opened.base or "", opened)  # Nothing was typed: show what is stored now.
            self._on_edited()
        self._check.start()

    def _refresh(self) -> None:
        opened = self.opened
        self.setWindowModified(self.modified)
        self.problem.show_text(self._view.problem)
        if opened is not None:
            self.setWindowTitle(f"Edit {opened.id}[*]" if opened.id else "New exemplar[*]")
        self.commands.refresh()
        self.change_button.setEnabled(opened is not None)
        self.fact.setText(self._facts(opened))
        self._show_drafts()

    @property
    def why_closed(self) -> str:
        return "" if self.opened is not None else "No exemplar is open"

    @property
    def why_unsaved(self) -> str:
        """Why it cannot be saved, as far as it is known, or an empty string."""
        stops = [problem for problem in self.problems if problem.level == "stops"]
        return f"It cannot be saved yet. Line {stops[0].line}: {stops[0].text}" if stops else ""

    @property
    def why_unchanged(self) -> str:
        """Why there is nothing to revert to, or an empty string."""
        if self.opened is not None and self.opened.base is None:
            return "It was never saved"
        return self.why_closed or ("" if self.modified else "Nothing is changed")

    def _facts(self, opened: OpenedExemplar | None) -> str:
        if opened is None:
            return ""
        parts = [count(self._view.checked.tokens, "token")]
        if opened.version:
            saved = datetime.fromtimestamp(opened.saved)
            parts.append(f"version {opened.version}, saved {saved:%d %b %Y %H:%M}")
        else:
            parts.append("not in the library yet")
        if opened.version and opened.review.status != "reviewed":
            parts.append(opened.review.status)
        if self.modified:
            parts.append("not saved" if self._view.problem else "not saved, draft kept")
        elif self._view.notice:
            parts.append(self._view.notice)
        parts.append(f"from: {opened.origin}" if opened.origin else "")
        return " · ".join(part for part in parts if part)

    def _show_checked(self) -> None:
        if self._view.checked.edit != self._edit:
            return  # The text has changed since then, and its new check is still running.
        self.problem_list.show_problems(self.problems)
        self.text.show_problems(self.problems)
        self._compare()
        self._show_place()

    def _show_drafts(self) -> None:
        menu = self.drafts_button.menu()
        menu.clear()
        drafts = self._view.drafts
        self.drafts_button.setText(f"Drafts {len(drafts)}")
        self.drafts_button.setVisible(bool(drafts))
        for draft in drafts:
            when = f"{datetime.fromtimestamp(draft.when):%d %b %H:%M}"
            part = menu.addMenu(f"{cut(draft.title, 60)} · {when}".replace("&", "&&"))
            take_up = partial(self.take_up_requested.emit, draft.key)
            part.addAction("Open", partial(self.leave, take_up))
            part.addAction("Delete", partial(self.forget_requested.emit, draft.key))

    def _show_place(self) -> None:
        """Show where the cursor is, and highlight the elements of the action there."""
        text, (start, _) = self.text.searched, self.text.selected
        self.text.light(changes.lines_of_elements(text, start))
        parts = [self.text.place.capitalize()]
        blocks = layout(text).blocks
        here = next((block for block in reversed(blocks) if block.start <= start), None)
        if here is not None and here.kind == "steps":
            looks, tokens = sum(block.kind == "steps" for block in blocks), self._view.checked.look_tokens
            parts.append(f"step {here.number + 1} of {looks}")
            if here.number < len(tokens):
                parts.append(count(tokens[here.number], "token"))
        self.place.setText(" · ".join(parts))

    def go_to(self, line: int, column: int) -> None:
        """Move the cursor to a place, both from 1."""
        self.text.go_to_line(line, column)
        self.text.setFocus()

    # Input of the person

    def replace_value(self) -> None:
        """Ask for a value and what to put in its place; the selected text is the value."""
        start, end = self.text.selected
        text = self.text.searched
        value = text[start:end] if "\n" not in text[start:end] else ""
        # The first check may still be on its way.
        draft = self._view.checked.draft or read(text, lambda _draft: ()).draft
        dialog = ReplaceDialog(text, value, offered(draft) if draft is not None else {}, self)
        dialog.accepted.connect(lambda: self.text.put(dialog.made))
        self.asking = dialog
        dialog.open()

    def change(self, edit: Callable[[str, int, int], changes.Edit]) -> None:
        """Change the tables with the cursor or the selection, or say why that cannot be done."""
        try:
            made = edit(self.text.searched, *self.text.selected)
        except UsageError as error:
            self.note.show_text(str(error))
            return
        self.text.put(made.text, made.at)
        self.text.setFocus()
        self.note.show_text(made.remark)

    def _compare(self) -> None:
        if self.tabs.currentWidget() is self.versions and self.opened is not None:
            self.versions.compare()

    def _on_edited(self) -> None:
        self._edit += 1
        self._check.start()
        self._refresh()

    def _on_check(self) -> None:
        if self.opened is not None:
            self.check_requested.emit(self.text.text, self._serial, self._edit, self.preview.chosen)

    def save(self, way: SaveWay) -> None:
        if self.opened is None or self.why_unsaved:
            return
        self._check.stop()  # A stored exemplar is not a draft: an earlier check must not keep it as one.
        self._is_copying = way == "copy"
        self.save_requested.emit(self.text.text, self._serial, way)
        self._check.start()

    def _put_away(self, then: Callable[[], None], *, keep: bool) -> None:
        if keep:
            self.flush()
        self._check.stop()
        self.left.emit(keep)
        self._gone = self._serial
        self._view = EditorView()
        self.or_words.say(_READING)
        then()
