"""The editor with its service behind it, on a real library."""

import asyncio
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.agent.resources import agent_resources_of
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.editor.service import EditorService
from core.memory.library.records import Provenance
from core.schema.signal import Signal
from core.trace.store import TraceStore
from gui.exemplars.editor.controller import EditorController
from tests.core.memory.making import ALL

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
    qtbot.waitUntil(lambda: controller.shown.opened is not None and controller.shown.edits.now.id == id)
    return controller.shown


def test_an_exemplar_is_opened_edited_and_saved_as_a_new_version(controller, library, qtbot):
    controller.open(ONE.id)
    shown = opened(controller, qtbot, ONE.id)
    qtbot.waitUntil(lambda: ONE.task in shown.preview.text.source)
    qtbot.keyClicks(shown.look.thought, "Because.")
    shown.save_button.click()
    assert library.get(ONE.id).exemplar.steps[0].thought == "Because."
    qtbot.waitUntil(lambda: not shown.modified)
    assert [one.why for one in library.versions(ONE.id)] == ["", "edit the thought of look 1"]


def test_a_draft_outlives_the_window_and_comes_back_with_the_exemplar(controller, library, qtbot):
    controller.open(ONE.id)
    shown = opened(controller, qtbot, ONE.id)
    qtbot.keyClicks(shown.look.thought, "Half")
    shown.flush()
    controller.shown._put_away(controller.shown.hide, keep=True)
    controller.open(ONE.id)
    qtbot.waitUntil(lambda: "This is a draft from" in shown.note.text())
    assert shown.edits.now.steps[0].thought == "Half"
    assert shown.modified


def test_another_is_opened_only_after_the_person_said_what_becomes_of_the_first(controller, library, qtbot):
    controller.open_new()
    qtbot.waitUntil(lambda: controller.shown.opened is not None)
    shown = controller.shown
    qtbot.keyClicks(shown.head.task, "Go on.")
    controller.open(ONE.id)
    assert shown.edits.now.task == "Go on."
    (discard,) = [one for one in shown.asking.buttons() if "Discard" in one.text()]
    discard.click()
    opened(controller, qtbot, ONE.id)
    assert not shown.drafts_button.isVisible()


def test_one_of_a_file_a_copy_and_one_made_elsewhere_are_opened_as_not_saved(controller, library, qtbot):
    controller.open("miniwob/book-flight/0")
    shown = opened(controller, qtbot, "miniwob/book-flight/0-copy")
    assert "read-only" in shown.note.text()
    shown._put_away(lambda: None, keep=False)
    controller.open_draft(ALL[1], Provenance(origin="demonstration"))
    opened(controller, qtbot, ALL[1].id)
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert library.get(ALL[1].id).provenance.origin == "demonstration"
