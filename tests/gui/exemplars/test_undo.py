"""Ctrl+Z in the windows of exemplars undoes changes of exemplars, and in the main window all others."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.editor.service import EditorService
from core.exemplars.editing.draft_files import Drafts, KeptDraft
from core.exemplars.library.store import Library
from gui.exemplars.controller import ChangesController
from gui.exemplars.editor.controller import EditorController
from gui.exemplars.library.controller import LibraryController
from gui.shell.main_window import MainWindow
from gui.shell.undo import Reversible
from tests.core.debugger.exemplars.opened_library import OpenedLibrary
from tests.core.exemplars.making import ALL

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ONE = ALL[1]


@pytest.fixture
def library(tmp_path):
    library = OpenedLibrary(tmp_path)
    for one in ALL:
        library.put(one)
    yield library
    library.close()


class Desk:
    """The main window, the library and the editor, on a real library."""

    def __init__(self, qtbot: QtBot, window: MainWindow, library: OpenedLibrary) -> None:
        self.qtbot = qtbot
        self.window = window
        self.made = library
        ChangesController(window, library.changes)
        self.library = LibraryController(window, library.service, library.imports)
        service = EditorService(library.session, library.changes)  # type: ignore[arg-type]
        self.editor = EditorController(window, service)

    def wait(self, condition) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)

    def edit(self):
        """Open the exemplar in the editor."""
        before = self.editor.shown.opened if self.editor.shown is not None else None
        self.editor.open(ONE.id)
        shown = self.editor.shown
        assert shown is not None
        self.wait(lambda: shown.opened not in (None, before) and f'id = "{ONE.id}"' in shown.text.text)
        return shown

    def stored(self):
        library = Library.open(self.made.folder / "exemplars.db")
        try:
            return library.get(ONE.id)
        finally:
            library.close()

    @property
    def undo_text(self) -> str:
        return self.window.exemplar_history.undo_words


@pytest.fixture
def desk(qtbot, window, library):
    desk = Desk(qtbot, window, library)
    yield desk
    for controller in (desk.library, desk.editor):
        if controller.shown is not None:
            controller.shown.hide()


def test_each_window_undoes_its_own_changes_and_not_those_of_the_other(desk, qtbot):
    desk.library.open(ONE.id)
    shown = desk.library.shown
    desk.wait(lambda: shown.page.table.current == ONE.id)
    qtbot.keyClick(shown.page.table, Qt.Key.Key_Delete)
    desk.wait(lambda: desk.undo_text == f"retire “{ONE.id}”")
    done: list[str] = []
    say = lambda word: lambda answer: (done.append(word), answer(""))  # noqa: E731
    desk.window.history.record(Reversible("add a breakpoint", say("removed"), say("added")))
    assert shown.notices.undo_button.isVisible()
    assert "breakpoint" in desk.window.actions_by_name["undo_edit"].text()
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: desk.stored().exemplar.review.status != "retired")
    desk.wait(lambda: shown.notices.text.text() == f"Undone: retire “{ONE.id}”.")
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    assert done == []
    desk.window.actions_by_name["undo_edit"].trigger()
    assert done == ["removed"]
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL | SHIFT)
    desk.wait(lambda: desk.stored().exemplar.review.status == "retired")
    assert done == ["removed"]


def test_a_save_is_undone_in_the_library_and_the_typing_in_the_editor_also_once_it_was_put_away(desk, qtbot):
    shown = desk.edit()
    qtbot.keyClicks(shown.text, "note = 'x'")
    qtbot.keyClick(shown.text, Qt.Key.Key_Return)
    typed = shown.text.text
    assert desk.undo_text == ""
    qtbot.keyClick(shown.text, Qt.Key.Key_S, CTRL)
    desk.wait(lambda: desk.undo_text == f"save “{ONE.id}”")
    desk.wait(lambda: not shown.modified)
    desk.window.exemplar_history.undo()
    desk.wait(lambda: shown.opened.version == 1 and shown.modified)
    assert (desk.stored().version, shown.text.text) == (1, typed)
    while shown.text.document().isUndoAvailable():
        qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert not shown.modified
    while shown.text.document().isRedoAvailable():
        qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL | SHIFT)
    desk.window.exemplar_history.redo()
    desk.wait(lambda: shown.opened.version == 2 and not shown.modified)
    assert (desk.stored().version, shown.text.text) == (2, typed)
    shown.close()
    desk.wait(shown.isHidden)
    shown = desk.edit()
    assert shown.opened.version == 2
    desk.window.exemplar_history.undo()
    desk.wait(lambda: shown.opened.version == 1)
    assert ("note" in shown.text.text, shown.modified) == (False, False)
    desk.wait(lambda: desk.undo_text == "")


def test_what_another_program_has_changed_is_not_undone_and_said(desk, qtbot):
    desk.library.open(ONE.id)
    shown = desk.library.shown
    desk.wait(lambda: shown.page.table.current == ONE.id)
    qtbot.keyClick(shown.page.table, Qt.Key.Key_Delete)
    desk.wait(lambda: desk.undo_text == f"retire “{ONE.id}”")
    desk.made.put(ONE.replace(task="Another task."))
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: "was changed meanwhile" in shown.notices.text.text())
    assert desk.stored().exemplar.task == "Another task."
    assert desk.undo_text == ""


def test_a_draft_that_was_deleted_comes_back(desk):
    drafts = Drafts(desk.made.folder / "drafts")
    kept = KeptDraft(key="new 1", text='task = "Buy shoes."', when=5.0)
    drafts.keep(kept)
    shown = desk.edit()
    (entry,) = shown.drafts_button.menu().actions()
    entry.menu().actions()[1].trigger()
    desk.wait(lambda: desk.undo_text == "delete the draft “Buy shoes.”")
    assert drafts.all() == ()
    desk.window.exemplar_history.undo()
    desk.wait(lambda: drafts.all() == (kept,))
    desk.wait(lambda: shown.drafts_button.text() == "Drafts 1")
