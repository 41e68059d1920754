"""Who may import whom; found by what a fresh interpreter has loaded."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import PackageNotFoundError
from importlib.metadata import files as files_of
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
_IMPORT_ALL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))
"""


def modules_of(package: str) -> list[str]:
    paths = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


def loaded_by(package: str) -> set[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, json.dumps(modules_of(package))],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def imported_in(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.program
def test_importing_all_of_core_loads_no_qt():
    assert loaded_by("core") & {"PySide6", "shiboken6", "gui"} == set()


@pytest.mark.program
def test_importing_all_of_gui_loads_no_browser_driver_llm_client_or_database():
    assert loaded_by("gui") & {"playwright", "openai", "faiss", "sqlite3"} == set()


def test_every_package_that_is_imported_is_required():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *extras["cluster"],
        *extras["local"],
        *extras["onnx"],
        *extras["optimise"],
    ]
    required = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in lines}
    own = {"core", "gui", "main", "__future__"} | set(sys.stdlib_module_names)
    imported = set().union(
        *(imported_in(path) for part in ("core", "gui") for path in (ROOT / part).rglob("*.py"))
    )
    missing = {name for name in imported - own if name.lower().replace("_", "-") not in required}
    for name in required:
        try:
            files = files_of(name) or ()
        except PackageNotFoundError:  # Of an extra that is not installed.
            continue
        missing -= {file.parts[0].removesuffix(".py") for file in files}
    # PySide6 is one with Shiboken. PyYAML comes with Ray, which alone needs it, and protobuf with the exporter of
    # OpenTelemetry, whose messages it writes as JSON.
    assert missing <= {"shiboken6", "yaml", "google"}


def test_the_set_up_needs_nothing_that_has_to_be_installed_first():
    allowed = set(sys.stdlib_module_names) | {"core"}
    wrong = {
        str(path.relative_to(ROOT)): sorted(found)
        for path in (ROOT / "core" / "setup").rglob("*.py")
        if (found := imported_in(path) - allowed)
    }
    assert wrong == {}
    loaded = loaded_by("core/setup".replace("/", os.sep)) - set(sys.stdlib_module_names)
    assert not loaded & {"pydantic", "typer", "rich", "playwright", "PySide6", "openai", "platformdirs"}


def past_validation(path: Path) -> list[str]:
    """Return the places in a file that make a record, or a changed copy of one, without validation."""
    found = []
    name = str(path.relative_to(ROOT).as_posix())
    text = path.read_text(encoding="utf-8")
    if ".model_co" not in text:
        return found
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "model_copy":
            found.append(f"{name}:{node.lineno}: write record.replace(field=value) for model_copy")
        elif node.func.attr == "model_construct":
            found.append(f"{name}:{node.lineno}: call the class, which validates, for model_construct")
    return found


def test_records_are_made_and_changed_through_validation():
    paths = {path for folder in ("core", "gui", "tests") for path in (ROOT / folder).rglob("*.py")}
    paths |= {ROOT / "main.py"}
    assert (
        sorted(
            one for path in paths - {ROOT / "core" / "schema" / "record.py"} for one in past_validation(path)
        )
        == []
    )


@pytest.mark.program
def test_packages_import_only_from_the_layers_below_them():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_files_import_one_another_in_a_circle():
    graph = grimp.build_graph("core", "gui", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # A CycleError names the files of the circle.


def test_main_alone_knows_both_sides():
    assert {"core", "gui"} <= imported_in(ROOT / "main.py")


MOST_METHODS = 25
LARGER = {
    "core.trace.store.TraceStore",  # The one door to a database: a method for each transaction.
    "core.exemplars.library.store.Library",  # Likewise.
}


def public_methods(cls: type) -> set[str]:
    """Return the public methods and properties of a class, those inherited too but for what every service has."""
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("core.") and base.__module__ != "core.debugger.service"
        for name, value in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)))
    }


def test_no_class_of_core_can_be_asked_for_everything():
    classes = {
        f"{name}.{cls.__qualname__}": cls
        for name in modules_of("core")
        for cls in vars(importlib.import_module(name)).values()
        if inspect.isclass(cls) and cls.__module__ == name
    }
    large = {name for name, cls in classes.items() if len(public_methods(cls)) > MOST_METHODS}
    assert large == LARGER


def test_no_class_has_the_name_of_one_in_another_package():
    places: dict[str, set[str]] = {}
    for path in (path for folder in ("core", "gui") for path in (ROOT / folder).rglob("*.py")):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
