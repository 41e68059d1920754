"""An attached agent in an installed Chromium, which the window shows by its pictures."""

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from werkzeug import Request, Response

from core.browser.chromium import ChromiumHost
from core.debugger.attach.views import AttachRequest
from gui.live.screen_view import ScreenView
from tests.core.browser.site import Site
from tests.core.stage import page_file
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.gui.live.test_attached_agent import steps_of
from tests.gui.live.test_window import WAIT
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

GREEN, RED, BLUE = QColor("#008040"), QColor("#c00000"), QColor("#0000c0")
PAGE = f"""
<body style="margin: 0; background: {GREEN.name()}">
<button style="margin: 100px; width: 200px; height: 80px"
 onclick="document.body.style.background = '{RED.name()}'">One</button>
<input aria-label="Name" style="position: absolute; left: 500px; top: 300px; width: 300px; height: 40px">
"""


def host_of(desk: AttachedWindow) -> ChromiumHost:
    host = desk.hosts["chromium"]
    assert isinstance(host, ChromiumHost)
    return host


def attach(desk: AttachedWindow, folder: Path, agent: str = AGENT, page: str = PAGE) -> ScreenView:
    """Attach an agent to an installed Chromium, and return what shows it."""
    desk.attach(agent, url=page_file(folder, page), instruction="Press.", browser="chromium")
    desk.wait_until(lambda: desk.chromium.view.drawn)
    return desk.chromium.view


def shows(view: ScreenView, colour: QColor) -> bool:
    """Return whether the page has this colour at its upper edge, as the window draws it."""
    seen = view.grab().toImage().pixelColor(view.width() // 2, 20)
    return all(abs(a - b) < 12 for a, b in zip(seen.getRgb(), colour.getRgb(), strict=True))


def gone(process: int) -> bool:
    """Return whether a process has ended; one that nobody has waited for yet has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_once_there_is_such_a_browser_its_click_is_held_marked_in_the_picture_and_seen_when_it_is_let_go(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    desk.service.attach(AttachRequest(command=("python",), browser=str(tmp_path / "chromium")))
    desk.wait_until(lambda: "There is no browser at" in desk.view.problem)
    assert "give the path of an installed Chromium" in desk.view.problem
    assert not desk.chromium.isVisible()
    llm_server.say("One")
    llm_server.say("done")
    view = attach(desk, tmp_path)
    desk.wait_until(lambda: shows(view, GREEN))
    desk.step_to_review()
    desk.wait_until(lambda: any(one.chosen for one in desk.window.page.overlay.outlines))
    (chosen,) = (one for one in desk.window.page.overlay.outlines if one.chosen)
    device, scale = desk.chromium.device, desk.chromium.page_scale()
    assert chosen.box.x() == pytest.approx(100 * scale, abs=1)
    assert chosen.box.width() == pytest.approx(200 * scale, abs=1)
    overlay = desk.window.page.overlay
    assert overlay.mapTo(desk.window, QPoint(0, 0)) == device.mapTo(desk.window, device.place().topLeft())
    assert overlay.size() == device.place().size()
    assert shows(view, GREEN)
    desk.ran()
    desk.wait_until(lambda: shows(view, RED))
    assert desk.chromium.shown.problem == ""
    first, _ = steps_of(desk)
    assert (first.target, first.outcome) == ('button "One"', "done")


def click(desk: AttachedWindow, x: float, y: float) -> None:
    """Click at a place of the page, through whatever lies over it in the window."""
    device = desk.chromium.device
    place = device.viewport().mapTo(desk.window, device.mapFromScene(QPointF(x, y)))
    target = desk.window.childAt(place)
    assert target is not None
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(desk.window, place))


WIDE_AND_LONG = f"""
<body style="margin: 0; width: 4000px; height: 4000px; background: {GREEN.name()}">
<button style="margin: 100px; width: 200px; height: 80px"
 onclick="document.body.style.background = '{RED.name()}'">One</button>
<input aria-label="Name" style="position: absolute; left: 500px; top: 300px; width: 300px; height: 40px">
<script>
onscroll = () => document.body.style.background = scrollX ? '{BLUE.name()}' : '{GREEN.name()}'
</script>
"""


def turn_wheel(view: ScreenView, turned: QPoint) -> None:
    at = view.rect().center()
    wheel = QWheelEvent(
        QPointF(at),
        QPointF(view.mapToGlobal(at)),
        QPoint(),
        turned,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, wheel)


def test_a_person_clicks_types_pastes_copies_and_turns_the_wheel_once_the_page_is_handed_over(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    view = attach(desk, tmp_path, page=WIDE_AND_LONG)
    click(desk, 200, 140)
    desk.trigger("handover")
    desk.wait_until(lambda: desk.window.view.handed_over)
    assert desk.chromium.limits.isVisible()
    desk.wait_until(lambda: shows(view, GREEN))
    control, clipboard = Qt.KeyboardModifier.ControlModifier, QGuiApplication.clipboard()
    click(desk, 650, 320)
    QTest.keyClicks(view, "Ada B")
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    clipboard.setText("L\u00f8v")
    QTest.keyClick(view, Qt.Key.Key_V, control)
    for key in (Qt.Key.Key_A, Qt.Key.Key_C):
        QTest.keyClick(view, key, control)
    desk.wait_until(lambda: clipboard.text() == "Ada L\u00f8v")
    click(desk, 200, 140)
    desk.wait_until(lambda: shows(view, RED))
    turn_wheel(view, QPoint(0, -240))
    desk.wait_until(lambda: shows(view, GREEN))
    turn_wheel(view, QPoint(-240, 0))
    desk.wait_until(lambda: shows(view, BLUE))
    desk.trigger("handover")
    desk.wait_until(lambda: not desk.window.view.handed_over)
    desk.wait_for("waiting")
    first_on = {one.target: one.action for one in reversed(steps_of(desk)) if one.origin == "person"}
    assert "Ada L\u00f8v" in first_on['textbox "Name"']
    assert first_on['button "One"'].startswith("click")


OPENS_TABS = """
import os
from llm import ask
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"])
    page = browser.new_context().new_page()
    page.set_viewport_size({"width": 600, "height": 900})
    page.set_content("<title>Second</title><body style='background: #c00000'><button>Two</button>")
    ask("Go on?")
    page.get_by_role("button").click()
    print(page.evaluate("innerWidth"), flush=True)
"""


def test_a_tab_that_it_opens_is_one_of_the_window_and_has_the_size_that_it_asks_for(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    llm_server.say("yes")
    view = attach(desk, tmp_path, OPENS_TABS)
    desk.step_to_review()
    for step in (2, 3):  # The page's content is set by a script, which is a step.
        desk.trigger("step")
        desk.at_review_of(step)
    desk.wait_until(lambda: [one.title for one in desk.chromium.shown.tabs][1:] == ["Second"])
    desk.wait_until(lambda: shows(view, RED) and view.width() < view.height())
    desk.chromium.strip.bar.setCurrentIndex(0)
    desk.wait_until(lambda: shows(view, GREEN))
    desk.ran()
    desk.wait_until(lambda: not desk.view.running)
    assert "600" in desk.view.output


def is_silent(desk: AttachedWindow) -> None:
    desk.wait_until(lambda: "has not answered since" in desk.chromium.problem.text())


def is_well(desk: AttachedWindow) -> None:
    desk.wait_until(lambda: desk.chromium.problem.text() == "")


def test_a_page_is_not_shown_as_if_it_answered_when_it_or_its_connection_does_not(
    desk: AttachedWindow, site: Site, tmp_path: Path
) -> None:
    asked, answer = threading.Event(), threading.Event()

    def answer_late(_: Request) -> Response:
        asked.set()
        answer.wait(60)
        return Response("")

    url = site.serve(answer_late)
    attach(desk, tmp_path)

    async def wait_in_the_page() -> None:
        page = desk.session.services().tabs.current.playwright_page
        ask = f"const r = new XMLHttpRequest(); r.open('GET', '{url}', false); r.send()"
        await page.evaluate(f"setTimeout(() => {{ {ask} }}) && 0")

    desk.session.queue(wait_in_the_page())
    is_silent(desk)
    assert asked.is_set()
    answer.set()
    is_well(desk)

    async def lose_the_answer() -> None:
        cast = host_of(desk)._screencast
        assert cast is not None
        cast._asked = asyncio.get_running_loop().create_future()

    desk.session.queue(lose_the_answer())
    is_silent(desk)
    is_well(desk)
    driver = desk.session.services().tabs.browser.connection._process.pid
    os.kill(driver, signal.SIGSTOP)
    is_silent(desk)
    os.kill(driver, signal.SIGCONT)
    is_well(desk)


def test_pictures_come_only_while_they_can_be_seen_and_of_the_browser_that_is_used(
    desk: AttachedWindow, tmp_path: Path
) -> None:
    view = attach(desk, tmp_path)
    desk.window.hide()
    assert not view.drawn
    desk.wait_until(lambda: host_of(desk)._screencast._session is None)
    desk.window.show()
    assert desk.chromium.waiting.isVisible()
    desk.wait_until(lambda: shows(view, GREEN))
    assert not desk.chromium.waiting.isVisible()
    begun, shown = threading.Event(), threading.Event()

    async def be_busy() -> None:
        begun.set()
        shown.wait()

    desk.session.queue(be_busy())
    begun.wait()
    desk.window.hide()
    desk.window.show()
    shown.set()
    desk.wait_until(lambda: shows(view, GREEN))
    (process,) = host_of(desk)._processes
    desk.session.tasks.open("miniwob/click-test-2", 0)
    desk.wait_until(lambda: desk.window.view.task == "miniwob/click-test-2")
    desk.wait_for("waiting")
    desk.wait_until(desk.area.isVisible)
    assert not desk.chromium.isVisible()
    desk.wait_until(lambda: gone(process))


def test_a_browser_that_is_killed_is_said_to_have_ended_and_the_next_one_ends_with_the_window(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    attach(desk, tmp_path)
    (process,) = host_of(desk)._processes
    os.kill(process, signal.SIGKILL)
    desk.wait_until(lambda: "The browser has ended" in desk.chromium.problem.text())
    desk.wait_until(lambda: not desk.view.running or desk.window.view.mode == "waiting")
    desk.trigger("stop")
    desk.wait_until(lambda: not desk.view.running)
    llm_server.say("One")
    attach(desk, tmp_path, f"import os; print(os.getpid(), flush=True)\n{AGENT}")

    def is_shown_again() -> None:
        view = desk.chromium.view
        seen = (desk.chromium.problem.text(), view.drawn, shows(view, GREEN))
        assert seen == ("", True, True), (seen, desk.chromium.shown, desk.view.problem)

    desk._qtbot.waitUntil(is_shown_again, timeout=WAIT)
    desk.step_to_review()
    desk.wait_until(lambda: bool(desk.view.output))
    processes = [*host_of(desk)._processes, int(desk.view.output[0])]
    assert not any(map(gone, processes))
    desk.window.close()
    closing = desk.session.close()
    desk.wait_until(closing.done)
    desk.wait_until(lambda: all(map(gone, processes)))
