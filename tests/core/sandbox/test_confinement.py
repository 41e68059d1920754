import ast
import errno
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from core.sandbox import running
from core.sandbox.inside.filter import MACHINES
from core.sandbox.running import confinement, why_never

pytestmark = pytest.mark.program

ROOT = Path(__file__).resolve().parents[3]
on_linux = pytest.mark.skipif(
    bool(why_never(sys.platform, platform.machine())), reason="asks the Linux kernel to refuse"
)

_REFUSING = """
import asyncio, ctypes, json, struct, sys
from core.sandbox.running import confinement
from core.sandbox.running import run_parser

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]

def refuse(number, seccomp):
    lines = ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000))
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.syscall(seccomp, 1, 0, ctypes.byref(Program(len(code) // 8, code))) == 0

def drop_privileges(capset):
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).syscall(capset, header, nothing) == 0

number, seccomp, capset = json.loads(sys.argv[1])
drop_privileges(capset)
if number:
    refuse(number, seccomp)
parsed = asyncio.run(run_parser("obs = state", "<p>"))
print(json.dumps([confinement().model_dump(), parsed.model_dump()]))
"""


def confined_without(call: str) -> tuple[dict, dict]:
    """Ask in a process without privileges whose kernel refuses the call, if one is named."""
    calls = MACHINES[platform.machine()].calls
    numbers = [calls[call] if call else 0, calls["seccomp"], calls["capset"]]
    done = subprocess.run(
        [sys.executable, "-c", _REFUSING, json.dumps(numbers)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    confined, parsed = json.loads(done.stdout)
    return confined, parsed


def test_the_answer_says_how_or_why_not_and_stays_the_same():
    found = confinement()
    assert bool(found.means) is found.is_confined
    assert bool(found.reason) is not found.is_confined
    assert confinement() == found


@on_linux
def test_a_system_that_was_too_busy_is_asked_again(monkeypatch):
    busy = OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    running._means.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Mock(side_effect=busy))
        assert os.strerror(errno.EAGAIN) in confinement().reason
    assert os.strerror(errno.EAGAIN) not in confinement().reason


@on_linux
def test_no_privileges_are_needed():
    confined, parsed = confined_without("")
    assert confined["is_confined"] is True, confined
    assert parsed["text"] == "<p>"


@on_linux
def test_where_the_kernel_takes_no_filter_parsers_are_off_and_say_so():
    confined, parsed = confined_without("seccomp")
    assert confined["is_confined"] is False
    assert "cannot be sandboxed" in confined["reason"]
    assert "seccomp" in confined["reason"]
    assert (parsed["text"], parsed["error"]) == ("", confined["reason"])


@on_linux
def test_a_kernel_without_landlock_still_confines():
    confined, parsed = confined_without("landlock_create_ruleset")
    assert confined["is_confined"] is True, confined
    assert "Landlock" not in confined["means"]
    assert parsed["text"] == "<p>"


@pytest.mark.parametrize(
    ("system", "machine", "word"),
    [("darwin", "arm64", "macOS"), ("win32", "AMD64", "Windows"), ("linux", "riscv64", "riscv64")],
)
def test_systems_that_cannot_confine_are_named(system, machine, word):
    reason = why_never(system, machine)
    assert word in reason
    assert reason.endswith(".")


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_the_two_known_machines_are_tried(machine):
    assert why_never("linux", machine) == ""


def test_the_confined_process_loads_nothing_of_the_program_but_its_own_folder():
    allowed = set(sys.stdlib_module_names) | {"core.sandbox.inside"}
    for path in (ROOT / "core" / "sandbox" / "inside").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.startswith("core.sandbox.inside") or name.partition(".")[0] in allowed, path
