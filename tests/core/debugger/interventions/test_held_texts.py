"""A held prompt or reply as a text; a whole session edits one before it is sent, or read."""

import pytest

from core.agent.llm_calls import HeldReply
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.features import Features
from core.debugger.interventions.held_texts import as_text, reply_as_text, reply_with_text, with_text
from core.schema.errors import UsageError
from core.schema.messages import Image, LLMReply, Message, ToolCall
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


REPLY = LLMReply(
    text="I go on.\n### tool_call that is none",
    tool_calls=(
        ToolCall(id="1", name="click", arguments='{"target":3}'),
        ToolCall(id="2", name="note", arguments="not JSON"),
    ),
    reasoning="Hm.",
)


def test_a_reply_is_the_same_after_a_text_that_was_not_edited():
    one = REPLY.replace(tool_calls=REPLY.tool_calls[:1])
    for reply in (one, LLMReply(text="Only words.\n"), LLMReply(tool_calls=one.tool_calls), LLMReply()):
        assert reply_with_text(reply, reply_as_text(reply)).tool_calls == reply.tool_calls
        assert reply_with_text(reply, reply_as_text(reply)).text == reply.text.rstrip("\n")


def test_a_tool_call_of_a_reply_is_edited_and_another_one_added():
    text = reply_as_text(REPLY.replace(tool_calls=REPLY.tool_calls[:1]))
    text = text.replace("I go on.", "I stay.").replace('"target": 3', '"target": 4')
    edited = reply_with_text(REPLY, text + '\n### tool_call stop\n{"answer": "x"}')
    assert edited.text == "I stay.\n### tool_call that is none"
    first, second = edited.tool_calls
    assert (first.id, first.name) == ("1", "click")
    assert '"target": 4' in first.arguments
    assert (second.id, second.name, second.arguments) == ("2", "stop", '{"answer": "x"}')
    assert edited.reasoning == "Hm."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Hm\n### tool_call\n{}", "Line 2: a tool call begins with ### tool_call NAME."),
        ("### tool_call click\n{", "Line 2: the arguments of click are not JSON"),
        ("### tool_call click\n[1]", "Line 2: the arguments of click are not a JSON object."),
    ],
)
def test_a_tool_call_that_cannot_be_read_is_told_with_its_line(text, problem):
    with pytest.raises(UsageError, match="^" + problem.replace(".", r"\.")):
        reply_with_text(REPLY, text)


@pytest.fixture
def held(live, server, tmp_path):
    """A run that is stopped before its first call."""
    server.script(on('button "Go"'), on('button "Go"'))
    live.open("web/open", url=page_file(tmp_path, "<p>Noise</p><button>Go</button>"), instruction="Go.")
    live.session.run_commands.to_call()
    live.wait(lambda: live.view.held_call == 1 and live.view.mode == "waiting")
    return live


@pytest.mark.browser
def test_a_run_stops_before_its_next_call_once_and_its_prompt_is_edited_and_arrives_so(held, server):
    live = held
    assert server.requests == []
    assert "Call 1 (decide) has not been sent yet" in live.view.message
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
    assert live.view.held_edits
    live.session.run_commands.step()
    live.wait_phase("review")
    assert (len(server.requests), live.view.held_call, live.view.held_edits) == (1, 0, ())
    sent = "\n".join(server.requests[0].texts)
    assert "Silence" in sent
    assert "Noise" not in sent
    assert "Silence" in live.step.calls[0].messages[-1].text
    ((kind, before, after, who),) = live.interventions(live.view.run)
    assert (kind, who) == ("prompt", "tester")
    assert "Noise" in before
    assert "Silence" in after
    live.session.edits.apply_text("prompt", "### system\nA")
    live.wait(lambda: "No LLM call is held" in live.view.message)
    assert live.text.problem.startswith("No LLM call is held")


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
    assert live.view.held_edits
    for message in ("Silence", "Noise"):
        live.session.edits.undo()
        live.wait(lambda message=message: message in live.step.calls[0].messages[-1].text)
    assert "as it was before" in live.view.message
    assert not live.view.held_edits
    assert len(live.view.held_undone) == 2
    live.session.edits.redo(live.view.held_undone[-1].key)
    live.wait(lambda: "Silence" in live.step.calls[0].messages[-1].text)
    live.session.edits.undo()
    live.wait(lambda: not live.view.held_edits)
    live.session.run_commands.step()
    live.wait_phase("review")
    assert "Noise" in "\n".join(server.requests[0].texts)
    done = [(kind, before, after) for kind, before, after, _ in live.interventions(live.view.run)]
    assert done == [
        ("prompt", first, second),
        ("prompt", second, third),
        ("undo", third, second),
        ("undo", second, first),
        ("prompt", first, second),
        ("undo", second, first),
    ]


def test_a_reply_that_has_been_passed_on_already_cannot_be_edited():
    held = HeldReply(None, 1, None, REPLY, gone=True)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="already has this reply"):
        held.rewrite(REPLY.replace(text="Another."))
    assert (held.reply, held.rewritten) == (REPLY, False)


@pytest.fixture
def after_calls(live):
    """Stops after each LLM call; the session is that of other tests too."""
    breakpoints = Features(live.session)["breakpoints"]
    breakpoints.add(LLMCall(purpose="decide", when="after"))
    live.settle()
    (added,) = breakpoints.view.breakpoints
    yield
    breakpoints.remove(added.breakpoint.number)
    live.settle()


@pytest.mark.browser
@pytest.mark.usefixtures("after_calls")
def test_the_reply_of_a_held_call_is_edited_before_it_is_read(live, server, tmp_path):
    server.script(on('button "Go"', thought="I press it."))
    live.open(
        "web/open", url=page_file(tmp_path, "<button>Go</button><button>No</button>"), instruction="Go."
    )
    live.session.run_commands.step()
    live.wait(lambda: live.view.held_reply == 1 and live.view.mode == "waiting")
    live.session.edits.begin_text("prompt")
    live.wait(lambda: live.text is not None)
    first = live.text.text
    assert live.text.title == "The reply to call 1 (decide), which has not been read"
    live.session.edits.apply_text("prompt", first.replace("I press it.", "I do not."))
    live.wait(lambda: live.text.applied and live.view.held_edits)
    live.session.edits.undo()
    live.wait(lambda: not live.view.held_edits)
    live.session.edits.redo()
    live.wait(lambda: live.view.held_edits and not live.view.held_undone)
    live.session.edits.begin_text("prompt")
    live.wait(lambda: "I do not." in live.text.text)
    live.session.edits.undo()
    live.wait(lambda: not live.view.held_edits)
    edited = first.replace("I press it.", "No, I do not.")
    live.session.edits.apply_text("prompt", edited)
    live.wait(lambda: live.text.text == edited and live.view.held_edits)
    live.session.run_commands.step()
    live.wait_phase("review")
    assert live.step.action.thought == "No, I do not."
    assert live.step.calls[0].reply.startswith("No, I do not.")
    kinds = [kind for kind, *_ in live.interventions(live.view.run)]
    assert kinds == ["reply", "undo", "reply", "undo", "reply"]
