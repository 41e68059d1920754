"""Words of pages, tasks and LLMs that look like HTML are shown as they are written, wherever they stand."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDialog,
    QInputDialog,
    QLabel,
    QMessageBox,
    QProgressDialog,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.shell.main_window import MainWindow
from tests.gui import samples

PLAIN = Qt.TextFormat.PlainText


@pytest.fixture
def hostile(tmp_path) -> str:
    """Words that Qt would take for HTML, with an image of this machine."""
    picture = tmp_path / "picture.png"
    picture.write_bytes(samples.screenshot(10, 10))
    return f'<b>x</b><img src="{picture}">'


def filled_with(words: str, value: Any) -> Any:
    """Return a view with `words` before each text of it that may be any text."""
    if isinstance(value, tuple):
        return tuple(filled_with(words, one) for one in value)
    if not isinstance(value, BaseModel):
        return value
    for name in type(value).model_fields:
        old = getattr(value, name)
        new = f"{words}{old}" if isinstance(old, str) and old else filled_with(words, old)
        try:
            value = value.replace(**{name: new})
        except (ValidationError, ValueError):
            continue  # One of a fixed set of words.
    return value


def labels(root: QWidget | None = None) -> Iterator[QLabel]:
    found = QApplication.allWidgets() if root is None else root.findChildren(QLabel)
    return (one for one in found if isinstance(one, QLabel))


def tip() -> QLabel | None:
    return next((one for one in labels() if one.inherits("QTipLabel") and one.isVisible()), None)


@pytest.fixture
def filled(window: MainWindow, session, qtbot: QtBot, hostile) -> MainWindow:
    return fill(window, session, qtbot, hostile)


def fill(window: MainWindow, session, qtbot: QtBot, hostile: str) -> MainWindow:
    """Put such words into all that the window shows."""
    session.catalogue_changed.send(filled_with(hostile, samples.CATALOGUE))
    session.runs_changed.send(filled_with(hostile, samples.RUNS))
    step = filled_with(hostile, samples.STEP).replace(live=True)
    session.step_changed.send(step)
    for line in samples.log_lines(3):
        session.logged.send(filled_with(hostile, line))
    view = filled_with(hostile, samples.SESSION)
    session.session_changed.send(view)
    window.breakpoints.show_breaks(filled_with(hostile, samples.BREAKS))
    qtbot.waitUntil(lambda: window.view == view and window._step == step)
    return window


def test_labels_tool_tips_and_boxes_are_plain(filled: MainWindow, hostile, qtbot: QtBot):
    for dock in filled.findChildren(QWidget):
        dock.ensurePolished()
    assert any(hostile in one.text() for one in labels(filled))
    assert [one.text() for one in labels(filled) if one.textFormat() != PLAIN] == []
    seen = 0
    for view in filled.findChildren(QAbstractItemView):
        model = view.model()
        if model is None or not model.rowCount():
            continue
        for row in range(min(model.rowCount(), 10)):
            index = model.index(row, 0)
            text = index.data(Qt.ItemDataRole.ToolTipRole)
            if not text:
                continue
            at = view.visualRect(index).center()
            QApplication.sendEvent(
                view.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
            )
            shown = tip()
            if shown is not None and hostile in shown.text():
                seen += 1
                assert shown.textFormat() == PLAIN
            QToolTip.hideText()
    assert seen
    button = filled.tool_bar.task
    button.setToolTip(hostile)
    at = button.rect().center()
    QApplication.sendEvent(button, QHelpEvent(QEvent.Type.ToolTip, at, button.mapToGlobal(at)))
    qtbot.waitUntil(lambda: tip() is not None)
    above = tip()
    assert above is not None
    assert (above.text(), above.textFormat()) == (hostile, PLAIN)
    QToolTip.showText(QPoint(5, 5), f"{hostile} again", filled)
    qtbot.waitUntil(lambda: (one := tip()) is not None and one.text().endswith("again"))
    assert all(one.textFormat() == PLAIN for one in labels() if one.inherits("QTipLabel"))
    QToolTip.hideText()
    message = QMessageBox(QMessageBox.Icon.Warning, "Title", hostile, parent=filled)
    message.setInformativeText(hostile)
    boxes: tuple[QDialog, ...] = (
        message,
        QProgressDialog(hostile, "Cancel", 0, 10, filled),
        QInputDialog(filled, labelText=hostile),
    )
    for box in boxes:
        qtbot.addWidget(box)
        box.show()
        said = [one for one in labels(box) if hostile in one.text()]
        assert said
        assert {one.textFormat() for one in said} == {PLAIN}
        box.close()


def test_letters_that_are_hard_to_draw_are_drawn_in_every_panel(window, session, qtbot):
    hard = ("\u202e\u2066\x00 ", "\ud800 ", "e" + "\u0301" * 5000, "👩\u200d👧" * 1000, "W" * 10_000)
    for letters in hard:
        fill(window, session, qtbot, letters)
        for dock in window.docks.places.values():
            dock.raise_()
            assert not dock.grab().isNull()
