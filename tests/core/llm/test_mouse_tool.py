"""A call of click that says how: what the mouse does with the same elements is one tool."""

import json

import pytest

from core.llm.repair import read_reply
from core.schema.action import Click, DoubleClick, Hover, RefTarget
from core.schema.action_space import Permissible
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from tests.core.llm.test_repair import offered, target

MOUSE_ACTIONS = Permissible(
    actions=tuple(offered(name, target()) for name in ("click", "double_click", "hover"))
)


@pytest.mark.parametrize(
    ("how", "action"),
    [
        ("double", DoubleClick(target=RefTarget(ref=3))),
        ("Double_Click", DoubleClick(target=RefTarget(ref=3))),
        ("left", Click(target=RefTarget(ref=3))),
        ("hover", Hover(target=RefTarget(ref=3))),
        ("", Click(target=RefTarget(ref=3))),
    ],
)
def test_a_call_of_click_may_say_how(how, action):
    request = LLMRequest(purpose="decide", messages=(), permissible=MOUSE_ACTIONS)
    called = ToolCall(name="click", arguments=json.dumps({"target": 3, **({"how": how} if how else {})}))
    assert read_reply(LLMReply(tool_calls=(called,)), request, "tools")[0].action == action


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("twice", "click takes double or right or hover as its how"),
        (["double"], "click takes double or right or hover as its how"),
        ("right", "right_click"),
    ],
)
def test_a_way_of_clicking_that_is_not_there_is_refused(how, problem):
    request = LLMRequest(purpose="decide", messages=(), permissible=MOUSE_ACTIONS)
    called = ToolCall(name="click", arguments=json.dumps({"target": 3, "how": how}))
    proposal, _ = read_reply(LLMReply(tool_calls=(called,)), request, "tools")
    assert proposal.action is None
    assert problem in proposal.problem
