"""`main.py exemplar`: written actions become an exemplar."""

from pathlib import Path

import pytest

from core.cli.exemplar_saving import read_looks
from core.exemplars.files import read_exemplars
from core.schema.errors import DataError
from tests.core.stage import need_chromium

LOGIN = """\
REASON: Name and password, then Login.
ACTION: type [3] [karrie]
ACTION: type [5] [AU]
ACTION: click [button "Login"]
"""


def command(*words: object) -> tuple[object, ...]:
    return ("exemplar", "--task", "miniwob/login-user", "--browser", need_chromium(), *words)


@pytest.mark.browser
def test_without_actions_the_page_is_shown(inside):
    done = inside(*command())
    assert done.code == 0
    assert done.out.startswith('task: Enter the username "karrie"')
    assert "[3] textbox" in done.out


@pytest.mark.browser
def test_a_success_is_added_to_the_file_and_again_takes_the_place_of_the_first(inside, tmp_path):
    actions, output = tmp_path / "looks.txt", tmp_path / "mine" / "login.jsonl"
    actions.write_text(LOGIN, encoding="utf-8")
    for family in ("login-user", "login"):
        done = inside(*command("--actions", actions, "-o", output, "--family", family))
        assert done.code == 0, done.err
    (exemplar,) = read_exemplars(output)
    assert (exemplar.id, exemplar.family) == ("miniwob/login-user/0", "login")
    assert exemplar.steps[0].actions == ("type [3] [karrie]", "type [5] [AU]", "click [6]")


def test_a_name_that_is_not_of_json_lines_is_refused_before_anything_is_done(inside, tmp_path):
    done = inside("exemplar", "--task", "miniwob/login-user", "-o", tmp_path / "mine.toml")
    assert (done.code, (tmp_path / "mine.toml").exists()) == (2, False)
    assert "give a name that ends in .jsonl" in done.err


@pytest.mark.browser
def test_what_is_no_success_keeps_nothing_and_shows_where_it_ended(inside, tmp_path):
    actions, output = tmp_path / "looks.txt", tmp_path / "mine.jsonl"
    actions.write_text("REASON: The name.\nACTION: type [3] [karrie]\n", encoding="utf-8")
    done = inside(*command("--actions", actions, "-o", output))
    assert (done.code, output.exists()) == (1, False)
    assert "Nothing was saved: It was not judged a success" in done.err
    assert 'value="karrie"' in done.out


def test_a_blank_line_parts_two_looks():
    first, second = read_looks(
        "\nREASON: List the files.\nACTION: type [3] [ls] [enter=1]\n   \n\nACTION: click [4]", Path("a.txt")
    )
    assert (first.thought, first.actions) == ("List the files.", ("type [3] [ls] [enter=1]",))
    assert second.actions == ("click [4]",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ACTION: click [1]\n\nClick the button.", "a.txt, step 2: there is no ACTION line"),
        ("REASON: x\nACTION: clck [1]", "a.txt, step 1: There is no action"),
    ],
)
def test_a_step_that_cannot_be_read_is_named(text, expected):
    with pytest.raises(DataError, match=expected):
        read_looks(text, Path("a.txt"))
