"""Breakpoints as data: read back as they were, and told in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.debugger.breakpoints.kinds import (
    BREAKPOINT,
    BREAKPOINTS,
    ActionChosen,
    Condition,
    FigureAbove,
    LLMCall,
    StateEntered,
    title,
)
from core.trace.encoding import to_json
from tests.core.trace.making_records import COUNTS, SOME, of


def test_values_out_of_their_bounds_are_refused():
    with pytest.raises(ValidationError):
        FigureAbove(figure="cost", above=float("nan"))
    with pytest.raises(ValidationError):
        ActionChosen(ignore=-1)


NARROWER = {"ignore": COUNTS, "above": st.floats(min_value=0, allow_infinity=False), "expression": SOME}


def breakpoints_of(cls):
    fields = {
        name: NARROWER[name] if name in NARROWER else of(field.annotation)
        for name, field in cls.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(lambda values: cls(**values))


@given(st.one_of([breakpoints_of(cls) for cls in BREAKPOINTS.values()]))
def test_any_breakpoint_is_read_back_as_it_was_and_has_a_title(breakpoint):
    assert BREAKPOINT.validate_python(json.loads(to_json(breakpoint))) == breakpoint
    assert title(breakpoint)


@pytest.mark.parametrize(
    ("breakpoint", "words"),
    [
        (StateEntered(state="item"), "state item is entered"),
        (ActionChosen(action="click", target="Delete…"), "click on a target named “Delete…”"),
        (ActionChosen(text="a", url="b"), "any action with text “a” at “b”"),
        (FigureAbove(figure="cost", above=0.5), "cost above 0.5"),
        (LLMCall(purpose="judge", when="after"), "after an LLM call (judge)"),
        (Condition(expression="step.number > 3"), "step.number > 3 becomes true"),
        (StateEntered(condition="run.seed == 3"), "any state is entered, if run.seed == 3"),
    ],
)
def test_a_title_says_what_it_stops_at(breakpoint, words):
    assert title(breakpoint) == words
