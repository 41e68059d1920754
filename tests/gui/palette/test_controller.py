"""The command palette in the main window: what it finds, and what a choice does."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.palette.views import MatchingExemplars, MatchingRuns, PolicyRow, ResourcesView, SettingRow
from core.debugger.session_view import SessionView
from core.debugger.steps.views import DiagramState
from core.exemplars.library.records import LibraryRow
from gui.palette.controller import PaletteController
from gui.shell.docks import PANELS
from gui.shell.help import section_of
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.shell.test_main_window import review
from tests.gui.stand_ins import AskedService, AskedSession

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
SETTING = SettingRow(name="max_steps", value="30", meaning="page actions of a run")
RESOURCES = ResourcesView(policies=(PolicyRow(id="shop/buy", path="/p/buy.md"),), settings=(SETTING,))
EXEMPLAR = LibraryRow(id="miniwob/book-flight/2", family="book-flight", task="Book a flight")


@pytest.fixture
def service() -> AskedService:
    return AskedService("exemplars_found", "resources_listed")


@pytest.fixture
def controller(qtbot: QtBot, window: MainWindow, session, service) -> PaletteController:
    controller = PaletteController(window, service)
    review(qtbot, window, session)
    qtbot.waitUntil(lambda: controller._catalogue == samples.CATALOGUE)
    return controller


@pytest.fixture
def opened(qtbot: QtBot, controller: PaletteController, window: MainWindow, service) -> PaletteController:
    """The palette, opened by its key, with policies and settings there."""
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_P, CTRL_SHIFT)
    assert controller.shown.isVisible()
    service.resources_listed.send(RESOURCES)
    qtbot.waitUntil(lambda: any(one.kind == "policy" for one in controller._entries))
    return controller


def ids(controller: PaletteController) -> list[tuple[str, str]]:
    return [one.id for one in controller.shown.rows]


def find(controller: PaletteController, qtbot: QtBot, words: str) -> list[tuple[str, str]]:
    controller.shown.field.clear()
    qtbot.keyClicks(controller.shown.field, words)
    return ids(controller)


def press(controller: PaletteController, qtbot: QtBot, key: Qt.Key) -> None:
    qtbot.keyClick(controller.shown.field, key)


def test_all_is_found_without_a_prefix_and_one_kind_with_one(opened, qtbot, window):
    listed = {name for kind, name in ids(opened) if kind == "command"}
    assert listed == set(opened.window.commands.by_id)
    assert {("panel", place.name) for place in PANELS} <= {entry.id for entry in opened._entries}
    assert all(f"{letter} " in opened.shown.note.text() for letter in ">@#!?")
    for words, kind, name in (
        ("rtos", "command", "run_to_step"),
        ("permissible", "panel", "Permissible actions"),
        ("bookflight", "task", "miniwob/book-flight"),
        ("shop/buy", "policy", "/p/buy.md"),
        ("max_steps", "setting", "max_steps"),
        ("debugging", "documentation", "debugging.md"),
        ("laser", "preset", "laser"),
        ("gpt-4o", "LLM", "gpt-4o"),
        ("click radio green", "step", "18.4"),
    ):
        assert (kind, name) in find(opened, qtbot, words)
    for words, kind in (("> run", "command"), ("@", "step"), ("?task", "documentation")):
        found = find(opened, qtbot, words)
        assert found
        assert {one for one, _ in found} == {kind}
    find(opened, qtbot, "> bisect")
    assert section_of(opened.shown.field) == window.commands.by_id["bisect"].help
    find(opened, qtbot, "max_steps")
    assert section_of(opened.shown.field) == "window.md#command-palette"


def test_a_state_of_the_state_space_in_use_is_found_and_shown(controller, qtbot, window, session):
    state = samples.STEP.state.replace(space="shop", states=(DiagramState(name="cart", visits=2),))
    session.step_changed.send(samples.STEP.replace(state=state))
    qtbot.waitUntil(lambda: window.step_in_view.state == state)
    controller.open()
    at = find(controller, qtbot, "cart").index(("state", "cart"))
    assert controller.shown.rows[at].detail == "State of shop · 2 visits"
    controller.shown._choose(at)
    assert window.place("State").is_seen


def test_what_is_searched_is_asked_for_once_typing_rests_and_nothing_found_is_said(opened, qtbot, service):
    before = find(opened, qtbot, "book")
    qtbot.waitUntil(lambda: ("find_exemplars", "book") in service.asked)
    assert ("find_runs", "book", 40) in service.asked
    assert "Searching" in opened.shown.note.text()
    service.changed.send(MatchingRuns(words="book", rows=(samples.run_row(7, task="miniwob/book-flight"),)))
    service.exemplars_found.send(MatchingExemplars(words="book", rows=(EXEMPLAR,)))
    after = [*before, ("run", "7"), ("exemplar", EXEMPLAR.id)]
    qtbot.waitUntil(lambda: ids(opened) == after)
    assert "Searching" not in opened.shown.note.text()
    find(opened, qtbot, "cheap")
    service.changed.send(MatchingRuns(words="chea", rows=(samples.run_row(7),)))
    service.exemplars_found.send(MatchingExemplars(words="cheap", rows=(EXEMPLAR,)))
    qtbot.waitUntil(lambda: ("exemplar", EXEMPLAR.id) in ids(opened))
    assert ("run", "7") not in ids(opened)
    find(opened, qtbot, "zzzz")
    service.changed.send(MatchingRuns(words="zzzz", problem="The database is not open yet; wait a moment."))
    service.exemplars_found.send(MatchingExemplars(words="zzzz"))
    qtbot.waitUntil(lambda: "not open yet" in opened.shown.note.text())
    find(opened, qtbot, "yyyy")
    service.changed.send(MatchingRuns(words="yyyy"))
    service.exemplars_found.send(MatchingExemplars(words="yyyy"))
    qtbot.waitUntil(lambda: opened.shown.note.text().startswith("Nothing matches “yyyy”"))


def test_what_was_chosen_comes_first_the_next_time(opened, qtbot, session: AskedSession, service):
    assert find(opened, qtbot, "phase")[0] == ("command", "phase")
    press(opened, qtbot, Qt.Key.Key_Return)
    assert session.asked[-1][0] == "phase"
    assert opened.shown.isHidden()
    opened.open()
    assert ids(opened)[0] == ("command", "phase")
    assert opened.shown.current.recent
    assert opened.window.remembered.found_before[0].name == "phase"
    opened.open()
    find(opened, qtbot, "#7")
    service.changed.send(MatchingRuns(words="7", rows=(samples.run_row(7),)))
    qtbot.waitUntil(lambda: ids(opened) == [("run", "7")])
    press(opened, qtbot, Qt.Key.Key_Return)
    assert service.asked[-1] == ("show_run", 7)
    opened.open()
    assert service.asked[-1] == ("list_resources", (7,))
    service.resources_listed.send(RESOURCES.replace(runs=(samples.run_row(7, name="as it is now"),)))
    qtbot.waitUntil(lambda: ids(opened)[0] == ("run", "7"))
    assert (opened.shown.rows[0].text, opened.shown.rows[0].recent) == ("Run 7  as it is now", True)
    find(opened, qtbot, "now")
    service.changed.send(MatchingRuns(words="now", rows=(samples.run_row(7, name="now another"),)))
    qtbot.waitUntil(lambda: opened.shown.rows[0].text == "Run 7  now another")
    assert ids(opened).count(("run", "7")) == 1
    opened.open()
    service.resources_listed.send(RESOURCES)
    qtbot.waitUntil(lambda: ("run", "7") not in ids(opened))


def test_a_disabled_command_comes_last_and_enter_only_tells_why(opened, qtbot, window, session):
    opened.shown.close_and_return()
    session.session_changed.send(SessionView())
    qtbot.waitUntil(lambda: not window.actions_by_name["accept"].isEnabled())
    session.asked.clear()
    opened.open()
    names = [one.name for one in opened.shown.rows if one.kind == "command"]
    assert names.index("docs") < names.index("accept")
    assert find(opened, qtbot, "> accept")[0] == ("command", "accept")
    press(opened, qtbot, Qt.Key.Key_Return)
    assert opened.shown.isVisible()
    assert "choose one (Ctrl+N)" in opened.shown.note.text()
    assert session.asked == []


def test_arrows_and_pages_go_round_and_a_click_elsewhere_or_escape_closes_it(opened, qtbot, window):
    many = len(opened.shown.rows)
    press(opened, qtbot, Qt.Key.Key_Up)
    assert opened.shown.list.currentIndex().row() == many - 1
    press(opened, qtbot, Qt.Key.Key_Down)
    assert opened.shown.list.currentIndex().row() == 0
    press(opened, qtbot, Qt.Key.Key_PageDown)
    assert 3 < opened.shown.list.currentIndex().row() < many
    press(opened, qtbot, Qt.Key.Key_PageUp)
    assert opened.shown.list.currentIndex().row() == 0
    window.runs.tree.setFocus(Qt.FocusReason.MouseFocusReason)
    assert opened.shown.isHidden()
    assert QApplication.focusWidget() is window.runs.tree
    qtbot.waitUntil(window.isActiveWindow)
    window.runs.tree.setFocus()
    opened.open()
    assert QApplication.focusWidget() is opened.shown.field
    press(opened, qtbot, Qt.Key.Key_Escape)
    assert opened.shown.isHidden()
    assert QApplication.focusWidget() is window.runs.tree


def test_what_is_chosen_is_asked_for_or_gone_to(opened, qtbot, session, window):
    for words, kind, name, asked in (
        ("click radio green", "step", "18.4", ("show_step", 18, 4)),
        ("bookflight", "task", "miniwob/book-flight", ("open", "miniwob/book-flight")),
        ("laser", "preset", "laser", ("set_preset", "laser")),
        ("gpt-4o", "LLM", "gpt-4o", ("set_llm", "gpt-4o")),
    ):
        opened.open()
        at = find(opened, qtbot, words).index((kind, name))
        opened.shown._choose(at)
        assert session.asked[-1][: len(asked)] == asked
    wanted = []
    window.file_requested.connect(lambda path: wanted.append(("file", path)))
    window.setting_requested.connect(lambda key: wanted.append(("setting", key)))
    window.docs_requested.connect(lambda page: wanted.append(("page", page)))
    for words, id in (
        ("shop/buy", ("policy", "/p/buy.md")),
        ("max_steps", ("setting", "max_steps")),
        ("?debugging", ("documentation", "debugging.md")),
        ("permissible", ("panel", "Permissible actions")),
    ):
        opened.open()
        opened.shown._choose(find(opened, qtbot, words).index(id))
    assert wanted == [("file", "/p/buy.md"), ("setting", "max_steps"), ("page", "debugging.md")]
    dock = window.place("Permissible actions")
    assert dock.isAncestorOf(QApplication.focusWidget())
