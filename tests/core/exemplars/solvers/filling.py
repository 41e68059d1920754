"""Tasks that fill in fields: several actions in one reply wherever no new look is needed."""

import re

from core.debugger.exemplars.scripted import Look, Script
from core.schema.observation import Observation
from tests.core.exemplars.solvers.page import all_of, between, click, place, quoted, the, write


def enter_text(instruction: str, page: Observation) -> Script:
    (text,) = quoted(instruction)
    yield Look(
        thought="There is one field; the text goes into it as it is written, then Submit.",
        actions=(write(the(page, "textbox"), text), click(the(page, "button", "Submit"))),
    )


def enter_password(instruction: str, page: Observation) -> Script:
    (password,) = quoted(instruction)
    first, second = all_of(page, "textbox")
    yield Look(
        thought="Both fields want the same password; after that the form can be submitted.",
        actions=(
            write(first, password),
            write(second, password),
            click(the(page, "button", "Submit")),
        ),
        needs=tuple(one.ref for one in all_of(page, "paragraph")),
    )


def login_user(instruction: str, page: Observation) -> Script:
    name, password = quoted(instruction)
    user_field, password_field = all_of(page, "textbox")
    yield Look(
        thought="The user name belongs in the upper field and the password in the lower one; Login ends it.",
        actions=(
            write(user_field, name),
            write(password_field, password),
            click(the(page, "button", "Login")),
        ),
        needs=tuple(one.ref for one in all_of(page, "paragraph")),
    )


def enter_date(instruction: str, page: Observation) -> Script:
    month, day, year = between(instruction, "Enter ", " as").split("/")
    yield Look(
        thought="The field is a date field, which takes year, month and day with hyphens.",
        actions=(
            write(the(page, "textbox"), f"{year}-{month}-{day}"),
            click(the(page, "button", "Submit")),
        ),
    )


def find_word(instruction: str, page: Observation) -> Script:
    position = between(instruction, "the ", " word")
    paragraph = the(page, "paragraph")
    word = re.sub(r"[^A-Za-z]", "", paragraph.name.split()[place(position) - 1])
    yield Look(
        thought=f'Counted from the start, the {position} word is "{word}", taken without punctuation.',
        actions=(write(the(page, "textbox"), word), click(the(page, "button", "Submit"))),
        needs=(paragraph.ref,),
    )


def use_autocomplete(instruction: str, page: Observation) -> Script:
    start, *ends = quoted(instruction)
    field, submit = the(page, "textbox"), the(page, "button", "Submit")
    page = yield Look(
        thought=f'Typing "{start}" brings up suggestions after a moment, which have to be read first.',
        actions=(write(field, start), "wait [2]"),
    )
    items = all_of(page, "listitem")
    fits = [
        one for one in items if one.name.startswith(start) and all(one.name.endswith(end) for end in ends)
    ]
    ending = f' and ends with "{ends[0]}"' if ends else ""
    yield Look(
        thought=f'{fits[0].name} begins with "{start}"{ending}; once it is taken, the form can go off.',
        actions=(click(fits[0]), click(submit)),
        needs=tuple(one.ref for one in items),
    )
