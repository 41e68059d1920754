"""The content of a frame's prompt: its own assignment and history, and nothing of its caller's.

The templates for it are in resources/prompts/step.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from core.agent.policies.call import Call
from core.agent.policies.conditions import instruction_where
from core.agent.policies.file import Policy, PolicyExample
from core.agent.policies.stack import Frame, Stack
from core.llm.repair import ReplyFormat
from core.llm.replies import action_arguments
from core.schema.action import Type
from core.schema.action_space import HOW, MOUSE, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import Turn
from core.schema.record import Record


class ExampleView(PolicyExample):
    """An example with its reply in the format that the LLM has to use."""

    reply: str


class CallableView(Record):
    """A policy that can be called."""

    name: str
    usage: str
    description: str


class ReturnView(Record):
    """A policy that was called and has ended."""

    step: int
    """The step that called it."""
    call: str
    outcome: str
    """What it came back with, or what it lacked, in words."""
    answer: str = ""
    lacked: str = ""


class FramePrompt(Record):
    """Everything that the prompt of a frame shows besides the page."""

    policy: str
    objective: str
    instruction: str
    examples: tuple[ExampleView, ...] = ()
    history: tuple[Turn, ...] = ()
    """The last steps of this frame."""
    notes: tuple[str, ...] = ()
    returned: tuple[ReturnView, ...] = ()
    """All that came back from policies it called, those of steps before `history` too."""
    callable: tuple[CallableView, ...] = ()
    limit: str = ""
    """Why no policy can be called now, where the limits are reached and it could call one otherwise."""
    page_actions: Permissible = Permissible()
    """What is permissible and no call."""
    called: bool = False
    """Whether another policy waits for its answer."""
    enter: bool = False
    """Whether Enter is pressed after text that is typed, unless the reply says otherwise."""


def frame_prompt(
    stack: Stack,
    policy: Policy,
    callables: Iterable[Policy],
    permissible: Permissible,
    *,
    reply_format: ReplyFormat,
    history: int = 20,
    limited: bool = False,
) -> FramePrompt:
    """Return what the prompt of the acting frame shows.

    `limited` is whether the state of the page leaves only its own actions: then
    examples that name another one are left out, and so is what the instruction
    says on conditions that are not met.

    `permissible` is what `permissible_in` gave. `history` is how many of the
    frame's own steps are shown. Examples that call what cannot be called here
    are left out. Raises ValueError if no policy is at work.
    """
    frame = stack.top
    if frame is None:
        raise ValueError("No policy is at work.")
    offered = {action.name for action in permissible.actions if action.origin == "policy"}
    limit = stack.limit_reached if (callables := tuple(callables)) else ""
    callables = tuple(one for one in callables if one.name in offered)
    allowed = {action.name for action in permissible.actions}
    # Where only a choice is left, as at the end of the budget, there is nothing to do of a policy.
    chooses = limited and allowed.isdisjoint({"note", "stop", *offered})
    return FramePrompt(
        policy=policy.name,
        objective=objective_of(policy, frame.arguments),
        instruction="" if chooses else instruction_where(policy.instruction, allowed if limited else None),
        examples=tuple(
            ExampleView(**dict(example), reply=_reply(example, callables, reply_format))
            for example in policy.examples
            if (
                _named_in(example) <= allowed
                if limited
                else example.call.does != "call" or example.call.name in allowed
            )
        ),
        history=tuple(_told(turn, policy) for turn in frame.history[-history:]) if history else (),
        notes=frame.notes,
        returned=tuple(_return_view(one) for one in stack.called_by(frame.number)),
        callable=tuple(
            CallableView(name=one.name, usage=one.usage(), description=one.description) for one in callables
        ),
        limit=limit,
        page_actions=Permissible(
            actions=tuple(action for action in permissible.actions if action.origin != "policy"),
            left_out=permissible.left_out,
        ),
        called=frame.caller is not None,
        enter=policy.enter,
    )


def with_enter_said(text: str) -> str:
    """Return the text of an action as a policy has to read it for which leaving out ``enter`` means yes."""
    try:
        action = parse_action(text)
    except ActionSyntaxError:
        return text
    return f"{text} [enter=0]" if isinstance(action, Type) and not action.enter else text


def _told(turn: Turn, policy: Policy) -> Turn:
    return turn.replace(action=with_enter_said(turn.action)) if policy.enter and turn.action else turn


_STEP = re.compile(r"^\s*\d+\.\s+([a-z0-9_]+)", re.MULTILINE)


def _named_in(example: PolicyExample) -> set[str]:
    """Return the actions and policies that an example names: in its reply, and as done before."""
    return {example.call.name, *_STEP.findall(example.history)}


def objective_of(policy: Policy, arguments: tuple[str, ...]) -> str:
    """Return what a frame has to do: its one argument, or each with its name."""
    if len(policy.parameters) == 1:
        return arguments[0] if arguments else ""
    pairs = zip(policy.parameters, arguments, strict=False)
    return "\n".join(f"{parameter.name}: {argument}" for parameter, argument in pairs)


def permissible_in(policy: Policy, permissible: Permissible, callables: Iterable[Policy]) -> Permissible:
    """Return the actions of the policy on a page with these `permissible` actions.

    Page actions that its file does not list are removed; actions of a state stay. Calls are added, stop gets
    the argument lacked, and type presses Enter if the file says so. A policy with the same name as an action
    of the state is left out, so that each name is unique for the LLM.
    """
    kept = [action for action in permissible.actions if action.origin != "page" or policy.allows(action.name)]
    if policy.enter:
        kept = [_with_enter(one) if one.name == "type" else one for one in kept]
    taken = {one.name for one in kept}
    return Permissible(
        actions=(
            *(_with_lacked(one) if one.name == "stop" else one for one in kept),
            *(call_action(one) for one in callables if one.name not in taken),
        ),
        left_out=permissible.left_out,
    )


def call_action(policy: Policy) -> PermissibleAction:
    """Return the call of a policy as a permissible action."""
    return PermissibleAction(
        name=policy.name,
        description=policy.description,
        parameters=tuple(
            Parameter(name=parameter.name, type=parameter.type, description=parameter.description)
            for parameter in policy.parameters
        ),
        origin="policy",
    )


def _with_enter(type: PermissibleAction) -> PermissibleAction:
    enter = type.parameter("enter")
    if enter is None:
        return type
    said = enter.replace(default=True, description="Press Enter after it; 0 or false leaves that out.")
    return type.replace(
        description="Replace what a field holds, and press Enter unless enter is 0.",
        parameters=tuple(said if parameter is enter else parameter for parameter in type.parameters),
    )


def _with_lacked(stop: PermissibleAction) -> PermissibleAction:
    if stop.parameter("lacked") is not None:
        return stop
    lacked = Parameter(
        name="lacked",
        description="Only where you cannot go on: what you would need, so that it can be given to you.",
        required=False,
    )
    return stop.replace(
        description="End this assignment, with its answer or with what is missing.",
        parameters=(*stop.parameters, lacked),
    )


def _reply(example: PolicyExample, callables: Iterable[Policy], reply_format: ReplyFormat) -> str:
    call = example.call
    if reply_format == "lines":
        return f"REASON: {example.thought}\nACTION: {call}"
    arguments = arguments_by_name(call, callables)
    if reply_format == "json":
        thought = " ".join(example.thought.split())
        return json.dumps(
            {"thought": thought, "actions": [{"name": call.name, **arguments}]}, ensure_ascii=False
        )
    if call.name in MOUSE:
        arguments[HOW] = MOUSE[call.name]
    shown = json.dumps(arguments, ensure_ascii=False)
    return f"{example.thought}\n(calls the tool {'click' if call.name in MOUSE else call.name} with {shown})"


def arguments_by_name(call: Call, callables: Iterable[Policy]) -> dict[str, Any]:
    """Return the arguments of a call as a tool takes them, without those that it leaves out."""
    if call.does == "stop":
        return {
            name: value for name, value in zip(("answer", "lacked"), call.arguments, strict=False) if value
        }
    if call.does != "call":
        return action_arguments(parse_action(str(call)))
    policy = next((one for one in callables if one.name == call.name), None)
    names = [parameter.name for parameter in policy.parameters] if policy is not None else []
    return dict(zip(names, call.arguments, strict=False))


def _return_view(frame: Frame) -> ReturnView:
    return ReturnView(
        step=frame.step, call=frame.written, outcome=frame.outcome, answer=frame.answer, lacked=frame.lacked
    )
