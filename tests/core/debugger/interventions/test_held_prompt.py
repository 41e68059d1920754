"""The prompt of a held call as a text; a whole session edits one before it is sent."""

import pytest

from core.debugger.interventions.held_prompt import as_text, with_text
from core.schema.errors import UsageError
from core.schema.messages import Image, Message, ToolCall
from tests.core.stage import on, page_file

MESSAGES = (
    Message(role="system", text="Do the task.\n"),
    Message(role="user", text="### user\n\\### tool\nThe page:\n\n", images=(Image(data=b"x"),)),
    Message(role="assistant", tool_calls=(ToolCall(id="1", name="click", arguments="{}"),)),
    Message(role="tool", text="", tool_call_id="1"),
    Message(role="user", text="Go on."),
)


def test_messages_are_the_same_after_a_text_that_was_not_edited():
    assert with_text(MESSAGES, as_text(MESSAGES)) == MESSAGES


def test_an_edited_message_keeps_its_pictures_and_the_other_messages():
    changed = with_text(MESSAGES, as_text(MESSAGES).replace("The page:", "Another page:"))
    assert changed[1].text == "### user\n\\### tool\nAnother page:\n\n"
    assert changed[1].images == MESSAGES[1].images
    assert (*changed[:1], *changed[2:]) == (*MESSAGES[:1], *MESSAGES[2:])


def test_a_message_may_be_followed_at_once_by_the_next_heading():
    two = MESSAGES[0], MESSAGES[4]
    assert [one.text for one in with_text(two, "### system\nA\n### user\nB")] == ["A", "B"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Hello\n### system\nA\n### user\nB", "Line 1: begin with the heading ### system."),
        ("### system\nA", "Message 2 is missing: it begins with a line ### user."),
        ("### system\nA\n### tool\nB", "Line 3: this message is ### user, not ### tool."),
        ("### system\nA\n### user\nB\n### user\nC", "Line 5: the prompt has only 2 messages"),
    ],
)
def test_headings_that_do_not_fit_are_told_with_their_line(text, problem):
    with pytest.raises(UsageError, match="^" + problem.replace(".", r"\.")):
        with_text((MESSAGES[0], MESSAGES[4]), text)


@pytest.fixture
def held(live, server, tmp_path):
    """A run that is stopped before its first call."""
    server.script(on('button "Go"'), on('button "Go"'))
    live.open("web/open", url=page_file(tmp_path, "<p>Noise</p><button>Go</button>"), instruction="Go.")
    live.session.run_commands.to_call()
    live.wait(lambda: live.view.held_call == 1 and live.view.mode == "waiting")
    return live


@pytest.mark.browser
def test_a_run_stops_before_its_next_call_once(held, server):
    assert server.requests == []
    assert "Call 1 (decide) has not been sent yet" in held.view.message
    held.session.run_commands.step()
    held.wait_phase("review")
    assert (len(server.requests), held.view.held_call) == (1, 0)


@pytest.mark.browser
def test_the_prompt_of_a_held_call_is_edited_and_arrives_so(held, server):
    live = held
    live.session.edits.begin_text("prompt")
    live.wait(lambda: live.text is not None)
    text = live.text.text
    assert "### system" in text
    assert "Noise" in text
    live.session.edits.check_text("prompt", text.replace("### system", "### tool"))
    live.wait(lambda: live.text.problem)
    assert live.text.problem == "Line 1: this message is ### system, not ### tool."
    live.session.edits.apply_text("prompt", text.replace("Noise", "Silence"))
    live.wait(lambda: live.text.applied)
    live.wait(lambda: live.step.calls and "Silence" in live.step.calls[0].messages[-1].text)
    assert server.requests == []
    live.session.run_commands.step()
    live.wait_phase("review")
    sent = "\n".join(server.requests[0].texts)
    assert "Silence" in sent
    assert "Noise" not in sent
    assert "Silence" in live.step.calls[0].messages[-1].text
    ((kind, before, after, who),) = live.interventions(live.view.run)
    assert (kind, who) == ("prompt", "tester")
    assert "Noise" in before
    assert "Silence" in after


@pytest.mark.browser
def test_a_prompt_that_was_sent_cannot_be_edited_any_more(held):
    held.session.run_commands.step()
    held.wait_phase("review")
    held.session.edits.apply_text("prompt", "### system\nA")
    held.wait(lambda: "No LLM call is held" in held.view.message)
    assert held.text.problem.startswith("No LLM call is held")


@pytest.mark.browser
def test_an_edit_of_a_held_prompt_is_taken_back_before_it_is_sent(held, server):
    live = held
    live.session.edits.begin_text("prompt")
    live.wait(lambda: live.text is not None)
    first = live.text.text
    second, third = first.replace("Noise", "Silence"), first.replace("Noise", "Music")
    for text in (second, third):
        live.session.edits.apply_text("prompt", text)
        live.wait(lambda text=text: live.text.applied and live.text.text == text)
    assert live.view.prompt_edited
    for message in ("Silence", "Noise"):
        live.session.edits.undo()
        live.wait(lambda message=message: message in live.step.calls[0].messages[-1].text)
    assert "as it was before" in live.view.message
    assert not live.view.prompt_edited
    live.session.run_commands.step()
    live.wait_phase("review")
    assert "Noise" in "\n".join(server.requests[0].texts)
    done = [(kind, before, after) for kind, before, after, _ in live.interventions(live.view.run)]
    assert done == [
        ("prompt", first, second),
        ("prompt", second, third),
        ("undo", third, second),
        ("undo", second, first),
    ]


@pytest.mark.browser
def test_a_prompt_that_has_gone_counts_as_edited_no_more(held):
    held.session.edits.begin_text("prompt")
    held.wait(lambda: held.text is not None)
    held.session.edits.apply_text("prompt", held.text.text + " Now.")
    held.wait(lambda: held.view.prompt_edited)
    held.session.run_commands.step()
    held.wait_phase("review")
    assert not held.view.prompt_edited
