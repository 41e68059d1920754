import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.placeholders import filled, names_in, offered, values_in, with_placeholders, with_values
from core.exemplars.retrieval import recall
from core.llm.embedding import HashedWords
from core.schema.action import escape_brackets
from core.schema.exemplar import Contrast, RecallSettings, metadata_of
from tests.core.exemplars.making import exemplar

LOGIN = exemplar(
    "enter-text",
    0,
    task="Log in as {user} with {password}.",
    steps=(
        {
            "observation": '[1] textbox "Name"\n[2] textbox "{user} {other}"',
            "thought": "{user} goes first.",
            "actions": ("type [1] [{user}]", "type [2] [{password}]"),
        },
    ),
    contrasts=(
        Contrast(tried="type [1] [{password}]", right="type [1] [{user}]", why="{user} is the name."),
    ),
)


@pytest.mark.parametrize(
    ("task", "instruction", "values"),
    [
        ("Log in as {user}.", "Log in as Ada.", {"user": "Ada"}),
        ("Log in as {user}.", "log in  as Ada Lovelace.", {"user": "Ada Lovelace"}),
        ("{user}, {city}", "Ada, Oslo", {"user": "Ada", "city": "Oslo"}),
        ("{user} to {user}", "Ada to Ada", {"user": "Ada"}),
        ("{user} to {user}", "Ada to Bob", None),
        ("Log in as {user}.", "Log in as .", None),
        ("Log in as {user}.", "Log out as Ada.", None),
        ("Log in as {user}.", "Log in as Ada. Now.", {"user": "Ada. Now"}),
        ("Say a {x}", "Say a b a c", {"x": "b a c"}),
        ("No placeholder.", "No placeholder.", {}),
        ("No placeholder.", "Another.", None),
        ("{a}{b}", "xy", None),
        ("Send {what} to {who}", "Send Straße to Bob", {"what": "Straße", "who": "Bob"}),
        ("Set {a} then {a} end", "Set x then x end", {"a": "x"}),
        ("{a} to {b}.", "x to y to z.", {"a": "x", "b": "y to z"}),
    ],
)
def test_values_are_what_makes_the_task_read_like_the_instruction(task, instruction, values):
    assert values_in(task, instruction) == values


@given(
    st.dictionaries(
        st.sampled_from(["user", "city"]), st.from_regex(r"[A-Za-z0-9]{1,9}", fullmatch=True), min_size=2
    )
)
def test_what_is_filled_in_reads_like_the_instruction_and_gives_its_values_again(values):
    task = "Send ‹{user}› a letter to ‹{city}›, {user}!"
    instruction = f"Send ‹{values['user']}› a letter to ‹{values['city']}›, {values['user']}!"
    assert values_in(task, instruction) == values
    assert filled(LOGIN.replace(task=task), instruction).task == instruction


def test_values_are_filled_in_everywhere_and_brackets_are_kept_apart():
    found = filled(LOGIN, "Log in as A[1] with xyz.")
    assert found.task == "Log in as A[1] with xyz."
    assert found.steps[0].observation == '[1] textbox "Name"\n[2] textbox "A[1] {other}"'
    assert found.steps[0].actions == (r"type [1] [A\[1\]]", "type [2] [xyz]")
    assert found.contrasts[0].tried == "type [1] [xyz]"
    assert found.id == LOGIN.id


def test_what_cannot_be_filled_in_is_explained():
    found = filled(LOGIN, "Buy a lamp.")
    assert (
        found.task
        == "Log in as {user} with {password}. ({user} and {password} stand for values that the task gives.)"
    )
    assert found.steps == LOGIN.steps
    plain = LOGIN.replace(task="Log in.")
    assert filled(plain, "Buy a lamp.") is plain


async def test_a_run_is_shown_the_values_of_its_own_task():
    index = ExemplarIndex(HashedWords())
    await index.refresh(numbered([LOGIN]))
    found = await recall(metadata_of("Log in as Bob with 123.", "[1] button"), index, RecallSettings())
    assert found.used == (with_values(LOGIN, {"user": "Bob", "password": "123"}),)


def test_values_that_the_task_names_are_offered_under_the_names_of_their_elements():
    draft = LOGIN.replace(
        task="Log in as Ada with Ada and xyz in Oslo.",
        steps=(
            {
                "observation": '[1] textbox "User name:"\n[2] textbox',
                "actions": ("type [1] [Ada]", "type [2] [xyz]"),
            },
            {
                "observation": '[4] combobox "User name:"',
                "actions": ("select [4] [Oslo]", "type [4] [none]", "no"),
            },
        ),
    )
    draft = type(LOGIN).model_validate(draft.model_dump())
    assert offered(draft) == {"Ada": "{user_name}", "xyz": "{value}", "Oslo": "{user_name2}"}
    assert names_in(LOGIN.task) == ("user", "password")


@given(
    st.lists(st.text("ab[]{}x. ", min_size=2, max_size=5).filter(str.strip), min_size=1, max_size=3),
    st.text("ab[]x. ", max_size=12),
)
def test_placeholders_that_are_put_in_can_be_filled_with_what_was_there(values, more):
    draft = LOGIN.replace(
        task=f"Enter {' and '.join(values)}. {more}",
        steps=(
            LOGIN.steps[0].replace(
                observation=f'[1] textbox "Name"\n[2] text "{more}"',
                thought=f"{more} {values[0]}",
                actions=tuple(f"type [1] [{escape_brackets(value)}]" for value in values),
            ),
        ),
        contrasts=(),
    )
    offers = offered(draft)
    put = with_placeholders(draft, offers)
    assert all(name in put.task for name in offers.values())
    assert with_values(put, {name[1:-1]: value for value, name in offers.items()}) == draft


@pytest.mark.parametrize("value", ["12", "click", "button", "type", "enter=1"])
def test_numbers_and_roles_of_elements_and_verbs_stay_whatever_the_value_is(value):
    draft = LOGIN.replace(
        task=f"Set the field to {value}.",
        contrasts=(),
        metadata=f'Task: Set it to {value}.\nState:\n[12] button "{value}"',
        steps=(
            LOGIN.steps[0].replace(
                observation=f'[12] button "Set it to {value}"\n[3] textbox "Field"',
                actions=(f"type [3] [{value}]", "click [12]"),
            ),
        ),
    )
    put = with_placeholders(draft, offered(draft))
    assert put.task == "Set the field to {field}."
    assert put.metadata == 'Task: Set it to {field}.\nState:\n[12] button "{field}"'
    assert put.steps[0].observation == '[12] button "Set it to {field}"\n[3] textbox "Field"'
    assert put.steps[0].actions == ("type [3] [{field}]", "click [12]")


def test_a_placeholder_gets_a_name_that_stands_nowhere_else():
    draft = LOGIN.replace(
        task="Enter Ada.",
        contrasts=(),
        steps=(
            LOGIN.steps[0].replace(
                observation='[1] textbox "Name"\n[2] text "{name}"', actions=("type [1] [Ada]",)
            ),
        ),
    )
    assert offered(draft) == {"Ada": "{name2}"}


def test_only_whole_words_become_placeholders():
    draft = LOGIN.replace(
        task="Say cat.",
        metadata="cats",
        contrasts=(),
        steps=(
            LOGIN.steps[0].replace(
                observation='[1] textbox "What"', thought="cat, not cats", actions=("type [1] [cat]",)
            ),
        ),
    )
    put = with_placeholders(draft, offered(draft))
    assert (put.task, put.metadata, put.steps[0].thought) == ("Say {what}.", "cats", "{what}, not cats")
    assert put.steps[0].actions == ("type [1] [{what}]",)
    assert with_placeholders(draft, {}) == draft
