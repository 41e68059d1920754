"""The panels one reads: state, policy stack, observation, prompt, calls."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import ObservationView, PersonQuestion
from core.schema.messages import Message
from gui.panels.observation import ObservationPanel
from gui.panels.prompt import PromptPanel
from tests.gui import samples


@pytest.fixture
def make(qtbot: QtBot, theme):
    def make(cls, *arguments):
        panel = cls(*arguments) if arguments else cls(theme)
        qtbot.addWidget(panel)
        panel.resize(660, 260)
        panel.show()
        qtbot.waitExposed(panel)
        return panel

    return make


def says(panel) -> str:
    box = panel.or_words
    return box.words.text()


# Observation


def test_an_unread_page_says_so(make):
    assert "F10" in says(make(ObservationPanel))


def test_raw_and_clean_stand_side_by_side_with_their_numbers(make):
    panel = make(ObservationPanel)
    panel.show_observation(samples.OBSERVATION)
    assert panel.raw.isVisible()
    assert panel.clean.isVisible()
    assert panel.raw_fact.text().replace("\u202f", " ") == "raw · 214 elements · 6 120 tokens · reused"
    assert panel.clean_fact.text() == "clean · 9 kept · 148 tokens (41× smaller)"


def test_the_html_is_one_key_away(make):
    panel = make(ObservationPanel)
    panel.show_observation(samples.OBSERVATION)
    panel.source.click()
    assert panel.html.isVisible()
    assert not panel.raw.isVisible()
    assert panel.html.source == samples.OBSERVATION.html


def test_an_observation_not_yet_abstracted_says_so(make):
    panel = make(ObservationPanel)
    panel.show_observation(ObservationView(url="http://x", raw="[1] link", raw_elements=1, raw_tokens=3))
    assert panel.clean_fact.text() == "clean · not made yet"


def test_it_tells_how_the_clean_one_was_made_and_why_not_otherwise(make):
    panel = make(ObservationPanel)
    panel.show_observation(samples.OBSERVATION)
    assert not panel.made.isVisible()
    assert not panel.problem.isVisible()
    panel.show_observation(samples.ABSTRACTED)
    assert panel.made.text().startswith("Made by ranking the elements")
    assert "line 3: NameError" in panel.problem.text()
    assert "dotted in the page" in panel.made.text()


def test_the_parsers_code_shows_only_where_the_llm_wrote_one(make, qtbot: QtBot):
    panel = make(ObservationPanel)
    panel.show_observation(samples.OBSERVATION)
    assert not panel.parser.isVisible()
    panel.show_observation(samples.ABSTRACTED)
    panel.parser.click()
    assert panel.code.isVisible()
    assert panel.code.source == samples.ABSTRACTED.code
    panel.finder.field.setText("BeautifulSoup")
    qtbot.waitUntil(lambda: panel.finder.counted.text() == "2 found")
    panel.show_observation(samples.OBSERVATION)
    assert panel.raw.isVisible()
    assert not panel.code.isVisible()


def test_searching_looks_through_both_sides(make, qtbot: QtBot):
    panel = make(ObservationPanel)
    panel.show_observation(samples.OBSERVATION)
    panel.finder.field.setText("button")
    qtbot.waitUntil(lambda: panel.finder.counted.text() == "5 found")
    places = []
    for _ in range(5):
        places.append((panel.raw.found_index, panel.clean.found_index))
        panel.finder.field.next_wanted.emit()
    assert (2, 1) in places
    panel.finder.field.setText("submarine")
    qtbot.waitUntil(lambda: panel.finder.counted.text() == "none found")


# Prompt


def test_a_step_without_calls_says_so(make):
    assert "No LLM was asked" in says(make(PromptPanel))


def test_messages_show_with_role_and_tokens(make, qtbot: QtBot):
    panel = make(PromptPanel)
    panel.show_calls(samples.CALLS)
    text = panel.text.toPlainText()
    assert "system · 212 tokens" in text
    assert "user · 840 tokens · 1 picture" in text
    assert "OBJECTIVE: Buy a green table lamp." in text
    assert 'click({"target": 6})' in text


def test_pressing_a_heading_folds_and_unfolds_what_is_under_it(make):
    panel = make(PromptPanel)
    panel.show_calls(samples.CALLS)
    user = next(at for at, part in enumerate(panel._parts) if part.title.strip().startswith("user"))
    panel.text.heading_pressed.emit(user)
    assert "OBJECTIVE" not in panel.text.toPlainText()
    panel.text.heading_pressed.emit(user)
    assert "OBJECTIVE" in panel.text.toPlainText()


def test_tools_are_folded_at_first_and_found_by_searching(make, qtbot: QtBot):
    panel = make(PromptPanel)
    panel.show_calls(samples.CALLS)
    assert '"parameters"' not in panel.text.toPlainText()
    panel.finder.field.setText('"parameters"')
    qtbot.waitUntil(lambda: panel.finder.counted.text() == "1 found")
    assert '"parameters"' in panel.text.toPlainText()


def test_folding_all_leaves_the_headings(make):
    panel = make(PromptPanel)
    panel.show_calls(samples.CALLS)
    panel.fold_button.click()
    assert panel.text.toPlainText().count("\n") == len(panel._parts) - 1
    assert panel.fold_button.text() == "Unfold all"
    panel.fold_button.click()
    assert '"parameters"' in panel.text.toPlainText()


def test_copying_takes_what_is_folded_too(make):
    panel = make(PromptPanel)
    panel.show_calls(samples.CALLS)
    panel.copy_button.click()
    assert '"parameters"' in QApplication.clipboard().text()


def test_copying_takes_what_follows_a_nul(make):
    panel = make(PromptPanel)
    panel.show_calls((samples.CALLS[0].replace(reply="before\x00after"),))
    panel.copy_button.click()
    assert "after" in QApplication.clipboard().text()


def test_a_call_is_gone_to_with_its_messages_unfolded(make, qtbot: QtBot):
    panel = make(PromptPanel)
    long = samples.CALLS[0].replace(reply="word " * 400)
    panel.show_calls(tuple(samples.call_with(long, number=number) for number in (3, 4, 5)))
    panel.fold_button.click()
    panel.show_call(4)
    qtbot.waitUntil(
        lambda: (
            panel.text.textCursor().block().text().strip().startswith("▾ Call 4")
            or "Call 4" in panel.text.textCursor().block().text()
        )
    )
    after = panel.text.toPlainText().partition("Call 4")[2].partition("Call 5")[0]
    assert "OBJECTIVE" in after
    assert "OBJECTIVE" not in panel.text.toPlainText().partition("Call 5")[2]
    panel.show_call(77)
    assert "Call 4" in panel.text.textCursor().block().text()


def test_the_error_of_a_failed_call_is_part_of_the_prompt(make):
    panel = make(PromptPanel)
    panel.show_calls((samples.call_with(samples.CALLS[0].replace(reply=""), error="The server hung up."),))
    assert "The server hung up." in panel.text.toPlainText()


def test_reasoning_is_folded_beside_the_reply_and_a_note_stands_above_it(make):
    panel = make(PromptPanel)
    note = "The reply does not follow a JSON schema."
    thought = "I compare the two lamps."
    usage = samples.CALLS[0].record.usage.replace(cached_tokens=900)
    call = samples.CALLS[0].replace(reasoning=thought, reasoning_tokens=55, note=note)
    call = samples.call_with(call, usage=usage)
    panel.show_calls((call,))
    text = panel.text.toPlainText()
    assert "reasoning · 55 tokens" in text
    assert thought not in text
    assert text.index(note) < text.index("reply · 31 tokens")
    assert "(900 cached)" in panel.summary.text()
    panel.finder.field.setText("two lamps")
    assert thought in panel.text.toPlainText()


def test_the_schema_of_a_reply_is_shown_as_one(make):
    panel = make(PromptPanel)
    panel.show_calls((samples.CALLS[0].replace(tools='{\n  "type": "object"\n}'),))
    assert "JSON schema of the reply" in panel.text.toPlainText()


def test_a_question_to_the_person_shows_what_any_llm_would_be_told(make):
    panel = make(PromptPanel)
    message = Message(role="user", text="OBJECTIVE: Find the lamp.")
    panel.show_question(PersonQuestion(purpose="decide", messages=(message,)))
    assert says(panel) == ""
    assert panel.text.toPlainText().startswith("  Question to you · decide")
    assert "Find the lamp." in panel.text.toPlainText()
    panel.show_question(None)
    assert says(panel)
