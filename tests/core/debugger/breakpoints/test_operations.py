"""Values of expressions as text."""

import pytest

from core.debugger.breakpoints.operations import text_of_value
from core.debugger.breakpoints.subject import PolicyPart
from core.schema.observation import Box, Element


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (0.5, "0.5"),
        (7, "7"),
        ((), "none"),
        (("a", None), "a, nothing"),
        (tuple(range(30)), ", ".join(map(str, range(20))) + ", and 10 more"),
        (
            Element(ref=4, role="button", name="Save", box=Box(x=0, y=0, width=1, height=1)),
            '[4] button "Save"',
        ),
        (PolicyPart(name="search", argument="", depth=2), "name: search, argument: , depth: 2"),
    ],
)
def test_a_value_reads_as_text(given_, text):
    assert text_of_value(given_) == text
