import json

import pytest

from core.memory.library.records import LIBRARY_NAME, Filter
from core.memory.library.store import Library
from tests.core.memory.exchange.files import POLICY, SESSION, demo, example, saved
from tests.core.memory.making import ALL

MEMORY = {"f": {"demo": [demo(), demo("Other", act=None)]}}


def kept(inside):
    """Return the ids that the user's library has."""
    path = inside.folder / LIBRARY_NAME
    if not path.exists():
        return []
    library = Library.open(path)
    try:
        return [one.id for _, one in library.all(Filter(archived=None))]
    finally:
        library.close()


def test_what_is_new_is_reported_and_kept_and_the_second_time_it_is_there(inside):
    path = saved(inside.folder, MEMORY, "memory.json")
    done = inside("exemplars", "import", path)
    assert done.code == 0
    assert "a memory of Synapse: 1 new, 0 there already" in done.err
    assert "f.demo[1].act" in done.out
    assert kept(inside) == ["synapse/f/0"]
    assert '"synapse/f/0"' in inside("exemplars", "list", "--origin", "import", "--json").out
    again = inside("exemplars", "import", path)
    assert "holds nothing that is new; nothing was kept" in again.err
    assert kept(inside) == ["synapse/f/0"]


@pytest.mark.parametrize(("flag", "code"), [("--dry-run", 0), ("--strict", 2)])
def test_a_dry_run_and_a_strict_one_with_a_fault_keep_nothing(inside, flag, code):
    done = inside("exemplars", "import", saved(inside.folder, MEMORY, "memory.json"), flag)
    assert (done.code, kept(inside)) == (code, [])
    assert ("f.demo[1].act: it has to be a text" in done.err) is (flag == "--strict")


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
    assert "was not imported: f.demo[0]: it has to be an object" in done.err


def test_policies_are_written_as_files_beside_the_exemplars(inside):
    path = saved(inside.folder, {"find_it": {**POLICY, "examples": [example("a", "", "click [7]")]}})
    done = inside("exemplars", "import", path, "--policies", inside.folder / "out")
    assert done.code == 0
    assert (inside.folder / "out" / "find_it.md").exists()
    again = inside("exemplars", "import", path, "--policies", inside.folder / "out")
    assert again.code == 2
    assert "is there already" in again.err


def test_what_is_exported_is_imported_again(inside):
    inside("exemplars", "import", saved(inside.folder, [json.loads(ALL[0].model_dump_json())], "a.jsonl"))
    folder = inside.folder / "out"
    done = inside("exemplars", "export", "--format", "synapse", "--family", ALL[0].family, "-o", folder)
    assert done.code == 0
    assert sorted(one.name for one in folder.iterdir()) == ["exemplars.json", "specifiers.json"]
    again = inside("exemplars", "import", folder)
    assert "0 new, " in again.err
    assert "0 faulty" in again.err


def test_lines_are_printed_without_a_file(inside):
    done = inside("exemplars", "export", "--family", "login-user")
    assert done.code == 0
    assert {json.loads(line)["family"] for line in done.out.splitlines()} == {"login-user"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "--format", "synaps"), "did you mean synapse?"),
        (("export", "--format", "synapse"), "Say where to write"),
        (("export", "--family", "login-usr"), "did you mean login-user?"),
        (("import", "no.json"), "check that it is there"),
        (("import", "no.json", "--format", "webshp"), "did you mean webshop?"),
    ],
)
def test_a_wrong_call_has_the_code_2_and_a_sentence(inside, words, said):
    done = inside("exemplars", *words)
    assert (done.code, said in done.err) == (2, True)
