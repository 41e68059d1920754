"""Lines and paragraphs hold texts of any length: Qt measures all of what it is given."""

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from core.schema.formats import as_read, in_line
from gui.widgets.words import ElidedLabel, NoteLabel, Paragraph

LONG = "w" * 1_000_000


def test_a_line_keeps_the_ends_of_a_text_that_is_longer_than_any_screen():
    line = in_line(f"begin{LONG}end")
    assert line.startswith("begin")
    assert line.endswith("end")
    assert "999 008 characters left out" in line.replace("\u202f", " ").replace("\u2009", " ").replace(
        ",", " "
    )
    assert len(line) < 1100
    assert in_line("two\nlines") == "two lines"


@pytest.mark.parametrize("make", [ElidedLabel, Paragraph, lambda text: NoteLabel("dim", text)])
def test_a_label_is_given_no_more_of_a_megabyte_than_can_be_read(qtbot: QtBot, make):
    label = make(LONG)
    qtbot.addWidget(label)
    assert len(label.text()) < 6000
    assert "left out" in label.text()
    label.setText("short")
    assert label.text() == "short"


@pytest.mark.parametrize("odd", ["\u202e", "\u2066", "\0", "\ud800", "\n", "\x9b"])
def test_letters_that_turn_others_around_or_draw_nothing_are_replaced(odd: str):
    assert as_read(f"a{odd}b") == "a\ufffdb"


def test_letters_of_all_scripts_are_left():
    words = "Ünï שלום مرحبا 😀 e\u0301"
    assert as_read(words) == words


@pytest.mark.parametrize(("height", "told"), [(20, True), (400, False)])
def test_a_paragraph_that_is_cut_tells_the_whole_text(qtbot: QtBot, height: int, told: bool) -> None:
    text = "Made by ranking the elements by the words of the task. " * 5
    paragraph = Paragraph(text)
    qtbot.addWidget(paragraph)
    paragraph.resize(300, height)
    paragraph.show()
    QToolTip.hideText()
    at = paragraph.rect().center()
    QApplication.sendEvent(paragraph, QHelpEvent(QEvent.Type.ToolTip, at, paragraph.mapToGlobal(at)))
    assert (QToolTip.text() == text) is told
