"""The preview of a step beside its row: after a moment, by a key, and never with the focus."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import StepPictures
from gui.panels.runs.panel import RunsPanel
from tests.gui import samples
from tests.gui.stand_ins import move_mouse


@pytest.fixture
def panel(qtbot, theme):
    panel = RunsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(300, 300)
    panel.show()
    panel.show_runs(samples.RUNS)
    qtbot.waitExposed(panel)
    panel.activateWindow()
    panel.tree.setFocus()
    return panel


@pytest.fixture
def wanted(panel):
    wanted = []
    panel.hover.wanted.connect(lambda run, number: wanted.append((run, number)))
    return wanted


def over(panel, number):
    place = panel.tree.visualRect(panel.model.step_index(18, number)).center()
    move_mouse(panel.tree.viewport(), place)


def test_the_step_under_the_pointer_shows_after_a_moment_and_the_focus_stays(panel, wanted, qtbot):
    over(panel, 1)
    over(panel, 3)
    assert not panel.hover.preview.isVisible()
    qtbot.waitUntil(lambda: wanted == [(18, 3)])
    assert panel.hover.preview.isVisible()
    assert "radio" in panel.hover.preview.title.text()
    assert "failed" in panel.hover.preview.title.text()
    assert panel.tree.hasFocus()
    QApplication.sendEvent(panel.tree.viewport(), QEvent(QEvent.Type.Leave))
    assert not panel.hover.preview.isVisible()


def test_the_key_shows_the_current_row_and_follows_it(panel, wanted, qtbot):
    panel.tree.setCurrentIndex(panel.model.step_index(18, 2))
    panel.hover.toggle()
    assert wanted == [(18, 2)]
    panel.tree.setCurrentIndex(panel.model.step_index(18, 4))
    assert wanted[-1] == (18, 4)
    panel.tree.setCurrentIndex(panel.model.run_index(17))
    assert not panel.hover.preview.isVisible()
    qtbot.keyClick(panel.tree, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert not panel.hover.preview.isVisible()  # A run has its card.


def test_the_picture_or_why_there_is_none_follows(panel, qtbot):
    panel.tree.setCurrentIndex(panel.model.step_index(18, 2))
    panel.hover.toggle()
    preview = panel.hover.preview
    image = QImage(120, 80, QImage.Format.Format_RGB32)
    shot = ScreenshotView(data=b"x")
    preview.show_picture(StepPictures(run=18, number=3, before=shot), image)
    assert not preview.picture.isVisible()  # Of a step that was left meanwhile.
    preview.show_picture(StepPictures(run=18, number=2, before=shot), image)
    assert preview.picture.isVisible()
    preview.show_picture(
        StepPictures(run=18, number=2, before=ScreenshotView(missing="None was kept.")), QImage()
    )
    assert not preview.picture.isVisible()
    assert preview.note.text() == "None was kept."


def test_it_lies_beside_the_tree_and_inside_the_screen(panel):
    panel.tree.setCurrentIndex(panel.model.step_index(18, 5))
    panel.hover.toggle()
    room = panel.screen().availableGeometry()
    assert room.contains(panel.hover.preview.geometry())
    edge = panel.tree.viewport().mapToGlobal(QPoint(0, 0)).x()
    assert panel.hover.preview.x() >= edge
