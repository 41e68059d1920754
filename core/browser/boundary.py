"""Where the pages of a task may go, and which files they may be given.

Each document that a page asks for is decided on before the request leaves (`Page` intercepts them). The sites of
a task are those of its start page, those that its instruction, its file or the settings name, and those that were
allowed since. What leads elsewhere is asked about, once a host. Addresses of this machine and its network are asked
about even if all sites are allowed, unless the task began there. Other schemes than those of `SCHEMES` are refused.
"""

import asyncio
import os
import re
import socket
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from core.schema.errors import ActionError
from core.schema.hosts import host_of, in_site, is_near, is_near_address, place_of, site_of
from core.schema.record import Record
from core.system.paths import expanded
from core.system.patience import within

SCHEMES: dict[str, Literal["sites", "blank", "own", "folder"]] = {
    "http": "sites",
    "https": "sites",
    "blob": "sites",
    "about": "blank",
    "data": "own",
    "file": "folder",
}
"""What may be opened, by scheme: what the sites allow (of a blob: address that of the page that has made it), the
empty page, text of a task that begins with such, and what is below the folder of the file that the task begins with.
No other scheme is opened."""
ALL_SITES = "*"
_BLANK = ("about:blank", "about:srcdoc")
_NAMED = re.compile(
    r"(?:https?://)?((?:[\w-]+\.)+[a-z][\w-]+|\[[0-9a-f:]+\]|localhost|\d+(?:\.\d+){3})(:\d+)?", re.I
)
"""Hosts that an instruction names."""
_RESOLVE_SECONDS = 2.0
_SHOWN = 200
_NEAR = "this machine or its network"


class Crossing(Record):
    """Something that leads out of what the task allows."""

    kind: Literal["site", "network", "file"]
    what: str
    """The address, or the path of a file."""
    host: str = ""
    """What is allowed with it, as `Boundary.allowed` has it: a host, one with its port, or a file's path."""
    why: str
    """A whole sentence."""


Ask = Callable[[Crossing], Awaitable[bool]]
"""Is awaited with each crossing that was not allowed before; False refuses it."""


async def refuse(crossing: Crossing) -> bool:
    """Refuse a crossing, there being nobody to ask."""
    return False


async def _at_once(question: Awaitable[bool]) -> bool:
    return await question


@dataclass
class Boundary:
    """The boundary of one task."""

    start_url: str
    sites: tuple[str, ...] = ()
    """Hosts, each with those below it, some with a port; ``*`` for all."""
    folders: tuple[Path, ...] = ()
    """Where files that pages are given may be."""
    allowed: list[str] = field(default_factory=list)
    """What was allowed since the task began."""
    ask: Ask = refuse
    held: Callable[[Awaitable[bool]], Awaitable[bool]] = _at_once
    """Awaits the answer to a question while what it is about is held."""
    on_refused: Callable[[str, str], object] = lambda sentence, url: None
    """Is called with a sentence, and the address, for each document that was refused."""
    _resolved: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls, start_url: str, named: Iterable[str], instruction: str, folders: Iterable[Path] = ()
    ) -> "Boundary":
        """Return the boundary of a task that begins at an address, with the sites that are `named` beside it."""
        said = [f"{found[1]}{found[2] or ''}".lower() for found in _NAMED.finditer(instruction)]
        return cls(start_url, tuple(dict.fromkeys((*named, *said))), tuple(folders))

    @property
    def shown(self) -> tuple[str, ...]:
        """The sites of the task, as a person is shown them."""
        start = [site_of(self.start_url)] if host_of(self.start_url) else []
        return tuple(dict.fromkeys((*start, *self.sites, *self.allowed)))

    def check_scheme(self, url: str, *, top: bool = True) -> None:
        """Raise ActionError for an address that is never opened from this task."""
        scheme = url.strip().partition(":")[0].lower()
        rule = SCHEMES.get(scheme)
        begun = self.start_url.partition(":")[0].lower()
        if rule is None:
            raise ActionError(
                f"{_shown(url)} was not opened: {scheme}: addresses cannot be opened; give a web address."
            )
        if not top and (rule in ("blank", "own")):
            return
        if rule == "blank" and url.strip().lower().partition("#")[0] not in _BLANK:
            raise ActionError(
                f"{_shown(url)} was not opened: of about: addresses, only about:blank can be opened."
            )
        if rule == "own" and begun != scheme:
            raise ActionError(
                f"{_shown(url)} was not opened: {scheme}: addresses are opened only if the task begins with one."
            )
        if rule == "folder" and not self._in_folder(url):
            raise ActionError(
                f"{_shown(url)} was not opened: "
                + (
                    f"the task begins with a file, and only files below {_folder_of(self.start_url)} are opened."
                    if begun == "file"
                    else "file: addresses are opened only if the task begins with a file."
                )
            )

    async def admits(self, url: str, *, top: bool = True) -> bool:
        """Return whether a document may be opened; `top` says whether it is a page of its own, and not in a frame."""
        try:
            if top and self.start_url in ("", "about:blank"):
                self._begin_at(url)
            self.check_scheme(url, top=top)
            crossing = await self._crossing(url, top=top)
            if crossing is None:
                return True
            if not await self.held(self.ask(crossing)):
                raise ActionError(f"{_shown(url)} was not opened: {crossing.why}")
        except ActionError as error:
            self.on_refused(str(error), url)
            return False
        self.allow(crossing.host)
        return True

    async def give(self, paths: Iterable[str]) -> None:
        """Raise ActionError if a page may not be given one of these files."""
        for path in paths:
            try:
                real = Path(os.path.realpath(expanded(path)))
            except ValueError as error:  # It has a zero byte, or half a character.
                raise ActionError(f"The file was not uploaded: {path!r} is not a path.") from error
            if str(real) in self.allowed or any(
                real.is_relative_to(folder.resolve()) for folder in self.folders
            ):
                continue
            why = f"{real} is in no folder that the task or upload_folders in the settings names."
            crossing = Crossing(kind="file", what=str(real), host=str(real), why=why)
            if not await self.held(self.ask(crossing)):
                self.on_refused(f"The file was not uploaded: {why}", real.as_uri())
                raise ActionError(f"The file was not uploaded: {why}")
            self.allow(str(real))

    def allow(self, host: str) -> None:
        """Ask about a host, or a file, no more."""
        if host not in self.allowed:
            self.allowed.append(host)

    def outside(self, url: str) -> str:
        """Return why an address is outside of the task's sites, as a sentence; empty if it is in them.

        What its host's name resolves to is not looked at.
        """
        url = _without_blob(url)
        if SCHEMES.get(url.partition(":")[0].lower()) != "sites":
            return ""
        host, place = host_of(url), place_of(url)
        if self._is_named(host, place):
            return ""
        if is_near(host):
            return f"{place} is an address of {_NEAR}, where the task did not begin."
        if ALL_SITES in self.sites:
            return ""
        return f"{host} is not one of the task's sites ({', '.join(self.shown) or 'it has none'})."

    async def _crossing(self, url: str, *, top: bool) -> Crossing | None:
        host, place = host_of(_without_blob(url)), place_of(_without_blob(url))
        why = self.outside(url)
        near = is_near(host)
        if not near and host and not self._is_chosen(host, place) and await self._leads_near(host):
            near, why = True, f"{host} leads to an address of {_NEAR}, where the task did not begin."
        if not why or (not top and not near):
            return None  # A page may show other sites in its frames.
        if near:
            return Crossing(kind="network", what=url, host=place, why=why)
        return Crossing(kind="site", what=url, host=host, why=why)

    def _is_named(self, host: str, place: str) -> bool:
        """Return whether a host is allowed by name; one of this machine or its network is only with its port."""
        if place in (place_of(self.start_url), *self.allowed, *self.sites):
            return True
        near = is_near(host)
        if near and host in self.sites:
            return True
        start = site_of(self.start_url) if not is_near(host_of(self.start_url)) else ""
        return not near and any(in_site(host, one) for one in (start, *self.sites, *self.allowed) if one)

    def _is_chosen(self, host: str, place: str) -> bool:
        """Return whether just this host was chosen, wherever it leads: who has a site can have names below it."""
        return host == host_of(self.start_url) or not {host, place}.isdisjoint((*self.sites, *self.allowed))

    async def _leads_near(self, host: str) -> bool:
        """Return whether a name resolves to an address of this machine or its network; in doubt it does not."""
        if host not in self._resolved:
            try:
                async with within(_RESOLVE_SECONDS):
                    loop = asyncio.get_running_loop()
                    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                self._resolved[host] = any(is_near_address(str(one[4][0])) for one in found)
            except (OSError, TimeoutError, ValueError):
                return False
        return self._resolved[host]

    def _begin_at(self, url: str) -> None:
        """Take the first page that is opened for the start page of a task that has none."""
        if SCHEMES.get(url.partition(":")[0].lower(), "blank") != "blank":
            self.start_url = url

    def _in_folder(self, url: str) -> bool:
        folder = _folder_of(self.start_url)
        path = _path_of(url)
        return folder is not None and path is not None and path != folder and path.is_relative_to(folder)


class Border:
    """The boundary that holds for the pages of a browser, and what it has refused."""

    def __init__(
        self,
        held: Callable[[Awaitable[bool]], Awaitable[bool]],
        on_refused: Callable[[str, str], object],
    ) -> None:
        """`held` awaits an answer while something is held; `on_refused` is called as that of a `Boundary`."""
        self.boundary: Boundary | None = None
        """None while no agent is at work."""
        self.refused = ""
        """What was refused since the boundary was set, or since an address was last opened, and why."""
        self._held = held
        self._on_refused = on_refused

    def set(self, boundary: Boundary | None) -> None:
        """Keep pages within a boundary from now on."""
        if boundary is not None:
            boundary.on_refused, boundary.held = self._note, self._held
        self.boundary, self.refused = boundary, ""

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that pages may open, as a person is shown them."""
        return self.boundary.shown if self.boundary is not None else ()

    @contextmanager
    def lifted(self) -> Generator[None, None, None]:
        """Let pages go anywhere: back to where the run has been."""
        boundary, self.boundary = self.boundary, None
        try:
            yield
        finally:
            self.boundary = boundary

    async def admits(self, url: str, top: bool) -> bool:
        """Return whether a document may be opened, in a tab of its own or in a frame."""
        return self.boundary is None or await self.boundary.admits(url, top=top)

    def _note(self, sentence: str, url: str) -> None:
        self.refused = sentence
        self._on_refused(sentence, url)


def _without_blob(url: str) -> str:
    return url[5:] if url[:5].lower() == "blob:" else url


def _path_of(url: str) -> Path | None:
    """Return the file that a ``file:`` address names, as the system resolves it; None for one of another host."""
    try:
        parts = urlsplit(url.strip())
        if parts.scheme.lower() != "file" or parts.netloc.lower() not in ("", "localhost"):
            return None
        return Path(url2pathname(parts.path)).resolve()
    except (ValueError, OSError):
        return None


def _folder_of(url: str) -> Path | None:
    path = _path_of(url)
    return None if path is None else path.parent


def _shown(url: str) -> str:
    url = unquote(url.strip()) if url.startswith("file:") else url.strip()
    return url if len(url) <= _SHOWN else f"{url[:_SHOWN]}…"
