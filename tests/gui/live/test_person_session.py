"""The person in the live page of a run: the run is ended over a question, and what they do at another zoom counts."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.trace.records import StepRow
from gui.live.web_page import WebView
from tests.core.browser.site import Site
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
    commands: list[str] = []

    def look() -> None:
        if desk.area.questions.engine_waits and commands:
            desk.window.actions_by_name[commands.pop()].trigger()

    # A question has a loop of its own, in which the test does not go on.
    looking = QTimer(interval=20)
    looking.timeout.connect(look)
    looking.start()
    for command, ended in (
        ("stop", lambda: desk.window.view.mode == "ended" and not desk.window.view.handed_over),
        ("success", lambda: desk.window.view.success is True),
    ):
        if desk.window.view.mode == "ended":
            desk.trigger("handover")
            desk.wait_until(lambda: desk.area.questions.person_has_page)
        commands.append(command)
        view.page().runJavaScript("document.title = ''; document.querySelector('button').click()")
        desk.wait_until(ended)
        desk.wait_until(lambda: view.title() == "answered true")
    looking.stop()
    assert desk.area.questions.current is None


QUESTIONS = """<body onload="document.title = 'open'">
<button style="position:absolute;left:20px;top:20px;width:200px;height:30px"
 onclick="document.title = 'deleted ' + confirm('Really delete?')">Delete</button>
<button style="position:absolute;left:20px;top:60px;width:200px;height:30px"
 onclick="document.title += ' as ' + prompt('Who are you?', 'Ada') + ' ' + prompt('Your password?')">Sign</button>"""


def test_answers_to_questions_are_steps_before_what_asked_and_are_given_again(
    desk: LiveWindow, tmp_path: Path
) -> None:
    desk.open("web/open", url=page_file(tmp_path, QUESTIONS), instruction="Sign.")
    desk.trigger("handover")
    desk.wait_until(lambda: desk.window.view.handed_over)
    view, box = desk.area.current_view(), desk.area._box
    assert view is not None
    answers = {"Really delete?": "", "Who are you?": "Grace", "Your password?": "hunter2"}

    def answer() -> None:
        question = desk.area.questions.current
        if question is not None:
            box.field.setText(answers[question.text])
            (box.ok_button if answers[question.text] else box.cancel_button).click()

    answering = QTimer(interval=20)
    answering.timeout.connect(answer)
    answering.start()

    def stored(run: int) -> list[str]:
        store = desk.stored()
        steps = [
            one.action.split(" [")[0] + one.action.partition("_dialog")[2] for one in store.own_steps(run)
        ]
        store.close()
        return steps

    run = desk.window.view.run
    assert run is not None
    for y, title, steps in ((32, "deleted false", 2), (72, "deleted false as Grace hunter2", 5)):
        QTest.mouseClick(view.focusProxy(), Qt.MouseButton.LeftButton, pos=QPoint(60, y))
        desk.wait_until(lambda title=title, steps=steps: view.title() == title and len(stored(run)) >= steps)  # type: ignore[misc]
    answering.stop()
    desk.trigger("handover")
    desk.wait_until(lambda: not desk.window.view.handed_over)
    desk.wait_until(lambda: (desk.window.view.phase, desk.window.view.mode) == ("decide", "waiting"))
    assert stored(run)[:5] == [
        "answer_dialog [dismiss]",
        "click",
        "answer_dialog [accept] [Grace]",
        "answer_dialog [accept] [<secret:password>]",
        "click",
    ]
    desk.session.branches.go_back(run, 6)
    desk.wait_until(lambda: desk.window.view.run not in (None, run) and desk.window.view.mode == "waiting")
    again = desk.area.current_view()
    assert again is not None
    assert again.title() == "deleted false as Grace hunter2"
    assert b"hunter2" not in desk.database.read_bytes()


MENU = """<body onload="document.title = 'open'">
<button style="position:absolute;left:20px;top:20px;width:100px;height:24px"
 onmouseenter="setTimeout(() => { pick.hidden = false; }, 80)">More</button>
<button id=pick hidden style="position:absolute;left:20px;top:50px;width:100px;height:24px"
 onclick="document.title = 'picked'">Pick</button>
<iframe style="position:absolute;left:200px;top:20px;border:0" srcdoc="<body style='margin:0'>
<button style='width:100px;height:24px' onclick='parent.document.title = 1'>Inside</button>"></iframe>"""


def test_a_menu_under_the_mouse_of_the_person_and_a_click_in_a_frame_are_steps(
    desk: LiveWindow, tmp_path: Path
) -> None:
    desk.open("web/open", url=page_file(tmp_path, MENU), instruction="Pick.")
    desk.trigger("handover")
    desk.wait_until(lambda: desk.window.view.handed_over)
    view = desk.area.current_view()
    assert view is not None
    desk.wait_until(lambda: view.title() == "open")
    target, menu, shown = view.focusProxy(), QPoint(60, 32), list[bool]()

    def move(place: QPoint) -> None:
        # `QTest.mouseMove` moves the cursor, over which the window of another test may lie.
        kind, none = QMouseEvent.Type.MouseMove, Qt.MouseButton.NoButton
        spots = QPointF(place), QPointF(target.mapToGlobal(place))
        QApplication.sendEvent(target, QMouseEvent(kind, *spots, none, none, Qt.KeyboardModifier.NoModifier))

    def is_open() -> bool:
        move(menu + QPoint(len(shown) % 5, 0))
        view.page().runJavaScript("!pick.hidden", 0, shown.append)
        return bool(shown) and shown[-1]

    move(QPoint(60, 200))
    desk.wait_until(is_open)
    for place, title in ((QPoint(60, 62), "picked"), (QPoint(250, 32), "1")):
        move(place)
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=place)
        desk.wait_until(lambda title=title: view.title() == title)  # type: ignore[misc]
    desk.wait_until(lambda: desk.window.view.step == 4)
    store = desk.stored()
    (run,) = store.runs()
    steps = [(one.action.split(" ")[0], one.target) for one in store.steps(run.run) if one.sealed]
    store.close()
    assert steps == [("hover", 'button "More"'), ("click", 'button "Pick"'), ("click", 'button "Inside"')]


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
    while area.zoom < 1.5:
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
    assert area.zoom == 1.0
    desk.wait_for("waiting")
    desk.step_to_review()
    desk.trigger("step")
    desk.wait_until(lambda: view.title() == "below")
    store = desk.stored()
    (run,) = store.runs()
    steps = store.steps(run.run)
    store.close()
    assert (steps[0].origin, "Above" in str(steps[0])) == ("person", True)


def test_addresses_and_the_buttons_of_the_browser_are_steps_and_a_link_that_is_clicked_is_one_step(
    desk: LiveWindow, site: Site
) -> None:
    place = "position:absolute;left:20px;width:200px;height:30px;top:"
    there = site.page(f"<script>document.title = 'there'</script><h1>There</h1><input style='{place}60px'>")
    here = site.page(
        f"<script>document.title = 'here'</script><a style='{place}100px' href='{there}'>Go there</a>"
    )
    other = site.page("<script>document.title = 'other'</script><h1>Other</h1>")
    desk.open("web/open", url=here, instruction="Look around.")
    area, window = desk.area, desk.window
    desk.trigger("handover")
    desk.wait_until(lambda: window.view.handed_over)
    done = 0

    def view() -> WebView:
        found = area.current_view()
        assert found is not None
        return found

    def recorded(title: str, steps: int = 1) -> None:
        nonlocal done
        done += steps
        desk.wait_until(lambda: view().title() == title and len(stored()) == done)

    def stored() -> list[StepRow]:
        store = desk.stored()
        (run,) = store.runs()
        steps = [one for one in store.steps(run.run) if one.sealed]
        store.close()
        return steps

    def click(x: int, y: int) -> None:
        QTest.mouseClick(view().focusProxy(), Qt.MouseButton.LeftButton, pos=QPoint(x, y))

    desk.wait_until(lambda: view().title() == "here")
    click(60, 112)
    recorded("there")
    click(60, 72)
    desk.wait_until(lambda: view().focusProxy().hasFocus())
    QTest.keyClicks(view().focusProxy(), "Ada")
    desk.trigger("page_back")
    recorded("here", steps=2)
    desk.trigger("page_forward")
    recorded("there")
    desk.trigger("page_reload")
    recorded("there")
    desk.trigger("page_address")
    address = area.strip.address
    address.selectAll()
    QTest.keyClicks(address, other)
    QTest.keyClick(address, Qt.Key.Key_Return)
    recorded("other")
    area._open_in_tab(QUrl(there))
    recorded("there", steps=2)
    area._bar.tabBarClicked.emit(0)
    area._bar.setCurrentIndex(0)
    recorded("other")
    desk.trigger("stop")
    desk.wait_until(lambda: window.view.mode == "ended" and not window.view.handed_over)
    assert desk.session.live_page.demonstrating is None
    steps = stored()
    assert {(one.origin, one.outcome) for one in steps} == {("person", "done")}
    texts = [one.action for one in steps]
    assert (texts[0].startswith("click ["), texts[1].endswith("[Ada]")) == (True, True)
    assert [one.title for one in steps[:4]] == ["here", "there", "there", "here"]
    assert texts[2:] == [
        "go_back",
        "go_forward",
        f"goto [{there}]",
        f"goto [{other}]",
        "new_tab",
        f"goto [{there}]",
        "tab_focus [0]",
    ]


def test_closing_a_tab_and_the_mouse_buttons_that_go_back_and_forward_are_steps(
    desk: LiveWindow, site: Site
) -> None:
    pages = {
        name: site.page(f"<script>document.title = '{name}'</script>") for name in ("one", "two", "three")
    }
    desk.open("web/open", url=pages["one"], instruction="Look around.")
    area = desk.area
    desk.trigger("handover")
    desk.wait_until(lambda: desk.window.view.handed_over)

    def stored() -> list[str]:
        store = desk.stored()
        (run,) = store.runs()
        actions = [one.action for one in store.steps(run.run) if one.sealed]
        store.close()
        return actions

    expected: list[str] = []

    def shows(title: str, *actions: str) -> None:
        expected.extend(actions)

        def done() -> bool:
            view = area.current_view()
            return view is not None and view.title() == title and len(stored()) == len(expected)

        desk.wait_until(done)

    shows("one")
    desk.trigger("page_address")
    address = area.strip.address
    address.selectAll()
    QTest.keyClicks(address, pages["two"])
    QTest.keyClick(address, Qt.Key.Key_Return)
    shows("two", f"goto [{pages['two']}]")
    for button, title, action in (
        (Qt.MouseButton.BackButton, "one", "go_back"),
        (Qt.MouseButton.ForwardButton, "two", "go_forward"),
    ):
        QTest.mouseClick(area.current_view().focusProxy(), button, pos=QPoint(40, 40))
        shows(title, action)
    area._open_in_tab(QUrl(pages["three"]))
    shows("three", "new_tab", f"goto [{pages['three']}]")
    area._bar.tabCloseRequested.emit(0)
    shows("three", "tab_focus [0]", "close_tab", "tab_focus [0]")
    area._open_in_tab(QUrl(pages["one"]))
    shows("one", "new_tab", f"goto [{pages['one']}]")
    area._bar.tabCloseRequested.emit(1)
    shows("three", "close_tab")
    area._bar.tabCloseRequested.emit(0)
    shows("about:blank", "new_tab", "tab_focus [0]", "close_tab")
    desk.trigger("handover")
    desk.wait_until(lambda: not desk.window.view.handed_over)
    assert stored() == expected
