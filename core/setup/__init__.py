"""Checks what is missing before the program can run, reports it, and installs it.

It needs only Python's standard library, and reports a Python that is too old in one sentence. So no module
here may use newer syntax at its top, and larger modules are imported only if something is missing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from core.system.program import COMMAND, IS_INSTALLED, ROOT

if TYPE_CHECKING:
    from core.setup.installer import Libraries

MINIMUM = (3, 11)
EXIT_WORLD_FAILED = 3
EXIT_INTERRUPTED = 130

_RESTARTED = "BACKSTEP_RESTARTED"
_NEWER, _IN_ENVIRONMENT = "newer", "environment"
_UNINSTALLED = """Usage: python3 main.py [COMMAND] [OPTIONS]

Without a command, the window opens. The packages that show the options are not installed yet: any start without
--help installs them in .venv. All commands and options are in """
_READS = set("tasks runs show export import exemplars compare causes files draft".split())
"""Commands that need no browser."""
_RUNS = set("run fork eval bisect repair exemplar replay worth mcp".split())
"""Commands that need one: the embedded one, unless ``--browser`` names another."""
_NO_RUNS = {"--report", "--list", "--no-runs"}
COMMANDS = _READS | _RUNS | {"attach", "doctor", "test"}


def ensure(argv: Sequence[str]) -> None:
    """Return if the running interpreter has all that ``main.py`` needs for `argv`, else see to it.

    Says what is missing, installs it, and starts ``main.py`` again with the
    same arguments in the virtual environment next to it: then this does not
    return. An environment of the user's own that meets pyproject.toml is
    used as it is, and the installed package never installs. Exits with 3 and a sentence where something cannot be
    installed, and with 130 when interrupted.
    """
    restarted = os.environ.pop(_RESTARTED, "")
    if sys.version_info < MINIMUM:
        _use_newer_python(argv, restarted)
    if IS_INSTALLED:
        return
    from importlib.util import find_spec

    from core.setup.environment import VirtualEnvironment
    from core.setup.project import absent, load_project

    try:
        project = load_project(ROOT)
        environment = VirtualEnvironment(ROOT / ".venv")
        extras, libraries = needs(argv)
        stamp = environment.stamp()
        # The first question answers for a bare Python at once.
        is_own = find_spec("PySide6") is not None and (stamp is None or not environment.is_running)
        if is_own and not absent(project.wanted(extras)):
            return
        fits = stamp is not None and stamp.covers(project, extras)
        if not fits and "--help" in _own_words(argv):
            print(f"{_UNINSTALLED}{ROOT / 'resources' / 'docs' / 'command-line.md'}")
            sys.exit(0)
        if not fits or (libraries != "ignore" and stamp is not None and not stamp.libraries):
            from core.setup.installer import install

            install(project, environment, extras, libraries)
        elif environment.is_running:
            return
        if restarted == _IN_ENVIRONMENT:
            if environment.is_running:
                return
            _fail(
                f"{environment.python} does not run inside {environment.folder}; "
                "unset PYTHONHOME or delete that folder, then start again."
            )
        _restart(str(environment.python), argv, _IN_ENVIRONMENT)
    except KeyboardInterrupt:
        print("\nInterrupted. The next start continues from here.", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        _report(error)


def import_failed(error: ImportError, argv: Sequence[str]) -> NoReturn:
    """Start ``main.py`` again to look at the shared libraries, because an import failed after `ensure` had returned.

    They may have been removed since the last look. Exits with 3 if that does
    not help.
    """
    from core.setup.environment import VirtualEnvironment

    environment = VirtualEnvironment(ROOT / ".venv")
    if not environment.is_running:
        _fail(
            f"{error}; install it for {sys.executable}, then start again ({COMMAND} doctor says what is missing)."
        )
    if os.environ.get("BACKSTEP_REPAIRED") == "1":
        _fail(f"{error}; install it, or delete {environment.folder} and start again.")
    print(f"Backstep cannot start ({error}). Checking what is missing.", file=sys.stderr)
    environment.note_libraries(False)
    os.environ["BACKSTEP_REPAIRED"] = "1"
    _restart(str(environment.python), argv, _IN_ENVIRONMENT)


def needs(argv: Sequence[str]) -> tuple[tuple[str, ...], Libraries]:
    """Return the extras that the command in `argv` needs, and what it makes of missing shared libraries."""
    words = _own_words(argv)
    of_options = {at + 1 for at, word in enumerate(words) if word.startswith("--") and "=" not in word}
    commands = [word for at, word in enumerate(words) if word in COMMANDS and at not in of_options]
    command = commands[0] if commands else ""
    if {"--help", "--version"} & set(words):
        return (), "ignore"
    if command == "test":
        return ("test",), "require"
    if command == "doctor":
        return (), "try"
    needs_none = _NO_RUNS & set(words) or _option(words, "--browser", "embedded") != "embedded"
    if command == "exemplars":
        command = next((word for word in commands if word in _RUNS), command)
    return (), "ignore" if command in _READS or (command in _RUNS and needs_none) else "require"


def display_problem() -> str | None:
    """Return one line that says there is no display and what works without one, or None."""
    if not sys.platform.startswith("linux"):
        return None
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        return None
    return (
        "There is no display (DISPLAY and WAYLAND_DISPLAY are not set), so the window cannot open. "
        f"Without a display, you can run tasks: {COMMAND} run --task miniwob/click-test-2"
    )


def _own_words(argv: Sequence[str]) -> list[str]:
    """Return the words that are for this program, and not for one that it starts."""
    words = list(argv[1:])
    return words[: words.index("--")] if "--" in words else words


def _option(words: Sequence[str], name: str, default: str) -> str:
    for at, word in enumerate(words):
        if word == name and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
    return default


def _use_newer_python(argv: Sequence[str], restarted: str) -> NoReturn:
    found = None if restarted == _NEWER else _newer_python()
    if found is None:
        have = ".".join(map(str, sys.version_info[:3]))
        _fail(
            f"Backstep needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer; {sys.executable} is {have}; "
            f"install a newer one, such as the package python3.11, and start with it: python3.11 main.py"
        )
    _restart(found, argv, _NEWER)


def _newer_python() -> str | None:
    """Return the oldest Python on PATH that will do and runs: a name there can be a shim of none."""
    import shutil
    import subprocess

    program = f"import sys; sys.exit(sys.version_info < {MINIMUM})"
    for minor in range(MINIMUM[1], MINIMUM[1] + 9):
        path = shutil.which(f"python3.{minor}")
        if path and subprocess.run([path, "-c", program], stderr=subprocess.DEVNULL).returncode == 0:
            return path
    return None


def _restart(interpreter: str, argv: Sequence[str], why: str) -> NoReturn:
    os.environ[_RESTARTED] = why
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os.execv(interpreter, [interpreter, str(ROOT / "main.py"), *argv[1:]])


def _report(error: Exception) -> NoReturn:
    from core.schema.errors import BackstepError

    if isinstance(error, OSError):
        _fail(f"Installation failed: {error}. Fix this and start again.")
    if not isinstance(error, BackstepError):
        raise error
    _fail(str(error))


def _fail(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(EXIT_WORLD_FAILED)
