"""The whole chain from the window: a live page, the LLM at a loopback server, a person, the trace."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.browser.chromium import ChromiumHost, chromium_at
from core.browser.host import BrowserHost
from core.browser.screen import Screen
from core.debugger.breakpoints.kinds.problems import NotAligned
from core.debugger.breakpoints.service import BreakpointsService
from core.debugger.services import Services, open_services
from core.debugger.session import Session
from core.debugger.timeline.service import TimelineService
from core.environments.registry import Environments
from core.trace.store import TraceStore
from gui.breakpoints.controller import BreakpointsController
from gui.live.embedded_host import EmbeddedHost
from gui.live.live_area import LiveArea
from gui.live.page_area import PageArea
from gui.live.screen_area import ScreenArea
from gui.shell.main_window import MainWindow
from gui.timeline.controller import install as install_timeline
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.stage import config_folder_in, llms_for, need_chromium, on, page_file, settings_for
from tests.gui.live.engine_plugin import ENDPOINT
from tests.llm_server import LLMServer

pytestmark = pytest.mark.browser

WAIT = 120_000


class LiveWindow:
    """A window on a session of its own, with what a test needs of both."""

    def __init__(self, qtbot: QtBot, folder: Path, server: LLMServer) -> None:
        self._qtbot = qtbot
        self.database = folder / "traces.db"
        self.area = PageArea()
        self.screen = Screen()
        self.chromium = ScreenArea(self.screen)
        self.hosts: dict[str, BrowserHost] = {"": EmbeddedHost(self.area, ENDPOINT)}
        settings = settings_for(self.database, server.base_url)
        config = config_folder_in(folder / "config")

        async def open_it() -> Services:
            return await open_services(
                settings,
                self.hosts[""],
                llms=llms_for(settings),
                environments=Environments(),
                config=config,
                browsers=self.host_of,
            )

        self.session = Session(open_it)
        self.window = MainWindow(
            LiveArea(self.area, self.chromium),
            QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat),
        )
        self.window.begin(self.session)
        self.breaks = BreakpointsController(self.window, BreakpointsService(self.session))
        self.window.resize(1280, 800)
        self.window.show()
        self.session.start()

    def host_of(self, name: str) -> BrowserHost:
        if name not in self.hosts:
            path = need_chromium() if name == "chromium" else chromium_at(name)
            self.hosts[name] = ChromiumHost(path, screen=self.screen, shared=True)
        return self.hosts[name]

    def close(self) -> None:
        self.window.close()
        closing = self.session.close()
        self._qtbot.waitUntil(closing.done, timeout=WAIT)
        self.session.stop_worker()
        self.area.close_pages()
        self.window.deleteLater()

    def open(self, task: str, seed: int = 0, **more: str) -> None:
        self.session.tasks.open(task, seed, **more)
        self.wait_for("waiting")

    def wait_for(self, mode: str) -> None:
        self._qtbot.waitUntil(
            lambda: self.window.view.mode == mode or self.window.view.mode == "failed", timeout=WAIT
        )
        assert self.window.view.mode == mode, self.window.view.message

    def wait_until(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=WAIT)

    def step_to_review(self) -> None:
        self.trigger("step")
        self.wait_until(lambda: self.window.view.phase == "review" and self.window.action.editable)

    def trigger(self, name: str) -> None:
        self._qtbot.waitUntil(self.window.actions_by_name[name].isEnabled, timeout=WAIT)
        self.window.actions_by_name[name].trigger()

    def stored(self) -> TraceStore:
        return TraceStore.open(self.database, read_only=True)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveWindow]:
    desk = LiveWindow(qtbot, tmp_path, llm_server)
    yield desk
    desk.close()


def test_a_task_is_stepped_to_success_and_its_recorded_step_covers_the_live_page_which_stays_shown(
    desk: LiveWindow, llm_server: LLMServer
) -> None:
    llm_server.otherwise = on('button "ONE"', thought="The task names it.")
    desk.open("miniwob/click-test-2")
    desk.step_to_review()
    desk.wait_until(lambda: sum(one.chosen for one in desk.window.page.overlay.outlines) == 1)
    desk.trigger("step")
    desk.wait_for("ended")
    assert desk.window.view.success is True
    store = desk.stored()
    (row,) = store.runs()
    (step,) = store.steps(row.run)
    store.close()
    assert (row.outcome, row.verdict.success, row.touched) == ("done", True, False)
    assert (step.sealed, step.origin, step.outcome, step.thought) == (
        True,
        "agent",
        "done",
        "The task names it.",
    )
    run = desk.window.view.run
    desk.session.tasks.open("miniwob/click-test-2", 1)
    desk._qtbot.waitUntil(lambda: desk.window.view.run not in (None, run), timeout=WAIT)
    desk.wait_for("waiting")
    install_timeline(desk.window, TimelineService(desk.session))
    desk.session.trace.show_step(run, 1)
    cover, time = desk.window.page.cover, desk.window.time
    desk.wait_until(cover.isVisible)
    assert desk.area.current_view().isVisible()
    desk.wait_until(lambda: len(time.film.view.steps) == 1)
    desk.wait_until(lambda: bool(time.film.thumbnails.of(time.film.view.steps[0].picture)))
    assert time.film.at.run == run
    cover.set_mode("slider")  # There is no page after the only step, and it is said why.
    desk.wait_until(lambda: "last step of its run" in cover.caption.text())
    assert cover.picture.words == ""
    assert desk.area.current_view().isVisible()
    desk.trigger("now")
    desk._qtbot.waitUntil(lambda: not desk.window.page.cover.isVisible(), timeout=WAIT)
    desk.window.showMinimized()
    desk.session.run_commands.run()
    desk.wait_for("ended")
    assert desk.window.view.success is True


def test_a_breakpoint_and_an_edit_are_undone_in_their_order_and_a_corrected_action_is_kept_with_what_was_proposed(
    desk: LiveWindow, llm_server: LLMServer
) -> None:
    llm_server.otherwise = on('button "TWO"')
    desk.open("miniwob/click-test-2")
    desk.step_to_review()
    window, panel = desk.window, desk.window.breakpoints
    panel.breakpoint_wanted.emit(NotAligned(ignore=2))
    desk.wait_until(lambda: len(panel.breakpoints.rows) == 1)
    panel.breakpoint_removed.emit(1)
    desk.wait_until(lambda: not panel.breakpoints.rows)
    proposed = window._step.action.action
    row = next(row for row in window._step.permissible.rows if row.name == "click" and "ONE" in row.label)
    desk.session.edits.edit_action(row.text)
    desk.wait_until(lambda: window._step.action.action == row.text)
    undo = window.actions_by_name["undo_edit"]
    desk.wait_until(lambda: undo.text() == "&Undo: edit the next action")
    desk.trigger("undo_edit")
    desk.wait_until(lambda: window._step.action.action == proposed)
    desk.wait_until(lambda: undo.text().startswith("&Undo: remove the breakpoint"))
    desk.trigger("redo_edit")
    desk.wait_until(lambda: window._step.action.action == row.text)
    desk.wait_until(lambda: undo.text() == "&Undo: edit the next action")
    desk.trigger("undo_edit")
    desk.wait_until(lambda: window._step.action.action == proposed)
    desk.wait_until(lambda: undo.text().startswith("&Undo: remove the breakpoint"))
    desk.trigger("undo_edit")
    desk.wait_until(lambda: len(panel.breakpoints.rows) == 1)
    store = desk.stored()
    ((number, definition),) = [(one.number, one.definition) for one in store.stops.breakpoints()]
    store.close()
    assert number == 1
    assert '"ignore":2' in definition
    desk.session.edits.edit_action(row.text)
    desk._qtbot.waitUntil(lambda: desk.window._step.action.origin == "person", timeout=WAIT)
    desk.trigger("accept")
    desk.wait_for("ended")
    assert desk.window.view.success is True
    store = desk.stored()
    (run,) = store.runs()
    detail = store.step(run.run, 1)
    store.close()
    assert run.touched
    assert (detail.interventions[-1].before, detail.interventions[-1].after) == (proposed, row.text)


def test_a_person_s_click_reaches_the_page_only_after_it_is_handed_over(
    desk: LiveWindow, tmp_path: Path
) -> None:
    url = page_file(
        tmp_path,
        '<body style="margin:0"><button style="width:400px;height:300px"'
        " onclick=\"document.title='clicked'\">Big</button></body>",
    )
    desk.open("web/open", url=url, instruction="Press it.")
    view = desk.area.current_view()

    def click() -> None:
        place = desk.window.mapFromGlobal(view.mapToGlobal(QPoint(200, 150)))
        target = desk.window.childAt(place)
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(desk.window, place))
        for _ in range(20):
            QApplication.processEvents()

    click()
    assert view.title() != "clicked"
    desk.trigger("handover")
    desk._qtbot.waitUntil(lambda: desk.window.view.handed_over, timeout=WAIT)
    desk._qtbot.waitUntil(lambda: (click(), view.title() == "clicked")[1], timeout=WAIT)
    desk.trigger("handover")
    desk._qtbot.waitUntil(lambda: not desk.window.view.handed_over, timeout=WAIT)
    desk.wait_for("waiting")


def test_a_breakpoint_of_the_panel_stops_the_run_and_the_tree_leads_back_to_a_branch(
    desk: LiveWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    page_file(tmp_path, "<h1>Orders</h1>", "orders.html")
    url = page_file(tmp_path, '<input aria-label="Note"> <a href="orders.html">Orders</a>', "start.html")
    llm_server.script(on("textbox", "type", text="4711"))
    llm_server.otherwise = on('link "Orders"')
    desk.open("web/open", url=url, instruction="Note the number and open the orders.")
    window, qtbot = desk.window, desk._qtbot

    desk.trigger("add_breakpoint")
    editor = desk.breaks.editor
    assert editor is not None
    (kind,) = editor.kinds.findItems("An action is due", Qt.MatchFlag.MatchExactly)
    editor.kinds.setCurrentItem(kind)
    QTest.keyClicks(editor.fields["target"].widget, "Orders")
    editor.condition.setText("step.nmber > 1")
    editor.save_button.click()
    qtbot.waitUntil(lambda: "did you mean number?" in editor._problem_of_condition.text(), timeout=WAIT)
    editor.condition.setText("step.number > 1")
    editor.save_button.click()
    qtbot.waitUntil(lambda: desk.breaks.editor is None, timeout=WAIT)
    qtbot.waitUntil(lambda: len(window.breakpoints.breakpoints.rows) == 1, timeout=WAIT)

    desk.trigger("run")
    qtbot.waitUntil(window.page.messages.isVisible, timeout=WAIT)
    assert window.page.messages.title.text() == "‖ Stopped"
    assert "Orders" in window.page.messages.text.text()
    assert (window.view.step, window.view.phase) == (2, "review")
    qtbot.waitUntil(lambda: window.breakpoints.breakpoints.rows[0].word == "×1", timeout=WAIT)

    first = window.view.run
    assert first is not None
    window.runs.tree.setFocus()
    window.runs.tree.setCurrentIndex(window.runs.model.step_index(first, 1))
    llm_server.script(on("textbox", "type", text="4712"))
    desk.trigger("back")
    qtbot.waitUntil(lambda: window.view.run not in (None, first), timeout=WAIT)
    desk.wait_for("waiting")
    branch = window.view.run
    assert branch is not None
    qtbot.waitUntil(lambda: "current" in (window.runs.model.run_index(branch).data() or ""), timeout=WAIT)
    left = window.runs.model.step_index(first, 1)
    assert window.runs.model.run_index(branch).parent() == left
    assert "left" in window.runs.model.run_index(first).data()
    assert window.runs.tree.isExpanded(left)
    desk.step_to_review()
    assert window.view.step == 1


@pytest.mark.usefixtures("impatient")
def test_a_hostile_page_leaves_the_window_with_a_browser_that_works(
    desk: LiveWindow, llm_server: LLMServer, site: Site
) -> None:
    llm_server.otherwise = on('button "ONE"')
    url = HOSTILE["a loop after load"].serve(site)
    desk.session.tasks.open("web/open", 0, url=url, instruction="Look at it.")
    desk.wait_until(lambda: desk.window.view.mode in ("waiting", "failed"))
    assert "estart the program" not in desk.window.view.message
    desk.session.tasks.open("miniwob/click-test-2", 0)
    desk.wait_until(lambda: desk.window.view.task == "miniwob/click-test-2")
    desk.wait_for("waiting")
    desk.step_to_review()
    desk.trigger("step")
    desk.wait_for("ended")
    assert desk.window.view.success is True


def test_the_person_who_has_the_page_types_an_address_is_asked_and_looks_into_the_page(
    desk: LiveWindow, tmp_path: Path
) -> None:
    page_file(tmp_path, "second", "second.html")
    asks = (
        "<title>first</title><button onclick=\"document.title = confirm('Really delete?')\">delete</button>"
    )
    url = page_file(tmp_path, asks, "first.html")
    desk.open("web/open", url=url, instruction="Delete it.")
    area, window = desk.area, desk.window
    strip, questions = area.strip, area.questions
    assert not strip.reload_button.isEnabled()
    assert "F6" in strip.reload_button.toolTip()
    desk.trigger("handover")
    desk.wait_until(lambda: window.view.handed_over)

    strip.address.setFocus()
    strip.address.selectAll()
    QTest.keyClicks(strip.address, "two words")
    QTest.keyClick(strip.address, Qt.Key.Key_Return)
    assert window.page.messages.title.text() == "That is no address"
    assert strip.address.text() == "two words"
    QTest.keyClick(strip.address, Qt.Key.Key_Escape)
    assert strip.address.text() == url
    strip.address.selectAll()
    QTest.keyClicks(strip.address, url.removeprefix("http://").replace("first", "second"))
    QTest.keyClick(strip.address, Qt.Key.Key_Return)
    desk.wait_until(lambda: area.current_view().title() == "second.html")
    desk.wait_until(strip.back_button.isEnabled)
    desk.trigger("page_back")
    desk.wait_until(lambda: area.current_view().title() == "first.html")

    window.docks.reach("DevTools")
    desk.wait_until(lambda: window.devtools.inspector is not None)
    window.place("DevTools").put_away()
    desk.wait_until(lambda: area.devtools.view is None)

    view = area.current_view()
    answers: list[Callable[[], object]] = [window.actions_by_name["handover"].trigger]
    # A question has a loop of its own, in which the test does not go on.
    looking = QTimer(interval=20)
    looking.timeout.connect(lambda: answers.pop()() if questions.engine_waits and answers else None)
    looking.start()
    view.page().runJavaScript(
        "const press = () => document.querySelector('button').click();"
        "document.readyState === 'complete' ? press() : addEventListener('load', press)"
    )  # A title is there before the page is.
    desk.wait_until(lambda: not window.view.handed_over)
    desk.wait_until(lambda: view.title() == "true")
    desk.wait_for("waiting")

    hand_over = window.actions_by_name["handover"].trigger  # Refused while the agent still looks at the page.
    desk.wait_until(lambda: window.view.handed_over or hand_over() or window.view.handed_over)
    answers.append(window.close)
    view.page().runJavaScript("document.title = ''; document.querySelector('button').click()")
    desk.wait_until(lambda: not window.isVisible())
    desk.wait_until(lambda: view.title() == "true")
    looking.stop()
