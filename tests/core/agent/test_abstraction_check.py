"""Clean observations against the pages that they were made of."""

import re

import pytest

from core.agent.abstraction import clean_of
from core.agent.abstraction_by_llm import read_clean
from core.agent.abstraction_check import named_in, problem_of
from core.schema.observation import Option
from tests.core.agent.spaces.pages import element, page

TASK = 'Find the mail by Ada and forward it to "Bob Smith", all 3 parts.'
INBOX = page(
    element(1, "text", "Find the mail by"),
    element(2, "text", TASK),
    element(3, "link", "Ada: Hello", uses=("click",)),
    element(4, "link", "Cid: News", uses=("click",)),
    element(5, "text", "3 mails"),
)


def checked(text: str, task: str = TASK, observation=INBOX, done=()) -> str:
    return problem_of(read_clean(text, observation)[0], observation, task, done=done)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        (TASK, ("Bob Smith", "3", "Ada")),
        ("Click on the OK button. Then press Enter.", ("OK", "Enter")),
        ("Book a flight from: Anvik, AK to: MOT on 12/23/2016.", ("12/23/2016", "Anvik", "AK", "MOT")),
        ("Was kostet “die Lampe”?", ("die Lampe",)),
        ("delete the file", ()),
    ],
)
def test_what_a_task_names_is_what_is_quoted_numbers_and_words_with_a_capital(task, names):
    assert named_in(task) == names


def test_a_page_that_keeps_what_is_named_may_be_shown():
    assert checked('[3] link "Ada: Hello"\n[5] 3 mails') == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  ", "contains nothing"),
        ("[3] Ada, 3 mails, and [77] too", r"\[77\], which the page does not contain"),
        ("There are 3 mails, one by Ada.", "none of the 2 usable elements"),
        ("[4] link: 3 mails", "does not contain “Ada”, although the task names this and the page shows it"),
        ("[3] Adalbert", "does not contain “3”, “Ada”"),
        ("[3] something\n3 mails, Ada", r'Its lines do not say what these are: \[3\] link "Ada: Hello"\.'),
    ],
)
def test_what_is_missing_is_said(text, problem):
    assert re.search(problem, checked(text))


def test_the_task_itself_need_not_be_kept_where_the_page_shows_it():
    assert "Bob" not in checked("[4] link")
    shown = page(
        element(1, "text", "Delete the file that ends with"),
        element(2, "text", "Zed"),
        element(3, "button", "Go", uses=("click",)),
    )
    assert checked('[3] button "Go"', "Delete the file that ends with Zed", shown) == ""


def test_what_was_done_already_need_not_be_kept():
    assert checked("[4] link: 3 mails", done=['click [3] link "Ada: Hello"']) == ""


CITED = page(
    element(1, "link", "Home", uses=("click",)),
    element(2, "text", "Paris is big [2019] and old [1], see [[2]]"),
    element(3, "link", "[1]", uses=("click",)),
    element(
        4, "combobox", "Year", detail="of [7]", options=(Option(label="[2018]", value="a"),), uses=("select",)
    ),
    element(5, "text", "Lyon is small [2020]"),
)


def test_numbers_in_brackets_that_the_page_says_are_no_refs():
    whole = clean_of(CITED).text
    clean, unknown = read_clean(whole, CITED)
    assert (unknown, [one.ref for one in clean.elements]) == ("", [1, 2, 3, 4, 5])
    assert checked(whole, "Read of it.", CITED) == ""
    clean, _ = read_clean('[2] text "Paris is big [2019] and old [1]"\n', CITED)
    assert [one.ref for one in clean.elements] == [2]


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("Home [1], Year [4]; Paris is big [2019]", [1, 4]),
        ("- [1] Home\n[2019] big: Paris", [1]),
        ("[2] Paris, old [1], and the link [3] to it; [4] has [7]", [2, 3, 4]),
    ],
)
def test_a_ref_may_stand_anywhere_in_a_line_that_was_rewritten(text, refs):
    clean, unknown = read_clean(text, CITED)
    assert ([one.ref for one in clean.elements], unknown) == (refs, "")


def test_a_number_in_brackets_that_the_page_has_nowhere_is_said():
    assert read_clean("[1] Home, and [2021]", CITED)[1] == "[2021]"


def test_what_the_page_says_in_brackets_is_kept_as_what_the_task_names():
    assert checked('[1] Home\n[2] "Paris is big [2019]"', "What is of 2019?", CITED) == ""
    assert "does not contain “2020”" in checked(
        '[1] Home\n[2] "Paris is big [2019]"', "What is of 2020?", CITED
    )


def test_a_page_without_anything_to_use_may_be_kept_as_words():
    text = page(element(1, "text", "Saved."))
    assert checked("Saved.", "Save it.", text) == ""


@pytest.mark.parametrize(
    "line", ["[1] input", "The password goes into [1]", "[1] PASSWORD: empty", "[1] textbox"]
)
def test_a_line_for_an_element_shares_its_role_or_a_word_with_it(line):
    login = page(element(1, "textbox", "Password", uses=("type",)))
    assert checked(line, "Log in.", login) == ""
    hides = 'Its lines do not say what these are: [1] textbox "Password".'
    assert checked("[1] something", "Log in.", login) == hides
    assert checked("[1]", "Log in.", login) == hides
