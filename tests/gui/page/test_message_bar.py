"""The bar over the page: what it says of a page that does not answer, and what a person can do then."""

import pytest
from PySide6.QtWidgets import QWidget

from core.debugger.snapshots import SessionView
from core.schema.events import ScriptWait
from gui.page.message_bar import MessageBar


@pytest.fixture
def bar(qtbot, theme):
    over = QWidget()
    over.resize(800, 400)
    qtbot.addWidget(over)
    return MessageBar(theme, over)


def busy(seconds: int, left: int | None) -> SessionView:
    return SessionView(mode="acting", script=ScriptWait(url="http://x.test/", seconds=seconds, left=left))


def test_it_counts_down_until_the_script_is_ended_and_offers_to_wait_or_to_end_it(bar, qtbot):
    bar.show_session(busy(9, 6))
    assert bar.shown
    assert bar.text.text() == "Its script has kept it busy for 9 s. It is ended in 6 s."
    with qtbot.waitSignal(bar.wait_requested):
        bar.wait_button.click()
    bar.show_session(busy(10, None))
    assert bar.text.text() == "Its script has kept it busy for 10 s. You wait for it."
    assert bar.wait_button.isHidden()
    with qtbot.waitSignal(bar.end_script_requested):
        bar.end_script_button.click()
    assert bar.success_button.isHidden()


def test_it_goes_once_the_page_answers_and_stays_closed_where_it_was_closed(bar):
    bar.show_session(busy(9, 6))
    bar.dismiss()
    bar.show_session(busy(10, 5))
    assert not bar.shown
    bar.show_session(SessionView(mode="acting"))
    bar.show_session(busy(8, 7))
    assert bar.shown
    bar.show_session(SessionView(mode="acting"))
    assert not bar.shown
