"""The person in the live page of a run: the run is ended over a question, and what they do at another zoom counts."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest

from tests.core.stage import on, page_file
from tests.gui.live.test_window import LiveWindow, desk
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

ASKS = "<button onclick=\"document.title = 'answered ' + confirm('Really delete?')\">delete</button>"


def test_a_run_is_stopped_and_judged_while_a_question_is_open(desk: LiveWindow, tmp_path: Path) -> None:
    url = page_file(tmp_path, ASKS)
    desk.open("web/open", url=url, instruction="Delete it.")
    desk.trigger("handover")
    desk.wait_until(lambda: desk.window.view.handed_over)
    view = desk.area.current_view()
    commands = ["stop", "success"]

    def look() -> None:
        if desk.area.questions.engine_waits and commands:
            desk.window.actions_by_name[commands.pop(0)].trigger()

    # A question has a loop of its own, in which the test does not go on.
    looking = QTimer(interval=20)
    looking.timeout.connect(look)
    looking.start()
    for ended in (
        lambda: desk.window.view.mode == "ended",
        lambda: desk.window.view.success is True,
    ):
        view.page().runJavaScript("document.title = ''; document.querySelector('button').click()")
        desk.wait_until(ended)
        desk.wait_until(lambda: view.title() == "answered true")
    looking.stop()
    assert desk.area.questions.current is None


def test_what_the_person_does_at_150_percent_is_recorded_and_the_agent_clicks_at_100(
    desk: LiveWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    llm_server.otherwise = on('button "Below"')
    place = "position:absolute;left:200px;width:60px;height:24px;top:"
    url = page_file(
        tmp_path,
        f"<button style='{place}100px' onclick=\"document.title = 'above'\">Above</button>"
        f"<button style='{place}150px' onclick=\"document.title = 'below'\">Below</button>",
    )
    desk.open("web/open", url=url, instruction="Press them.")
    area, window = desk.area, desk.window
    desk.trigger("handover")
    desk.wait_until(lambda: window.view.handed_over)
    while area.page_scale() < 1.5:
        desk.trigger("zoom_in")
    view = area.current_view()
    scales: list[float] = []

    def zoomed() -> bool:
        view.page().runJavaScript("devicePixelRatio", 0, scales.append)
        return bool(scales) and scales[-1] == 1.5

    desk.wait_until(zoomed)
    target = view.focusProxy()

    def clicked() -> bool:
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=QPoint(round(230 * 1.5), round(112 * 1.5)))
        return view.title() == "above"

    desk.wait_until(clicked)
    desk.wait_until(lambda: window.view.step >= 1)
    desk.trigger("handover")
    desk.wait_until(lambda: not window.view.handed_over)
    assert area.page_scale() == 1.0
    desk.wait_for("waiting")
    desk.step_to_review()
    desk.trigger("step")
    desk.wait_until(lambda: view.title() == "below")
    store = desk.stored()
    (run,) = store.runs()
    steps = store.steps(run.run)
    store.close()
    assert (steps[0].origin, "Above" in str(steps[0])) == ("person", True)
