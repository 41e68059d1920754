from pathlib import Path

import pytest

from core.schema.errors import DataError
from core.setup.project import load_project, unmet

TEXT = """
[project]
name = "tiny"
description = "one"
dependencies = ["alpha>=1"]
[project.optional-dependencies]
test = ["beta>=2"]
"""


def install(folder: Path, name: str, version: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("version", "ranges", "meets"),
    [
        ("6.11.3", ">=6.11,<6.12", True),
        ("6.12", ">=6.11,<6.12", False),
        ("6.12.0", ">=6.11,<6.12", False),
        ("6.12.0b1", ">=6.11,<6.12", False),
        ("6.11.0rc1", ">=6.11", False),
        ("6.11.0.post1", ">=6.11", True),
        ("6.11", ">=6.11.0", True),
        ("15.0.0", ">=15,<16", True),
        ("2.9", ">=2.10", False),
        ("1.4.9", "~=1.4", True),
        ("2.0", "~=1.4", False),
        ("1.5", "!=1.5", False),
        ("1.5", "==1.5.0", True),
        ("1.5", "", True),
        ("1.5", ">1.5", False),
        ("1.5", "<=1.5", True),
    ],
)
def test_a_version_meets_a_range_as_pip_would_say(tmp_path, version, ranges, meets):
    install(tmp_path, "alpha", version)
    assert (unmet([f"alpha{ranges}"], [str(tmp_path)]) == []) is meets


def test_a_package_that_is_not_installed_is_unmet(tmp_path):
    assert unmet(["alpha>=1"], [str(tmp_path)]) == ["alpha>=1"]


def test_a_package_is_found_under_any_spelling_of_its_name(tmp_path):
    install(tmp_path, "Sqlite_Utils", "4.2")
    assert unmet(["sqlite-utils>=4"], [str(tmp_path)]) == []


@pytest.mark.parametrize(
    "line", ["alpha>=1; python_version < '3.12'", "alpha @ https://example.org/a.whl", "?"]
)
def test_a_requirement_beyond_plain_ranges_is_left_to_pip(tmp_path, line):
    install(tmp_path, "alpha", "1.0")
    assert unmet([line], [str(tmp_path)]) == [line]


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


def test_the_real_pyproject_uses_only_plain_ranges():
    project = load_project(Path(__file__).resolve().parents[3])
    assert all(";" not in line and "@" not in line for line in project.wanted(project.extras))
