import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import DiagramEdgeView, DiagramState, StateView
from gui.panels.state.panel import StatePanel
from tests.gui import samples

SPACE = samples.SPACE


@pytest.fixture
def panel(qtbot: QtBot, theme) -> StatePanel:
    panel = StatePanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 700)
    panel.show()
    qtbot.waitExposed(panel)
    panel.large.setWindowFlags(Qt.WindowType.Window)  # As the main window shows it.
    panel.large.resize(320, 400)
    panel.large.show()
    qtbot.waitExposed(panel.large)
    return panel


def says(panel: StatePanel) -> str:
    box = panel.or_words
    return box.words.text()


def test_without_a_state_the_panel_says_how_to_get_one(panel: StatePanel):
    assert "F10" in says(panel)


def test_a_state_shows_with_its_reason_and_its_rivals(panel: StatePanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_state(samples.STEP.state)
    assert emitted.args == ["form"]
    assert says(panel) == ""
    assert panel.state.text() == "form"
    assert "there is a button" in panel.why.text()
    assert "results" in panel.also.text()


def test_a_message_stands_in_place_of_the_state(panel: StatePanel):
    panel.show_state(StateView(message="This step ended before its state was recognised."))
    assert says(panel).startswith("This step ended")


def test_what_a_state_does_not_have_takes_no_room(panel: StatePanel):
    panel.show_state(StateView(space="none", state="page"))
    for part in (
        panel.space,
        panel.budget,
        panel.open_button,
        panel.large_button,
        panel.buffer_section,
        panel.remembered_section,
        panel.fits_section,
        panel.instruction_section,
    ):
        assert not part.isVisible()


@pytest.mark.parametrize(
    ("transitions", "choose_at", "words"),
    [
        (7, 13, "7 of 15 transitions; from 13 on one"),
        (13, 13, "13 of 15 transitions: now one"),
        (7, None, "7 of 15 transitions"),
    ],
)
def test_the_budget_tells_when_something_has_to_be_chosen(panel: StatePanel, transitions, choose_at, words):
    panel.show_state(SPACE.replace(transitions=transitions, choose_at=choose_at))
    assert panel.budget.text().startswith(words)


def test_the_buffer_tells_reason_and_step_and_what_was_chosen(panel: StatePanel):
    panel.show_state(SPACE)
    first, second = panel.buffer.rows
    assert "B07-LAMP-BLUE" in first.text
    assert "The colour does not match." in first.detail
    assert "price: $58.00\nfeatures: Glazed by hand" in first.detail
    assert first.word == "step 3"
    assert second.word == "chosen"
    assert "step 2" in second.detail


def test_what_later_states_are_told_shows_by_name(panel: StatePanel):
    panel.show_state(SPACE)
    assert [row.text for row in panel.remembered.rows] == ["keywords: green table lamp", "max_price: 60"]


def test_each_state_that_was_tried_tells_what_matched_and_what_was_missing(panel: StatePanel):
    panel.show_state(SPACE)
    rows = {row.text: row for row in panel.fits.rows}
    assert rows["item"].word == "fits"
    assert 'a button "Buy now"' in rows["item"].detail
    assert rows["bought"].word == "does not fit"
    assert 'missing: no heading "Thank you"' in rows["bought"].detail
    assert panel.fits_section.fact.text() == "2 of 4 fit"


def test_the_instruction_shows(panel: StatePanel):
    panel.show_state(SPACE)
    assert "You look at one item." in panel.instruction.toPlainText()


def test_the_file_is_asked_for_by_a_button(panel: StatePanel, qtbot: QtBot):
    panel.show_state(SPACE)
    with qtbot.waitSignal(panel.file_wanted) as wanted:
        panel.open_button.click()
    assert wanted.args == [SPACE.file]


# The diagram


def test_without_a_state_space_its_window_says_what_to_do(panel: StatePanel):
    panel.show_state(StateView(space="none", state="page"))
    assert "Choose a preset with one" in panel.large.or_words.words.text()
    assert panel.why_no_space.startswith("This step has no state space")
    panel.show_state(SPACE)
    assert panel.large.name.text() == f"{SPACE.space} › {SPACE.state}"
    assert panel.large.diagram.isVisible()


def test_the_diagram_marks_where_the_run_is_in_words(panel: StatePanel):
    panel.show_state(SPACE)
    words = panel.diagram.drawing.words
    assert words["item"] == ("▸ Item", "now · ×2")
    assert words["bought"][1] == "ends the run"
    assert words["details"] == ("Details", "")


def test_ways_tell_their_actions_and_how_often_they_were_taken(panel: StatePanel):
    panel.show_state(SPACE)
    labels = panel.diagram.drawing.labels
    assert labels["results", "item"] == "×2 last select_item"
    assert labels["item", "details"] == "description +2"
    assert panel.diagram.drawing.words["results"][1].startswith("×3 · ↻ ×1 next_page")


def test_what_is_cut_short_is_shown_in_whole_under_the_pointer(panel: StatePanel):
    panel.show_state(SPACE)
    drawing = panel.diagram.drawing
    label = drawing.layout.labels["item", "details"]
    assert "description, features, reviews" in drawing.words_at(QPointF(label.x, label.y))
    box = drawing.layout.boxes["results"]
    assert "next_page, previous_page" in drawing.words_at(QPointF(box.x, box.y))


def test_a_screen_reader_hears_the_diagram(panel: StatePanel):
    panel.show_state(SPACE)
    said = panel.diagram.accessibleDescription()
    assert "Item: 2 visits, the run is here." in said
    assert "results to item by select_item: taken 2 times, the last one." in said
    assert "item to bought by buy_now: not taken." in said


def test_a_way_to_a_state_outside_the_space_has_a_box_for_it(panel: StatePanel):
    states = (DiagramState(name="a", current=True),)
    panel.show_state(SPACE.replace(states=states, edges=(DiagramEdgeView(source="a", target="b"),)))
    assert "b" in panel.diagram.drawing.words


def test_keys_and_wheel_zoom_the_diagram(panel: StatePanel, qtbot: QtBot):
    panel.show_state(SPACE)
    diagram = panel.diagram
    first = diagram.zoom
    qtbot.keyClick(diagram, Qt.Key.Key_Plus)
    assert diagram.zoom > first
    qtbot.keyClick(diagram, Qt.Key.Key_0)
    assert diagram.zoom == pytest.approx(first)
    qtbot.keyClick(diagram, Qt.Key.Key_Minus)
    assert diagram.zoom < first
    small = diagram.zoom
    middle = QPointF(diagram.viewport().rect().center())
    wheel = QWheelEvent(
        middle,
        QPointF(diagram.viewport().mapToGlobal(middle.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(diagram.viewport(), wheel)
    assert diagram.zoom > small


def test_zoom_stays_when_the_run_goes_on_and_the_current_state_comes_into_view(panel: StatePanel, qtbot):
    panel.show_state(SPACE)
    for _ in range(6):
        qtbot.keyClick(panel.diagram, Qt.Key.Key_Plus)
    zoom = panel.diagram.zoom
    moved = tuple(state.replace(current=state.name == "bought") for state in SPACE.states)
    panel.show_state(SPACE.replace(states=moved))
    assert panel.diagram.zoom == pytest.approx(zoom)
    box = panel.diagram.drawing.layout.boxes["bought"]
    assert panel.diagram.viewport().rect().contains(panel.diagram.mapFromScene(QPointF(box.x, box.y)))


def test_a_diagram_in_a_narrow_window_stays_readable(panel: StatePanel):
    panel.show_state(SPACE)
    assert panel.diagram.zoom >= 0.75
    panel.large.resize(900, 900)
    QApplication.processEvents()
    assert panel.diagram.zoom == pytest.approx(1.0)


def test_in_a_low_window_the_current_state_is_in_view_at_once(panel: StatePanel, qtbot: QtBot):
    panel.large.resize(320, 180)
    panel.show_state(SPACE)
    box = panel.diagram.drawing.layout.boxes["item"]

    def in_view() -> bool:
        place = panel.diagram.mapFromScene(QPointF(box.x, box.y))
        return panel.diagram.viewport().rect().contains(place)

    qtbot.waitUntil(in_view)


def test_a_line_says_what_the_details_are_and_a_click_shows_them(panel: StatePanel, qtbot: QtBot):
    panel.show_state(SPACE)
    assert panel.details_button.text() == "2 remembered · 2 set aside · 2 of 4 fit · instruction"
    assert not panel.fits.isVisible()
    with qtbot.waitSignal(panel.details_shown):
        qtbot.mouseClick(panel.details_button, Qt.MouseButton.LeftButton)
    assert panel.fits.isVisible()
    panel.show_state(StateView(space="none", state="page"))
    assert not panel.details_button.isVisible()
