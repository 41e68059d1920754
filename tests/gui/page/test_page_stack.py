import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.live_page import LivePageView, OutlineView, Picked
from core.debugger.session_view import SessionView
from core.schema.observation import Box
from gui.page.page_stack import PageStack
from tests.gui import samples
from tests.gui.stand_ins import BAR, DrawnPage, move_mouse

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def stack(qtbot: QtBot, theme, page: DrawnPage) -> PageStack:
    stack = PageStack(theme, page)
    qtbot.addWidget(stack)
    stack.resize(700, 500)
    stack.show()
    qtbot.waitExposed(stack)
    stack.show_session(samples.SESSION)
    return stack


def test_a_click_on_the_agents_page_does_nothing_but_give_a_hint(stack: PageStack, page, qtbot: QtBot):
    target = stack.childAt(stack.shield.geometry().center())
    assert target is stack.shield
    qtbot.mouseClick(target, LEFT)
    assert page.presses == 0
    assert not stack.hint.isHidden()
    assert "F6" in stack.hint.text()


def turn(stack: PageStack) -> QWheelEvent:
    event = QWheelEvent(
        QPointF(50, 60),
        QPointF(50, 60),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(stack.shield, event)
    return event


def test_the_wheel_is_kept_from_the_page_while_the_agent_acts(stack: PageStack):
    stack.show_session(samples.SESSION.replace(mode="running"))
    asked: list[tuple[float, ...]] = []
    stack.scroll_requested.connect(lambda *given: asked.append(given))
    assert turn(stack).isAccepted()
    assert not stack.hint.isHidden()
    assert asked == []


def test_the_wheel_scrolls_the_agents_page_for_the_person_while_the_run_rests(stack: PageStack):
    stack.show_session(samples.SESSION.replace(mode="waiting"))
    asked: list[tuple[float, ...]] = []
    stack.scroll_requested.connect(lambda *given: asked.append(given))
    assert turn(stack).isAccepted()
    assert asked == [(50.0, 60.0, 0.0, 100.0)]
    assert stack.hint.isHidden()


@pytest.mark.parametrize(
    ("box", "hidden", "words"),
    [
        (Box(x=10, y=3000, width=50, height=20), True, "↓ below"),
        (Box(x=10, y=-900, width=50, height=20), True, "↑ above"),
        (Box(x=5000, y=40, width=50, height=20), True, "→ to the right"),
        (Box(x=-900, y=40, width=50, height=20), True, "← to the left"),
        (Box(x=10, y=40, width=50, height=20), True, "scrolled out of view"),
        (Box(x=10, y=40, width=50, height=20), False, ""),
    ],
)
def test_a_mark_at_the_border_says_where_a_target_out_of_view_is(
    stack: PageStack, qtbot: QtBot, box: Box, hidden: bool, words: str
):
    stack.show_live_page(LivePageView(outlines=(OutlineView(ref=12, box=box, chosen=True, hidden=hidden),)))
    assert stack.marker.isHidden() is not bool(words)
    assert bool(stack.overlay.outlines) is not bool(words)
    if not words:
        return
    assert words in stack.marker.text()
    assert stack.marker.text().startswith("12 next")
    assert stack.shield.geometry().contains(stack.marker.geometry())
    with qtbot.waitSignal(stack.target_requested):
        qtbot.mouseClick(stack.marker, LEFT)


def test_a_page_scrolled_to_look_at_says_that_it_is_put_back(stack: PageStack, qtbot: QtBot):
    target = OutlineView(ref=12, box=Box(x=10, y=40, width=50, height=20), chosen=True)
    stack.show_live_page(LivePageView(outlines=(target,), scrolled=True))
    assert "put back" in stack.marker.text()
    assert "put back before the agent acts" in stack.state_words.text()
    with qtbot.waitSignal(stack.target_requested):
        qtbot.mouseClick(stack.marker, LEFT)
    stack.show_live_page(LivePageView(outlines=(target,)))
    assert stack.marker.isHidden()


def test_a_page_handed_over_gets_the_mouse_and_says_so(stack: PageStack, page, qtbot: QtBot):
    stack.show_session(samples.SESSION.replace(handed_over=True))
    assert page.handed_over
    assert stack.shield.isHidden()
    assert "You have the page" in stack.state_words.text()
    assert "Give back" in stack.handover_button.text()
    target = stack.childAt(page.mapTo(stack, page.view_rect().center()))
    qtbot.mouseClick(target, LEFT)
    assert page.presses == 1


def test_the_hand_over_button_asks_for_the_other_state(stack: PageStack, qtbot: QtBot):
    with qtbot.waitSignal(stack.handover_requested) as asked:
        stack.handover_button.click()
    assert asked.args == [True]
    stack.show_session(samples.SESSION.replace(handed_over=True))
    with qtbot.waitSignal(stack.handover_requested) as asked:
        stack.handover_button.click()
    assert asked.args == [False]


def test_the_page_cannot_be_handed_over_while_the_agent_acts(stack: PageStack):
    stack.show_session(samples.SESSION.replace(mode="acting"))
    assert not stack.handover_button.isEnabled()


def test_outlines_lie_exactly_over_the_view(stack: PageStack, page):
    stack.overlay.show_live_page(samples.LIVE)
    assert stack.overlay.geometry().topLeft() == page.mapTo(stack, page.view_rect().topLeft())
    assert stack.overlay.size() == page.view_rect().size()
    buy = next(outline for outline in stack.overlay.outlines if outline.ref == 6)
    assert (buy.box.x(), buy.box.y()) == (20, 120)
    assert buy.text == "6 next"


def test_outlines_follow_a_view_that_moves(stack: PageStack, page):
    stack.resize(500, 400)
    assert stack.overlay.size() == page.view_rect().size()
    assert stack.shield.geometry() == stack.overlay.geometry()


def test_outlines_and_pointing_follow_the_scale_of_a_page_that_is_shown_smaller(
    stack: PageStack, page, qtbot: QtBot
):
    stack.overlay.show_live_page(samples.LIVE)
    page.scale = 0.5
    page.view_moved.emit()
    buy = next(outline for outline in stack.overlay.outlines if outline.ref == 6)
    assert (buy.box.x(), buy.box.y()) == (10, 60)
    stack.set_pointing(True)
    with qtbot.waitSignal(stack.point_requested) as asked:
        qtbot.mouseClick(stack.shield, LEFT, pos=QPoint(15, 65))
    assert asked.args == [30, 130, True]


def test_outlines_let_the_mouse_through(stack: PageStack):
    stack.overlay.show_live_page(samples.LIVE)
    assert stack.childAt(stack.overlay.geometry().center()) is stack.shield


def test_pointing_tells_where_in_the_page_the_pointer_rests(stack: PageStack, qtbot: QtBot):
    stack.set_pointing(True)
    with qtbot.waitSignal(stack.point_requested) as asked:
        move_mouse(stack.shield, QPoint(33, 44))
    assert asked.args == [33.0, 44.0, False]
    with qtbot.waitSignal(stack.point_requested) as asked:
        qtbot.mouseClick(stack.shield, LEFT, pos=QPoint(35, 46))
    assert asked.args == [35.0, 46.0, True]


def test_moves_of_the_pointer_are_thinned(stack: PageStack, qtbot: QtBot):
    stack.set_pointing(True)
    asked = []
    stack.point_requested.connect(lambda x, y, final: asked.append(x))
    with qtbot.waitSignal(stack.point_requested):
        for x in range(5, 105):
            move_mouse(stack.shield, QPoint(x, 20))
    assert len(asked) < 20


def test_pointing_ends_with_a_click_that_met_an_element(stack: PageStack):
    stack.set_pointing(True)
    stack.show_picked(Picked(ref=None, final=True))
    assert stack.pointing
    box = Box(x=1, y=2, width=3, height=4)
    stack.show_picked(Picked(ref=7, label="button", box=box, final=True))
    assert not stack.pointing


def test_a_recorded_step_covers_the_page_and_leaves_it_shown(stack: PageStack, page):
    stack.show_step(samples.recorded_step())
    assert stack.covered
    assert page.isVisible()
    assert stack.cover.geometry() == page.geometry()
    assert stack.childAt(stack.rect().center()) is stack.cover.picture
    stack.show_step(samples.STEP)
    assert not stack.covered


def test_the_cover_leads_back_to_now(stack: PageStack, qtbot: QtBot):
    stack.show_step(samples.recorded_step())
    assert stack.state_words.text().startswith("Before step 3 of run 18, recorded")
    assert not stack.handover_button.isVisible()
    with qtbot.waitSignal(stack.back_requested):
        stack.back_button.click()
    stack.show_step(samples.STEP)
    assert stack.state_words.text() == samples.SESSION.instruction
    assert not stack.back_button.isVisible()


def test_a_failure_says_what_to_do_outside_the_page(stack: PageStack, page):
    message = "The LLM server does not answer: start it, then press F10."
    stack.show_session(samples.SESSION.replace(mode="failed", message=message))
    assert stack.messages.shown
    assert stack.messages.text.text() == message
    assert not stack.messages.geometry().intersects(page.geometry())
    stack.messages.close_button.click()
    assert not stack.messages.shown


def test_a_run_without_a_judge_asks_the_person_how_it_ended(stack: PageStack, qtbot: QtBot):
    stack.show_session(samples.SESSION.replace(mode="ended", judged=False))
    assert stack.messages.success_button.isVisible()
    with qtbot.waitSignal(stack.messages.end_requested) as asked:
        stack.messages.failure_button.click()
    assert asked.args == [False]


def test_a_judged_run_tells_its_verdict_and_asks_nothing(stack: PageStack):
    stack.show_session(samples.SESSION.replace(mode="ended", success=True, reward=0.93))
    assert "Success" in stack.messages.title.text()
    assert "0.93" in stack.messages.text.text()
    assert not stack.messages.success_button.isVisible()


def test_without_a_run_the_shield_gives_no_hint(stack: PageStack, qtbot: QtBot):
    stack.show_session(SessionView())
    qtbot.mouseClick(stack.shield, LEFT)
    assert stack.hint.isHidden()
    assert stack.shield.geometry().top() >= BAR


def test_keys_reach_the_page_only_after_it_is_handed_over(stack: PageStack, page, qtbot: QtBot):
    stack.activateWindow()
    page.setFocus()
    qtbot.waitUntil(page.hasFocus)
    qtbot.keyClick(page, Qt.Key.Key_A)
    assert page.keys == []
    assert not stack.hint.isHidden()
    stack.show_session(samples.SESSION.replace(handed_over=True))
    qtbot.keyClick(page, Qt.Key.Key_B)
    assert page.keys == ["b"]
    stack.show_session(samples.SESSION)
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert page.keys == ["b"]


def test_the_tab_key_leaves_the_agents_page(stack: PageStack, page, qtbot: QtBot):
    stack.activateWindow()
    page.setFocus()
    qtbot.waitUntil(page.hasFocus)
    qtbot.keyClick(page, Qt.Key.Key_Tab)
    assert not page.hasFocus()


def test_a_message_makes_room_for_a_recorded_step_and_comes_back(stack: PageStack):
    stack.show_session(samples.SESSION.replace(mode="ended", success=True))
    stack.show_step(samples.recorded_step())
    assert not stack.messages.shown
    stack.show_step(samples.STEP)
    assert stack.messages.shown
