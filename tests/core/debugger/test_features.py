"""The table of features: each has its rooms in core and in gui, and its service is made once, when first used."""

import ast
import importlib
from pathlib import Path

import pytest

from core.debugger import features
from core.debugger.features import FEATURES, Features

ROOT = Path(__file__).resolve().parents[3]


def names_in(path: Path) -> set[str]:
    """Return the functions and variables of a file, which is not imported: the window's need Qt."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
    return names


def test_no_feature_is_named_twice():
    assert len(set(FEATURES)) == len(FEATURES)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_has_a_service_that_is_made_for_a_session(name):
    module = importlib.import_module(f"core.debugger.{name}.service")
    assert callable(module.make_service)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_has_a_controller_that_is_installed_in_the_window(name):
    assert "install" in names_in(ROOT / "gui" / name / "controller.py")


def test_a_service_is_made_at_its_first_use_and_only_then(stand_in, monkeypatch):
    imported = []

    def import_it(name):
        imported.append(name)
        return importlib.import_module(name)

    monkeypatch.setattr(features, "import_module", import_it)
    session = stand_in()
    services = Features(session)
    assert imported == []
    compare = services["compare"]
    assert imported == ["core.debugger.compare.service"]
    assert compare.session is session
    assert services["compare"] is compare
    assert len(session.closers) == 1
