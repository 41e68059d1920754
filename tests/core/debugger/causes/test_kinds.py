"""Kinds of causes, each on the part of a run that it looks at."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.debugger.causes.kinds import limits, replies, spaces
from core.debugger.causes.kinds.page import NoEffect, PageComplained
from core.schema.messages import LLMReply
from core.schema.observation import Box, Element, Observation, Option
from core.schema.step import Acted, Proposal

BOX = Box(x=0, y=0, width=9, height=9)


def page(*elements: tuple[str, str]) -> Observation:
    made = [
        Element(ref=ref, role=role, name=name, uses=(), box=BOX)
        for ref, (role, name) in enumerate(elements, 1)
    ]
    return Observation(url="http://localhost/", title="Desk", elements=tuple(made))


def step(number: int, action: str, **more: Any) -> SimpleNamespace:
    given = {"effect": "page action", "state": "", "url": "", "target": "", "in_words": action} | more
    return SimpleNamespace(number=number, action=action, **given)


def complained(*pages: Observation, success: Observation | None = None) -> list[tuple[int, str]]:
    one = SimpleNamespace(steps=[step(1, "click [1]")], page=lambda _number: success)
    facts: Any = SimpleNamespace(
        steps=[step(number, f"click [{number}]") for number in range(1, len(pages) + 1)],
        success=one if success is not None else None,
        page=lambda number: pages[number - 1],
        space_action=lambda _state, _name: None,
    )
    return [(cause.step, cause.what) for cause in PageComplained().find(facts)]


FORM = page(("heading", "Book a flight"))
REFUSED = page(("heading", "Book a flight"), ("alert", ""), ("paragraph", "Error: Choose a return flight."))


def test_what_a_page_complains_of_after_an_action_is_a_cause_of_that_step():
    assert complained(FORM, REFUSED) == [
        (1, "After click [1], the page says: Error: Choose a return flight.")
    ]
    assert complained(FORM, FORM, page(("alert", "No seats"))) == [
        (2, "After click [2], the page says: No seats")
    ]


def test_what_stood_there_before_or_in_a_success_is_no_complaint():
    assert complained(REFUSED, REFUSED) == []
    assert complained(FORM, REFUSED, success=REFUSED) == []
    assert complained(FORM, page(("paragraph", "Errors are rare"))) == []


@pytest.mark.parametrize(
    ("text", "finish", "problem", "has_limit", "place", "field"),
    [
        ("click", "stop", "The reply holds no JSON object.", False, "presets/a.toml:5", "reply"),
        ("click 9", "stop", "click is not permissible on [9]; choose one.", False, "step 1, reply", "reply"),
        ("", "stop", "The reply is empty.", False, "step 1, reply", "reply"),
        ("I th", "length", "The reply was cut off.", False, "step 1, max_tokens of the settings", ""),
        ("I th", "length", "The reply was cut off.", True, "presets/a.toml:9", "reply"),
    ],
)
def test_replies_that_cannot_be_used_are_laid_to_what_can_change_them(
    text, finish, problem, has_limit, place, field
):
    facts: Any = SimpleNamespace(
        steps=[step(1, ""), step(2, "click [1]")],
        row=SimpleNamespace(outcome="done"),
        calls={1: [SimpleNamespace(purpose="decide")]},
        part=lambda _step, _cls: SimpleNamespace(proposal=Proposal(problem=problem)),
        reply=lambda _call: LLMReply(text=text, finish_reason=finish),
        preset_has=lambda *_location: has_limit,
        preset_place=lambda *location: ("presets/a.toml", 9 if location[-1] == "max_tokens" else 5),
    )
    (cause,) = replies.ReplyUnusable().find(facts)
    assert cause.place == place
    assert cause.field == (field or "max_tokens of the settings")
    assert "At 1 of 1 steps no reply could be used" in cause.what


def test_macros_are_compared_where_the_same_arguments_are_given():
    assert spaces._given("save [Mr] [] [Ibsen]") == ("save", "given", "", "given")
    assert spaces._given("save [Ms] [] [Ueda]") == spaces._given("save [Mr] [] [Ibsen]")
    assert spaces._given("save [] [A] [Ibsen]") != spaces._given("save [Mr] [] [Ibsen]")


def test_steps_without_an_action_are_no_loop():
    nothing: Any = [step(number, "", in_words="no action") for number in range(1, 9)]
    assert limits.loop_of(nothing) is None
    assert limits.loop_of([step(number, "click [1]") for number in range(1, 9)]) == (1, 8)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("after", "is_told"),
    [
        ({}, True),
        ({"states": ("focused",)}, True),
        ({"states": ("checked",)}, False),
        ({"options": (Option(label="Red", value="r", selected=True),)}, False),
        ({"detail": "red"}, False),
    ],
)
def test_an_action_that_changed_what_can_be_read_had_an_effect(after, is_told):
    before = page(("checkbox", "I agree"))
    then = before.replace(elements=(before.elements[0].replace(**after),))
    facts: Any = SimpleNamespace(
        steps=[step(1, "click [1]"), step(2, "stop []")],
        page=lambda number: (before, then)[number - 1],
        part=lambda _number, _cls: Acted(effect="page action", outcome="done", target='checkbox "I agree"'),
    )
    assert bool(list(NoEffect().find(facts))) == is_told


def test_a_loop_tells_of_the_address_alone():
    steps = [step(number, "click [1]", url="http://localhost/") for number in (1, 2, 3)]
    facts: Any = SimpleNamespace(
        steps=steps, frames=lambda _: (), state_of=lambda _: "", state=lambda _: None
    )
    (cause,) = limits.Looped().find(facts)
    assert cause.evidence[1].text == "the address was the same: http://localhost/"
    assert "instruction" not in cause.why
