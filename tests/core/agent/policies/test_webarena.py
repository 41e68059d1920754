"""The bundled policies for WebArena, as far as they can be tried without its sites: each prompt, each example."""

import re

import pytest

from core.agent.general_space import permissible_of
from core.agent.policies.catalogue import Policies
from core.agent.policies.prompt import frame_prompt, permissible_in
from core.agent.policies.stack import Stack
from core.agent.prompts import PROMPTS, Prompts
from core.llm.repair import read_reply
from core.llm.replies import as_json, as_tool_call
from core.schema.action import Type
from core.schema.action_text import parse_action
from core.schema.messages import LLMReply, LLMRequest
from core.schema.observation import CleanObservation
from tests.core.agent.policies.making import HERE
from tests.core.observations import element, observation

SITES = {
    "GITLAB": "http://gitlab",
    "MAP": "http://map",
    "REDDIT": "http://reddit",
    "SHOPPING": "http://shop",
    "SHOPPING_ADMIN": "http://shop/admin",
}
POLICIES = Policies(sites=SITES)
NAMES = [name for name in POLICIES.names() if name.startswith("webarena/")]
FORMS = {"webarena/create_group", "webarena/create_project"}
"""Policies that fill in a form with several fields, where Enter would send it."""


def url_of(policy):
    pattern = policy.applies.urls[0]
    return SITES[re.search(r"__([A-Z_]+)__", pattern)[1]] + "/x"


def shown_in(example):
    """Return the page that the example shows."""
    lines = re.findall(r'^\s*\[(\d+)\] ([\w-]+)(?: "([^"]*)")?', example.observation, re.MULTILINE)
    uses = {"textbox": ("click", "type"), "searchbox": ("click", "type"), "combobox": ("click", "type")}
    return observation(
        *(element(int(ref), role, name, uses=uses.get(role, ("click",))) for ref, role, name in lines)
    )


def offered(policy, page):
    callables = POLICIES.callable_from(policy, "webarena", url_of(policy))
    return callables, permissible_in(policy, permissible_of(page, back=1), callables)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_policy_are_permissible_on_the_page_they_show(name):
    policy = POLICIES.get(name)
    for example in policy.examples:
        page = shown_in(example)
        _, permissible = offered(policy, page)
        request = LLMRequest(purpose="decide", messages=(), permissible=permissible)
        text = f"REASON: {example.thought}\nACTION: {example.call}"
        proposal, _ = read_reply(LLMReply(text=text), request, "lines")
        assert proposal.problem == "", (example.title, proposal.problem)
        for form, reply in (
            ("json", LLMReply(text=as_json("So.", (proposal.action,), permissible))),
            ("tools", LLMReply(tool_calls=(as_tool_call(proposal.action, permissible),))),
        ):
            assert read_reply(reply, request, form)[0].action == proposal.action


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reply_format", ["lines", "json", "tools"])
def test_the_prompt_of_a_policy_renders_with_its_examples(name, reply_format):
    policy = POLICIES.get(name)
    page = shown_in(policy.examples[0])
    callables, permissible = offered(policy, page)
    stack = Stack().begin(policy.id, policy.name, ["x"] * len(policy.parameters), step=1, page=HERE)
    frame = frame_prompt(stack, policy, callables, permissible, reply_format=reply_format)
    values = {
        "frame": frame,
        "objective": "x",
        "history": (),
        "notes": (),
        "page": CleanObservation(url=page.url, title=page.title, text=page.lines()),
        "tabs": page.tabs,
        "permissible": permissible,
        "left_out": 0,
        "reply_format": reply_format,
        "several": False,
        "plan": None,
        "experience": (),
    }
    prompts = Prompts((PROMPTS,))
    system = prompts.render("step/system.j2", **values)
    assert policy.instruction in system
    assert all(f"--- {one.title}" in system for one in policy.examples)
    assert "sentence" not in prompts.render("step/user.j2", **values)


@pytest.mark.parametrize("name", NAMES)
def test_typing_presses_enter_but_in_the_policies_that_fill_in_forms(name):
    policy = POLICIES.get(name)
    assert policy.enter is (name not in FORMS)
    written = re.findall(r"`(type \[.*?\] \[.*?\](?: \[0\])?)`", policy.instruction)
    assert all(isinstance(parse_action(one), Type) for one in written)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("find_order", "search by keyword"),
        ("find_commits", "Contributors"),
        ("gitlab", "Explore"),
        ("gitlab", "not by counts unless it says so"),
        ("search_nearest_place", "centre the map first"),
        ("find_products", "?price=0-25"),
        ("find_products", "?product_list_order=price"),
        ("shopping", "A refund is asked for"),
        ("shopping_admin", "in the order of counts only once"),
    ],
)
def test_a_policy_tells_what_its_site_needs(name, told):
    assert told in POLICIES.get(f"webarena/{name}").instruction
