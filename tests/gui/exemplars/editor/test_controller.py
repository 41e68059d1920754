"""The editor with its service behind it, on a real library."""

import asyncio
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.agent.resources import agent_resources_of
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.editor.service import EditorService
from core.exemplars.library.records import Provenance
from core.schema.signal import Signal
from core.trace.store import TraceStore
from gui.exemplars.editor.controller import EditorController
from tests.core.exemplars.making import ALL

ONE = ALL[0]


@pytest.fixture
def services(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    resources = agent_resources_of(data=tmp_path)
    settings = SimpleNamespace(database=tmp_path / "traces.db", preset="synapse")
    yield SimpleNamespace(resources=resources, store=store, settings=settings)
    resources.memory.close()
    store.close()


@pytest.fixture
def controller(services, window):
    session = SimpleNamespace(
        services=lambda: services, queue=asyncio.run, store=services.store, closers=[], worked=Signal()
    )
    return EditorController(window, EditorService(session, ExemplarChanges(session)))


@pytest.fixture
def library(services):
    library = services.resources.memory.library()
    library.save(ONE, Provenance(origin="agent run"))
    return library


def opened(controller, qtbot: QtBot, id: str):
    qtbot.waitUntil(
        lambda: controller.shown.opened is not None and f'id = "{id}"' in controller.shown.text.text
    )
    return controller.shown


def type_in(shown, qtbot: QtBot, key: str, words: str) -> None:
    """Type a key with a value before all else."""
    cursor = shown.text.textCursor()
    cursor.setPosition(0)
    shown.text.setTextCursor(cursor)
    qtbot.keyClicks(shown.text, f'{key} = "{words}"')
    qtbot.keyClick(shown.text, Qt.Key.Key_Return)


def test_an_exemplar_is_opened_edited_and_saved_as_a_new_version(controller, library, qtbot):
    told = []
    controller.edited.connect(told.append)
    controller.open(ONE.id)
    shown = opened(controller, qtbot, ONE.id)
    qtbot.waitUntil(lambda: ONE.task in shown.preview.text.source)
    type_in(shown, qtbot, "note", "Because.")
    qtbot.waitUntil(lambda: bool(told) and told[-1].note == "Because.")
    shown.save_button.click()
    assert library.get(ONE.id).exemplar.note == "Because."
    qtbot.waitUntil(lambda: not shown.modified)
    assert [one.why for one in library.versions(ONE.id)] == ["", "changed note"]
    assert shown.text.text.startswith('note = "Because."\nid')
    qtbot.waitUntil(lambda: told[-1] is None)


def test_a_text_with_an_error_is_not_saved_and_says_where(controller, library, qtbot):
    controller.open(ONE.id)
    shown = opened(controller, qtbot, ONE.id)
    type_in(shown, qtbot, "nots", "x")
    shown.save_button.click()  # It was not checked yet.
    qtbot.waitUntil(lambda: "Line 1: There is no key" in shown.problem.text())
    qtbot.waitUntil(lambda: not shown.save_button.isEnabled())
    assert "did you mean note?" in shown.save_button.toolTip()
    assert library.get(ONE.id).version == 1


def test_another_is_opened_only_after_the_person_said_what_becomes_of_the_first(controller, library, qtbot):
    controller.open_new()
    qtbot.waitUntil(lambda: controller.shown.opened is not None)
    shown = controller.shown
    type_in(shown, qtbot, "note", "Go on.")
    controller.open(ONE.id)
    assert "Go on." in shown.text.text
    (discard,) = [one for one in shown.asking.buttons() if "Discard" in one.text()]
    discard.click()
    opened(controller, qtbot, ONE.id)
    assert not shown.drafts_button.isVisible()


def test_versions_are_compared_and_taken_up(controller, library, qtbot):
    library.save(ONE.replace(task="Later."))
    controller.open(ONE.id)
    shown = opened(controller, qtbot, ONE.id)
    shown.tabs.setCurrentWidget(shown.versions)
    shown.versions.table.selectRow(1)
    qtbot.waitUntil(lambda: shown.versions.title.text() == "Version 1, left, and your text differ in task.")
    shown.versions.table.clearSelection()
    assert "Select two versions" in shown.versions.title.text()
    shown.versions.table.selectRow(1)
    qtbot.waitUntil(lambda: "differ in task" in shown.versions.title.text())
    shown.versions.button.click()
    qtbot.waitUntil(lambda: ONE.task in shown.text.text)
    qtbot.waitUntil(lambda: shown.versions.title.text() == "Version 1, left, and your text say the same.")
    shown.undo_button.click()
    assert "Later." in shown.text.text


def test_one_of_a_file_a_copy_and_one_made_elsewhere_are_opened_as_not_saved(controller, library, qtbot):
    controller.open("miniwob/book-flight/0")
    shown = opened(controller, qtbot, "miniwob/book-flight/0-copy")
    assert "read-only" in shown.note.text()
    shown._put_away(lambda: None, keep=False)
    controller.open_draft(ALL[1], Provenance(origin="demonstration"))
    opened(controller, qtbot, ALL[1].id)
    qtbot.keyClick(shown.text, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert library.get(ALL[1].id).provenance.origin == "demonstration"
    shown.copy_button.click()
    opened(controller, qtbot, f"{ALL[1].id}-copy")
    qtbot.waitUntil(lambda: not shown.modified)
