"""The built-in LLM at shops that nobody wrote a policy or a state space for."""

import re

from core.llm.rules.llm import RulesLLM
from core.schema.messages import Turn
from tests.core.llm.rules.pages import request_for

GOAL = "i want a red enamel kettle, size large, and price lower than 40.00 dollars"
SEARCHED = Turn(number=1, action="type [1] [red enamel kettle]", target='textbox "Search"', result="done")
# Links are codes, the titles stand beside them, and radio buttons have no group.
RESULTS = """
form
  button "Back to Search"
form
  button "Next >"
list
  heading "B001"
    link "B001"
  heading "Blue steel kettle"
  heading "$12.00"
list
  heading "B002"
    link "B002"
  heading "Red enamel kettle with lid"
  heading "$55.00"
list
  heading "B003"
    link "B003"
  heading "Enamel kettle in red"
  heading "$35.00"
"""
ITEM = """
heading "size"
radio "small"
radio "large"
heading "color"
radio "blue"
radio "red"
heading "Enamel kettle in red"
form
  button "Buy Now"
"""


async def choice(page: str, *turns: Turn) -> tuple[str, str]:
    """Return the action and the thought."""
    reply = await RulesLLM().reply(request_for(GOAL, page, *turns, tools=False))
    thought, _, action = reply.text.partition("\nACTION: ")
    return action, thought


async def test_a_result_is_told_by_the_words_of_its_entry():
    assert (await choice(RESULTS, SEARCHED))[0] == "click [17]", "the other is too dear"


async def test_where_no_result_fits_some_pages_of_them_are_turned():
    others = re.sub("enamel kettle|kettle in", "garden chair of", RESULTS, flags=re.IGNORECASE)
    turns = [SEARCHED]
    while (found := await choice(others, *turns))[0] == "click [4]":
        thought = found[1].removeprefix("REASON: ")
        turns.append(Turn(number=len(turns) + 1, action="click [4]", thought=thought, result="done"))
    assert len(turns) == 5
    assert "offers nothing" in found[1]


async def test_radio_buttons_in_a_row_are_chosen_row_by_row():
    action, thought = await choice(ITEM)
    assert action == "click [3]"
    assert 'under the heading "size"' in thought
    taken = ITEM.replace('"large"', '"large" checked')
    assert (await choice(taken))[0] == "click [6]"
    assert (await choice(taken.replace('"red"\n', '"red" checked\n')))[0] == "click [9]"


async def test_it_says_that_nothing_fits_where_nothing_was_bought():
    none = 'heading "No results"\nlink "Home"'
    assert "offers nothing" in (await choice(none, SEARCHED))[1]
    bought = Turn(number=4, action="click [9]", target='button "Buy Now"', result="done")
    assert "Nothing more" in (await choice('heading "Thank you!"', SEARCHED, bought))[1]
