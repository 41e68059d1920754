import gc
import weakref
from typing import Any

from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from core.debugger.catalogue import Catalogue
from core.debugger.live_page import Picked
from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from core.schema.observation import Box
from core.trace.exports.registry import FORMATS
from gui.shell.docks import PANELS
from gui.shell.main_window import MainWindow
from gui.widgets.remembered import OpenedTask
from tests.gui import samples
from tests.gui.stand_ins import AskedSession, DrawnPage

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


def show(qtbot: QtBot, window: MainWindow, session: AskedSession, **changes) -> None:
    view = samples.SESSION.replace(**changes)
    session.session_changed.send(view)
    qtbot.waitUntil(lambda: window.view == view)


def review(qtbot: QtBot, window: MainWindow, session: AskedSession) -> None:
    session.catalogue_changed.send(samples.CATALOGUE)
    session.runs_changed.send(samples.RUNS)
    session.live_page_changed.send(samples.LIVE)
    session.step_changed.send(samples.STEP)
    show(qtbot, window, session)
    qtbot.waitUntil(lambda: window._step == samples.STEP)
    qtbot.waitUntil(lambda: bool(window.runs.model.steps_of(18)))


def test_what_the_session_sends_reaches_every_panel_each_of_which_has_a_name_and_a_search(
    window: MainWindow, session, qtbot: QtBot
):
    review(qtbot, window, session)
    for line in samples.log_lines(20):
        session.logged.send(line)
    qtbot.waitUntil(lambda: window.log.model.total >= 20)
    assert window.state.state.text() == "form"
    assert window.action.form.text == "click [6]"
    assert window.permissible.model.chosen_index().isValid()
    assert window.observation.raw.source == samples.OBSERVATION.raw
    assert [row.source for row in window.log.model.of_step] == ["call"]
    assert window.runs.delegate.viewed == (18, 5)
    assert window.page.overlay.outlines[0].ref == 6
    assert window.tool_bar.task.value == "miniwob/book-flight · seed 3"
    assert window.place("Prompt").fact.replace("\u202f", " ") == "1 052"
    facts = window.status.facts.text().replace("\u202f", " ")
    assert (
        facts
        == "4 of at most 30 page actions · phase review · 3 calls · 5 120 tokens · $0.02 · 84 ms outside the LLM"
    )
    for button in window.findChildren(QToolButton):
        if button.isVisible() and not button.objectName().startswith("qt_"):
            assert button.accessibleName() or button.text() or button.toolTip(), button
    for record in PANELS:
        panel = window.place(record.name).widget()
        assert panel.accessibleName() == record.name
        assert isinstance(panel, QWidget)
    review(qtbot, window, session)
    window.stack.call_wanted.emit(3)
    qtbot.waitUntil(lambda: window.place("Prompt").is_seen)
    qtbot.waitUntil(lambda: "Call 3" in window.prompt.text.textCursor().block().text())
    review(qtbot, window, session)
    window.permissible.list.setFocus()
    qtbot.keyClick(window.permissible.list, Qt.Key.Key_F, CTRL)
    assert window.permissible.search.hasFocus()
    window.log.show_lines(samples.log_lines(3))
    window.place("Log").bring()
    window.log.list.setFocus()
    qtbot.keyClick(window.log.list, Qt.Key.Key_F, CTRL)
    assert window.log.search.hasFocus()
    window.runs.tree.setFocus()
    qtbot.keyClick(window.runs.tree, Qt.Key.Key_F, CTRL)
    assert window.tool_bar.search.hasFocus()
    window.actions_by_name["layout_watch"].trigger()
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_F, CTRL)
    assert window.tool_bar.search.hasFocus()


def test_the_mode_decides_what_can_be_asked_for_and_f5_pauses_what_is_going_on(
    window: MainWindow, session, qtbot: QtBot
):
    for mode in ("running", "asking", "acting"):
        session.asked.clear()
        show(qtbot, window, session, mode=mode)
        assert window.actions_by_name["run"].iconText() == "Pause", mode
        qtbot.keyClick(window, Qt.Key.Key_F5)
        assert session.asked == [("pause",)], mode
        assert not window.actions_by_name["step"].isEnabled(), mode
    watched = {"step", "phase", "run", "stop", "handover", "success", "failure"}
    modes: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"step", "phase", "run", "stop", "handover"}),
        ({"mode": "empty", "run": None, "task": ""}, set()),
        ({"mode": "opening", "run": None}, {"step", "phase", "run"}),
        ({"mode": "acting"}, {"run", "stop"}),
        ({"mode": "answering"}, {"stop"}),
        ({"mode": "ended"}, {"handover"}),
        ({"mode": "ended", "judged": False}, {"handover", "success", "failure"}),
        ({"mode": "failed", "run": None}, set()),
        ({"mode": "failed"}, {"step", "phase", "run", "stop", "handover"}),
        ({"handed_over": True}, {"stop", "handover"}),
    ]
    for changes, enabled in modes:
        show(qtbot, window, session, **changes)
        assert {name for name in watched if window.actions_by_name[name].isEnabled()} == enabled, changes
    window.runs.more_requested.emit(200)
    assert session.asked[-1] == ("list_more_runs", 200)
    review(qtbot, window, session)
    why = "State item is entered (breakpoint 1)."
    show(qtbot, window, session, message=why, stopped_at=why)
    assert window.page.messages.isVisible()
    assert (window.page.messages.title.text(), window.page.messages.text.text()) == ("‖ Stopped", why)
    show(qtbot, window, session, mode="running")
    assert not window.page.messages.isVisible()


def test_going_back_leads_to_before_what_is_in_view_or_has_the_focus(
    window: MainWindow, session, qtbot: QtBot
):
    review(qtbot, window, session)
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    qtbot.keyClick(window, Qt.Key.Key_B, CTRL)
    assert session.asked[-1] == ("go_back", 18, 3)
    review(qtbot, window, session)
    window.runs.tree.setFocus()
    window.runs.tree.setCurrentIndex(window.runs.model.step_index(18, 2))
    qtbot.keyClick(window.runs.tree, Qt.Key.Key_B, CTRL)
    assert session.asked[-1] == ("go_back", 18, 2)
    review(qtbot, window, session)
    sealed = samples.STEP.replace(row=samples.step_row(18, 5))
    session.step_changed.send(sealed)
    window.setFocus()
    show(qtbot, window, session, mode="ended")
    qtbot.waitUntil(lambda: window._step == sealed)
    qtbot.keyClick(window, Qt.Key.Key_B, CTRL)
    assert session.asked[-1] == ("go_back", 18, 5)
    review(qtbot, window, session)
    first = samples.STEP.replace(number=1, row=samples.step_row(18, 1, sealed=False))
    session.step_changed.send(first)
    qtbot.waitUntil(lambda: window._step == first)
    assert not window.actions_by_name["back"].isEnabled()


def test_runs_go_on_to_a_step_and_are_named_exported_and_imported(
    window: MainWindow, session, qtbot: QtBot, monkeypatch, tmp_path
):
    review(qtbot, window, session)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_arguments: (9, True))
    qtbot.keyClick(window, Qt.Key.Key_F8, SHIFT)
    assert session.asked[-1] == ("run_to_step", 9)
    review(qtbot, window, session)
    monkeypatch.setattr(QInputDialog, "getText", lambda *_arguments: (" the long way ", True))
    window.runs.naming_requested.emit(samples.run_row(17))
    assert session.asked[-1] == ("name_run", 17, "the long way")
    path = str(tmp_path / "run.json")
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_arguments: (path, f"{FORMATS[0].title} (*.x)")
    )
    window.runs.export_requested.emit(17)
    assert session.asked[-1][:2] == ("export_run", 17)
    review(qtbot, window, session)
    for path, chosen, asked in (
        ("/tmp/run-18.html", "One HTML file (*.html)", ("export_run", 18, "html", "/tmp/run-18.html")),
        ("/tmp/it", "Playwright script (*.py)", ("export_run", 18, "playwright", "/tmp/it.py")),
        ("/tmp/it.json", "ATIF trajectory (*.atif.json)", ("export_run", 18, "atif", "/tmp/it.json")),
    ):
        offered: list[str] = []

        def pick(
            parent: QWidget, title: str, name: str, filters: str, offered=offered, picked=(path, chosen)
        ):
            offered.extend(filters.split(";;"))
            return picked

        monkeypatch.setattr(QFileDialog, "getSaveFileName", pick)
        window.actions_by_name["export"].trigger()
        assert chosen in offered
        assert len(offered) == len(FORMATS)
        assert session.asked[-1] == asked
    for path, asked in (("/tmp/a.backstep", [("import_run", "/tmp/a.backstep")]), ("", [])):
        session.asked.clear()
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, path=path: (path, ""))
        window.actions_by_name["import"].trigger()
        assert session.asked == asked


def test_a_step_and_escape_lead_from_the_recorded_step_to_now(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    recorded = samples.recorded_step()
    session.step_changed.send(recorded)
    qtbot.waitUntil(lambda: window.page.covered)
    qtbot.keyClick(window, Qt.Key.Key_F10)
    assert session.asked[-2:] == [("show_now",), ("step",)]
    review(qtbot, window, session)
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    assert not window.actions_by_name["accept"].isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert session.asked[-1] == ("show_now",)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: not window.page.covered)


def test_a_step_takes_the_edited_action_unless_it_cannot_be_taken(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    window.action.form.line.setText("click [44]")
    window.action.form.line.textEdited.emit("click [44]")
    qtbot.keyClick(window, Qt.Key.Key_F10)
    assert session.asked == []
    assert window.action.form.note.isVisible()
    session.asked.clear()
    review(qtbot, window, session)
    window.action.form.line.setText("click [7]")
    window.action.form.line.textEdited.emit("click [7]")
    qtbot.keyClick(window, Qt.Key.Key_F10)
    assert session.asked == [("edit_action", "click [7]")]
    edited = samples.ACTION.replace(action="click [7]", proposed="click [6]", origin="person")
    session.step_changed.send(samples.STEP.replace(action=edited))
    qtbot.waitUntil(lambda: session.asked[-1] == ("step",))
    session.asked.clear()
    review(qtbot, window, session)
    window.permissible.replace_requested.emit(samples.PERMISSIBLE.rows()[3])
    assert session.asked == [("edit_action", "click [7]")]


def test_pointing_goes_from_key_to_action_and_escape_ends_it(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    window.page.set_pointing(True)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.page.pointing
    assert session.asked == []
    review(qtbot, window, session)
    qtbot.keyClick(window, Qt.Key.Key_F7)
    assert window.page.pointing
    assert window.action.buttons.point.isChecked()
    qtbot.mouseClick(window.page.shield, Qt.MouseButton.LeftButton, pos=QPoint(300, 130))
    assert session.asked[-1] == ("point", 300.0, 130.0, True)
    box = Box(x=260, y=120, width=104, height=36)
    session.picked.send(Picked(ref=8, label='button "Features"', box=box, final=True))
    session.picked.send(Picked(ref=None))
    qtbot.waitUntil(lambda: window.action.form.text == "click [8]")
    assert not window.page.pointing


def test_panels_are_shown_reached_put_away_floated_and_scrolled_to(window: MainWindow, qtbot: QtBot, session):
    place = window.place("Log")
    window.docks.reach("Log")
    assert place.is_seen
    assert place.isAncestorOf(window.focusWidget())
    window.docks.reach("Log")
    assert window.docks.below.isHidden()
    window.docks.reach("Log")
    assert place.is_seen
    section = window.place("Permissible actions")
    window.docks.reach("Permissible actions")
    assert section.isAncestorOf(window.focusWidget())
    window.docks.reach("Permissible actions")
    assert not section.is_seen
    assert section.isVisible()
    window.docks.reach("Permissible actions")
    assert section.is_seen
    review(qtbot, window, session)
    column = window.docks.docks["Step"]
    exemplars = window.place("Exemplars")
    qtbot.waitUntil(lambda: column.area.verticalScrollBar().maximum() > 0)  # Once its content is laid out.
    exemplars.bring()
    qtbot.waitUntil(lambda: not exemplars.title.visibleRegion().isEmpty())
    dock = window.docks.docks["Step"]
    assert dock.titleBarWidget().height() == 0
    qtbot.mouseClick(dock.sections[0].title.findChildren(QToolButton)[1], Qt.MouseButton.LeftButton)
    assert dock.isFloating()
    assert dock.titleBarWidget() is None
    assert dock.windowTitle() == "Step"
    window.layouts.reset()
    assert not dock.isFloating()
    assert dock.titleBarWidget().height() == 0


def test_a_task_is_opened_again_and_with_the_next_seed_and_no_key_is_lost(
    window: MainWindow, session, qtbot: QtBot
):
    show(qtbot, window, session)
    window.actions_by_name["again"].trigger()
    window.actions_by_name["next_seed"].trigger()
    assert [asked[:3] for asked in session.asked] == [
        ("open", "miniwob/book-flight", 3),
        ("open", "miniwob/book-flight", 4),
    ]
    show(qtbot, window, session)
    session.session_changed.send(samples.SESSION.replace(seeded=False))
    next_seed = window.actions_by_name["next_seed"]
    qtbot.waitUntil(lambda: not next_seed.isEnabled())
    assert "The task is the same at every seed" in next_seed.toolTip()
    for mode in ("ended", "waiting", "running"):
        show(qtbot, window, session, task="miniwob/book-flight", seed=3, mode=mode)
        window.actions_by_name["again"].trigger()
        window.actions_by_name["run"].trigger()
        assert [asked[0] for asked in session.asked[-2:]] == ["open", "run"], mode
        show(qtbot, window, session, task="miniwob/book-flight", seed=3, mode="opening")
        window.actions_by_name["step"].trigger()
        assert session.asked[-1][0] == "step", mode
        show(qtbot, window, session, task="miniwob/book-flight", seed=3, mode="ended")
        assert not window.actions_by_name["run"].isEnabled(), mode


def test_without_a_task_nothing_is_in_view_once_a_stored_run_was_left(
    window: MainWindow, session, qtbot: QtBot
):
    show(qtbot, window, session, run=None, task="", mode="empty")
    session.step_changed.send(samples.recorded_step())
    of_run = [window.actions_by_name[name] for name in ("export", "bisect", "fix")]
    qtbot.waitUntil(lambda: all(action.isEnabled() for action in of_run))
    session.step_changed.send(StepView(run=0, number=0))
    qtbot.waitUntil(lambda: not any(action.isEnabled() for action in of_run))
    assert window.step_in_view is None


def test_a_task_of_the_open_web_is_opened_again_with_the_page_and_profile_of_its_run_whatever_was_opened_last(
    window: MainWindow, session, qtbot: QtBot
):
    session.catalogue_changed.send(samples.CATALOGUE.replace(allowed_profiles=("work",)))
    window.tasks.open_task(OpenedTask(task="web/open", url="http://other", instruction="Buy."))
    show(
        qtbot,
        window,
        session,
        task="web/open",
        seed=0,
        url="http://x",
        instruction="Look.",
        profile="work",
    )
    window.actions_by_name["again"].trigger()
    assert session.asked[-1] == ("open", "web/open", 0, "http://x", "Look.", "work", False)


def test_the_stalls_of_a_minute_are_one_line_of_the_log_and_files_that_cannot_be_read_are_told_over_the_page(
    window: MainWindow, session, qtbot: QtBot
):
    for late in (120.0, 80.0, 340.0, 60.0):
        window.heartbeat.stalled.emit(late)
    assert [line.whole for line in window.log.model.rows] == ["The window did not answer for 120 ms."]
    window._stalls_gathered.timeout.emit()
    assert window.log.model.rows[-1].whole == "The window did not answer 3 times, 340 ms at the longest."
    window._stalls_gathered.timeout.emit()
    assert window.log.model.rowCount() == 2
    session.catalogue_changed.send(Catalogue(problems=("tasks.toml, line 3: there is no field sed.",)))
    qtbot.waitUntil(lambda: window.page.messages.shown)
    assert "tasks.toml" in window.page.messages.text.text()
    assert window.log.model.rows[-1].of.level == "warning"


def test_a_person_who_is_asked_answers_and_the_windows_keys_work_in_thought_and_page(
    window: MainWindow, session, page, qtbot: QtBot
):
    review(qtbot, window, session)
    page.setFocus()
    qtbot.waitUntil(page.hasFocus)
    qtbot.keyClick(page, Qt.Key.Key_F10)
    assert session.asked == [("step",)]
    session.asked.clear()
    from core.debugger.steps.views import PersonQuestion

    review(qtbot, window, session)
    session.question_asked.send(PersonQuestion(purpose="decide", messages=()))
    show(qtbot, window, session, mode="answering")
    qtbot.waitUntil(lambda: window.action.buttons.answer.isVisible())
    window.action.form.line.setText("click [6]")
    window.action.form.line.textEdited.emit("click [6]")
    qtbot.keyClick(window, Qt.Key.Key_Return, CTRL)
    assert session.asked == [("answer", "", "click [6]")]
    session.asked.clear()
    from core.debugger.steps.views import PersonQuestion

    review(qtbot, window, session)
    session.question_asked.send(PersonQuestion(purpose="rationale", messages=(), needs_action=False))
    show(qtbot, window, session, mode="answering")
    qtbot.waitUntil(window.action.thought_edit.hasFocus)
    qtbot.keyClicks(window.action.thought_edit, "Because.")
    qtbot.keyClick(window.action.thought_edit, Qt.Key.Key_Return, CTRL)
    assert session.asked == [("answer", "Because.", "")]


def test_a_closed_window_listens_no_more(session, settings: QSettings, qtbot: QtBot):
    window = MainWindow(DrawnPage(), settings)
    window.begin(session)
    qtbot.addWidget(window)
    window.show()
    with qtbot.waitSignal(window.closed):
        window.close()
    assert not session.session_changed._listeners
    assert not session.logged._listeners
    session.session_changed.send(SessionView(task="late"))


def test_a_window_that_is_gone_leaves_no_panels_behind(session, settings: QSettings, qtbot: QtBot):
    window = MainWindow(DrawnPage(), settings)
    window.begin(session)
    window.show()
    kept = weakref.ref(window.observation)
    window.close()
    window.deleteLater()
    del window
    # To collect takes seconds where much is loaded and the machine is busy.
    qtbot.waitUntil(lambda: gc.collect() >= 0 and kept() is None, timeout=60_000)


def test_a_task_that_is_opened_takes_the_place_of_the_run_before(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    show(qtbot, window, session, run=None, mode="opening", instruction="", message="Opening web/open…")
    assert not window.page.overlay.outlines
    assert window.observation.raw.source == ""
    assert not window.permissible.model.chosen_index().isValid()
    assert window.page.state_words.text() == "Opening web/open…"
    assert not window.actions_by_name["export"].isEnabled()


def test_remedies_and_the_plan_are_used_by_keys_from_anywhere(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    qtbot.keyClick(window, Qt.Key.Key_P, CTRL)
    qtbot.keyClick(window, Qt.Key.Key_J)
    assert session.asked == [("ask_for", "FireRemedy", {"number": 4})]
    show(qtbot, window, session, mode="acting")
    assert not window.actions_by_name["fire_remedy"].isEnabled()
    session.asked.clear()
    review(qtbot, window, session)
    qtbot.keyClick(window, Qt.Key.Key_E, CTRL | SHIFT)
    qtbot.waitUntil(window.plan.editor.list.hasFocus)
    qtbot.keyClick(window.plan.editor.list, Qt.Key.Key_Escape)
    assert not window.plan.editing
    assert session.asked == []
    session.asked.clear()
    review(qtbot, window, session)
    qtbot.keyClick(window, Qt.Key.Key_E, CTRL | SHIFT)
    editor = window.plan.editor
    qtbot.waitUntil(editor.list.hasFocus)
    qtbot.keyClick(editor.list, Qt.Key.Key_Delete)
    qtbot.keyClick(editor.list, Qt.Key.Key_Return, CTRL)
    texts = tuple(subtask.text for at, subtask in enumerate(samples.PLAN.subtasks) if at != 2)
    assert session.asked == [("ask_for", "EditPlan", {"subtasks": texts, "current": 2})]


def test_what_was_kept_is_outlined_while_the_observation_is_in_front(
    window: MainWindow, session, qtbot: QtBot
):
    review(qtbot, window, session)
    overlay = window.page.overlay
    assert overlay.kept == ()
    session.step_changed.send(samples.STEP.replace(observation=samples.ABSTRACTED))
    boxes = tuple(element.box for element in samples.ELEMENTS if element.ref in (6, 7))
    qtbot.waitUntil(lambda: overlay.kept == boxes)
    window.place("Prompt").bring()
    qtbot.waitUntil(lambda: overlay.kept == ())
    window.place("Observation").bring()
    qtbot.waitUntil(lambda: overlay.kept == boxes)
    session.step_changed.send(samples.recorded_step().replace(observation=samples.ABSTRACTED))
    qtbot.waitUntil(lambda: overlay.kept == ())
