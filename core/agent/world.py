"""The browser and the environment that a run acts in."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from uuid import uuid4

from core.agent.gates import Gates
from core.browser.actor import Actor
from core.browser.boundary import ALL_SITES, Ask, Boundary, refuse
from core.browser.capturer import Capturer, titled
from core.browser.channel import PageGone
from core.browser.checkpoints.page_state import PageState, origin_of, read_page_state
from core.browser.driver import TabDriver
from core.browser.locating import resolve
from core.browser.peek import Peek
from core.browser.read_ahead import ReadAhead
from core.browser.settling import SettleMark
from core.browser.tabs import Tabs
from core.environments.protocol import Environment, KeepsState
from core.llm.endpoints import Keys
from core.schema.action import Target
from core.schema.action_space import Permissible
from core.schema.element_identity import RecordedInput, called
from core.schema.errors import ActionError, BrowserError, UsageError
from core.schema.hiding import Secrets
from core.schema.hosts import has_scheme, site_of
from core.schema.observation import Capture
from core.schema.restore import SentAt, sent_summary
from core.schema.secrets import Kind, quoted_in
from core.schema.task import Episode, Task
from core.schema.viewport import VIEWPORT


class Touches:
    """Counts what is done in the browser, to recognise a page that was not touched since."""

    def __init__(self) -> None:
        self._session = uuid4().hex[:12]
        self._count = 0

    @property
    def last(self) -> str:
        """Name the last touch; no other process gives the same name."""
        return f"{self._session}:{self._count}"

    def touch(self) -> None:
        self._count += 1


def secrets_of(task: Task, find: Callable[[str], str | None]) -> dict[str, str]:
    """Return the values of a task's secrets by their names; raises UsageError if one is missing."""
    found: dict[str, str] = {}
    for name, text in task.secrets.items():
        value = (
            find(text[1:]) if text.startswith("$") and not text.startswith("$$") else text.removeprefix("$")
        )
        if not value:
            raise UsageError(
                f'The secret "{name}" of {task.id} is not set: there is no {text[1:]} in the environment or the system '
                f"keyring. Set the environment variable {text[1:]} to its value."
            )
        found[name] = value
    return found


@dataclass
class World:
    """The parts of the outside world that a phase can use."""

    tabs: Tabs
    actor: Actor
    capturer: Capturer
    environment: Environment
    gates: Gates
    touches: Touches = field(default_factory=Touches)
    peek: Peek = field(default_factory=Peek)
    find_secret: Callable[[str], str | None] = field(default_factory=lambda: Keys().find_key)
    """Finds the value of a secret in the environment or the keyring."""
    record_network: bool = True
    """Whether what servers answer is to be recorded, if they are not ours."""
    sites: tuple[str, ...] = ()
    """The sites that all tasks may open."""
    upload_folders: tuple[Path, ...] = ()
    """The folders whose files all tasks may give to pages."""
    viewport: tuple[int, int] = VIEWPORT
    """The size in which pages are seen where neither task nor preset says one."""
    ask: Ask = refuse
    """Is asked about what leads out of what a task allows."""

    def follow_network(self, task: Task) -> None:
        """Record answers from the next opening on, except for bundled sites, whose pages can be made again."""
        self.tabs.network.wanted = self.record_network and self.keeper is None and not task.seeded

    def begin(self, task: Task) -> None:
        """Let a task that is about to be opened go where its start page leads, but not to this machine's network."""
        named = (ALL_SITES, *task.sites, *self.sites)
        known = has_scheme(task.start_url)
        self.tabs.border.set(Boundary(task.start_url, named) if known else None)

    def bound(self, episode: Episode, allowed: list[str]) -> None:
        """Keep pages to what the task of an episode allows, and to what was `allowed` since it began."""
        task = episode.task
        named = (*task.sites, *self.sites, *filter(None, (site_of(task.start_url),)))
        boundary = Boundary.of(episode.start_url, named, episode.instruction, self.upload_folders)
        boundary.folders += task.upload_folders
        boundary.allowed = allowed
        boundary.ask = lambda crossing: self.ask(crossing)
        self.tabs.border.set(boundary)

    @property
    def keeper(self) -> KeepsState | None:
        """The environment, where its server keeps a state that can be restored."""
        return self.environment if isinstance(self.environment, KeepsState) else None

    def irreversible(self, sent: Iterable[SentAt], step: int, start_url: str) -> tuple[SentAt, ...]:
        """Return what was sent since a step and is not undone when a run that began at `start_url` goes back to it.

        A bundled site is restored with its server's state.
        """
        own = origin_of(start_url) if self.keeper is not None else ""
        return tuple(
            one for one in sent if one.step >= step and not (own and one.sent.url.startswith(f"{own}/"))
        )

    def repeated(self, inputs: Sequence[RecordedInput], sent: Iterable[SentAt], episode: Episode) -> str:
        """Return what doing these inputs again would do that cannot be undone, in a sentence, or nothing.

        `sent` is what was sent as they were made. Pages that a seed or a site of ours gives are started again.
        """
        if episode.task.seeded:
            return ""
        steps = {one.step for one in inputs}
        if again := self.irreversible((one for one in sent if one.step in steps), 0, episode.start_url):
            return f"Repeating it would send {sent_summary(again)}."
        if self.keeper is not None:
            return ""
        for one in inputs:
            label = next((called(mark.element) for mark in one.marks.values()), "")
            reason = self.gates.reason(one.action, label, Permissible(), episode.task.environment)
            if reason is not None:
                on = f" on {label}" if label else ""
                return f"Repeating it would {one.action}{on} (step {one.step}): {reason}."
        return ""

    async def declare_secrets(self, task: Task, hidden: Secrets) -> Task:
        """Have the secrets of a task typed by their names, read as them, and stored as them by who has `hidden`.

        Returns the task as an agent is told it. Raises UsageError if one is missing.
        """
        given = await asyncio.to_thread(secrets_of, task, self.find_secret)
        self.tabs.secrets = self.tabs.typed_secrets(task.id, task.start_url) | given
        declared = self.capturer.secrets = Secrets()
        for name, value in self.tabs.secrets.items():
            declared.declare(name, value)
            hidden.declare(name, value)
        return task.replace(instruction=declared.text(task.instruction))

    def name_secret(self, episode: Episode, kind: Kind, value: str) -> str:
        """Return the name of a secret that a person has typed: the task has it as long as the program runs."""
        values = self.tabs.secrets
        name = next((name for name, known in values.items() if known == value), "")
        if not name:
            slug = kind.replace(" ", "-")
            name = (
                slug
                if slug not in values
                else next(f"{slug}-{n}" for n in count(2) if f"{slug}-{n}" not in values)
            )
            values[name] = value
            self.know_secret(episode.task, name, value)
            # A stored run tells where its first page was, which may be another address than the task's.
            self.tabs.typed_secrets(episode.task.id, episode.start_url)[name] = value
            self.capturer.secrets.declare(name, value)
        return name

    def know_secret(self, task: Task, name: str, value: str) -> None:
        """Let a task have a secret that it does not declare, from its next opening on, as long as the program runs."""
        self.tabs.typed_secrets(task.id, task.start_url)[name] = value

    def note_told(self, episode: Episode) -> None:
        """Have bullets typed as what the task says in quotes, where only one such text has their length."""
        told = quoted_in(episode.instruction)
        lengths = Counter(map(len, told))
        typed = {place: text for place, text in self.tabs.passwords.items() if place.strip("•")}
        self.tabs.passwords = typed | {"•" * len(one): one for one in told if lengths[len(one)] == 1}

    async def page_state(self, episode: Episode) -> PageState:
        """Return what the browser and the environment's server keep for the current page now."""
        server = self.keeper.snapshot(episode) if self.keeper is not None else ""
        touched = "" if self.tabs.inspected else self.touches.last
        return await read_page_state(self.tabs.current, touched=touched, server=server)

    def read_ahead(self, since: SettleMark, last: Capture | None) -> ReadAhead:
        """Begin to read the current page, which was read as `last`, while what began after `since` is awaited."""
        return ReadAhead(self.tabs, self.capturer, since, last)

    async def read(self, ahead: ReadAhead | None = None) -> Capture:
        """Read the current page, unless what `ahead` knows of it holds still; a crashed one is brought back first."""
        await self.peek.put_back()
        await self.tabs.check_arrival()
        if ahead is not None:
            capture = await ahead.capture()
            if capture is not None and await self.unchanged(capture):
                return capture
        if self.tabs.current.crashed:
            await self.tabs.revive()
        return await self.capturer.capture(self.tabs.current, await self.tabs.list())

    async def locate(self, targets: Iterable[Target]) -> dict[str, int | str]:
        """Return the refs of targets in the current page, by their text; of those that are not there, why."""
        refs: dict[str, int | str] = {}
        for target in targets:
            try:
                refs[str(target)], _ = await resolve(self.tabs.current, target)
            except (ActionError, BrowserError) as error:
                refs[str(target)] = str(error)
            except PageGone:
                refs[str(target)] = "The page is gone."
        return refs

    async def marked_html(self) -> str:
        """Return the current page's HTML with refs as ``data-ref``, or nothing if the page is gone."""
        try:
            return await self.capturer.marked_html(self.tabs.current)
        except (PageGone, BrowserError, ActionError):
            return ""

    async def unchanged(self, capture: Capture) -> bool:
        """Return whether the current page and the tabs are still as `capture` has them; in doubt they are not."""
        seen = capture.observation
        try:
            same, tabs = await asyncio.gather(
                self.capturer.unchanged(self.tabs.current, capture), self.tabs.list()
            )
        except (PageGone, BrowserError):
            return False  # Reading it will say why.
        return same and titled(tabs, seen.title, seen.url) == seen.tabs

    async def episode_ended(self) -> bool:
        """Return whether the page has ended the episode; a page that is gone has not."""
        try:
            return await self.environment.ended(TabDriver(self.tabs))
        except (PageGone, ActionError, BrowserError):
            return False

    async def history(self) -> tuple[int, int]:
        """Return how many pages lie behind and before the current one in the tab's history."""
        try:
            history = await self.tabs.current.send("Page.getNavigationHistory", {})
        except (PageGone, BrowserError):
            return 0, 0
        entries, here = history["entries"], int(history["currentIndex"])
        behind = sum(1 for entry in entries[:here] if entry["url"] != "about:blank")
        return behind, len(entries) - here - 1
