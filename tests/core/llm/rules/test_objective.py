"""How an objective is taken apart."""

import calendar
import runpy

import pytest

from core.llm.rules import words
from core.llm.rules.objective import Objective
from core.llm.rules.words import read_date


def parts(text: str) -> list[tuple[str, ...]]:
    return [(one.kind, *one.names, *filter(None, (one.value,))) for one in Objective(text).intents]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("Click button ONE, then click button TWO.", [("click", "ONE"), ("click", "TWO")]),
        ('Click the "Save and close" button.', [("click", "Save and close")]),
        ("Select A, B and C and click Submit.", [("select", "A", "B", "C"), ("click", "Submit")]),
        ("Select nothing and click Submit.", [("select",), ("click", "Submit")]),
        (
            'Enter "a, then b" into the text field and press Submit.',
            [("fill", "a, then b"), ("click", "Submit")],
        ),
        ("Press Submit when done.", [("click", "Submit")]),
        ('Use the textbox to enter "Ann" and press "Search".', [("fill", "Ann"), ("click", "Search")]),
    ],
)
def test_an_objective_becomes_its_parts_in_their_order(
    objective: str, expected: list[tuple[str, ...]]
) -> None:
    assert parts(objective) == expected


@pytest.mark.parametrize(
    ("objective", "subject", "values"),
    [
        ("Delete all messages from Ann.", "Ann", []),
        ("Find the email by Ann and forward that email to Bob.", "Ann", ["Bob"]),
        ("Forward the email from Ann to Bob.", "Ann", ["Bob"]),
        ("Forward the emails from Ann Berg to Bob Dahl, please.", "Ann Berg", ["Bob Dahl"]),
        ("Find the email by Ann and forward that email, to Bob.", "Ann", ["Bob"]),
        ('Find the email by Ann and reply. Write "Hi".', "Ann", ["Hi"]),
        ('Please reply to the message from Ann with "Hi".', "Ann", ["Hi"]),
        ('Find the email by Ann and reply to them with the text "Good day."', "Ann", ["Good day."]),
    ],
)
def test_a_request_about_a_message_tells_its_writer_from_its_receiver(
    objective: str, subject: str, values: list[str]
) -> None:
    read = Objective(objective)
    assert read.intents[0].subject == subject
    assert [one.value for one in read.intents if one.kind == "fill"] == values


@pytest.mark.parametrize(
    "objective",
    [
        "Reply to the email from Ann. Then go to Settings and log out.",
        "Find the email by Ann and reply. Then go to Settings.",
        "Please forward the message from Ann to her boss, then go back to Inbox.",
        "Find the email by Ann and forward it, then go to Settings.",
    ],
)
def test_what_stands_elsewhere_is_no_receiver_and_no_reply(objective: str) -> None:
    read = Objective(objective)
    assert [one.value for one in read.intents if one.field in ("to", "message")] == []
    assert read.facts.route is None


@pytest.mark.parametrize("text", ["12/05/2016", "2016-12-05", "5 December 2016", "Dec 5th, 2016"])
def test_dates_are_read_in_their_usual_forms(text: str) -> None:
    found = read_date(f"on {text} please")
    assert found is not None
    assert found.isoformat() == "2016-12-05"


def test_english_dates_are_read_whatever_the_language_of_the_system(monkeypatch) -> None:
    for names in ("month_name", "month_abbr"):
        monkeypatch.setattr(calendar, names, ["", *(f"miesiąc{number}" for number in range(1, 13))])
    there = runpy.run_path(words.__file__)
    assert there["read_date"]("5 December 2016").isoformat() == "2016-12-05"
    assert there["month_of"]("Sep") == 9


def test_a_date_that_does_not_exist_is_none() -> None:
    assert read_date("02/30/2016") is None
