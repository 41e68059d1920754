"""The command that changes the program and looks whether a test notices."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutants

pytestmark = pytest.mark.program
SUMS = """
def larger(a: int, b: int) -> int:
    return a if a > b else b


def is_free(price: int) -> bool:
    return price == 0


def unused(price: int) -> bool:
    return not price
"""
TESTS = """
from core.sums import is_free, larger


def test_larger():
    assert larger(1, 2) == 2


def test_free():
    assert not is_free(3)
    assert is_free(0)
"""


def test_it_names_what_no_test_notices_and_what_none_comes_to(tmp_path):
    for name, text in {
        "core/sums.py": SUMS,
        "tests/core/test_sums.py": TESTS,
        "tests/__init__.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    shutil.copy(Path(mutants.__file__), tmp_path / "tests" / "mutants.py")
    command = [sys.executable, "-m", "tests.mutants", "core/sums.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        "7 mutants. First run of tests/core/test_sums.py",
        "core/sums.py:3: a > b  ->  a >= b",
        "core/sums.py:11: not price  ->  price   (no test comes to it)",
        "core/sums.py:11: return not price  ->  None   (no test comes to it)",
        "4 of 7 killed",
    ]
