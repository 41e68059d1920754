"""Files of an agent: all that is wrong in a draft, each with its line, and the bundled file that it stands in for."""

from pathlib import Path

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.editing.files import SETTINGS, AgentFiles, checked_settings
from core.debugger.editing.views import EditText
from core.schema.errors import BackstepError, DataError, UsageError
from core.settings.user_file import MOST_TOLD

POLICY = "policies/shop/search_shop.md"
VIEW = EditText(name="", title="")


@pytest.fixture
def files(tmp_path: Path) -> AgentFiles:
    return AgentFiles(tmp_path)


def problems(files: AgentFiles, name: str, text: str) -> list[tuple[int, str]]:
    """Return what the editor marks in a draft."""
    with pytest.raises(BackstepError) as failed, files.with_draft(name, text, agent_resources_of()):
        pass
    return [(problem.line, problem.text) for problem in VIEW.wrong(failed.value).problems]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "presets/own.toml",
            'titel = "Own"\nspace = ""\n[prompts]\nsystem = ""\nuser = ""\n',
            [(1, "titel"), (1, "title"), (2, "space")],
        ),
        (
            "state_spaces/own.toml",
            'title = "Own"\n[[state]]\nname = "a"\nurl = "a"\n[[state.action]]\nname = "go"\ndescription = "Goes."\n'
            'does = ["clikc [1]"]\nleads_to = ["b"]\n',
            [(9, "b"), (8, "clikc")],
        ),
        (
            "policies/own.md",
            '+++\ndescription = "Own"\nactions = [\n"clikc",\n"tpye"\n]\n+++\n# Instruction\nDo.\n',
            [(4, "clikc"), (5, "tpye")],
        ),
        ("prompts/own.j2", "{{ tsk }}\n{{ task }}\n{{ pge }}\n", [(1, "tsk"), (3, "pge")]),
        ("prompts/own.j2", "{{ task }}\n{% if %}\n", [(2, "")]),
        ("policies/own.md", "Do.\n", [(1, "+++")]),
    ],
)
def test_each_problem_of_a_draft_is_known_with_its_line(files, name, text, found):
    told = sorted(problems(files, name, text))
    assert [line for line, _ in told] == sorted(line for line, _ in found)
    for line, words in found:
        assert any(at == line and words in sentence for at, sentence in told)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("presets/own.toml", "".join(f"key_{number} = 1\n" for number in range(500))),
        (
            "policies/own.md",
            f'+++\ndescription = "Own"\nactions = {["clikc"] * 500}\n+++\n# Instruction\nDo.\n',
        ),
        ("prompts/own.j2", "{{ tsk }}\n" * 500),
    ],
)
def test_of_many_problems_the_first_twenty_are_known(files, name, text):
    assert len(problems(files, name, text)) == MOST_TOLD


def test_the_sentence_is_of_the_first_problem_and_says_how_many_more_there_are(files):
    text = "{{ tsk }}\n{{ pge }}\n"
    with (
        pytest.raises(DataError) as failed,
        files.with_draft("prompts/own.j2", text, agent_resources_of()),
    ):
        pass
    view = VIEW.wrong(failed.value)
    assert view.problem.startswith('own.j2, line 1: there is no value "tsk"')
    assert view.told == f"{view.problem} (1 more in the margin: F8)"


def test_a_sentence_that_names_no_line_has_no_place_in_the_margin():
    view = VIEW.wrong(UsageError("No run is open."))
    assert (view.problems, view.told) == ((), "No run is open.")


def test_the_settings_know_all_problems_and_their_keys(tmp_path):
    view = checked_settings(tmp_path / "settings.toml", 'pace = -1\nmax_steps = 0\nlm = "rules"\n')
    assert {problem.line for problem in view.problems} == {1, 2, 3}
    assert "max_steps" in {word.name for word in view.words}
    assert view.bundled is None


def test_the_bundled_file_is_known_while_ones_own_stands_in_its_place(files):
    bundled = files.read(POLICY)
    files.write(POLICY, bundled + "\nMore.\n")
    view = files.described(POLICY, files.read(POLICY), agent_resources_of())
    assert (view.text, view.bundled) == (bundled + "\nMore.\n", bundled)
    own = files.described("policies/own.md", "Do.", agent_resources_of())
    assert own.bundled is None
    assert files.bundled(SETTINGS) is None
