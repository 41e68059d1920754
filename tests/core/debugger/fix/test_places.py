"""Where Fix opens a file, by what a step left behind."""

import pytest

from core.agent.presets import Presets
from core.debugger.fix.places import places_of
from core.schema.action_space import Permissible
from core.schema.changes import Changes
from core.schema.step import Diagram, Fit, Recognised

SPACE = """
[[state]]
name = "search"
must = ['textbox "Search"']

[[state]]
name = 'results'
url = '/results'
must = [
    'heading "Results"',
    'link "Next"',
]
"""


class Files:
    """The files of an agent, of which there is one."""

    def names(self):
        return ("state_spaces/shop.toml",)

    def name_of(self, path):
        return self.names()[0]

    def read(self, name):
        return SPACE


@pytest.mark.parametrize(
    ("missed", "line"),
    [
        ('no element like link "Next"', 11),
        ('no element like heading "Results"', 10),
        ("the address is not /results", 8),
        ("something else", 8),
    ],
)
def test_a_state_space_opens_at_the_rule_that_spoke_against_the_nearest_state(missed, line):
    recognised = Recognised(
        space="shop",
        state="none",
        why="",
        fits=(
            Fit(state="search", fits=False, missed="no element"),
            Fit(state="results", fits=False, matched=("url",), missed=missed),
        ),
        diagram=Diagram(title="Shop", file="/shop.toml"),
        permissible=Permissible(actions=()),
    )
    places = places_of(
        (recognised,),
        None,
        None,
        preset=Presets().get("laser"),
        resources=None,
        files=Files(),
        changes=Changes(),
    )
    (space,) = [place for place in places if place.kind == "state space"]
    assert (space.name, space.line) == ("state_spaces/shop.toml", line)
