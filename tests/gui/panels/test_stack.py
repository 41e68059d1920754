import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import FrameView, StackView
from gui.panels.stack import StackPanel
from tests.gui import samples

STACK = samples.STACK


@pytest.fixture
def panel(qtbot: QtBot, theme) -> StackPanel:
    panel = StackPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 600)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def says(panel: StackPanel) -> str:
    box = panel.or_words
    return box.words.text()


def press(qtbot: QtBot, rows, at: int) -> None:
    index = rows.model().index(at, 0)
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(index).center())


def texts(rows) -> list[str]:
    return [row.text for row in rows.rows]


def test_an_empty_stack_says_who_uses_one(panel: StackPanel):
    assert "No policy is on the stack" in says(panel)


def test_a_message_says_why_there_is_none(panel: StackPanel):
    panel.show_stack(StackView(message="Policies are switched off."))
    assert says(panel) == "Policies are switched off."


def test_frames_show_the_acting_one_first_with_argument_state_and_steps(panel: StackPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_stack(STACK)
    assert emitted.args == ["depth 2"]
    first, second = panel.frames.rows
    assert first.text == "verify_item [green lamp, at most 60 dollars]"
    assert first.word == "acting · 2 steps"
    assert second.text.startswith("shop_agent [Buy a green")
    assert second.word == "waiting · 3 steps"
    assert panel.stack_section.fact.text() == "depth 2 of 5 · 5 of 40 calls"


def test_ended_frames_stand_below_with_what_came_of_them(panel: StackPanel):
    panel.show_stack(STACK)
    assert [row.word.split(" · ")[0] for row in panel.ended.rows] == ["left", "lacked something", "returned"]
    assert panel.ended.rows[1].detail == "There is no way to see the height of the lamp."
    assert len({row.icon for row in panel.ended.rows}) == 3


def test_ended_frames_show_with_no_policy_at_work(panel: StackPanel):
    panel.show_stack(StackView(finished=STACK.finished))
    assert says(panel) == ""
    assert not panel.stack_section.isVisible()


def test_a_click_opens_a_frame_and_another_closes_it(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(STACK)
    press(qtbot, panel.frames, 0)
    details = {row.text: row.detail for row in panel.frames.rows}
    assert "4. click [6]: green was chosen" in details["History"]
    assert details["Notes"] == "The lamp is 20 inches high."
    assert "began at step 4" in details
    press(qtbot, panel.frames, 0)
    assert len(panel.frames.rows) == 2


def test_enter_opens_a_frame_and_the_focus_stays_on_it(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(STACK)
    panel.ended.setFocus()
    panel.ended.select_key(("frame", 2))
    qtbot.keyClick(panel.ended, Qt.Key.Key_Return)
    assert {row.text: row.detail for row in panel.ended.rows}["Lacked"].startswith("There is no way")
    assert panel.ended.key == ("frame", 2)
    qtbot.keyClick(panel.ended, Qt.Key.Key_Return)
    assert len(panel.ended.rows) == 3


def test_an_open_frame_stays_open_as_the_run_goes_on(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(STACK)
    press(qtbot, panel.frames, 0)
    acting = STACK.frames[0].replace(steps=3, history=(*STACK.frames[0].history, "6. scroll"))
    panel.show_stack(STACK.replace(frames=(acting, STACK.frames[1])))
    assert any("6. scroll" in row.detail for row in panel.frames.rows)
    panel.show_stack(StackView())
    panel.show_stack(STACK)
    assert len(panel.frames.rows) == 2


def test_a_frame_leads_to_its_prompt_and_to_its_file(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(STACK)
    press(qtbot, panel.frames, 0)
    at = texts(panel.frames).index("Show its prompt: call 3")
    with qtbot.waitSignal(panel.call_wanted) as call:
        press(qtbot, panel.frames, at)
    assert call.args == [3]
    panel.frames.setFocus()
    panel.frames.select_key(("file", STACK.frames[0].file))
    with qtbot.waitSignal(panel.file_wanted) as wanted:
        qtbot.keyClick(panel.frames, Qt.Key.Key_Return)
    assert wanted.args == [STACK.frames[0].file]


def test_a_frame_without_calls_in_this_step_says_so(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(STACK)
    press(qtbot, panel.frames, 1)
    assert "It asked no LLM in this step." in texts(panel.frames)
    assert {row.text: row.detail for row in panel.frames.rows}["History"] == "no steps of its own yet"


def test_frames_without_numbers_open_one_by_one(panel: StackPanel, qtbot: QtBot):
    frames = (FrameView(policy="a", current=True), FrameView(policy="a"))
    panel.show_stack(StackView(frames=frames))
    press(qtbot, panel.frames, 1)
    assert texts(panel.frames)[:3] == ["a", "a", "History"]


def test_a_long_argument_is_cut_until_its_frame_is_open(panel: StackPanel, qtbot: QtBot):
    panel.show_stack(
        StackView(frames=(FrameView(policy="p", argument="word " * 80, current=True, number=1),))
    )
    assert texts(panel.frames)[0].endswith("…")
    press(qtbot, panel.frames, 0)
    assert texts(panel.frames)[0].count("word") == 80
