"""Parsers that try to get out: each ends in a clear error, and nothing has been done.

Every attempt is made without the checks inside Python, where the kernel stands
alone; those that the checks may see are made with them too. Those that are
refused and leave their process as it was are made one after another in one
process and judged one by one; the others have a process each.
"""

import contextlib
import json
import os
import platform
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.sandbox.inside.filter import MACHINES
from core.sandbox.process import Parsed, ParserProcess, SandboxLimits
from core.sandbox.running import confinement
from tests.core.sandbox.attempts import ALL, ALONE, MODULES, NUMBERS, PRELUDE, WATCHED

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(
        not confinement().is_confined, reason=confinement().reason or "parsers are confined here"
    ),
]

_WORDS = "the words of the secret"


class Traps:
    """What an attempt would have to touch, and whether it was touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = folder / "secret.py"
        self.secret.write_text(f"# {_WORDS}\n")
        self.page = folder / "page.xml"
        self.page.write_text(f"<a>{_WORDS}</a>")
        self.target = folder / "target"
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setblocking(False)
        self.signals: list[int] = []

    def names(self) -> str:
        values = {
            "SECRET": str(self.secret),
            "PAGE": str(self.page),
            "TARGET": str(self.target),
            "FOLDER": str(self.folder),
            "PORT": self.server.getsockname()[1],
            "PARENT": os.getpid(),
            "N": NUMBERS,
        }
        return "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())

    def assert_untouched(self) -> None:
        assert sorted(path.name for path in self.folder.iterdir()) == ["page.xml", "secret.py"]
        assert self.secret.read_text() == f"# {_WORDS}\n"
        assert self.secret.stat().st_mode & 0o777 == 0o644
        with pytest.raises(BlockingIOError):
            self.server.accept()
        assert self.signals == []
        assert parsers_of(os.getpid()) == []
        # One that nobody is the parent of may be of other tests at the same time, and about to die.
        deadline = time.monotonic() + 10
        while orphans := parsers_of(1):
            assert time.monotonic() < deadline, orphans
            time.sleep(0.01)


@contextlib.contextmanager
def set_traps(folder: Path) -> Iterator[Traps]:
    mask = os.umask(0o022)
    found = Traps(folder)
    before = signal.signal(signal.SIGUSR1, lambda number, frame: found.signals.append(number))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BACKSTEP_TRAP", _WORDS)
        yield found
    signal.signal(signal.SIGUSR1, before)
    found.server.close()
    os.umask(mask)


@pytest.fixture
def traps(tmp_path):
    with set_traps(tmp_path) as found:
        yield found


def parsers_of(parent: int) -> list[int]:
    """Return the processes for parsers that `parent` has."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"core.sandbox.inside.main" in (entry / "cmdline").read_bytes():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                found += [int(entry.name)] if int(fields[1]) == parent else []
        except OSError:
            continue
    return found


def attempt(code: str, traps: Traps, *, guarded: bool, seconds: float = 0.5) -> Parsed:
    process = ParserProcess(
        "\n".join((PRELUDE, traps.names(), code)),
        "<p>page</p>",
        limits=SandboxLimits(seconds=seconds),
        guarded=guarded,
        modules=tuple(MODULES),
    )
    parsed = process.run()
    assert process.means
    return parsed


_ONE_BY_ONE = """
program = M["core.sandbox.inside.program"]
told = {}
for name, code in ATTEMPTS.items():
    try:
        told[name] = ["text", program.run(code, html, task, __builtins__)]
    except BaseException as error:
        told[name] = ["error", program.sentence_of(error)]
obs = M["json"].dumps(told)
"""


def attempt_all(codes: dict[str, str], traps: Traps, *, guarded: bool) -> dict[str, Parsed]:
    """Make the attempts in one process; return what came of each, or nothing where that is not certain."""
    begin = "\n".join((PRELUDE, traps.names()))
    wholes = {name: "\n".join((begin, code)) for name, code in codes.items()}
    parsed = attempt(f"ATTEMPTS = {wholes!r}\n{_ONE_BY_ONE}", traps, guarded=guarded, seconds=60)
    try:
        traps.assert_untouched()
        results = json.loads(parsed.text)
    except (AssertionError, pytest.fail.Exception, ValueError):
        return {}
    return {name: Parsed(**{kind: text}) for name, (kind, text) in results.items()}


@pytest.fixture(scope="module")
def by_the_kernel(tmp_path_factory):
    codes = {name: code for name, code in ALL.items() if name not in ALONE}
    with set_traps(tmp_path_factory.mktemp("kernel")) as traps:
        return attempt_all(codes, traps, guarded=False)


@pytest.fixture(scope="module")
def by_the_checks(tmp_path_factory):
    with set_traps(tmp_path_factory.mktemp("checks")) as traps:
        return attempt_all(WATCHED, traps, guarded=True)


def assert_clear(parsed: Parsed) -> None:
    assert parsed.text == ""
    assert parsed.error.startswith(("The ", "parse "))
    assert parsed.error.endswith(".")
    assert "\n" not in parsed.error
    assert 20 < len(parsed.error) < 601
    assert "Traceback" not in parsed.error
    assert _WORDS not in parsed.error


def test_those_made_in_one_process_do_nothing_together_either(by_the_kernel, by_the_checks):
    assert by_the_kernel.keys() == ALL.keys() - ALONE.keys()
    assert by_the_checks.keys() == WATCHED.keys()


@pytest.mark.parametrize("name", ALL)
def test_the_kernel_alone_lets_no_attempt_do_anything(name, traps, by_the_kernel):
    assert_clear(by_the_kernel.get(name) or attempt(ALL[name], traps, guarded=False))
    traps.assert_untouched()


@pytest.mark.parametrize("name", WATCHED)
def test_with_the_checks_in_python_nothing_is_done_either(name, traps, by_the_checks):
    assert_clear(by_the_checks.get(name) or attempt(WATCHED[name], traps, guarded=True))
    traps.assert_untouched()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have one way to call the system")
def test_a_call_in_the_manner_of_another_architecture_kills_the_parser(traps):
    parsed = attempt("call(0x40000000 + 39)\nobs = 'done'", traps, guarded=False)
    assert_clear(parsed)
    assert "SIGSYS" in parsed.error


def test_only_the_harmless_calls_are_answered_and_the_rest_refused(traps):
    """Walks the numbers of system calls, with arguments that none of them could use."""
    machine = MACHINES[platform.machine()]
    skipped = {*machine.harmless, *(machine.calls[name] for name in ("write", "mmap", "mprotect", "madvise"))}
    skipped.add(machine.calls["futex"])
    if platform.machine() == "x86_64":
        # The kernel's own for probes it has set; it lets them past filters and answers anyone else with SIGILL.
        skipped |= {335, 336}
    code = f"""
import errno
ctypes = M["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
skipped = {sorted(skipped)}
answered = []
for number in range(600):
    if number in skipped:
        continue
    bad = ctypes.c_long(-1)
    if libc.syscall(ctypes.c_long(number), bad, bad, bad, bad, bad, bad) != -1 or ctypes.get_errno() != errno.EPERM:
        answered.append(number)
obs = f"answered: {{answered}}"
"""
    parsed = attempt(code, traps, guarded=False, seconds=20)
    assert parsed.text == "answered: []", parsed.error


def test_with_checks_in_python_the_error_says_what_is_not_allowed(traps):
    assert "may not open files" in attempt("open(SECRET)", traps, guarded=True).error
    assert "may not use the network" in attempt("M['socket'].socket()", traps, guarded=True).error
    assert "may not start other programs" in attempt("os.system('true')", traps, guarded=True).error
    assert "may not import 'os'" in attempt("import os", traps, guarded=True).error
    assert (
        "may not import 'urllib.request'" in attempt("from urllib import request", traps, guarded=True).error
    )


def test_without_them_the_error_says_that_the_system_refused(traps):
    parsed = attempt("\n\nopen(SECRET)", traps, guarded=False)
    assert parsed.error.startswith("The code used something of the system that a parser may not use in line")


def test_a_limit_that_was_reached_is_named(traps):
    assert "longer than 0.5 seconds." in attempt("while True: pass", traps, guarded=True).error
    assert "more than 512 MiB of memory" in attempt("'x' * 10**10", traps, guarded=True).error
    assert "1000000 bytes of text, but only 64000" in attempt("obs = 'x' * 10**6", traps, guarded=True).error
    forged = attempt("while True: os.write(1, b'T' * 65536)", traps, guarded=False, seconds=20)
    assert "more than 64000 bytes" in forged.error


@pytest.mark.parametrize("thing", ["object()", "bytes(99)", "[0] * 99", "'x' * 10**5"])
def test_memory_filled_with_small_things_is_reported_too(thing):
    limits = SandboxLimits(seconds=60, memory=128 * 1024 * 1024)
    code = f"kept = []\nwhile True: kept.append({thing})"
    parsed = ParserProcess(code, "", limits=limits).run()
    assert parsed.error == "The code needed more than 128 MiB of memory."


def test_a_crash_names_the_signal(traps):
    parsed = attempt("M['ctypes'].string_at(0)", traps, guarded=False)
    assert parsed.error == "The code crashed its process (SIGSEGV)."
