"""Changes of a draft: looks put in, taken out, moved, merged and split, and texts put in place of values."""

import pytest

from core.memory.editing.changes import (
    deleted,
    duplicated,
    elements,
    inserted,
    merged,
    moved,
    placeholder,
    placeholders,
    places,
    put_in_place,
    split,
)
from core.schema.errors import UsageError
from core.schema.exemplar import Draft, DraftStep

FIRST = '[1] textbox "Name"\n[2] textbox "City" value="Oslo" focused\n[3] button "Save"\n[4] link "x"\n[5] link "x"'
LATER = '[11] textbox "Name" value="Ada"\n[2] textbox "City"\n[13] button "Save" (red)\n[14] link "x"\n[15] link "y"'


def draft(*looks):
    return Draft(task="T", steps=tuple(DraftStep(**one) for one in looks))


def names(made):
    return "".join(one.thought for one in made.steps)


ABC = draft(*({"thought": name} for name in "abcd"))


def test_an_element_of_a_line_is_read_with_quotes_in_its_name():
    (one, two, three) = elements(
        '[1] text "click "mattis"."\n  [2] checkbox checked\n[3] tab "A" expanded selected'
    )
    assert (one.name, two.name, three.name) == ('click "mattis".', "", "A")
    assert (two.ref, two.role) == (2, "checkbox")


def test_looks_are_put_in_taken_out_doubled_and_moved_together():
    assert [one.thought for one in inserted(ABC, 1).steps] == ["a", "", "b", "c", "d"]
    assert names(deleted(ABC, (0, 2))) == "bd"
    assert names(duplicated(ABC, (0, 1))) == "ababcd"
    assert [names(moved(ABC, (0, 2), to)[0]) for to in range(5)] == ["acbd", "acbd", "bacd", "bacd", "bdac"]
    assert moved(ABC, (1,), 4)[1] == 3


def test_merged_looks_have_all_actions_with_elements_named_as_on_the_first_page():
    made = merged(
        draft(
            {"observation": FIRST, "thought": "Fill in.", "actions": ("type [1] [Ada]",)},
            {"observation": LATER, "thought": "Save.", "actions": ("type [2] [Bergen]", "click [13]")},
        ),
        (0, 1),
    )
    (look,) = made.draft.steps
    assert look.actions == ("type [1] [Ada]", "type [2] [Bergen]", "click [3]")
    assert (look.observation, look.thought) == (FIRST, "Fill in. Save.")
    assert made.remarks == ()


def test_what_is_not_unique_on_the_first_page_is_named_by_role_and_name_and_reported():
    made = merged(
        draft(
            {"observation": FIRST, "actions": ("click [3]",)},
            {"observation": LATER, "actions": ("click [14]", "click [15]", "click [99]", "jump up")},
        ),
        (1, 0),
    )
    assert made.draft.steps[0].actions[1:] == (
        'click [link "x"]',
        'click [link "y"]',
        "click [99]",
        "jump up",
    )
    assert ["shows 2 like it" in made.remarks[0], "does not show it" in made.remarks[1]] == [True, True]
    assert "does not show" in made.remarks[2]
    assert "cannot be read" in made.remarks[3]


@pytest.mark.parametrize("looks", [(0,), (0, 2)])
def test_only_looks_that_follow_one_another_are_merged(looks):
    with pytest.raises(UsageError, match="consecutive looks"):
        merged(ABC, looks)


def test_a_look_is_split_at_an_action_and_the_second_says_that_its_page_is_not_known():
    made = split(draft({"observation": FIRST, "thought": "So.", "actions": ("click [1]", "click [3]")}), 0, 1)
    assert [one.actions for one in made.draft.steps] == [("click [1]",), ("click [3]",)]
    assert [one.thought for one in made.draft.steps] == ["So.", ""]
    assert "Look 2 shows the page of look 1" in made.remarks[0]
    with pytest.raises(UsageError, match="its second or a later action"):
        split(made.draft, 0, 1)


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
    with pytest.raises(UsageError, match="lowercase letters"):
        placeholder(name)
