"""The records of the commands: what each must have, and that each does something when its key is pressed."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QInputDialog
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import DiagramState, StepView
from core.schema.signal import Signal
from gui.application import install_features
from gui.shell.docks import PANELS
from gui.shell.help import DOCS
from gui.shell.main_window import MainWindow
from gui.shell.undo import Reversible
from gui.widgets.commands import MENU_BAR, SUBMENUS
from tests.gui import reading_samples, samples
from tests.gui.look.keys_page import LAST, PAGE, lines
from tests.gui.stand_ins import AskedSession, DrawnPage
from tests.test_documentation import anchors_of

PICKERS = ("Ctrl+Shift+S", "Ctrl+Shift+H", "Ctrl+Shift+M")
"""Keys of the menus of the tool bar."""


class AnyService(Signal[Any]):
    """Stands in for a service, its signals and its parts, and counts the calls."""

    calls = 0

    def __getattr__(self, name: str) -> "AnyService":
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, AnyService())

    def __call__(self, *_arguments: object, **_named: object) -> None:
        AnyService.calls += 1


class AnyServices(dict[str, AnyService]):
    def __missing__(self, name: str) -> AnyService:
        return self.setdefault(name, AnyService())


@pytest.fixture
def services() -> AnyServices:
    return AnyServices()


@pytest.fixture
def installed(window: MainWindow, services: AnyServices, qtbot: QtBot) -> MainWindow:
    for _ in install_features(window, services):
        pass
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_each_has_a_title_an_icon_words_a_place_and_help(window: MainWindow):
    places = set()
    for bound in window.commands:
        record = bound.record
        assert record.title, record.id
        assert record.words.strip(".") == record.words != "", record.id
        assert not window.theme.icon(record.icon).pixmap(QSize(16, 16)).isNull(), record.id
        assert record.menu in (*MENU_BAR, *SUBMENUS), record.id
        assert (record.menu, record.place) not in places, record.id
        places.add((record.menu, record.place))
        page, _, anchor = bound.help.partition("#")
        assert not anchor or anchor in anchors_of(DOCS / page), bound.help
    named = [action for action in window.findChildren(QAction) if action.objectName().startswith("action.")]
    assert len(named) == len(window.commands.by_id), "Two commands have the same id"


def test_no_key_is_used_twice_and_tooltips_name_them(window: MainWindow):
    keys = [*PICKERS, *(place.key for place in PANELS)]
    for bound in window.commands:
        assert bound.action.toolTip().endswith(f" ({bound.key})")
        keys += [key.toString() for key in bound.action.shortcuts()]
    assert all(keys)
    assert sorted(keys) == sorted(set(keys))


def test_no_button_of_the_window_has_the_key_of_a_command_or_a_menu(window: MainWindow):
    of_commands = {key.toString() for action in window.actions_by_name.values() for key in action.shortcuts()}
    of_commands |= {QKeySequence.mnemonic(menu).toString() for menu in MENU_BAR}
    assert "Alt+E" in of_commands
    of_buttons = {button.shortcut().toString() for button in window.findChildren(QAbstractButton)} - {""}
    assert "Alt+C" in of_buttons
    assert not of_buttons & of_commands


def test_the_page_of_keys_says_what_the_records_say(window: MainWindow):
    written, _, _by_hand = PAGE.read_text(encoding="utf-8").partition(LAST)
    assert written.rstrip() == "\n".join(lines(window)).rstrip(), "Run python -m tests.gui.look.keys_page"


def test_the_page_of_keys_has_each_key_of_the_window(window: MainWindow):
    cells = re.findall(r"^\| (.+?) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    said = {key for cell in cells for key in (cell, *cell.split(", "))}
    keys = {shortcut.key().toString() for shortcut in window.findChildren(QShortcut)}
    keys |= {button.shortcut().toString() for button in window.findChildren(QAbstractButton)}
    keys |= {key.toString() for action in window.findChildren(QAction) for key in action.shortcuts()}
    assert {key.replace("Return", "Enter").replace("Del", "Delete") for key in keys - {""}} <= said


STATES = tuple(DiagramState(name=name) for name in ("form", "done"))
REVIEW = samples.STEP.replace(
    state=samples.STEP.state.replace(space="shop", states=STATES),
    permissible=samples.STEP.permissible.replace(beside=("scroll",)),
)
STAGES: dict[str, tuple[dict[str, Any], StepView | None]] = {
    "review": ({}, REVIEW),
    "handed over": ({"handed_over": True}, REVIEW),
    "recorded": ({}, None),
    "ended": ({"mode": "ended", "judged": False}, REVIEW),
    "held": ({"held_call": 3}, REVIEW),
    "busy": ({"mode": "running"}, REVIEW),
    "answering": ({"mode": "answering"}, REVIEW),
    "opening": ({"mode": "opening", "run": None}, REVIEW),
    "empty": ({"mode": "empty", "run": None, "task": ""}, REVIEW),
    "failed": ({"mode": "failed"}, REVIEW),
}


@pytest.fixture
def at(
    installed: MainWindow, session: AskedSession, services: AnyServices, qtbot: QtBot
) -> Callable[[str], None]:
    """Return a function that brings the window to a stage; None is a recorded step."""
    session.catalogue_changed.send(samples.CATALOGUE)
    session.runs_changed.send(samples.RUNS)
    services["breakpoints"].changed.send(samples.BREAKS)
    qtbot.waitUntil(lambda: len(installed.breakpoints.breakpoints.rows) == 5)

    def show(stage: str) -> None:
        changes, step = STAGES[stage][0], STAGES[stage][1] or samples.recorded_step()
        view = samples.SESSION.replace(pace=1.0, **changes)
        session.step_changed.send(step)
        qtbot.waitUntil(lambda: installed.step_in_view == step)
        session.session_changed.send(view)
        qtbot.waitUntil(lambda: installed.view == view)

    return show


@pytest.mark.parametrize("stage", STAGES)
def test_each_that_is_disabled_says_why(installed: MainWindow, at, stage: str):
    at(stage)
    for bound in installed.commands:
        assert bound.action.isEnabled() == (not bound.why_not), bound.record.id
        if bound.why_not:
            assert len(bound.why_not) > 12
            assert bound.action.toolTip() == f"{bound.why_not} ({bound.key})"


ASKED: dict[str, tuple[Any, ...]] = {
    "again": ("open", "miniwob/book-flight", 3),
    "next_seed": ("open", "miniwob/book-flight", 4),
    "export": ("export_run", 18),
    "import": ("import_run", "/tmp/run.backstep"),
    "run": ("run",),
    "step": ("step",),
    "over": ("over",),
    "into": ("step",),
    "out": ("out",),
    "phase": ("phase",),
    "run_to_step": ("run_to_step", 9),
    "run_to_subtask": ("run_to_subtask", 3),
    "to_call": ("to_call",),
    "stop": ("stop",),
    "back": ("go_back", 18, 4),
    "success": ("end", True),
    "failure": ("end", False),
    "max_steps": ("set_max_steps", 9),
    "previous": ("show_step", 18, 4),
    "flip": ("show_step", 18, 3, "after"),
    "play_back": ("show_step", 18, 1),
    "next_recorded": ("show_step", 18, 4),
    "now": ("show_now",),
    "accept": ("accept",),
    "ask_again": ("ask_again",),
    "skip": ("skip",),
    "fire_remedy": ("ask_for", "FireRemedy"),
    "edit_observation": ("begin_text", "observation"),
    "edit_parser": ("begin_text", "parser"),
    "edit_prompt": ("begin_text", "prompt"),
    "edit_memory": ("begin_text", "memory"),
    "edit_frame": ("begin_text", "frame"),
    "edit_return": ("begin_text", "return"),
    "edit_lessons": ("begin_text", "experience"),
    "judge_right": ("ask_for", "OverruleJudgement", {"part": "aligned", "is_so": True}),
    "judge_wrong": ("ask_for", "OverruleJudgement", {"part": "aligned", "is_so": False}),
    "judge_subtask": ("ask_for", "OverruleJudgement", {"part": "subtask", "is_so": True}),
    "judge_task": ("ask_for", "OverruleJudgement", {"part": "task", "is_so": True}),
    "new_trial": ("ask_for", "StartNewTrial"),
    "restart_policy": ("ask_for", "RestartFrame"),
    "recognise": ("ask_for", "ForceState"),
    "again_plan": ("ask_for", "AskQuestionAgain", {"what": "plan"}),
    "again_recall": ("ask_for", "AskQuestionAgain", {"what": "recall"}),
    "again_abstraction": ("ask_for", "AskQuestionAgain", {"what": "abstraction"}),
    "again_remedies": ("ask_for", "AskQuestionAgain", {"what": "remedies"}),
    "again_judgement": ("ask_for", "AskQuestionAgain", {"what": "judgement"}),
    "show_target": ("show_target",),
    "handover": ("set_handover", True),
    "faster": ("set_pace", 0.5),
    "slower": ("set_pace", 2.0),
}
"""What each command asks the session for; the others change what is shown, or call the service of their feature."""


def seen(window: MainWindow, page: DrawnPage) -> tuple[object, ...]:
    """Return what can be seen of the window and its dialogs, and how often services and the page were asked."""
    shown = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    return (
        AnyService.calls,
        tuple(page.asked),
        len(shown),
        QApplication.focusWidget(),
        [(place.is_seen, place.is_offered) for place in window.docks.places.values()],
        [bound.action.isChecked() for bound in window.commands],
        [bound.action.text() for bound in window.commands],
        (window.layouts.current, window.theme.text_size, window.elements.pinned, window.page.cover.mode),
        (window.time.details.isVisible(), window.time.film.isVisible(), window.time.play.isChecked()),
        window.plan.editing,
        (window.page.messages.isVisible(), window.page.messages.text.text()),
    )


def do_nothing_at(window: MainWindow, name: str, page: DrawnPage, session: AskedSession) -> bool:
    """Press the key of a command, and return whether it did not do what it should."""
    for widget in QApplication.topLevelWidgets():
        if widget is not window and widget.isVisible():
            widget.close()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    window.docks.go_to("Log")
    window.docks.below.choose(window.place("Diff"))
    window.time.show_bar(on=False)
    session.asked.clear()
    before = seen(window, page)
    QTest.keySequence(window, QKeySequence(window.commands.by_id[name].record.key.split(" or ")[0]))
    if name in ASKED:
        expected = ASKED[name]
        return not any(asked[: len(expected)] == expected for asked in session.asked)
    return seen(window, page) == before


def test_each_does_something_when_its_key_is_pressed(
    installed: MainWindow, at, page: DrawnPage, session: AskedSession, monkeypatch: pytest.MonkeyPatch
):
    file = ("/tmp/run.backstep", "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: file)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: file)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_arguments: ([], ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_arguments: (9, True))
    installed.time.show_times(reading_samples.times())
    commands = installed.commands.by_id
    left, silent = set(commands) - {"quit"}, []
    for stage in ("review", "recorded", "handed over", "ended", "held"):
        at(stage)
        for name in sorted(left):
            installed.elements._on_text(samples.STEP.action.elements[0].ref)
            if commands[name].action.isEnabled() and (name, stage) != ("now", "review"):
                left.remove(name)
                silent += [name] if do_nothing_at(installed, name, page, session) else []
                installed.page.set_pointing(False)
                installed.time.play.setChecked(False)
                at(stage)
    assert (silent, left) == ([], {"undo_edit", "redo_edit"})
    installed.history.record(Reversible("add a breakpoint", lambda done: done(""), lambda done: done("")))
    assert not do_nothing_at(installed, "undo_edit", page, session)
    assert not do_nothing_at(installed, "redo_edit", page, session)
    assert not do_nothing_at(installed, "quit", page, session)
