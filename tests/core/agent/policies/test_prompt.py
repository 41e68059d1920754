import json

import pytest

from core.agent.general_space import permissible_of
from core.agent.policies.call import Call
from core.agent.policies.file import read_policy
from core.agent.policies.prompt import frame_prompt, objective_of, permissible_in
from core.agent.prompts import PROMPTS, Prompts
from core.llm.repair import read_reply
from core.llm.replies import as_json, as_lines, as_tool_call
from core.schema.action import RefTarget, Type
from core.schema.messages import LLMReply, LLMRequest, Turn
from core.schema.observation import CleanObservation
from tests.core.agent.policies.making import ELSEWHERE, GOOD, THERE, begun, pushed, write
from tests.core.observations import element, observation

PAGE = observation(element(3, "textbox", "Search", uses=("type",)), element(4, "button", "Go"))


@pytest.fixture
def policy(tmp_path):
    return read_policy(write(tmp_path, "desk/find_order", GOOD), tmp_path)


@pytest.fixture
def callables(tmp_path, policy):
    return (
        read_policy(write(tmp_path, "desk/find_customer", description='"Finds a customer."'), tmp_path),
        policy,
    )


def prompt_of(stack, policy, callables, reply_format="lines", history=20):
    permissible = permissible_in(policy, permissible_of(PAGE), callables)
    return frame_prompt(stack, policy, callables, permissible, reply_format=reply_format, history=history)


def render(name, frame, reply_format="lines"):
    page = CleanObservation(url=PAGE.url, title=PAGE.title, text=PAGE.lines())
    return Prompts((PROMPTS,)).render(
        name,
        frame=frame,
        objective="The whole task.",
        history=(),
        notes=(),
        page=page,
        tabs=PAGE.tabs,
        permissible=frame.page_actions,
        left_out=0,
        reply_format=reply_format,
        several=False,
        plan=None,
        experience=(),
    )


def test_a_frame_is_told_its_argument_and_its_own_history_and_nothing_of_its_caller(policy, callables):
    stack = begun().note("a note of the caller").record(Turn(number=1, action="scroll [down]", result="done"))
    stack = pushed(stack, step=2).record(Turn(number=3, action="click [4]", result="done"), THERE)
    stack = stack.note("the frame's own")
    frame = prompt_of(stack, policy, callables)
    assert frame.objective == "Ada"
    assert [turn.number for turn in frame.history] == [3]
    text = render("step/system.j2", frame) + render("step/user.j2", frame)
    for own in ("Ada", "3. click [4]: done", "the frame's own", "Open the list."):
        assert own in text
    for others in ("scroll [down]:", "a note of the caller", "Do it.", "The whole task."):
        assert others not in text


def test_the_prompt_lists_the_policies_that_can_be_called_with_their_usage(policy, callables):
    frame = prompt_of(pushed(begun()), policy, callables)
    text = render("step/system.j2", frame)
    assert "- find_customer [objective]: Finds a customer." in text
    assert "- find_order [query]: Finds an order." in text


@pytest.mark.parametrize(
    ("reply_format", "shown"),
    [
        ("lines", "REASON: Only a phone number is given.\nACTION: find_customer [555 0142]"),
        (
            "json",
            json.dumps(
                {
                    "thought": "Only a phone number is given.",
                    "actions": [{"name": "find_customer", "objective": "555 0142"}],
                }
            ),
        ),
        ("tools", '(calls the tool find_customer with {"objective": "555 0142"})'),
    ],
)
def test_examples_show_the_reply_in_the_form_that_is_asked_for(policy, callables, reply_format, shown):
    frame = prompt_of(pushed(begun()), policy, callables, reply_format)
    assert shown in render("step/system.j2", frame, reply_format)
    assert '[3] textbox "Search"' in render("step/system.j2", frame, reply_format)


def test_an_example_that_calls_what_cannot_be_called_here_is_left_out(policy, callables):
    assert len(prompt_of(pushed(begun()), policy, callables).examples) == 2
    assert [one.title for one in prompt_of(pushed(begun()), policy, ()).examples] == ["The list is open"]


def test_only_the_actions_of_the_policy_its_calls_and_stopping_are_permissible(policy, callables):
    permissible = permissible_in(policy, permissible_of(PAGE), callables)
    assert [one.name for one in permissible.actions] == [
        "click",
        "type",
        "stop",
        "find_customer",
        "find_order",
    ]
    stop = permissible.action("stop")
    assert stop is not None
    assert [one.name for one in stop.parameters] == ["answer", "lacked"]
    assert not any(one.required for one in stop.parameters)
    call = permissible.action("find_order")
    assert call is not None
    assert call.json_schema()["required"] == ["query"]


@pytest.mark.parametrize("reply_format", ["tools", "json", "lines"])
def test_the_page_and_the_form_of_the_reply_are_in_the_prompt(policy, callables, reply_format):
    text = render("step/user.j2", prompt_of(pushed(begun()), policy, callables, reply_format), reply_format)
    assert '[4] button "Go"' in text
    assert "Assignment: Ada" in text


def test_what_came_back_is_shown_also_when_its_step_is_too_old_to_be(policy, callables):
    stack = pushed(begun(), step=2).stop(step=3, page=THERE, answer="order 7")
    stack = pushed(stack, "find_customer", "the buyer", step=4, page=THERE).stop(
        step=5, page=ELSEWHERE, lacked="a name"
    )
    for number in range(6, 30):
        stack = stack.record(Turn(number=number, action="scroll [down]", result="done"), ELSEWHERE)
    text = render("step/user.j2", prompt_of(stack, policy, callables, history=3))
    assert "2. find_order [Ada]: came back with: order 7" in text
    assert "4. find_customer [the buyer]: could not go on. It lacked: a name" in text


def test_what_came_back_is_shown_once_where_its_step_is_shown(policy, callables):
    stack = pushed(begun(), step=2).stop(step=3, page=THERE, answer="order 7")
    text = render("step/user.j2", prompt_of(stack, policy, callables))
    assert text.count("came back with: order 7") == 1


def test_only_a_called_policy_is_told_that_another_waits(policy, callables):
    first, second = begun(), pushed(begun())
    assert "Another policy has called you" not in render(
        "step/system.j2", prompt_of(first, policy, callables)
    )
    assert "Another policy has called you" in render("step/system.j2", prompt_of(second, policy, callables))


def test_several_arguments_are_reported_with_their_names(tmp_path):
    text = '+++\ndescription = "x"\n[[parameters]]\nname = "field"\n'
    text += '[[parameters]]\nname = "text"\n+++\n# Instruction\nDo.\n'
    policy = read_policy(write(tmp_path, "fill_text", text), tmp_path)
    assert objective_of(policy, ("From:", "OSL")) == "field: From:\ntext: OSL"


def test_a_call_is_written_as_it_is_read():
    assert str(Call(name="find_order", arguments=("a [b] c",))) == r"find_order [a \[b\] c]"


@pytest.fixture
def enters(tmp_path):
    text = GOOD.replace('actions = ["click", "type"]', 'actions = ["click", "type"]\nenter = true')
    text = text.replace("type [3] [Ada]", "type [3] [Ada] [0]")
    return read_policy(write(tmp_path, "desk/find_order", text), tmp_path)


@pytest.mark.parametrize(
    ("written", "presses"), [("", True), (" [1]", True), (" [0]", False), (" [press_enter_after=0]", False)]
)
def test_typing_presses_enter_where_the_policy_says_so_unless_the_reply_says_0(enters, written, presses):
    request = LLMRequest(
        purpose="decide", messages=(), permissible=permissible_in(enters, permissible_of(PAGE), ())
    )
    reply = LLMReply(text=f"REASON: So.\nACTION: type [3] [Ada]{written}")
    proposal, _ = read_reply(reply, request, "lines")
    assert proposal.action == Type(target=RefTarget(ref=3), text="Ada", enter=presses)


@pytest.mark.parametrize("reply_format", ["tools", "json", "lines"])
@pytest.mark.parametrize("presses", [True, False])
def test_whoever_writes_for_a_policy_that_presses_enter_says_what_is_meant(enters, reply_format, presses):
    permissible = permissible_in(enters, permissible_of(PAGE), ())
    action = Type(target=RefTarget(ref=3), text="Ada", **({"enter": True} if presses else {}))
    replies = {
        "tools": LLMReply(tool_calls=(as_tool_call(action, permissible),)),
        "json": LLMReply(text=as_json("So.", (action,), permissible)),
        "lines": LLMReply(text=as_lines("So.", (action,), permissible)),
    }
    request = LLMRequest(purpose="decide", messages=(), permissible=permissible)
    proposal, _ = read_reply(replies[reply_format], request, reply_format)
    assert proposal.action == action


def test_typing_presses_no_enter_where_the_policy_does_not_say_so(policy):
    request = LLMRequest(
        purpose="decide", messages=(), permissible=permissible_in(policy, permissible_of(PAGE), ())
    )
    proposal, _ = read_reply(LLMReply(text="REASON: So.\nACTION: type [3] [Ada]"), request, "lines")
    assert proposal.action == Type(target=RefTarget(ref=3), text="Ada")


@pytest.mark.parametrize(
    ("reply_format", "shown"),
    [
        ("lines", "ACTION: type [3] [Ada] [0]"),
        ("json", '{"name": "type", "target": 3, "text": "Ada", "enter": false}'),
        ("tools", '(calls the tool type with {"target": 3, "text": "Ada", "enter": false})'),
    ],
)
def test_a_policy_that_presses_enter_reads_its_history_and_examples_so(enters, reply_format, shown):
    turn = Turn(number=2, action="type [3] [Ada]", target='textbox "Search"', result="done")
    frame = prompt_of(begun().record(turn), enters, (), reply_format)
    assert shown in render("step/system.j2", frame, reply_format)
    user = render("step/user.j2", frame, reply_format)
    assert '2. type [3] [Ada] [enter=0] (textbox "Search"): done' in user
    if reply_format == "lines":
        assert "- type [target] [text] [optional: enter=0|1] [optional: append=0|1]: " in user
        assert "and press Enter unless enter is 0." in user
