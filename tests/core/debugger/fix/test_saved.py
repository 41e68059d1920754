"""Files that are written while a run is fixed are put back as they were."""

import pytest

from core.debugger.editing.files import AgentFiles
from core.debugger.fix.saved import SavedFiles
from core.schema.errors import DataError

NAME = "prompts/plain/system.j2"


@pytest.fixture
def files(tmp_path) -> AgentFiles:
    return AgentFiles(tmp_path)


def save(saved: SavedFiles, files: AgentFiles, text: str, run: int = 1) -> None:
    with saved.writing([NAME], run, files):
        files.write(NAME, text)


def test_a_file_that_was_edited_elsewhere_between_two_saves_gets_that_text_back(files) -> None:
    saved = SavedFiles()
    save(saved, files, "first")
    files.write(NAME, "mine")
    save(saved, files, "second")
    assert saved.before(NAME) == "mine"
    assert saved.revert(files) == ()
    assert files.own_text(NAME) == "mine"


def test_a_file_that_cannot_be_written_is_not_held(files, monkeypatch) -> None:
    def full(*_given: object) -> None:
        raise DataError("The disk is full.")

    saved = SavedFiles()
    save(saved, files, "first")
    saved.keep([NAME])
    with monkeypatch.context() as patched:
        patched.setattr(AgentFiles, "write", full)
        with pytest.raises(DataError, match="full"):
            save(saved, files, "second", run=2)
    assert (saved.names, saved.unkept(1), saved.unkept(2)) == ((NAME,), (), ())
    assert saved.revert(files) == ()
    assert files.own_text(NAME) is None


def test_what_the_bundled_file_was_before_holds_until_it_is_kept(files) -> None:
    bundled, saved = files.read(NAME), SavedFiles()
    for text in ("first", "second"):
        save(saved, files, text)
        assert saved.before(NAME) == bundled
    saved.keep([NAME])
    save(saved, files, "third")
    assert saved.before(NAME) == "second"
    assert saved.unkept(1) == (NAME,)
    saved.revert(files)
    assert files.read(NAME) == bundled


def test_a_hash_of_the_files_tells_a_change_of_another_one_and_reads_past_what_is_gone(
    files, tmp_path
) -> None:
    before, all_files = files.digest([NAME]), files.digest()
    files.write(NAME, "mine")
    assert files.digest([NAME]) == before
    assert files.digest() != all_files
    (tmp_path / "prompts/plain/gone.j2").symlink_to(tmp_path / "nowhere")
    assert files.digest([NAME]) == before
    files.write("prompts/plain/other.j2", "x")
    assert files.digest([NAME]) != before
