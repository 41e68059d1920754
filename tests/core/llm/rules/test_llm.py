"""What the built-in LLM decides on a page, and that it decides by nothing but the page's words."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core.llm.rules
from core.environments.miniwob import read_catalogue, task_name
from core.llm.repair import read_reply
from core.llm.rules import RulesLLM
from core.schema.messages import LLMReply, LLMRequest, Turn
from core.schema.observation import Box
from tests.core.llm.rules.pages import page_of, request_for

LOGIN = """
paragraph "Username"
  textbox (#username)
paragraph "Password"
  textbox (#password)
button "Login"
"""


async def decide(objective: str, page: str, *turns: Turn) -> str:
    """Return the action as text."""
    request = request_for(objective, page, *turns)
    proposal, _ = read_reply(await RulesLLM().reply(request), request, "tools")
    assert proposal.problem == ""
    return str(proposal.action)


def turn(number: int, thought: str, action: str, result: str = "done") -> Turn:
    return Turn(number=number, thought=thought, action=action, result=result)


async def play(objective: str, *pages: str) -> list[str]:
    """Return the actions taken on a row of pages, each step shown in the next request."""
    llm = RulesLLM()
    turns: list[Turn] = []
    for number, page in enumerate(pages, start=1):
        request = request_for(objective, page, *turns)
        proposal, _ = read_reply(await llm.reply(request), request, "tools")
        turns.append(turn(number, proposal.thought, str(proposal.action)))
    return [one.action for one in turns]


@pytest.mark.parametrize(
    ("objective", "page", "action"),
    [
        ('Click on the "Save" button.', 'button "Cancel"\nbutton "Save"', "click [2]"),
        ('Click on the link "Eget".', 'link "eget"\nlink "Eget"', "click [2]"),
        ('Close the dialog by clicking the "x".', 'button "Close"\nparagraph "Some words"', "click [1]"),
        ("Click the 2nd checkbox.", "checkbox\ncheckbox\ncheckbox", "click [2]"),
        ("Focus into the 3rd input textbox.", "textbox\ntextbox\ntextbox", "click [3]"),
        (
            "Buy the ticket with the cheapest cost.",
            'button "Book for $90"\nbutton "Book for $1,200"\nbutton "Book for $80"',
            "click [3]",
        ),
        (
            "Buy the ticket with the longest duration.",
            'text "9h 38m"\nbutton "Book for $665"\ntext "10h 5m"\nbutton "Book for $61"',
            "click [4]",
        ),
        ('Click on a "checkbox" widget.', 'textbox\nbutton "OK"\ncheckbox', "click [3]"),
        ("Press login.", 'textbox\nbutton "OK"\nlink "Help"', "click [2]"),
        ("Click on Tab #2.", 'tab "Tab #1" expanded selected\ntab "Tab #2" collapsed', "click [2]"),
    ],
)
async def test_it_clicks_what_the_words_name(objective: str, page: str, action: str) -> None:
    assert await decide(objective, page) == action


async def test_a_form_is_filled_field_by_field_and_then_sent() -> None:
    objective = 'Enter the username "ann" and the password "pw" into the text fields and press login.'
    filled = LOGIN.replace("textbox (#username)", 'textbox value="ann" (#username)')
    whole = filled.replace("textbox (#password)", 'textbox value="••" (#password)')
    assert await play(objective, LOGIN, filled, whole) == ["type [2] [ann]", "type [4] [pw]", "click [5]"]


async def test_an_option_and_boxes_are_chosen_by_their_labels() -> None:
    chosen = 'combobox value="Oslo" options: *Oslo* | Rome\nbutton "Submit"'
    objective = "Select Rome from the list and click Submit."
    rome = chosen.replace('"Oslo" options: *Oslo* | Rome', '"Rome" options: Oslo | *Rome*')
    assert await play(objective, chosen, rome) == ["select [1] [Rome]", "click [2]"]
    boxes = 'checkbox "aa"\ncheckbox "bb"\ncheckbox "cc"\nbutton "Submit"'
    one = boxes.replace('"aa"', '"aa" checked')
    both = one.replace('"cc"', '"cc" checked')
    assert await play("Select aa, cc and click Submit.", boxes, one, both) == [
        "check [1]",
        "check [3]",
        "click [4]",
    ]


@pytest.mark.parametrize(
    ("wanted", "typed"),
    [
        ("ending with the extension .html", "type [2] [rm media.html] [enter=1]"),
        ("ending with the extension .tar.gz", "type [2] [rm old.tar.gz] [enter=1]"),
        ("that has no file extension", "type [2] [rm window] [enter=1]"),
        ("ending with the extension .zip", "stop []"),
    ],
)
async def test_a_file_is_found_and_deleted_at_a_command_line(wanted: str, typed: str) -> None:
    shown = 'generic "Type help for a list. user$ {} █"\ntextbox (#terminal-target)'
    objective = f"Use the terminal below to delete a file {wanted}"
    listed = shown.format("ls index.rb old.tar.gz media.html window user$")
    last = shown.format("ls index.rb old.tar.gz media.html window user$ rm x user$")
    actions = await play(objective, shown.format(""), listed, last)
    assert actions == ["type [2] [ls] [enter=1]", typed, "stop []"]


async def test_what_is_hidden_is_looked_for_section_by_section() -> None:
    closed = 'tab "Section #1" collapsed\ntab "Section #2" collapsed'
    opened = 'tab "Section #1" expanded\nparagraph "Nothing"\ntab "Section #2" collapsed'
    objective = 'Expand the sections below, to find and click on the link "aliquet".'
    assert await play(objective, closed, opened) == ["click [1]", "click [3]"]


async def test_a_calendar_is_turned_to_the_month_of_the_date() -> None:
    objective = "Select 11/05/2016 as the date and hit submit."
    field = 'textbox readonly (#date)\nbutton "Submit"'
    december = field + '\nlink "Prev"\nlink "Next"\ntext "December"\ntext "2016"\nlink "5"'
    november = december.replace("December", "November")
    picked = 'textbox value="11/05/2016" readonly (#date)\nbutton "Submit"'
    actions = await play(objective, field, december, november, picked)
    assert actions == ["click [1]", "click [3]", "click [7]", "click [2]"]


async def test_the_control_of_the_named_entry_is_used_and_not_that_of_another() -> None:
    page = """
generic "Ann Hello there"
  generic (.trash)
generic "Bob Good day"
  generic (.trash)
"""
    assert await decide("Find the email by Bob and click the trash icon to delete it.", page) == "click [4]"
    posts = 'text "@ann"\ngeneric (.like)\ngeneric (.share)\ntext "@bob"\ngeneric (.like)\ngeneric (.share)'
    assert await decide('For the user @bob, click on the "Share" button.', posts) == "click [6]"


async def test_an_action_that_failed_is_not_repeated_on_the_unchanged_page() -> None:
    failed = turn(1, "Part 1 of 1: …", "click [1]", "[1] button is covered by dialog.")
    assert await decide('Click "Save".', 'button "Save"', failed) != "click [1]"


async def test_what_a_person_did_instead_is_not_done_again() -> None:
    page = 'button "ONE"\nbutton "TWO"'
    by_person = turn(1, "", "click [1]")
    assert await decide("Click button ONE, then click button TWO.", page, by_person) == "click [2]"


async def test_each_purpose_of_a_decision_in_two_calls_gets_the_same_choice() -> None:
    llm = RulesLLM()
    request = request_for("Press login.", LOGIN)
    function = await llm.reply(request.replace(purpose="function"))
    rationale = await llm.reply(request.replace(purpose="rationale", tools=()))
    assert function.text == rationale.text
    assert function.tool_calls[0].name == "click"


async def test_it_stops_when_nothing_is_left_to_do() -> None:
    done = turn(1, "Part 1 of 1: …", "click [1]")
    assert (await decide('Click "Save".', 'button "Save"', done)).startswith("stop")


async def test_boxes_and_tags_are_not_looked_at() -> None:
    llm = RulesLLM()
    plain = await llm.reply(request_for("Press login.", page_of(LOGIN)))
    other = page_of(LOGIN, box=Box(x=900, y=-50, width=1, height=1), tag="b")
    assert (await llm.reply(request_for("Press login.", other))).tool_calls == plain.tool_calls


async def test_the_reply_has_the_form_that_was_asked_for() -> None:
    llm = RulesLLM()
    request = request_for("Press login.", LOGIN, tools=False)
    lines, _ = read_reply(await llm.reply(request), request, "lines")
    assert str(lines.action) == "click [5]"
    schema = request.replace(reply_schema={"type": "object"})
    read, _ = read_reply(await llm.reply(schema), schema, "json")
    assert str(read.action) == "click [5]"
    assert json.loads((await llm.reply(schema)).text)["thought"]
    rationale = await llm.reply(request.replace(purpose="rationale"))
    assert rationale.text
    assert "ACTION" not in rationale.text


async def test_a_tool_reply_has_a_thought_that_listeners_get_as_text() -> None:
    heard: list[str] = []
    reply = await RulesLLM().reply(request_for("Press login.", LOGIN), on_text=heard.append)
    assert heard == [reply.text]
    assert reply.text
    assert reply.usage.estimated
    assert reply.usage.completion_tokens > 0


async def test_it_says_that_it_cannot_judge() -> None:
    reply = await RulesLLM().reply(request_for("Is 4 the same as four?", LOGIN, purpose="judge", tools=False))
    assert "cannot judge" in reply.text


async def test_a_request_without_a_page_is_declined_in_words() -> None:
    reply = await RulesLLM().reply(LLMRequest(purpose="decide", messages=()))
    assert reply.tool_calls == ()
    assert "permissible" in reply.text


_WORDS = st.sampled_from(
    'Click Select Enter "Save" "Oslo" the button checkbox 3rd into textbox and then drag slider 12 from list '
    "Search for cheapest by Ann reply email date 12/05/2016 how many red circles > : ( [ ]".split()
)
_LINES = st.sampled_from(
    [
        'button "Save"',
        "textbox",
        'textbox value="x" readonly',
        'checkbox "Oslo"',
        "combobox options: *Rome* | Oslo",
        'tab "More" collapsed',
        "generic (red circle 9×9 at 1,1)",
        'text "December 2016"',
        'link ">"',
        'button "Gone" disabled',
        'text "3 + 4 ="',
        'listitem "Ann wrote"',
    ]
)


@settings(max_examples=150)
@given(objective=st.lists(_WORDS, max_size=9), lines=st.lists(_LINES, max_size=7), steps=st.integers(1, 4))
async def test_whatever_is_asked_only_permissible_actions_are_proposed(
    objective: list[str], lines: list[str], steps: int
) -> None:
    turns: list[Turn] = []
    for number in range(1, steps + 1):
        request = request_for(" ".join(objective), page_of("\n".join(lines) or 'text "empty"'), *turns)
        reply: LLMReply = await RulesLLM().reply(request)
        proposal, _ = read_reply(reply, request, "tools")
        assert proposal.action is not None, proposal.problem
        turns.append(turn(number, proposal.thought, str(proposal.action)))


def test_the_rules_name_no_task() -> None:
    folder = Path(core.llm.rules.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    names = {task_name(entry.page) for entry in read_catalogue()}
    assert [name for name in names if "-" in name and name in source] == []
