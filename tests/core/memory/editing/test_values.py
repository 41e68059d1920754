"""Values generalised into placeholders, and back."""

import pytest

from core.memory.editing.draft import Draft, DraftStep
from core.memory.editing.values import placeholder, placeholders, places, put_in_place
from core.schema.errors import UsageError

DRAFT = Draft(
    task="Fly to Oakland.",
    steps=(
        DraftStep(
            observation='[1] textbox "To"\n[2] text "Oaklands are oaks"',
            thought="Oakland it is: Oakland.",
            actions=("type [1] [Oakland]",),
        ),
    ),
    parser="CITY = 'Oakland'",
)


def test_a_value_is_found_with_its_places_but_not_within_a_longer_word():
    found = places(DRAFT, "Oakland")
    assert [(one.part, one.count) for one in found] == [
        ("task", 1),
        ("look 1, thought", 2),
        ("look 1, action 1", 1),
    ]
    assert found[0].shown == "Fly to Oakland."
    assert "look 1, observation" in [one.part for one in places(DRAFT, "Oakland", whole=False)]


def test_a_value_becomes_a_placeholder_everywhere_and_is_put_back():
    made = put_in_place(DRAFT, "Oakland", placeholder("city"))
    assert made.task == "Fly to {city}."
    assert made.steps[0].actions == ("type [1] [{city}]",)
    assert (placeholders(made), made.parser) == (("{city}",), DRAFT.parser)
    assert put_in_place(made, "{city}", "Oakland", whole=False) == DRAFT


def test_only_the_chosen_places_are_changed():
    made = put_in_place(DRAFT, "Oakland", "{city}", parts=("task",))
    assert (made.task, made.steps) == ("Fly to {city}.", DRAFT.steps)


def test_brackets_of_a_value_are_written_in_actions_as_actions_have_them():
    draft = Draft(task="Enter a[1].", steps=(DraftStep(actions=(r"type [1] [a\[1\]]",)),))
    made = put_in_place(draft, "a[1]", "{text}")
    assert (made.task, made.steps[0].actions) == ("Enter {text}.", ("type [1] [{text}]",))
    assert put_in_place(made, "{text}", "a[1]", whole=False) == draft


@pytest.mark.parametrize("name", ["", "City", "a b", "1st", "{city"])
def test_what_is_no_name_of_a_placeholder_is_refused(name):
    with pytest.raises(UsageError, match="small letters"):
        placeholder(name)
