import json

import pytest

from core.exemplars.library.records import ANY, LIBRARY_NAME, Filter
from core.exemplars.library.store import Library
from tests.core.exemplars.exchange.files import POLICY, SESSION, demo, example, saved
from tests.core.exemplars.making import ALL

MEMORY = {"f": {"demo": [demo(), demo("Other", act=None)]}}


def kept(inside):
    """Return the ids that the user's library has."""
    path = inside.folder / LIBRARY_NAME
    if not path.exists():
        return []
    library = Library.open(path)
    try:
        return [one.exemplar.id for one in library.entries(Filter(statuses=ANY))]
    finally:
        library.close()


def test_what_is_new_is_reported_and_kept_and_the_second_time_it_is_there(inside):
    path = saved(inside.folder, MEMORY, "memory.json")
    done = inside("exemplars", "import", path)
    assert done.code == 0
    assert "a memory of Synapse: 1 faulty, 1 new" in done.err
    assert "f.demo[1].act" in done.out
    assert kept(inside) == ["synapse/f/0"]
    assert '"synapse/f/0"' in inside("exemplars", "list", "--origin", "import", "--json").out
    again = inside("exemplars", "import", path)
    assert "contains nothing new. Nothing was saved" in again.err
    assert kept(inside) == ["synapse/f/0"]


@pytest.mark.parametrize(("flag", "code"), [("--dry-run", 0), ("--strict", 2)])
def test_a_dry_run_and_a_strict_one_with_a_fault_keep_nothing(inside, flag, code):
    done = inside("exemplars", "import", saved(inside.folder, MEMORY, "memory.json"), flag)
    assert (done.code, kept(inside)) == (code, [])
    assert ("f.demo[1].act: it must be a text" in done.err) is (flag == "--strict")


def test_json_tells_all_of_it(inside):
    path = saved(inside.folder, SESSION, "s.jsonl")
    printed = inside("exemplars", "import", path, "--family", "mugs", "--json").json
    assert (printed["formats"], printed["faulty"], printed["left_out"]) == (["webshop"], [], [])
    (one,) = printed["exemplars"]
    assert (one["id"], one["family"], one["fate"], one["steps"]) == ("webshop/s", "mugs", "new", 8)
    assert printed["kept_in"].endswith(LIBRARY_NAME)


def test_a_file_of_faults_alone_is_an_error(inside):
    done = inside("exemplars", "import", saved(inside.folder, {"f": {"demo": [4]}}))
    assert done.code == 2
    assert "was not imported: f.demo[0]: it must be an object" in done.err


def test_policies_are_written_as_files_beside_the_exemplars(inside):
    path = saved(inside.folder, {"find_it": {**POLICY, "examples": [example("a", "", "click [7]")]}})
    done = inside("exemplars", "import", path, "--policies", inside.folder / "out")
    assert done.code == 0
    assert (inside.folder / "out" / "find_it.md").exists()
    again = inside("exemplars", "import", path, "--policies", inside.folder / "out")
    assert again.code == 2
    assert "exists already" in again.err


def test_what_is_exported_is_imported_again(inside):
    inside("exemplars", "import", saved(inside.folder, [json.loads(ALL[0].model_dump_json())], "a.jsonl"))
    folder = inside.folder / "out"
    done = inside("exemplars", "export", "--format", "synapse", "--family", ALL[0].family, "-o", folder)
    assert done.code == 0
    assert sorted(one.name for one in folder.iterdir()) == ["exemplars.json", "specifiers.json"]
    again = inside("exemplars", "import", folder)
    assert "a memory of Synapse: 3 there already" in again.err


def test_lines_are_printed_without_a_file(inside):
    done = inside("exemplars", "export", "--family", "login-user")
    assert done.code == 0
    assert {json.loads(line)["family"] for line in done.out.splitlines()} == {"login-user"}


def test_a_database_or_a_folder_is_not_overwritten_and_is_named(inside):
    library, folder = inside.folder / LIBRARY_NAME, inside.folder / "out.jsonl"
    Library.open(library).close()
    folder.mkdir()
    for path, why in ((library, "is a database"), (folder, "cannot be written")):
        done = inside("exemplars", "export", "--family", "login-user", "-o", path)
        assert (done.code, f"{path} {why}" in done.err) == (2, True), done.err
    assert kept(inside) == []


def exported(done) -> list[str]:
    return [json.loads(line)["id"] for line in done.out.splitlines()]


def test_only_those_that_are_asked_for_are_exported(inside):
    mine = ALL[0].replace(id="mine/0")
    inside("exemplars", "import", saved(inside.folder, [json.loads(mine.model_dump_json())], "a.jsonl"))
    nothing = inside("exemplars", "export", "--mine")
    assert nothing.code == 2
    assert "Left out: 1 new." in nothing.err
    assert exported(inside("exemplars", "export", "--mine", "--status", "new")) == ["mine/0"]
    inside("exemplars", "review", "reviewed", "mine/0")
    assert exported(inside("exemplars", "export", "--mine")) == ["mine/0"]
    assert exported(inside("exemplars", "export", "--origin", "import")) == ["mine/0"]
    assert "mine/0" not in exported(inside("exemplars", "export", "--origin", "bundled"))
    others = exported(inside("exemplars", "export", "--family", "login-user"))
    chosen = inside("exemplars", "export", "--ids", f"{others[0]},mine/0")
    assert sorted(exported(chosen)) == sorted([others[0], "mine/0"])
    nothing = inside("exemplars", "export", "--mine", "--ids", others[0])
    assert (nothing.code, "No exemplar matches all filters" in nothing.err) == (2, True)


GITHUB = {
    "github_agent": {
        "instruction": "`find_it [query]`: finds it.\n`lose_it [query]`: loses it.\n`click [id]`: clicks.",
        "examples": [example("a", "", "find_it [the cup]")],
    },
    "find_it": {**POLICY, "examples": [example("a", "", "click [7]")]},
    "Agent8k": {**POLICY, "examples": [example("a", "", "click [7]")]},
}


def test_of_policies_it_is_told_what_is_undefined_replaced_and_never_begun_with(inside):
    path = saved(inside.folder, GITHUB)
    policies = inside.config / "policies"
    done = inside("exemplars", "import", path, "--policies", policies / "webarena")
    assert "Undefined: github_agent.instruction: line 2 offers lose_it, which is neither" in done.err
    assert "Agent8k: Agent8k is not a valid policy name here" in done.err
    assert "No run begins with one of these policies: add top = true to github_agent.md" in done.err
    assert "In place of" not in done.err
    again = inside("exemplars", "import", path, "--policies", inside.folder / "away", "--dry-run")
    assert f"No run reads policies of {inside.folder / 'away'}" in again.err
    checked = inside("exemplars", "check", "--family", "github_agent")
    assert (checked.code, "0 faults" in checked.err) == (0, True)


def test_policies_that_take_the_place_of_built_in_ones_are_named(inside):
    policy = {**POLICY, "examples": [example("a", "", "click [7]")]}
    path = saved(inside.folder, {"find_commits": policy})
    done = inside(
        "exemplars", "import", path, "--policies", inside.config / "policies" / "webarena", "--dry-run"
    )
    assert "They override the built-in policies of the same names: find_commits." in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "--ids", "login-usr"), "There is no exemplar"),
        (("export", "--origin", "impor"), "is not an origin; use one of"),
        (("export", "--format", "synaps"), "did you mean synapse?"),
        (("export", "--format", "synapse"), "Use --output to say where to write"),
        (("export", "--family", "login-usr"), "did you mean login-user?"),
        (("import", "no.json"), "check that it exists"),
        (("import", "no.json", "--format", "webshp"), "did you mean webshop?"),
    ],
)
def test_a_wrong_call_has_the_code_2_and_a_sentence(inside, words, said):
    done = inside("exemplars", *words)
    assert (done.code, said in done.err) == (2, True)
