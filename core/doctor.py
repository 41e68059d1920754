"""The doctor: independent checks of the installation, one finding each.

A check that fails, raises or hangs does not stop the others. Everything except the standard library is
imported inside the check that needs it, so one damaged package is one finding. The check that needs a window
system is in `core.cli.doctor`.
"""

import asyncio
import os
import queue
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.browser.host import runs_as_root
from core.schema.errors import BackstepError, BrowserError, LLMError
from core.schema.record import Record
from core.setup import display_problem
from core.setup.libraries import missing_libraries
from core.setup.project import install_command, load_project
from core.system.patience import Limit
from core.system.program import program_version

if TYPE_CHECKING:
    from core.settings.settings import Settings

Level = Literal["ok", "warn", "fail"]


class CheckNote(Record):
    """The result of a check; `warn` is for problems that do not stop Backstep from working."""

    level: Level
    text: str
    """One sentence; unless all is well, with what to do."""


Check = Callable[[], CheckNote]
"""Looks at one thing, in a thread of its own."""


def ok(text: str) -> CheckNote:
    return CheckNote(level="ok", text=text)


def warn(text: str) -> CheckNote:
    return CheckNote(level="warn", text=text)


def fail(text: str) -> CheckNote:
    return CheckNote(level="fail", text=text)


def examine(checks: Mapping[str, Check], *, seconds: float = 30.0) -> Iterator[tuple[str, CheckNote]]:
    """Make the checks one after the other, each for at most `seconds`, and yield each name and note at once.

    An error that a check raises is its note. A check that hangs is left
    behind in its thread, which does not keep the program from ending.
    """
    for name, check in checks.items():
        yield name, _made(name, check, seconds)


def _made(name: str, check: Check, seconds: float) -> CheckNote:
    notes: queue.SimpleQueue[CheckNote] = queue.SimpleQueue()

    def work() -> None:
        try:
            notes.put(check())
        except Exception as error:
            # The doctor tells of everything that can go wrong, our own mistakes in a check included.
            notes.put(fail(_sentence(error)))

    threading.Thread(target=work, name="doctor", daemon=True).start()
    limit = Limit(seconds)
    while limit.left() > 0:
        with suppress(queue.Empty):
            return notes.get(timeout=limit.first())
    return fail(f"No answer within {seconds:g} seconds. Check what {name} needs and try again.")


def _sentence(error: Exception) -> str:
    if isinstance(error, BackstepError):
        return str(error)
    first = (str(error).strip() or "no details").splitlines()[0]
    return f"{type(error).__name__}: {first}"


Load = Callable[[], "Settings"]
"""Reads the settings file, the environment and the flags; raises BackstepError."""

_UNREAD = warn("Not checked, because the settings cannot be read.")
_LITTLE_BYTES = 500_000_000
_SMALL_SHARED_BYTES = 128_000_000
_SOON_READ_BYTES = 500_000_000
_USERNS = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


def standard_checks(root: Path, load: Load) -> dict[str, Check]:
    """Return the checks in the order they are shown; `root` is where pyproject.toml is."""
    return {
        "Backstep": lambda: ok(f"{program_version()} in {root}."),
        "Python": lambda: check_python(root),
        "shared libraries": check_libraries,
        "display": check_display,
        "sandbox": check_sandbox,
        "shared memory": check_shared_memory,
        "installed Chromium": lambda: check_chromium(load),
        "settings": lambda: check_settings(load),
        "folders": check_folders,
        "agent files": check_agent_files,
        "plugins": check_plugins,
        "database": lambda: check_database(load),
        "keyring": check_keyring,
        "LLM": lambda: check_llm(load),
    }


def check_python(root: Path) -> CheckNote:
    """Look at the interpreter and at the packages pyproject.toml asks for."""
    requirements = load_project(root).requirements
    version = ".".join(map(str, sys.version_info[:3]))
    versions = {line: _version_for(line) for line in requirements}
    if missing := [line for line, installed in versions.items() if installed is None]:
        return fail(
            f"{version}, but these packages are missing or have a wrong version: {', '.join(missing)}; "
            f"run: {install_command(missing)}"
        )
    return ok(f"{version} at {sys.executable}, with {', '.join(filter(None, versions.values()))}.")


def _version_for(line: str) -> str | None:
    """Return name and version of the installed package that meets a requirement, or None if none does."""
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    requirement = Requirement(line)
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return None
    return f"{requirement.name} {installed}" if requirement.specifier.contains(installed) else None


def check_libraries() -> CheckNote:
    """Look for the shared libraries that the packages link, and for a font."""
    spec = find_spec("PySide6")
    if spec is None or spec.origin is None:
        return fail("PySide6 is missing, so its libraries cannot be checked. Install it first.")
    missing = missing_libraries(Path(spec.origin).parents[1])
    if not missing:
        return ok("All libraries of QtWebEngine and Playwright are there, and a font.")
    from core.setup.apt import apt_command, has_apt, lacking_packages

    packages = lacking_packages() if has_apt() else ()
    advice = f"run: {apt_command(packages)}" if packages else "install them with its package manager."
    return fail(f"The system lacks {', '.join(missing)}; {advice}")


def check_display() -> CheckNote:
    """Look whether a window could open."""
    problem = display_problem()
    if problem is not None:
        return warn(problem)
    set_names = ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY")
    said = next((f"{name}={os.environ[name]}" for name in set_names if os.environ.get(name)), sys.platform)
    return ok(f"{said}.")


def check_sandbox() -> CheckNote:
    """Look whether the browsers can keep pages in their sandbox."""
    if not sys.platform.startswith("linux"):
        return ok("Handled by the system.")
    if runs_as_root():
        return warn(
            "Running as root, so browsers run without their sandbox. For web pages, run Backstep as another "
            "user, who has a checkout or an installation too: adduser --disabled-password --gecos '' backstep, "
            "then su - backstep"
        )
    try:
        restricted = _USERNS.read_text().strip() == "1"
    except OSError:
        restricted = False
    if restricted:
        return warn(
            "AppArmor forbids user namespaces to programs without a profile, so the embedded browser may run "
            "with a weaker sandbox. To allow them: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        )
    return ok("The system does not seem to restrict it.")


def check_shared_memory(folder: Path = Path("/dev/shm")) -> CheckNote:
    """Look at the memory through which the processes of a browser hand each other pages and pictures."""
    if not sys.platform.startswith("linux"):
        return ok("Handled by the system.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail(f"{folder} cannot be written, so no browser can start. Run: sudo chmod 1777 {folder}")
    size = shutil.disk_usage(folder).total
    if size < _SMALL_SHARED_BYTES:
        return warn(
            f"{folder} holds {size / 1e6:.0f} MB, so large pages may crash the browser. "
            f"Make it larger; in a container, use --shm-size=512m."
        )
    return ok(f"{folder} holds {size / 1e6:.0f} MB.")


def check_chromium(load: Load) -> CheckNote:
    """Look for an installed Chromium; it is optional unless the settings have one as the browser."""
    from core.browser.chromium import chromium_at, find_chromium

    settings = _settings(load)
    chosen = settings.browser if settings is not None else "embedded"
    if chosen != "embedded":
        try:
            path = chromium_at(chosen)
        except BrowserError as error:
            return fail(f"The settings choose the browser {chosen}. {error}")
        return ok(f"{_version(path)} at {path}, as in the settings.")
    found = find_chromium()
    if found is None:
        return ok("None found. It is optional, for --browser chromium (Debian package chromium).")
    return ok(f"{_version(found)} at {found}; use it with --browser chromium.")


def check_settings(load: Load) -> CheckNote:
    """Look whether the settings file, the environment and the flags can be read."""
    from core.settings.settings import settings_path

    settings = load()
    path = settings_path()
    source = str(path) if path.exists() else f"none at {path}, so the defaults apply"
    return ok(f"{source}; LLM {settings.llm}, preset {settings.preset}, browser {settings.browser}.")


def check_folders() -> CheckNote:
    """Look whether the config and data folders can be written."""
    from core.settings.settings import config_folder, data_folder

    for folder in (config_folder(), data_folder()):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder):
                pass
        except OSError as error:
            return fail(f"{folder} cannot be written ({error.strerror}); make it writable for this user.")
    return ok(f"{config_folder()} and {data_folder()} can be written.")


def check_agent_files() -> CheckNote:
    """Read all presets, state spaces, policies and files of exemplars, the built-in ones and the user's own."""
    from core.agent.resources import agent_resources_of
    from core.settings.settings import config_folder, exemplars_folder

    problems = agent_resources_of(config_folder(), exemplars=exemplars_folder()).problems()
    if problems:
        more = f" There are {len(problems) - 1} more." if len(problems) > 1 else ""
        return warn(f"{problems[0]}{more}")
    return ok("All presets, state spaces, policies and exemplars can be used.")


def check_plugins() -> CheckNote:
    """Load what packages add to each registry."""
    from core.debugger.breakpoints.kinds.registry import kind_plugins
    from core.debugger.causes.finding import plugins as cause_plugins
    from core.environments.registry import environment_plugins
    from core.llm.registry import llm_plugins
    from core.trace.exports.registry import format_plugins
    from core.trace.imports.registry import import_plugins

    loads = (environment_plugins, format_plugins, import_plugins, kind_plugins, cause_plugins, llm_plugins)
    loaded = [load() for load in loads]
    if problems := [problem for plugins in loaded for problem in plugins.problems.values()]:
        return warn(" ".join(problems))
    names = [name for plugins in loaded for name in plugins.things]
    return ok(f"{', '.join(names) or 'No installed package adds any'}.")


def check_database(load: Load) -> CheckNote:
    """Open the database as a run would, and look at the room next to it."""
    from core.trace.store import TraceStore

    settings = _settings(load)
    if settings is None:
        return _UNREAD
    path = settings.database
    is_new = not path.exists()
    with closing(TraceStore.open(path)) as store:
        is_small = path.stat().st_size < _SOON_READ_BYTES
        if is_small:
            store.check()
    free = shutil.disk_usage(path.parent).free
    room = f"{free / 1e9:.1f} GB free"
    if free < _LITTLE_BYTES:
        return warn(f"{path} can be written, but there is little free space ({room}). Free some space.")
    size = "new" if is_new else f"{path.stat().st_size / 1e6:.1f} MB"
    read = "intact" if is_small else "too large to be checked here"
    return ok(f"{path}, {size}, {read}, schema version {_schema_version(path)}, {room}.")


def check_keyring() -> CheckNote:
    """Look whether keys can be kept in the system keyring."""
    import keyring
    from keyring.backends.fail import Keyring as NoKeyring

    backend = keyring.get_keyring()
    if isinstance(backend, NoKeyring):
        return warn("No system keyring. Set keys in the environment, such as OPENAI_API_KEY.")
    return ok(f"{backend.name}.")


def check_llm(load: Load) -> CheckNote:
    """Ask the server of the chosen LLM for its list of models; the built-in ones need none."""
    settings = _settings(load)
    if settings is None:
        return _UNREAD
    return asyncio.run(_asked(settings))


async def _asked(settings: "Settings") -> CheckNote:
    from core.llm.endpoint_check import check_endpoint
    from core.llm.openai_compatible import OpenAICompatibleLLM
    from core.llm.registry import open_llms
    from core.settings.settings import config_folder
    from core.trace.replay_llm import ReplayLLM

    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    try:
        llm = llms.get(settings.llm)
        if not isinstance(llm, OpenAICompatibleLLM):
            return ok(await check_endpoint(llm))
        try:
            served = await llm.models()
        except LLMError as error:
            return fail(f"{llm.name}: {error}")
        said = await check_endpoint(llm)
        return warn(said) if served and llm.model not in served else ok(said)
    finally:
        await llms.close()


def _settings(load: Load) -> "Settings | None":
    """Return the settings, or None if they cannot be read: that is the finding of another check."""
    try:
        return load()
    except BackstepError:
        return None


def _version(executable: str) -> str:
    """Return what the browser says of itself."""
    answer = subprocess.run(
        [executable, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20
    )
    said = answer.stdout.strip().splitlines()
    return said[0].strip() if answer.returncode == 0 and said else "A browser of unknown version"


def _schema_version(path: Path) -> int:
    with closing(sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
