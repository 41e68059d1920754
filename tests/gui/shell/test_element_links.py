"""One element marked in page, observation and permissible actions at once."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from core.debugger.live_page import Picked
from core.debugger.steps.views import PageChanges
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.shell.test_main_window import ALT, CTRL, review, show
from tests.gui.stand_ins import AskedSession, move_mouse

BUY, OTHER = samples.ELEMENTS[2], samples.ELEMENTS[3]


def over(view: QPlainTextEdit, words: str) -> QPoint:
    """Move the pointer over words of a text."""
    cursor = view.document().find(words)
    start = QTextCursor(cursor)
    start.setPosition(cursor.selectionStart() + 1)
    view.setTextCursor(start)
    view.ensureCursorVisible()
    place = view.cursorRect(start).center()
    move_mouse(view.viewport(), place)
    return place


def test_a_ref_in_observation_or_prompt_is_outlined_in_the_page_and_a_click_pins_it(
    window: MainWindow, session, qtbot
):
    review(qtbot, window, session)
    assert window.page.overlay.framed() is None
    over(window.observation.raw, f"[{BUY.ref}] button")
    assert window.page.overlay.framed() is not None
    assert window.page.card.line.text() == BUY.line()
    assert "click [6] (next)" in window.page.card.uses.text()
    move_mouse(window.observation.raw.viewport(), QPoint(5, 5000))
    window.elements.pin(None)
    review(qtbot, window, session)
    window.place("Prompt").bring()
    prompt = window.prompt.text
    qtbot.waitUntil(lambda: prompt.complete)
    place = over(prompt, f"[{BUY.ref}] ")
    qtbot.mouseClick(prompt.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.elements.pinned == BUY.ref
    over(prompt, "Call ")
    assert window.page.card.line.text() == BUY.line()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.elements.pinned is None
    assert not window.page.card.isVisible()


def test_an_element_under_the_mouse_in_the_page_is_lit_in_the_panels(
    window: MainWindow, session: AskedSession, qtbot
):
    review(qtbot, window, session)
    move_mouse(window.page.shield, QPoint(30, 130))
    qtbot.waitUntil(lambda: any(asked[0] == "point" for asked in session.asked))
    session.picked.send(Picked(ref=BUY.ref, label="button", box=BUY.box))
    qtbot.waitUntil(lambda: window.page.card.isVisible())
    lines = window.observation.raw.source.splitlines()
    assert [lines[number] for number in window.observation.raw.lit] == [BUY.line()]
    assert window.permissible.model.lit == BUY.ref
    qtbot.mouseClick(window.page.shield, Qt.MouseButton.LeftButton, pos=QPoint(30, 130))
    assert window.elements.pinned == BUY.ref


def test_what_the_page_tells_of_the_mouse_is_marked_unless_it_is_late_unknown_or_the_agent_works(
    window: MainWindow, session: AskedSession, qtbot
):
    review(qtbot, window, session)
    window.page.shield.hovered.emit(30.0, 130.0)
    window.page.shield.hover_ended.emit()
    window.elements.show_picked(Picked(ref=BUY.ref, label="button", box=BUY.box))
    assert not window.page.card.isVisible()
    review(qtbot, window, session)
    window.page.shield.hovered.emit(30.0, 130.0)
    window.elements.show_picked(Picked(ref=999, label="button", box=BUY.box))
    assert window.page.card.uses.text() == "Not in the observation of this step"
    review(qtbot, window, session)
    show(qtbot, window, session, mode="acting")
    asked = len(session.asked)
    window.page.shield.hovered.emit(30.0, 130.0)
    assert session.asked[asked:] == []


def test_in_the_picture_of_a_recorded_step_the_smallest_element_is_taken(window: MainWindow, session, qtbot):
    review(qtbot, window, session)
    step = samples.recorded_step()
    window._show_step(step.replace(action=step.action.replace(elements=samples.ELEMENTS)))
    x, y = BUY.box.centre
    window.page.cover.picture.hovered.emit(x, y)
    assert window.page.card.line.text() == BUY.line()
    assert window.page.cover.picture.found() is not None
    window.page.cover.picture.hover_ended.emit()
    assert window.page.cover.picture.found() is None


def test_a_pinned_element_stays_where_the_next_step_has_it_and_changed_lines_are_signed(
    window: MainWindow, session, qtbot
):
    review(qtbot, window, session)
    qtbot.keyClick(window.observation.raw, Qt.Key.Key_M, CTRL | ALT)
    window.elements.pin(BUY.ref)
    step = samples.STEP.replace(number=6)
    window._show_step(step)
    assert window.elements.pinned == BUY.ref
    window._show_step(step.replace(number=7, observation=step.observation.replace(elements=(OTHER,))))
    assert window.elements.pinned is None
    window.elements.pin(None)
    review(qtbot, window, session)
    window.elements.pin(BUY.ref)
    assert window.page.overlay.framed() is not None
    window._show_step(samples.STEP.replace(action=samples.STEP.action.replace(outcome="done")))
    assert window.page.overlay.framed() is None
    window.elements.pin(None)
    review(qtbot, window, session)
    changes = PageChanges(compared=True, new=(BUY.ref,), changed={OTHER.ref: 'button "Old"'}, gone=2)
    window._show_step(samples.STEP.replace(observation=samples.OBSERVATION.replace(changes=changes)))
    lines = window.observation.raw.source.splitlines()
    signs = {lines[number]: sign for number, sign in window.observation.raw.signs.items()}
    assert signs[BUY.line()].sign == "+"
    assert (signs[OTHER.line()].sign, 'button "Old"' in signs[OTHER.line()].words) == ("~", True)
    assert "· +1 ~1 −2 ·" in window.observation.raw_fact.text()
