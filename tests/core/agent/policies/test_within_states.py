"""What the prompt of a policy says where the state of the page leaves only its own actions (preset combined)."""

import re

import pytest

from core.agent.general_space import permissible_of
from core.agent.policies.catalogue import Policies
from core.agent.policies.conditions import condition_problem, instruction_where
from core.agent.policies.file import read_policy
from core.agent.policies.prompt import frame_prompt, permissible_in
from core.agent.policies.stack import SeenPage, Stack
from core.agent.prompts import Prompts
from core.agent.spaces.choice import CHOOSE
from core.agent.spaces.file import Spaces
from core.schema.action import ACTIONS
from core.schema.action_space import Parameter, Permissible, PermissibleAction
from core.schema.errors import DataError
from core.schema.observation import CleanObservation
from tests.core.observations import element, observation

URL = {"shop": "http://127.0.0.1:1/", "airline": "http://127.0.0.1:1/"}
PAGE = observation(element(1, "button", "Save"))
IN_PLAIN_WORDS = ("click", "type", "press", "scroll", "hover", "drag", "upload", "note", "stop")


def own(name, *parameters):
    given = tuple(Parameter(name=one) for one in parameters)
    return PermissibleAction(name=name, description="Do it.", parameters=given, origin="state")


def offered_in(state, *, may_stop):
    """Return all that a state can offer, whatever its page."""
    actions = [own(one.name, *(parameter.name for parameter in one.parameter)) for one in state.action]
    stop = permissible_of(PAGE).action("stop")
    return Permissible(actions=(*actions, *([stop] if may_stop else [])))


def rendered(policy, environment, permissible, *, called, reply_format="lines", limited=True):
    """Return the frame, what it may do, and its system and user messages."""
    page = SeenPage(url=URL[environment])
    stack = Stack().begin("top", "top", ("Do it.",), step=1, page=page)
    if called:
        stack = stack.push(policy.id, policy.name, tuple("x" for _ in policy.parameters), step=1, page=page)
    callables = POLICIES.callable_from(policy, environment, URL[environment])
    extra = [
        one for one in permissible_of(PAGE).actions if one.name in ("note", *(["stop"] if called else []))
    ]
    have = {one.name for one in permissible.actions}
    permissible = permissible.replace(
        actions=(*permissible.actions, *(one for one in extra if one.name not in have))
    )
    permissible = permissible_in(policy, permissible, callables)
    frame = frame_prompt(stack, policy, callables, permissible, reply_format=reply_format, limited=limited)
    values = {
        "objective": "Do it.",
        "page": CleanObservation(url=PAGE.url, title=PAGE.title, text=PAGE.lines()),
        "tabs": (),
        "history": (),
        "notes": (),
        "permissible": permissible,
        "left_out": 0,
        "reply_format": reply_format,
        "several": True,
        "space": environment,
        "state": "state",
        "budget_note": "",
        "instruction": "",
        "layout": "",
        "shown": {},
        "plan": None,
        "experience": (),
        "frame": frame,
    }
    texts = [PROMPTS.render(f"combined/{name}.j2", **values) for name in ("system", "user")]
    return frame, permissible, texts


POLICIES, SPACES, PROMPTS = Policies(), Spaces(), Prompts()


@pytest.mark.parametrize("reply_format", ["lines", "json", "tools"])
@pytest.mark.parametrize(
    ("environment", "policy"),
    [
        pytest.param(environment, policy, id=policy.id)
        for environment in URL
        for policy in POLICIES.applying(environment, URL[environment])
    ],
)
def test_no_prompt_of_a_policy_in_any_state_names_an_action_that_is_not_offered(
    environment, policy, reply_format
):
    space = SPACES.get(environment)
    for state in space.state:
        for called in (True, False) if policy.top else (True,):
            _, permissible, (system, user) = rendered(
                policy,
                environment,
                offered_in(state, may_stop=space.may_stop),
                called=called,
                reply_format=reply_format,
            )
            offered = {one.name for one in permissible.actions}
            assert named_in(system, user) <= offered, state.name
            plain = {name for name in IN_PLAIN_WORDS if re.search(rf"\b{name}\b", system, re.IGNORECASE)}
            assert plain <= offered, state.name
            for one in POLICIES.callable_from(policy, environment, URL[environment]):
                assert one.name in offered or f"`{one.name}`" not in system


def named_in(*texts):
    """Return the actions of a page that are named as such: written out, in code, or called."""
    names = "|".join(ACTIONS)
    text = "\n".join(texts).replace(PAGE.lines(), "")
    written = rf"ACTION: ({names})\b|\b({names}) \[|`({names})\b|\"name\": \"({names})\"|tool ({names})\b"
    return {name for match in re.finditer(written, text) for name in match.groups() if name}


def test_what_a_state_leaves_of_an_instruction_is_numbered_anew_and_still_says_whom_to_call():
    policy = POLICIES.top_of("shop", URL["shop"])
    frame, _, _ = rendered(policy, "shop", Permissible(actions=(own("buy_now"),)), called=False)
    numbers = re.findall(r"^(\d+)\.", frame.instruction, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert "`search_shop`" in frame.instruction
    assert "Press Buy now" not in frame.instruction
    assert "Buying ends the task." in frame.instruction
    assert "{%" not in frame.instruction


def test_without_a_state_the_instruction_and_the_examples_are_those_of_the_file():
    policy = POLICIES.top_of("shop", URL["shop"])
    general = permissible_of(PAGE)
    frame, _, _ = rendered(policy, "shop", general, called=False, limited=False)
    assert frame.instruction == instruction_where(policy.instruction, None)
    assert "Press Buy now only when" in frame.instruction
    assert len(frame.examples) == len(policy.examples)


def test_at_the_budget_a_policy_is_told_of_nothing_but_the_choice():
    policy = POLICIES.top_of("shop", URL["shop"])
    stack = Stack().begin(policy.id, policy.name, ("Buy it.",), step=1, page=SeenPage(url=URL["shop"]))
    callables = POLICIES.callable_from(policy, "shop", URL["shop"])
    choice = Permissible(actions=(own(CHOOSE, "candidate"),))
    frame = frame_prompt(stack, policy, callables, choice, reply_format="lines", limited=True)
    assert (frame.examples, frame.callable, frame.instruction) == ((), (), "")


@pytest.mark.parametrize(
    ("instruction", "permitted", "left"),
    [
        ('Look.{% if permitted("click") %} Click it.{% endif %} Buy it.', (), "Look. Buy it."),
        ('Look.{% if permitted("click") %} Click it.{% endif %} Buy it.', None, "Look. Click it. Buy it."),
        (
            '1. Look.\n{% if permitted("click", "note") %}\n2. Click it.\n{% endif %}\n3. Buy it.',
            ("click",),
            "1. Look.\n2. Buy it.",
        ),
        (
            '1. Look.\n{% if permitted("note") %}\n2. Note it.\n{% endif %}\n3. Buy it.\n\n2027. A year.\n'
            '\nOther list:\n{% if permitted("note") %}1. Note it.\n{% endif %}2. Look.\n3. Stop.',
            (),
            "1. Look.\n2. Buy it.\n\n2027. A year.\n\nOther list:\n1. Look.\n2. Stop.",
        ),
        (
            '1. Look.\n{% if permitted("note") %}\n2. Open.\n3. Note.\n{% else %}\n2. Open it.\n{% endif %}\n4. Buy.',
            (),
            "1. Look.\n2. Open it.\n3. Buy.",
        ),
        (
            '1. Look.\n{% if permitted("note") %}\n2. Open.\n3. Note.\n{% else %}\n2. Open it.\n{% endif %}\n4. Buy.',
            ("note",),
            "1. Look.\n2. Open.\n3. Note.\n4. Buy.",
        ),
        (
            '{% if permitted("note") %}\n1. Note.\n2. Go back.\n{% else %}\n1. Go back.\n{% endif %}\n3. Stop.',
            (),
            "1. Go back.\n2. Stop.",
        ),
        (
            '{% if permitted("note") %}\n1. Note.\n2. Go back.\n{% else %}\n1. Go back.\n{% endif %}\n3. Stop.',
            ("note",),
            "1. Note.\n2. Go back.\n3. Stop.",
        ),
        (
            'One:\n1. Look.\n{% if permitted("note") %}\n2. Note.\n{% endif %}\nOther:\n'
            '{% if permitted("note") %}\n1. Note.\n{% endif %}\n2. Stop.',
            (),
            "One:\n1. Look.\nOther:\n1. Stop.",
        ),
        (
            '{% if permitted("note") %}\n1. Note.\n{% endif %}\n{% if not permitted("note") %}\n1. Look.\n{% endif %}\n'
            "2. Stop.",
            ("note",),
            "1. Note.\n2. Stop.",
        ),
        (
            '10. Look{% if permitted("note") %} and note{% endif %}.\n15. Buy.\n\n1. One\n1. Another',
            None,
            "10. Look and note.\n15. Buy.\n\n1. One\n1. Another",
        ),
        ('{% if not permitted("note") %}Remember it.{% else %}Note it.{% endif %}', ("note",), "Note it."),
        (
            "Write {{name}} and {# this #}, e.g. `click [3]`.",
            (),
            "Write {{name}} and {# this #}, e.g. `click [3]`.",
        ),
    ],
)
def test_an_instruction_says_what_its_conditions_permit(instruction, permitted, left):
    assert condition_problem(instruction) is None
    assert instruction_where(instruction, permitted) == left


@pytest.mark.parametrize(
    ("instruction", "line", "said"),
    [
        ('Look.\n{% if permitted("click") %}Click.', 2, "cannot be read"),
        ("{% for a in b %}{% endfor %}", 1, "a condition has the form"),
        ("A\nB {% if other('click') %}{% endif %}", 2, "a condition has the form"),
        ("{% if permitted.__class__ %}{% endif %}", 1, "a condition has the form"),
    ],
)
def test_a_condition_that_cannot_be_used_is_refused_with_its_line(tmp_path, instruction, line, said):
    path = tmp_path / "policy.md"
    path.write_text(f"+++\ndescription = 'Buys.'\n+++\n\n# Instruction\n\n{instruction}\n")
    with pytest.raises(DataError, match=f"line {line + 6}: .*{said}"):
        read_policy(path)
