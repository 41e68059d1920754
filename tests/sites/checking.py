"""Trying a control of a site: what is done by actions, what the page then says by itself, and what is then read."""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.schema.action import Action, RefTarget, RoleTarget
from core.schema.action_text import parse_action
from core.schema.errors import BackstepError
from core.schema.observation import Observation
from tests.core.browser.browsing import Browsing
from tests.packages import CannotInstall
from tests.sites.accessibility import differences
from tests.sites.serving import Addresses, Program

_SECONDS = 10.0
"""How long a page may take to come to what is expected of it."""
_LOOK_SECONDS = 0.1
TREE = "accessibility tree"
"""The control that stands for all of a page, compared with Chromium's own tree as it is opened."""


@dataclass(frozen=True)
class Check:
    """A control, and what is tried on it."""

    control: str
    do: tuple[str, ...] = ()
    """Actions as text, which name elements by role and name as their lines do; ``{file}`` is a file to upload."""
    page: tuple[str, object] | None = None
    """An expression of JavaScript and what it is afterwards."""
    lines: tuple[str, ...] = ()
    """Lines that are read afterwards, without their numbers and the focus."""
    absent: tuple[str, ...] = ()
    """Lines that are not read afterwards."""
    first: tuple[str, ...] = ()
    """Lines that are read before."""
    fault: str = ""
    """What is known to go wrong, so that it is noticed once it does not."""


@dataclass(frozen=True)
class Site:
    """A library or an application, and what is tried of it."""

    name: str
    checks: tuple[Check, ...]
    page: str = ""
    """The file of `pages` that uses a library."""
    program: Program | None = None
    variable: str = ""
    """The environment variable with the address of one that runs, where it cannot be installed."""
    afresh: bool = False
    """Whether each control needs the page as it is opened, and not as the one before has left it."""
    heavy: bool = False
    """Whether it is left to the command, since it takes long to install or to start."""
    ready: tuple[str, object] = ("document.readyState", "complete")
    """An expression of JavaScript and what it is once the page can be used."""
    allowed: Mapping[str, str] = field(default_factory=dict)
    """Differences from Chromium's tree that are right, by how their sentences begin, with the reason."""

    @property
    def controls(self) -> tuple[Check, ...]:
        return (Check(TREE), *self.checks)

    def address(self, addresses: Addresses) -> str:
        """Return where it is, once it is installed and started; raises CannotInstall."""
        if self.variable:
            if not (address := os.environ.get(self.variable)):
                raise CannotInstall(
                    f"It is in no package registry. Give the address of one in {self.variable}."
                )
            return address
        if self.program is None:
            return addresses.of_page(self.page)
        return addresses.of_program(self.name, self.program)


async def try_control(browser: Browsing, site: Site, check: Check, address: str, file: Path) -> str:
    """Open the site, do what the check says, and return what is not as expected, or nothing."""
    await browser.open(address)
    return await use_control(browser, site, check, file)


async def use_control(browser: Browsing, site: Site, check: Check, file: Path) -> str:
    """Do what the check says in the page as it is, and return what is not as expected, or nothing."""
    try:
        expression, expected = site.ready
        wrong = await _until_said(browser, expression, expected)
        if not wrong and check.first:
            wrong = await _until_read(browser, check.first, ())
        if wrong:
            return f"before: {wrong}"
        for text in check.do:
            await browser.do(str(await _aimed(browser, text.replace("{file}", str(file)))))
        if check.page is not None and (wrong := await _until_said(browser, *check.page)):
            return wrong
        if (check.lines or check.absent) and (wrong := await _until_read(browser, check.lines, check.absent)):
            return wrong
        if check.control != TREE:
            return ""
        found = [one for one in await differences(browser) if not one.startswith(tuple(site.allowed))]
        return "; ".join(found)
    except BackstepError as error:
        return str(error)


async def _aimed(browser: Browsing, text: str) -> Action:
    """Read an action, and name its elements by the numbers that their lines have now; raises BackstepError."""
    action = parse_action(text)
    wanted = {
        part: target
        for part in ("target", "to")
        if isinstance(target := getattr(action, part, None), RoleTarget)
    }
    if not wanted:
        return action
    ends = time.monotonic() + _SECONDS
    while True:
        seen = await browser.see()
        found = {part: _numbered(seen, target) for part, target in wanted.items()}
        if all(len(refs) == 1 for refs in found.values()):
            return action.replace(**{part: RefTarget(ref=refs[0]) for part, refs in found.items()})  # type: ignore[no-any-return]
        if time.monotonic() > ends:
            part, refs = next((part, refs) for part, refs in found.items() if len(refs) != 1)
            raise BackstepError(f"{len(refs)} lines are of {wanted[part]} in\n{seen.lines()}")
        await asyncio.sleep(_LOOK_SECONDS)


def _numbered(seen: Observation, target: RoleTarget) -> list[int]:
    return [one.ref for one in seen.elements if (one.role, one.name) == (target.role, target.name)]


async def _until_said(browser: Browsing, expression: str, expected: object) -> str:
    """Wait until the page says what is expected; returns what it says instead, in a sentence, or nothing."""
    ends = time.monotonic() + _SECONDS
    while (
        said := await browser.js(
            f"(() => {{ try {{ return {expression} }} catch (error) {{ return String(error) }} }})()"
        )
    ) != expected:
        if time.monotonic() > ends:
            return f"{expression} is {said!r} and not {expected!r}"
        await asyncio.sleep(_LOOK_SECONDS)
    return ""


async def _until_read(browser: Browsing, lines: tuple[str, ...], absent: tuple[str, ...]) -> str:
    """Wait until these lines are read and the others are not; returns what is read instead, or nothing."""
    ends = time.monotonic() + _SECONDS
    while True:
        seen = await browser.see()
        read = [
            one.replace(states=tuple(s for s in one.states if s != "focused")).line().partition("] ")[2]
            for one in seen.elements
        ]
        lacking = [f"there is no line {one}" for one in lines if one not in read]
        surplus = [f"there is a line {one}" for one in absent if one in read]
        if not lacking and not surplus:
            return ""
        if time.monotonic() > ends:
            return "; ".join(lacking + surplus) + f" in\n{seen.lines()}"
        await asyncio.sleep(_LOOK_SECONDS)
