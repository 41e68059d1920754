"""The program as it is installed: its wheel and that of the SDK, in an environment that has what they require."""

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from core.system.program import program_version
from tests.core.cli.conftest import ROOT, CommandLine
from tests.core.cli.test_attach import until
from tests.core.stage import need_chromium

pytestmark = [pytest.mark.program, pytest.mark.browser]

PATIENCE = 180
AGENT = """
import json, os, sys, urllib.request
import backstep_sdk
with urllib.request.urlopen(os.environ["BACKSTEP_CDP_URL"] + "/json/version") as answer:
    browser = json.load(answer)["Browser"]
with open("said.part", "w") as file:
    json.dump({"browser": browser, "sdk": backstep_sdk.__file__, "path": sys.path}, file)
os.rename("said.part", "said")
"""
PARTS = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from core.debugger.job_process import JobProcess
from core.sandbox.running import confinement, run_parser
async def main():
    lines = []
    end = await JobProcess().run(["tasks", "--json"], lines.append, keys={})
    assert end.code == 0, end.error
    assert lines
    if confinement().is_confined:
        parsed = await run_parser("obs = state.upper()", "<p>here</p>")
        assert parsed.text == "<P>HERE</P>", parsed
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("wheels")
    words = ("wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", folder)
    subprocess.run([sys.executable, "-m", "pip", *words, ROOT, ROOT / "sdk"], check=True, timeout=PATIENCE)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an environment with both wheels and, on its path, the packages that they require."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, symlinks=True)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python")
    words = ("install", "-q", "--no-index", "--no-deps", *wheels)
    subprocess.run([*pip, *words], check=True, timeout=PATIENCE)
    (site_of(folder) / "required.pth").write_text(sysconfig.get_path("purelib"))
    return folder


@pytest.fixture
def backstep(installed: Path, cli: CommandLine) -> CommandLine:
    """Run the installed command, away from the sources."""
    cli.program = (installed / "bin" / "backstep",)
    return cli


def site_of(environment: Path) -> Path:
    return next(environment.glob("lib/python3*/site-packages"))


def test_a_wheel_holds_one_package_of_pure_python_with_all_files_of_the_program(wheels):
    held = {wheel.name.partition("-")[0]: set(zipfile.ZipFile(wheel).namelist()) for wheel in wheels}
    top = {name: {one.partition("/")[0] for one in files} for name, files in held.items()}
    assert {name: {one for one in folders if ".dist-info" not in one} for name, folders in top.items()} == {
        name: {"backstep" if name != "backstep_sdk" else name} for name in top
    }
    assert all(wheel.name.endswith("-py3-none-any.whl") for wheel in wheels)
    (program,) = (files for name, files in held.items() if name != "backstep_sdk")
    files = (
        file for part in ("core", "gui", "resources") for file in (ROOT / part).rglob("*") if file.is_file()
    )
    sources = {f"backstep/{file.relative_to(ROOT)}" for file in files if file.suffix != ".pyc"}
    assert {*sources, "backstep/__init__.py", "backstep/main.py"} <= program


def test_a_tree_without_a_repository_has_the_fallback_of_the_build_for_a_version(tmp_path, monkeypatch):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    words = (sys.executable, "-m", "hatchling", "version")
    built = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
    monkeypatch.setattr("importlib.metadata.version", no_version)
    assert built.stdout.strip() == program_version.__wrapped__() == "0.0.0"


def no_version(name):
    raise PackageNotFoundError(name)


def test_the_installed_command_runs_a_task_without_the_sources_a_server_or_a_key(backstep, wheels):
    assert (
        backstep("--version").out.strip()
        == next(one.name for one in wheels if "sdk" not in one.name).split("-")[1]
    )
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        backstep.environment.pop(name)
    done = backstep(
        "run", "--task", "miniwob/click-test-2", "--llm", "rules", "--browser", need_chromium(), "--json"
    )
    assert done.code == 0, done.err
    assert done.json["success"]
    refused = backstep("test")
    assert refused.code == 2
    assert "clone the repository" in refused.err


def test_the_window_of_the_installed_program_attaches_an_agent_that_sees_the_sdk_and_nothing_else(
    backstep, installed
):
    agent = backstep.folder / "agent.py"
    agent.write_text(AGENT)
    said = backstep.folder / "said"
    window = backstep.start("attach", "--task", "miniwob/click-test-2", "--", sys.executable, agent)
    try:
        until(lambda: said.exists() or window.poll() is not None)
    finally:
        window.send_signal(signal.SIGTERM)
        _, err = window.communicate(timeout=PATIENCE)
    assert said.exists(), err
    told = json.loads(said.read_text())
    assert "Chrome" in told["browser"]
    assert Path(told["sdk"]).parents[1] == site_of(installed) / "backstep" / "sdk"
    assert not {str(site_of(installed)), str(site_of(installed) / "backstep")} & set(told["path"])


def test_processes_that_the_installed_program_starts_find_it(installed, backstep):
    done = subprocess.run(
        [installed / "bin" / "python", "-c", PARTS, site_of(installed) / "backstep"],
        cwd=backstep.folder,
        env=backstep.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
