"""The log of the page: filtered, copied, long, hostile and missing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from core.browser.log.records import ConsoleEntry, LogPart, PageLog
from core.debugger.timeline.views import PageLogView
from core.schema.events import LogLine
from gui.panels.log.panel import LogPanel
from gui.panels.log.rows import one_line
from gui.widgets.item_views import RowMenu
from tests.gui.reading_samples import LOG


@pytest.fixture
def panel(qtbot, theme):
    panel = LogPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(700, 240)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def console(*texts):
    log = PageLog(entries=tuple(ConsoleEntry(time=float(at), text=text) for at, text in enumerate(texts)))
    return PageLogView(run=1, step=1, parts=(LogPart(moment="in the action", log=log),))


def texts(panel):
    return [row.whole.partition("\n")[0] for row in panel.model.rows]


def test_it_says_what_to_do_where_there_is_nothing(panel):
    assert "Nothing is logged yet" in panel.or_words.words.text()


def test_it_says_why_there_is_no_page_log_also_between_lines_of_the_program(panel):
    panel.show_lines((LogLine(time=5.0, level="info", source="llm", text="ready"),))
    panel.choice.setCurrentText("This step")
    facts = []
    panel.fact_changed.connect(facts.append)
    for view, said in (
        (None, "is being read"),
        (PageLogView(run=1, step=2, message="This step was stored before."), "This step was stored before."),
        (PageLogView(run=1, step=2), "reported nothing"),
    ):
        panel.wait(1, 2) if view is None else panel.show_log(view)
        panel.gather()
        (text,) = texts(panel)
        assert said in text
        assert facts[-1] == "1"  # It is no line of a page, and has no time.
        assert panel.model.copied(panel.model.rows[0]).split() == ["page", *text.split()]


def test_each_kind_has_its_words_and_what_went_wrong_is_counted(panel, qtbot):
    facts = []
    panel.fact_changed.connect(facts.append)
    panel.show_log(LOG)
    panel.gather()
    first, *others = texts(panel)
    assert first.startswith("200 GET http://127.0.0.1:41873/item/B09?session=s3cret · 41 ms")
    assert others == [
        "cart ready {items: 0}",
        "still open GET http://127.0.0.1:41873/poll?since=0",
        "404 GET http://127.0.0.1:41873/logo.png · 3 ms",
        "price is stale",
        "… 99\u202f500 console lines left out here: too many came at once",
        "TypeError: Cannot read properties of null (reading 'price')",
        "confirm: “Buy it now?” accepted",
        'SEND ws://127.0.0.1:41873/live (13 B): {"buy":"B09"}',
        "✗ net::ERR_CONNECTION_REFUSED POST http://127.0.0.1:41873/count",
    ]
    assert facts[-1] == "99\u202f509, 5 wrong"


def test_kind_and_words_choose_the_lines(panel):
    panel.show_log(LOG)
    panel.gather()
    panel.choice.setCurrentText("Requests")
    assert len(texts(panel)) == 5
    panel.search.setText("beacon refused")
    assert len(texts(panel)) == 1
    panel.search.setText("nothing like it")
    assert "No line matches" in panel.or_words.words.text()
    panel.search.clear()
    panel.choice.setCurrentText("Warnings and errors")
    assert texts(panel)[0].startswith("404")
    panel.choice.setCurrentText("Dialogs")
    assert len(texts(panel)) == 1


def test_lines_are_copied_with_their_time_and_place(panel, qtbot):
    panel.show_log(LOG)
    panel.gather()
    panel.choice.setCurrentText("Console")
    panel.list.setCurrentIndex(panel.model.index(1))
    qtbot.keyClick(panel.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QApplication.clipboard().text()
    assert "price is stale" in copied
    assert "1\u202f200 further characters left out" in copied
    assert copied.count("cart ready") == 0


def test_ten_thousand_lines_are_shown_at_once(panel):
    panel.show_log(console(*(f"line {at}" for at in range(10_000))))
    panel.gather()
    assert panel.model.rowCount() == 10_000
    panel.search.setText("line 9999")
    assert texts(panel) == ["line 9999"]


def test_hostile_texts_are_one_readable_line_each(panel):
    hostile = "<b>bold</b>\x00\n\u202eright to left\ud800 " + "x" * 5000
    panel.show_log(console(hostile, "שלום עולם"))
    panel.gather()
    first, second = panel.model.rows
    assert "\n" not in first.text
    assert "\x00" not in first.text
    assert "\u202e" not in first.text
    assert len(first.text) < 700
    assert "שלום" in second.text
    assert not panel.grab().isNull()
    panel.copy()
    assert "\x00" not in QApplication.clipboard().text()
    assert one_line("a\nb") == "\u2068a ⏎ b\u2069"


def test_the_place_in_the_list_stays_while_the_same_step_goes_on(panel):
    lines = [f"line {at}" for at in range(200)]
    panel.show_log(console(*lines))
    panel.gather()
    panel.list.verticalScrollBar().setValue(50)
    panel.show_log(console(*lines, "one more"))
    panel.gather()
    assert panel.list.verticalScrollBar().value() == 50


def test_a_line_offers_to_be_copied_and_to_find_its_like(panel):
    panel.show_log(LOG)
    panel.gather()
    entries = panel.list.findChild(RowMenu).all_entries(panel.model.index(4))
    alike, copy = entries[:2]
    copy.do()
    assert "price is stale" in QApplication.clipboard().text()
    alike.do()
    assert texts(panel) == ["price is stale"]
