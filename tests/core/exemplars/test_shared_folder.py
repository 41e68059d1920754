"""Exemplars in a folder of files, such as one under git: read, changed in place, undone, and new ones added."""

import os
import subprocess

import pytest

from core.debugger.exemplars.formats import export_format
from core.exemplars.exchange.importing import FilesRead, keep
from core.exemplars.exchange.plan import ImportChoices
from core.exemplars.files import EXEMPLARS, ExemplarFiles, line_of, read_exemplars, toml_of, write_exemplars
from core.exemplars.library.bulk import edit_all, review_all
from core.exemplars.library.records import Edits, Filter
from core.exemplars.memory import Memory
from core.schema.errors import DataError, LibraryError
from core.schema.exemplar import ExemplarReview, RecallSettings
from tests.core.exemplars.making import ALL

NEW = ExemplarReview(status="new")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "exemplars"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(tmp_path, folder):
    memory = Memory((EXEMPLARS, folder), library=tmp_path / "mine.db", shared=folder)
    yield memory
    memory.close()


def put(folder, *exemplars):
    for one in exemplars:
        path = folder / f"{one.id}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(toml_of(one), encoding="utf-8")


@pytest.mark.parametrize(
    "one", [*ALL, ALL[0].replace(review=NEW, weight=2, never=("a", "b"))], ids=lambda one: one.id
)
def test_a_file_of_toml_is_the_same_exemplar_and_is_written_the_same_again(folder, one):
    put(folder, one)
    path = folder / f"{one.id}.toml"
    (read,) = read_exemplars(path)
    assert read == one
    assert toml_of(read) == path.read_text(encoding="utf-8")


def test_each_bundled_one_is_the_same_as_a_file(folder):
    bundled = ExemplarFiles().all()
    put(folder, *bundled)
    assert sorted(ExemplarFiles((folder,)).all(), key=lambda one: one.id) == sorted(
        bundled, key=lambda one: one.id
    )


async def test_files_in_folders_are_read_and_watched_and_a_wrong_one_is_told(folder, memory):
    put(folder, ALL[0].replace(id="a/b/1"))
    (folder / ".git").mkdir()
    (folder / ".git" / "config.toml").write_text("no")
    (folder / "wrong.toml").write_text("id = 5")
    assert memory.library().get("a/b/1").exemplar.task == ALL[0].task
    (problem,) = memory.files.problems()
    assert problem.startswith(f"{folder / 'wrong.toml'}: ")
    put(folder, ALL[0].replace(id="a/b/1", task="Another."))
    assert memory.library().get("a/b/1").exemplar.task == "Another."
    found = await memory.recall(ALL[0].key, RecallSettings())
    assert "a/b/1" in {one.id for one in found.used}


def test_one_is_changed_in_its_file_with_a_small_difference_and_taken_back(folder, memory):
    one = ALL[0].replace(tags=("a",))
    put(folder, one, ALL[1])
    before = (folder / f"{one.id}.toml").read_text(encoding="utf-8")
    library = memory.library()
    (was,) = library.current([one.id])
    assert edit_all(library, [one.id], Edits(add=("b",)), "changed").ids == (one.id,)
    after = (folder / f"{one.id}.toml").read_text(encoding="utf-8")
    changed = set(before.splitlines()) ^ set(after.splitlines())
    assert changed == {'tags = ["a"]', 'tags = ["a", "b"]'}
    assert library.page(Filter(tags=("b",))).rows[0].id == one.id
    (now,) = memory.library().current([one.id])
    memory.library().exchange([now], [was])
    assert (folder / f"{one.id}.toml").read_text(encoding="utf-8") == before
    with pytest.raises(LibraryError, match="was changed meanwhile"):
        memory.library().exchange([now], [was])
    assert not memory.library().has([one.id])


def test_a_line_whose_id_is_written_with_escapes_is_changed_in_its_place(folder, memory):
    one = ALL[0].replace(id="shop/one")
    file = folder / "mine.jsonl"
    file.write_text(
        f"{line_of(ALL[1])}\n{line_of(one)}\n".replace("shop/one", "shop\\/one"), encoding="utf-8"
    )
    edit_all(memory.library(), [one.id], Edits(add=("tagged",)), "changed")
    assert [(read.id, read.tags) for read in read_exemplars(file)] == [(ALL[1].id, ()), (one.id, ("tagged",))]


def test_an_import_leaves_alone_a_file_that_was_made_after_its_plan(folder, memory, tmp_path):
    (folder / ".git").mkdir()
    write_exemplars(tmp_path / "brought.jsonl", [ALL[0].replace(id="new/one")])
    choices = ImportChoices(paths=(str(tmp_path / "brought.jsonl"),))
    plan = FilesRead(choices, memory).plan(choices)
    put(folder, ALL[0].replace(id="new/one", task="Mine."))
    with pytest.raises(DataError, match="new/one was taken in the meantime"):
        keep(plan, memory)
    assert read_exemplars(folder / "new/one.toml")[0].task == "Mine."


def test_a_review_stands_in_the_file_for_everybody(folder, memory):
    put(folder, ALL[0].replace(review=NEW))
    review_all(memory.library(), [ALL[0].id], "reviewed")
    (read,) = read_exemplars(folder / f"{ALL[0].id}.toml")
    assert (read.review.status, bool(read.review.by)) == ("reviewed", True)


def test_what_somebody_changed_meanwhile_is_not_written_over(folder, memory):
    put(folder, ALL[0])
    entry = memory.library().get(ALL[0].id)
    put(folder, ALL[0].replace(task="Theirs."))
    with pytest.raises(LibraryError, match="was changed in its file since you opened it"):
        memory.library().save(ALL[0].replace(task="Mine."), expected=entry.version)
    (read,) = read_exemplars(folder / f"{ALL[0].id}.toml")
    assert read.task == "Theirs."


def test_only_under_git_new_ones_become_files(folder, memory):
    memory.library().save(ALL[0])
    assert memory.library().has([ALL[0].id])
    subprocess.run(["git", "init", "-q", folder], check=True)
    memory.library().save(ALL[1].replace(id="my/new"))
    assert not memory.library().has(["my/new"])
    (read,) = read_exemplars(folder / "my" / "new.toml")
    assert read.task == ALL[1].task
    row = next(row for row in memory.library().rows() if row.id == "my/new")
    assert (row.origin, row.read_only, row.file) == ("file", False, str(folder / "my" / "new.toml"))
    memory.library().save(ALL[0].replace(task="In the library."))
    assert memory.library().get(ALL[0].id).version == 2


def test_a_line_of_a_file_is_changed_and_the_others_stay(folder, memory):
    path = folder / "mine.jsonl"
    write_exemplars(path, ALL[:3])
    with path.open("a", encoding="utf-8") as file:
        file.write("# a comment\n")
    before = path.read_text(encoding="utf-8").splitlines()
    edit_all(memory.library(), [ALL[0].id, ALL[2].id], Edits(add=("b",)), "changed")
    after = path.read_text(encoding="utf-8").splitlines()
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, False, True]
    assert memory.library().get(ALL[2].id).exemplar.tags == ("b",)


@pytest.mark.parametrize("id", ["a/../../victim", "x/.hidden", "b/", "c//d", "a/./b"])
def test_an_id_that_is_no_file_in_the_folder_is_refused_and_nothing_is_written(folder, memory, tmp_path, id):
    (folder / ".git").mkdir()
    (tmp_path / "victim.toml").write_text("precious")
    with pytest.raises(DataError, match="cannot be the name of a file"):
        memory.library().save(ALL[0].replace(id=id))
    with pytest.raises(DataError, match="cannot be the name of a file"):
        export_format("toml").write((ALL[0].replace(id=id),))
    assert (tmp_path / "victim.toml").read_text() == "precious"
    assert sorted(path.name for path in folder.rglob("*")) == [".git"]


def test_a_linked_subfolder_is_not_written_through(folder, memory, tmp_path):
    (folder / ".git").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="leads out of"):
        memory.library().save(ALL[0].replace(id="link/one"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_is_there_is_not_written_over_by_a_new_one(folder, memory):
    (folder / ".git").mkdir()
    (folder / "wip.toml").write_text("not yet")
    put(folder, ALL[0].replace(id="other"))
    (folder / "other.toml").rename(folder / "named.toml")
    for id in ("wip", "named"):
        with pytest.raises(DataError, match="is there already"):
            memory.library().save(ALL[1].replace(id=id))
    assert (folder / "wip.toml").read_text() == "not yet"
    assert memory.library().get("other").exemplar.task == ALL[0].task


def test_a_link_stays_a_link_and_line_ends_and_rights_stay(folder, memory, tmp_path):
    real = tmp_path / "real.jsonl"
    write_exemplars(real, ALL[:2])
    real.write_bytes(real.read_bytes().replace(b"\n", b"\r\n"))
    real.chmod(0o664)
    (folder / "mine.jsonl").symlink_to(real)
    before = real.read_bytes().splitlines(keepends=True)
    edit_all(memory.library(), [ALL[0].id], Edits(add=("b",)), "changed")
    assert (folder / "mine.jsonl").is_symlink()
    after = real.read_bytes().splitlines(keepends=True)
    assert after[0].endswith(b"\r\n")
    assert after[1] == before[1]
    assert b'"tags": ["b"]' in after[0]
    assert real.stat().st_mode & 0o777 == 0o664


def test_a_comparison_is_old_once_a_file_was_changed(folder, memory):
    put(folder, ALL[0])
    before = memory.library().changed()
    os.utime(folder / f"{ALL[0].id}.toml", (before + 50, before + 50))
    assert memory.library().changed() == pytest.approx(before + 50)
