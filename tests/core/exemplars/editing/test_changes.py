"""Commands on the text of an exemplar: tables put in, taken out, moved, merged and split, and values replaced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exemplars.editing import changes
from core.exemplars.editing.reading import read
from core.exemplars.editing.toml_text import text_of
from core.schema.errors import UsageError
from core.schema.exemplar import Draft, DraftContrast, DraftStep

FIRST = '[1] textbox "Name"\n[2] textbox "City" value="Oslo" focused\n[3] button "Save"\n[4] link "x"\n[5] link "x"'
LATER = '[11] textbox "Name" value="Ada"\n[2] textbox "City"\n[13] button "Save" (red)\n[14] link "x"\n[15] link "y"'
LETTERS = """# All of it.
task = 'T' # as it is

# The first.
[[steps]]
thought = 'a'

[[steps]]
thought = "b" # Of the second.
[[steps]]
thought = 'c'"""


def draft(text: str) -> Draft:
    found = read(text, lambda _: ()).draft
    assert found is not None
    return found


def thoughts(made: changes.Edit) -> str:
    return "".join(one.thought or "-" for one in draft(made.text).steps)


def at(text: str, words: str) -> int:
    return text.index(words)


def looks(*steps) -> str:
    return text_of(Draft(task="T", steps=tuple(DraftStep(**one) for one in steps)))


def test_an_element_of_a_line_is_read_with_quotes_in_its_name():
    found = changes.elements('[1] text "click "mattis"."\n  [2] checkbox checked\nx\n[3] tab "A" expanded')
    assert found == ((0, (1, "text", 'click "mattis".')), (1, (2, "checkbox", "")), (3, (3, "tab", "A")))


def test_tables_are_put_in_taken_out_doubled_and_moved_with_their_comments():
    b, c = at(LETTERS, '"b"'), at(LETTERS, "'c'")
    assert thoughts(changes.inserted(LETTERS, b, b)) == "ab-c"
    assert thoughts(changes.inserted(LETTERS, 0, 0)) == "abc-"
    assert thoughts(changes.deleted(LETTERS, b, b)) == "ac"
    assert thoughts(changes.deleted(LETTERS, b, c + 1)) == "a"
    assert thoughts(changes.duplicated(LETTERS, b, c + 1)) == "abcbc"
    made = changes.moved(LETTERS, b, b, -1)
    assert thoughts(made) == "bac"
    assert made.text.index("# The first.\n[[steps]]\nthought = 'a'") > made.text.index('"b"')
    assert made.text.startswith("# All of it.\ntask = 'T' # as it is\n\n[[steps]]")
    made = changes.moved(LETTERS, b, b, 1)
    assert thoughts(made) == "acb"
    assert made.text[made.at :] == '[[steps]]\nthought = "b" # Of the second.\n'
    assert thoughts(changes.moved(LETTERS, b, c + 1, -1)) == "bca"


def test_moving_there_and_back_and_deleting_what_was_inserted_change_nothing():
    text = looks({"thought": "a"}, {"thought": "b"})
    there = changes.moved(text, at(text, '"a"'), at(text, '"a"'), 1)
    assert changes.moved(there.text, there.at, there.at, -1).text == text
    new = changes.inserted(text, 0, 0)
    assert changes.deleted(new.text, new.at, new.at).text.rstrip() == text.rstrip()


def test_a_contrast_shows_the_page_of_the_look_with_the_cursor():
    text = looks({"observation": FIRST}, {"observation": LATER})
    made = changes.inserted(text, at(text, "[11]"), at(text, "[11]"), "contrasts")
    assert [one.observation for one in draft(made.text).contrasts] == [LATER]
    assert made.text[made.at :].startswith("[[contrasts]]")
    assert len(draft(changes.inserted(made.text, 0, 0, "abstraction").text).abstraction) == 1


@pytest.mark.parametrize(
    ("do", "words", "why"),
    [
        (changes.deleted, "task", "cursor in a table"),
        (lambda *where: changes.moved(*where, -1), "'a'", "already the first step"),
        (lambda *where: changes.moved(*where, 1), "'c'", "already the last step"),
        (changes.merged, "'c'", "no step directly behind"),
        (changes.split, "'a'", "second or a later action"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_there_is_said(do, words, why):
    with pytest.raises(UsageError, match=why):
        do(LETTERS, at(LETTERS, words), at(LETTERS, words))


def test_a_contrast_between_two_looks_is_not_lost_by_merging_them():
    text = LETTERS.replace("[[steps]]\nthought = 'c'", "[[contrasts]]\n[[steps]]\nthought = 'c'")
    with pytest.raises(UsageError, match="no step directly behind"):
        changes.merged(text, at(text, '"b"'), at(text, '"b"'))
    with pytest.raises(UsageError, match="several kinds"):
        changes.merged(text, at(text, '"b"'), len(text))


def test_a_look_that_cannot_be_read_is_not_merged():
    text = LETTERS.replace('"b"', "b")
    with pytest.raises(UsageError, match="The step in line 8 cannot be read"):
        changes.merged(text, at(text, "'a'"), at(text, "'a'"))


def test_merged_looks_have_all_actions_with_elements_named_as_on_the_first_page():
    text = looks(
        {"observation": FIRST, "thought": "Fill in.", "actions": ("type [1] [Ada]",)},
        {"observation": LATER, "thought": "Save.", "actions": ("type [2] [Bergen]", "click [13]")},
    )
    made = changes.merged(text, at(text, "[[steps"), at(text, "[[steps"))
    (look,) = draft(made.text).steps
    assert look.actions == ("type [1] [Ada]", "type [2] [Bergen]", "click [3]")
    assert (look.observation, look.thought, made.remark) == (FIRST, "Fill in. Save.", "")


def test_what_is_not_unique_on_the_first_page_is_named_by_role_and_name_and_remarked():
    text = looks(
        {"observation": FIRST, "actions": ("click [3]",)},
        {"observation": LATER, "actions": ("click [14]", "click [15]", "click [99]", "jump up")},
    )
    made = changes.merged(text, at(text, "[[steps"), len(text))
    actions = draft(made.text).steps[0].actions
    assert actions[1:] == ('click [link "x"]', 'click [link "y"]', "click [99]", "jump up")
    for words in ("shows 2 like it", "does not show it", "does not show.", "cannot be read"):
        assert words in made.remark


def test_a_look_is_split_at_an_action_and_it_is_said_that_the_second_page_is_not_known():
    text = looks({"observation": FIRST, "thought": "So.", "actions": ("click [1]", "click [3]")})
    made = changes.split(text, at(text, "click [3]"), at(text, "click [3]"))
    steps = draft(made.text).steps
    assert [one.actions for one in steps] == [("click [1]",), ("click [3]",)]
    assert [one.thought for one in steps] == ["So.", ""]
    assert "Step 2 shows the page of step 1" in made.remark
    assert made.text[made.at :].startswith("[[steps]]")


def test_the_lines_of_an_actions_elements_are_found_by_ref_and_by_role_and_name():
    text = looks({"observation": FIRST, "actions": ("click [3]", 'click [link "x"]', "wait [2.0]", "jump")})
    lines = text.split("\n")
    shown = changes.lines_of_elements(text, at(text, "click [3]"))
    assert [lines[line] for line in shown] == ['[3] button "Save"']
    shown = changes.lines_of_elements(text, at(text, "click [link"))
    assert [lines[line][:3] for line in shown] == ["[4]", "[5]"]
    for words in ("wait", "jump", "task"):
        assert changes.lines_of_elements(text, at(text, words)) == ()


FLIGHT = Draft(
    task="Fly to Oakland.",
    steps=(
        DraftStep(
            observation='[1] textbox "To"\n[2] text "Oaklands are oaks"',
            thought="Oakland it is: Oakland.",
            actions=("type [1] [Oakland]",),
        ),
    ),
    contrasts=(DraftContrast(tried="click [1]", right="type [1] [Oakland]", names=("Oakland",)),),
    parser="CITY = 'Oakland'",
    note="Oakland",
)


def test_a_value_is_replaced_everywhere_but_in_longer_words_and_code_and_put_back():
    text = text_of(FLIGHT)
    made, times = changes.replaced(text, "Oakland", "{city}")
    assert times == 5
    flight = draft(made)
    assert (flight.task, flight.steps[0].thought) == ("Fly to {city}.", "{city} it is: {city}.")
    assert (flight.steps[0].actions, flight.contrasts[0].right) == (
        ("type [1] [{city}]",),
        "type [1] [{city}]",
    )
    assert (flight.steps[0].observation, flight.note, flight.parser) == (
        FLIGHT.steps[0].observation,
        FLIGHT.note,
        FLIGHT.parser,
    )
    assert changes.replaced(made, "{city}", "Oakland") == (text, 5)
    assert changes.replaced(text, "Oakland", "{city}", whole=False)[1] == 6
    assert changes.replaced(text, "", "x") == changes.replaced(text, "Bergen", "x") == (text, 0)


def test_a_number_is_replaced_where_it_is_a_value_and_not_where_it_is_an_element():
    step = DraftStep(
        observation='[1] textbox "Guests"\n  [2] button "2 [2] guests"',
        actions=("type [2] [2]", "drag [2] [12]", r'click button "a [2\]"', "stop [2]", "2 or [2]"),
    )
    made, times = changes.replaced(text_of(Draft(task="For 2.", steps=(step,))), "2", "{n}")
    (changed,) = draft(made).steps
    assert changed.observation == '[1] textbox "Guests"\n  [2] button "{n} [{n}] guests"'
    assert changed.actions == (
        "type [2] [{n}]",
        "drag [2] [12]",
        r'click button "a [{n}\]"',
        "stop [{n}]",
        "{n} or [{n}]",
    )
    assert (draft(made).task, times) == ("For {n}.", 8)


def test_values_that_cannot_be_read_and_tables_of_others_are_left_alone():
    text = 'task = "Oakland \\q"\nmetadata = "Oakland"\n[[x.steps]]\nactions = ["Oakland"]'
    made, times = changes.replaced(text, "Oakland", "Bergen")
    assert (made, times) == (text.replace('metadata = "Oakland"', 'metadata = "Bergen"'), 1)
    with pytest.raises(UsageError, match="cursor in a table"):
        changes.merged(text, len(text), len(text))


def test_brackets_of_a_value_are_written_in_actions_as_actions_have_them():
    flight = Draft(task="Enter a[1].", steps=(DraftStep(actions=(r"type [1] [a\[1\]]",)),))
    made, _ = changes.replaced(text_of(flight), "a[1]", "{text}")
    assert (draft(made).task, draft(made).steps[0].actions) == ("Enter {text}.", ("type [1] [{text}]",))
    assert draft(changes.replaced(made, "{text}", "a[1]")[0]) == flight


@given(
    st.text("ab'\"\\\n[]{} ", max_size=12), st.text("ab'\"\\\n", min_size=1, max_size=3), st.text("c'\"\\\n")
)
def test_a_replaced_text_says_what_replacing_in_it_says(content, value, other):
    made, times = changes.replaced(text_of(Draft(task=content)), value, other, whole=False)
    assert draft(made).task == content.replace(value, other)
    assert times == content.count(value)
