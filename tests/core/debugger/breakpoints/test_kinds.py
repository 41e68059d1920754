"""Breakpoints as data: read back as they were, and described in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.debugger.breakpoints.kinds.actions import ActionChosen, StateEntered
from core.debugger.breakpoints.kinds.problems import Condition, FigureAbove, LLMCall
from core.debugger.breakpoints.kinds.registry import GROUPS, KINDS, read_breakpoint
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


@given(st.one_of([breakpoints_of(cls) for cls in KINDS.values()]))
def test_any_breakpoint_is_read_back_as_it_was_and_has_a_label(breakpoint):
    assert read_breakpoint(json.loads(to_json(breakpoint))) == breakpoint
    assert breakpoint.label()


@pytest.mark.parametrize(
    ("breakpoint", "words"),
    [
        (StateEntered(state="item"), "state item is entered"),
        (ActionChosen(action="click", target="Delete…"), "click on a target named “Delete…”"),
        (ActionChosen(text="a", url="b"), "any action with text “a” at “b”"),
        (FigureAbove(figure="cost", above=0.5), "cost above 0.5"),
        (LLMCall(purpose="judge", when="after"), "after an LLM call (judge)"),
        (Condition(expression="step.number > 3"), "step.number > 3 becomes true"),
        (StateEntered(condition="run.seed == 3"), "any state is entered"),
    ],
)
def test_a_label_says_what_it_stops_at(breakpoint, words):
    assert breakpoint.label() == words


def test_every_kind_has_a_name_a_title_and_a_description():
    assert [cls.title for cls in KINDS.values() if not cls.__doc__] == []
    assert len({cls.title for cls in KINDS.values()}) == len(KINDS) == sum(map(len, GROUPS.values()))


def test_values_of_no_kind_are_refused():
    with pytest.raises(ValueError, match="no breakpoint of kind 'elsewhere'"):
        read_breakpoint({"kind": "elsewhere"})
    with pytest.raises(ValidationError):
        read_breakpoint({"kind": "figure", "figure": "cost"})
