import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from core.cli.app import make_app, run_app
from tests.core.stage import need_chromium

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-key-that-nobody-may-see-4711"


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class CommandLine:
    """Runs main.py as a user does, with settings and a database of the test's own."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.folder = folder
        self.program: tuple[object, ...] = (sys.executable, ROOT / "main.py")
        self.db = folder / "traces.db"
        self.config = folder / "config"
        self.config.mkdir(exist_ok=True)
        # Each start would compile all modules anew where bytecode is not to be written.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.environment = {
            **{name: value for name, value in kept.items() if not name.startswith("OPENAI")},
            "BACKSTEP_CONFIG_DIR": str(self.config),
            "BACKSTEP_DATA_DIR": str(folder),
            "OPENAI_BASE_URL": base_url,
            "OPENAI_API_KEY": KEY,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONWARNINGS": "default",
        }

    def start(self, *words: object, **more) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*map(str, self.program), *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def finish(self, process: "subprocess.Popen[str]") -> Done:
        out, err = process.communicate(timeout=180)
        return Done(process.returncode, out, err)

    def __call__(self, *words: object) -> Done:
        return self.finish(self.start(*words))

    def run(self, *words: object, browser: str = "") -> list[object]:
        """Return the words of a run command with the scripted LLM and the installed Chromium."""
        chosen = browser or need_chromium()
        return ["run", "--llm", "test-model", "--browser", chosen, "--json", *words]


class InProcess:
    """Runs the command line in this process, which saves the imports; nothing here may need Qt."""

    def __init__(self, cli: CommandLine, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.db, self.config, self.run = cli.folder, cli.db, cli.config, cli.run
        self._capsys = capsys

    def __call__(self, *words: object) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["main.py", *map(str, words)])
            code = run_app(app_without_qt())
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)


def needs_qt(*_: object) -> int:
    raise AssertionError("this command was not to open a window or an embedded browser")


@cache
def app_without_qt():
    return make_app(open_window=needs_qt, with_embedded=needs_qt)


@pytest.fixture
def inside(cli, capsys, monkeypatch):
    for name in set(os.environ) - set(cli.environment):
        monkeypatch.delenv(name)
    for name, value in cli.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(cli.folder)
    return InProcess(cli, capsys)


@pytest.fixture
def cli(tmp_path, llm_server):
    llm_server.key = KEY
    return CommandLine(tmp_path, llm_server.base_url)
