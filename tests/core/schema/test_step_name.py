"""The names of steps in lists, files and reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.schema.step_name import step_name
from core.trace.records import StepRow


@pytest.mark.parametrize(
    ("action", "target", "name"),
    [
        ("type [5] [karrie]", 'textbox (beside "Password", #password)', 'Password ← "karrie"'),
        ("type [3] [a [b\\]]]", 'textbox "Q"', 'Q ← "a [b]]"'),
        ("type [3] [tea] [enter=1]", 'searchbox "Search"', 'Search ← "tea" ↵'),
        ("type [3] [tea]", "textbox", 'textbox ← "tea"'),
        ("select [7] [Monday]", 'combobox "Day"', 'Day ← "Monday"'),
        ("type [3] [x=5]", 'textbox "Answer"', 'Answer ← "x=5"'),
        ("type [3] [5] [append=1]", 'textbox "Answer"', 'Answer ← "5" [append=1]'),
        ("click [6]", 'button "Login"', 'click button "Login"'),
        ("click [6]", "", "click [6]"),
        ("drag [6] [7]", 'slider "Size"', 'drag slider "Size" [7]'),
        ("search [caffeine free tea] [100]", 'searchbox "Keywords"', 'search ← "caffeine free tea", 100'),
        ("select_item [BK9FDJPVJ6]", "xpath=//a", "select_item ← BK9FDJPVJ6"),
        ("next_page", 'link "Next"', "next_page"),
        ("scroll [down]", "", "scroll [down]"),
        ("stop [42]", "", "stop [42]"),
        ("type [3] [not closed", 'textbox "Q"', 'type textbox "Q" [not closed'),
    ],
)
def test_it_says_what_matters(action, target, name):
    assert step_name(action, target) == name


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_a_name(action, target):
    assert isinstance(step_name(action, target), str)


def test_a_step_without_an_action_says_whether_one_may_come():
    assert StepRow(run=1, number=1).in_words == "…"
    assert StepRow(run=1, number=1, outcome="skipped").in_words == "no action"
