import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.program

SOURCES = Path(__file__).resolve().parents[3]
PYPROJECT = """
[tool.ruff.lint]
select = ["F"]
[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
"""
TEST = 'import os\n\n\ndef test_it():\n    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    # The real mypy would read the standard library first, for seconds; here it only has to be called.
    (tmp_path / "mypy.py").write_text('print("Success: no issues found")\n')
    (tmp_path / "good.py").write_text("answer: int = 42\n")
    (tmp_path / "test_good.py").write_text(TEST)
    return tmp_path


def check(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys; from pathlib import Path; from core.setup.checks import run_checks\n"
        "sys.exit(run_checks(Path(sys.argv[1]), sys.argv[2:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(root), *arguments],
        cwd=SOURCES,
        # The plugins that these tests do not need would be imported by each pytest, for a second.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_when_all_pass_the_closing_line_of_pytest_which_shares_the_tests_is_the_last_one(root, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "2")
    done = check(root)
    assert done.returncode == 0, done.stderr
    assert "2 workers" in done.stdout
    assert "1 passed" in done.stdout.splitlines()[-1]
    assert [line.split(",")[0] for line in done.stderr.splitlines()] == [
        "ruff check: ok",
        "ruff format: ok",
        "mypy: ok",
    ]


def test_a_linter_that_fails_is_named_and_the_tests_run_all_the_same(root):
    (root / "good.py").write_text("import os\n\nanswer: int = 42\n")
    done = check(root, "-n", "0")
    assert done.returncode == 1
    assert "F401" in done.stderr
    assert done.stderr.splitlines()[-1] == "Failed: ruff check."
    assert "1 passed" in done.stdout


def test_without_linters_only_the_tests_run_and_get_the_other_arguments(root):
    (root / "good.py").write_text("import os\n")
    done = check(root, "--no-lint", "-n", "0", "-k", "nothing")
    assert done.stderr == "Failed: pytest.\n"
    assert "1 deselected" in done.stdout


def test_quick_leaves_out_the_tests_that_start_a_browser_or_another_program(root):
    (root / "pyproject.toml").write_text(PYPROJECT + 'markers = ["browser", "program"]\n')
    for mark in ("browser", "program"):
        (root / f"test_{mark}.py").write_text(
            f"import pytest\n\n\n@pytest.mark.{mark}\ndef test_it():\n    raise AssertionError\n"
        )
    done = check(root, "--no-lint", "--quick", "-n", "0")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 deselected" in done.stdout
