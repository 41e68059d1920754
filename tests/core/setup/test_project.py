from pathlib import Path

import pytest

from core.schema.errors import DataError
from core.setup.project import absent, load_project

TEXT = """
[project]
name = "tiny"
description = "one"
dependencies = ["alpha>=1"]
[project.optional-dependencies]
test = ["beta>=2"]
"""


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_a_package_is_found_under_any_spelling_of_its_name_and_one_that_is_not_there_is_absent():
    assert absent(["PYTEST_asyncio>=1,<2", "pytest", "alpha>=1"]) == ["alpha>=1"]


def test_what_the_project_asks_changes_with_a_dependency_and_not_with_its_description(tmp_path):
    first = load_project(write(tmp_path / "a", TEXT))
    changed = load_project(write(tmp_path / "b", TEXT.replace('"one"', '"two"') + "[tool.ruff]\n"))
    newer = load_project(write(tmp_path / "c", TEXT.replace("alpha>=1", "alpha>=2")))
    assert first.asks == changed.asks
    assert first.asks != newer.asks


def test_the_extras_add_their_requirements(tmp_path):
    project = load_project(write(tmp_path, TEXT))
    assert project.wanted(()) == ("alpha>=1",)
    assert project.wanted(("test",)) == ("alpha>=1", "beta>=2")


@pytest.mark.parametrize("text", ["[project", "[other]\nname = 1\n"])
def test_a_damaged_pyproject_is_named(tmp_path, text):
    with pytest.raises(DataError, match=r"pyproject\.toml"):
        load_project(write(tmp_path, text))
