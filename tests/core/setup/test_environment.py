import sys
from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.environment import STAMP, VirtualEnvironment
from core.setup.project import Project


def project_in(root: Path, asks: str = "this") -> Project:
    return Project(root=root, requirements=(), extras={}, asks=asks)


@pytest.fixture
def environment(tmp_path: Path) -> VirtualEnvironment:
    """Give one whose interpreter is there and which is stamped."""
    environment = VirtualEnvironment(tmp_path / ".venv")
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    environment.put_stamp("this", ("test",))
    return environment


def test_a_stamp_covers_the_project_and_the_extras_that_it_was_made_for(environment, tmp_path):
    stamp = environment.stamp()
    assert stamp is not None
    assert stamp.covers(project_in(tmp_path), ())
    assert stamp.covers(project_in(tmp_path), ("test",))
    assert not stamp.covers(project_in(tmp_path), ("cluster",))
    assert not stamp.covers(project_in(tmp_path, asks="that"), ())


def test_an_environment_that_was_moved_has_no_stamp(environment, tmp_path):
    moved = environment.folder.rename(tmp_path / "elsewhere")
    assert VirtualEnvironment(moved.rename(tmp_path / ".venv")).stamp() is not None
    (tmp_path / "other").mkdir()
    assert VirtualEnvironment((tmp_path / ".venv").rename(tmp_path / "other/.venv")).stamp() is None


def test_an_environment_whose_interpreter_is_gone_has_no_stamp(environment):
    environment.python.unlink()
    assert environment.stamp() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"asked": "this"}', '{"extras": 3}', '"text"'])
def test_a_damaged_stamp_counts_as_none(environment, text):
    (environment.folder / STAMP).write_text(text)
    assert environment.stamp() is None


def test_what_is_known_of_the_libraries_is_kept_with_the_stamp(environment):
    environment.note_libraries(True)
    assert environment.stamp().libraries


@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_environment_is_left_alone(tmp_path, is_file):
    environment = VirtualEnvironment(tmp_path / ".venv")
    mine = environment.folder if is_file else environment.folder / "thesis.tex"
    mine.parent.mkdir(exist_ok=True)
    mine.touch()
    with pytest.raises(WorldError, match="is not a virtual environment"):
        environment.create(())
    assert mine.exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match=r"file is writable"):
        VirtualEnvironment(tmp_path / "file" / ".venv").create(())
