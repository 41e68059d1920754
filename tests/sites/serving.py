"""What is served of the sites: our pages with the libraries' published files, and applications of their own."""

import os
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from mimetypes import guess_type
from pathlib import Path
from typing import NamedTuple

import platformdirs
from werkzeug import Request, Response

from core.settings.settings import APP
from tests.core.browser.site import Site
from tests.packages import CannotInstall, NpmPackage, make_environment, unpack

HERE = Path(__file__).parent
_START_SECONDS = 120.0
_LOOK_SECONDS = 0.05


class Program(NamedTuple):
    """An application in Python, which listens on the loopback interface."""

    packages: tuple[str, ...]
    command: tuple[str, ...]
    """What the interpreter is given; ``{port}``, ``{folder}`` (its own) and ``{here}`` (`programs`) are filled in."""
    path: str = "/"
    """Where it is opened."""


def default_folder() -> Path:
    """Return the folder in which packages are kept: that of the variable BACKSTEP_SITES, or one in the user's cache."""
    given = os.environ.get("BACKSTEP_SITES")
    return Path(given) if given else platformdirs.user_cache_path(APP, appauthor=False) / "sites"


def _pinned() -> dict[str, NpmPackage]:
    read = tomllib.loads((HERE / "packages.toml").read_text(encoding="utf-8"))
    return {
        name: NpmPackage(name, one["version"], one["sha512"], tuple(one["kept"]))
        for name, one in read.items()
    }


def serve_pages(site: Site, folder: Path) -> str:
    """Serve `pages` beside the libraries' files under /npm, and return the address before a page's name.

    Raises CannotInstall where a library cannot be had.
    """
    pinned = _pinned()
    unpack(folder / "npm", pinned.values())

    def answer(request: Request) -> Response:
        path = request.path.lstrip("/")
        if path.startswith("pages/"):
            file = HERE / path
        else:
            path = path.removeprefix("npm/")
            name = "/".join(path.split("/")[: 2 if path.startswith("@") else 1])
            file = folder / "npm" / name / pinned[name].version / path[len(name) + 1 :]
            if not file.exists():  # Modules name each other without it.
                file = file.with_name(f"{file.name}.js")
        if not file.is_file():
            return Response(status=404)
        kind = guess_type(file.name)[0] or "application/octet-stream"
        headers = {"Cache-Control": "max-age=3600"}
        if "text" in kind:
            kind += "; charset=utf-8"
        return Response(file.read_bytes(), content_type=kind, headers=headers)

    site.serve_under("/npm/", answer)
    return site.serve_under("/pages/", answer)


class Addresses:
    """Where the sites are; what is asked for is installed and started until left."""

    def __init__(self, site: Site, packages: Path, folder: Path) -> None:
        """Packages are kept in `packages`, what applications write in `folder`."""
        self._site = site
        self._packages = packages
        self._folder = folder
        self._started: dict[str, str] = {}
        self._failed: dict[str, CannotInstall] = {}
        """What could not be had is asked for once: a registry that is out of reach takes its time."""
        self._left = ExitStack()

    def __enter__(self) -> "Addresses":
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()

    def of_page(self, name: str) -> str:
        """Return the address of a page of libraries; raises CannotInstall."""
        return self._once("", lambda: serve_pages(self._site, self._packages)) + name

    def of_program(self, name: str, program: Program) -> str:
        """Return the address of an application; raises CannotInstall."""

        def start() -> str:
            folder = self._folder / name
            folder.mkdir(parents=True)
            started = serve_program(program, self._packages / "python" / name, folder)
            return self._left.enter_context(started)

        return self._once(name, start)

    def _once(self, name: str, start: Callable[[], str]) -> str:
        if name in self._failed:
            raise self._failed[name]
        if name not in self._started:
            try:
                self._started[name] = start()
            except CannotInstall as error:
                self._failed[name] = error
                raise
        return self._started[name]


@contextmanager
def serve_program(program: Program, environment: Path, folder: Path) -> Iterator[str]:
    """Start an application until left, and yield its address; raises CannotInstall."""
    python = make_environment(environment, program.packages)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [one.format(port=port, folder=folder, here=HERE / "programs") for one in program.command]
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "keeper.py"), str(python), *words],
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}{program.path}"
        _wait_until_it_answers(process, address, folder / "said")
        yield address
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Return the variables of an application: nothing of whoever runs the tests is read, written or told."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if name in os.environ
    }
    quiet = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **quiet, "HOME": str(folder), "TMPDIR": str(folder)}


def _wait_until_it_answers(process: "subprocess.Popen[bytes]", address: str, said: Path) -> None:
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=_START_SECONDS):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(_LOOK_SECONDS)  # Nothing tells that a port of another process is open.
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise CannotInstall(f"It does not start: {lines[-1] if lines else 'it said nothing'}")
