"""Clean observations against the pages that they were made of."""

import re

import pytest

from core.agent.abstraction_by_llm import read_clean
from core.agent.abstraction_check import named_in, problem_of
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
        ("  ", "holds nothing"),
        ("[3] Ada, 3 mails, and [77] too", r"\[77\], which the page does not have"),
        ("There are 3 mails, one by Ada.", "none of the 2 elements that can be used"),
        ("[4] link: 3 mails", "lacks “Ada”, which the task names and the page shows"),
        ("[3] Adalbert", "lacks “3”, “Ada”"),
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


def test_a_page_without_anything_to_use_may_be_kept_as_words():
    text = page(element(1, "text", "Saved."))
    assert checked("Saved.", "Save it.", text) == ""
