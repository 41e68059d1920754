import os
import sys
from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.environment import LOG, STAMP, VirtualEnvironment, half_installed
from core.setup.project import Project


def project_in(root: Path, asks: str = "this") -> Project:
    return Project(root=root, name="tiny", requirements=(), extras={}, asks=asks)


@pytest.fixture
def environment(tmp_path: Path) -> VirtualEnvironment:
    """Give one whose interpreter is there and which is not stamped."""
    environment = VirtualEnvironment(tmp_path / ".venv")
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    return environment


def install(site_packages: Path, name: str, files: tuple[str, ...] = ("part.py",)) -> Path:
    info = site_packages / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    for file in files:
        (site_packages / file).touch()
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in (*files, f"{info.name}/RECORD")))
    return info


def test_a_stamped_environment_fits_the_project_it_was_made_for(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), ("test",), libraries=True)
    assert environment.fitting_stamp(project_in(tmp_path), ()) is not None
    assert environment.fitting_stamp(project_in(tmp_path), ("test",)) is not None


def test_a_stamp_does_not_fit_when_the_project_asks_for_something_else(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), (), libraries=True)
    assert environment.fitting_stamp(project_in(tmp_path, asks="that"), ()) is None


def test_a_stamp_does_not_fit_with_an_extra_that_was_not_installed(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), (), libraries=True)
    assert environment.fitting_stamp(project_in(tmp_path), ("test",)) is None


def test_a_stamp_does_not_fit_where_the_project_was_moved(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), (), libraries=True)
    assert environment.fitting_stamp(project_in(tmp_path / "elsewhere"), ()) is None


def test_a_stamp_does_not_fit_when_the_interpreter_is_gone(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), (), libraries=True)
    environment.python.unlink()
    assert environment.fitting_stamp(project_in(tmp_path), ()) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"asked": "this"}', '{"extras": 3}', '"text"'])
def test_a_damaged_stamp_counts_as_none(environment, text):
    (environment.folder / STAMP).write_text(text)
    assert environment.stamp() is None


def test_what_is_known_of_the_libraries_is_kept_with_the_stamp(environment, tmp_path):
    environment.put_stamp(project_in(tmp_path), (), libraries=False)
    environment.note_libraries(True)
    assert environment.fitting_stamp(project_in(tmp_path), ()).libraries


def test_a_whole_distribution_is_not_half_installed(tmp_path):
    install(tmp_path, "alpha")
    assert half_installed(tmp_path) == []


def test_a_distribution_without_its_record_is_half_installed(tmp_path):
    (install(tmp_path, "alpha") / "RECORD").unlink()
    assert half_installed(tmp_path) == ["alpha-1.0"]


def test_a_distribution_with_a_file_gone_is_half_installed(tmp_path):
    install(tmp_path, "alpha")
    (tmp_path / "part.py").unlink()
    assert half_installed(tmp_path) == ["alpha-1.0"]


def test_what_pip_set_aside_and_left_is_half_installed(tmp_path):
    install(tmp_path, "alpha")
    (tmp_path / "~lpha").mkdir()
    assert half_installed(tmp_path) == ["~lpha"]


def test_compiled_files_may_come_and_go(tmp_path):
    install(tmp_path, "alpha", files=("part.pyc",))
    (tmp_path / "part.pyc").unlink()
    assert half_installed(tmp_path) == []


def test_no_folder_is_absent_and_so_is_one_with_the_log_alone(tmp_path):
    environment = VirtualEnvironment(tmp_path / ".venv")
    assert environment.condition() == "absent"
    environment.folder.mkdir()
    environment.log.touch()
    assert environment.condition() == "absent"


def test_a_folder_of_somebody_else_is_foreign(tmp_path):
    environment = VirtualEnvironment(tmp_path / ".venv")
    environment.folder.mkdir()
    (environment.folder / "thesis.tex").touch()
    assert environment.condition() == "foreign"


def test_a_file_in_the_place_of_the_folder_is_foreign(tmp_path):
    (tmp_path / ".venv").touch()
    assert VirtualEnvironment(tmp_path / ".venv").condition() == "foreign"


@pytest.mark.parametrize("names", [(), ("bin",), ("bin", "lib", "include", LOG)])
def test_an_environment_begun_and_not_ended_is_broken(tmp_path, names):
    environment = VirtualEnvironment(tmp_path / ".venv")
    environment.clear()
    for name in names:
        path = environment.folder / name
        path.touch() if "." in name else path.mkdir()
    assert environment.condition() == "broken"


def test_an_environment_whose_interpreter_is_gone_is_broken(tmp_path):
    environment = VirtualEnvironment(tmp_path / ".venv")
    (environment.folder / "lib/python3.11/site-packages").mkdir(parents=True)
    (environment.folder / "bin").mkdir()
    environment.python.symlink_to(tmp_path / "python-that-was-removed")
    (environment.folder / "pyvenv.cfg").touch()
    assert environment.condition() == "broken"


def test_clearing_keeps_the_log_and_what_tells_an_environment(tmp_path):
    environment = VirtualEnvironment(tmp_path / ".venv")
    (environment.folder / "lib" / "deep").mkdir(parents=True)
    (environment.folder / "link").symlink_to(tmp_path)
    environment.log.write_text("what happened")
    environment.clear()
    assert sorted(os.listdir(environment.folder)) == ["pyvenv.cfg", LOG]
    assert environment.condition() == "broken"
    assert tmp_path.is_dir()


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match=r"file.*writable"):
        VirtualEnvironment(tmp_path / "file" / ".venv").clear()
