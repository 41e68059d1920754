"""MiniWoB++: every page of the installed `miniwob` package, with the page's own reward as judge.

The same seed gives the same page as ``env.reset(seed=…)`` of the package does
in its mode ``train``, on every machine: time, time zone and the language of
dates are fixed as well (resources/scripts/fixed_clock.js).
"""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.environments.protocol import Ask, PageDriver
from core.environments.static_server import StaticServer
from core.schema.errors import DataError, UsageError, WorldError
from core.schema.record import Record
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES
from core.system.patience import Limit

PAGE_CLOCK = 1718452800000
"""When every page believes to be opened: 2024-06-15 12:00 UTC. It lies after all dates the tasks ask
for, as the dates of those who published results did, so calendars open where theirs opened."""

START_SECONDS = 60.0
"""A busy machine needs many times as long as an idle one."""
_VIEWPORT = (332, 214)
"""As in BrowserGym: a page takes 160 by 210 pixels, and the reward stands beside it."""


class PageEntry(Record):
    """What is known of a page without opening it; kept in resources/environments/miniwob.json."""

    page: str
    """Path below the package's html folder."""
    instruction: str
    """The instruction with seed 0."""
    tags: tuple[str, ...] = ()
    note: str = ""
    """Why a page tagged ``broken`` cannot be solved, or what is odd about it."""


class EpisodeState(Record):
    """How an episode stands, as the page tells it."""

    started: bool
    error: str = ""
    ready: bool = False
    done: bool = False
    raw_reward: float = 0.0
    timed_reward: float = 0.0
    reason: str = ""
    instruction: str = ""


class MiniWob:
    """The MiniWoB++ and FlightWoB pages, served from a loopback address.

    A page's time limit is off unless `time_limit`. The reward is the raw one
    then, from -1 to 1 and without decay over time: how long a person or an LLM
    thinks says nothing of the agent. With `time_limit` it is the page's own,
    which sinks to nothing as the limit comes near.
    """

    id = "miniwob"
    title = "MiniWoB++"
    hidden_selectors: tuple[str, ...] = (
        "#reward-display",
        "#sync-task-cover",
        "#click-canvas",
        "#attention-canvas",
        "#reward-reason",
        "#query-pretty .mode",
    )

    def __init__(self, *, time_limit: bool = False) -> None:
        self._time_limit = time_limit
        self._root = html_root()
        self._server = StaticServer(self._root)
        self._tasks: tuple[Task, ...] | None = None

    def tasks(self) -> tuple[Task, ...]:
        """Return a task for each page, by name, the flight pages last."""
        if self._tasks is None:
            known = {entry.page: entry for entry in read_catalogue()}
            self._tasks = tuple(_task(known.get(page), page) for page in page_files(self._root))
        return self._tasks

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Start the episode and return it with this seed's instruction."""
        if not 0 <= seed < 2**53:
            raise UsageError(f"The seed {seed} cannot be used: use a whole number from 0 to 2**53 - 1.")
        origin = self._server.origin
        settings = {
            "origin": origin,
            "seed": seed,
            "clock": PAGE_CLOCK,
            "mode": "train",
            "timed": self._time_limit,
        }
        await page.add_init_script(_call("fixed_clock.js", settings) + _call("miniwob_episode.js", settings))
        url = f"{origin}/{task.details['page']}"
        await page.goto(url)
        state = await _read(page)
        if state is None or not state.ready:
            state = await self._started(task, page)
            await page.settle()
        return Episode(task=task, seed=seed, instruction=plain_instruction(state.instruction), start_url=url)

    async def ended(self, page: PageDriver) -> bool:
        state = await _read(page)
        return state is not None and state.done

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Return the page's reward; anything above 0 is a success.

        Most pages give 1 or -1. Some give a part of 1 for a near miss or a
        part of the work, which counts as a success here as it does in
        published results; the flight pages pay for each right field, so there
        only the full reward counts. The answer is not looked at.
        """
        state = await _read(page)
        if state is None or not state.started:
            return Verdict(
                success=False,
                reward=0.0,
                judge="page",
                reason="The agent left the task's page before its end.",
            )
        if not state.done:
            return Verdict(
                success=False, reward=0.0, judge="page", reason="The page has not ended the episode."
            )
        reward = state.timed_reward if self._time_limit else state.raw_reward
        needed = episode.task.details.get("success_from")
        success = state.raw_reward > 0 if needed is None else state.raw_reward >= needed
        return Verdict(success=success, reward=reward, judge="page", reason=state.reason)

    async def close(self) -> None:
        await asyncio.to_thread(self._server.close)

    async def _started(self, task: Task, page: PageDriver) -> EpisodeState:
        limit = Limit(START_SECONDS)
        while True:
            state = await _read(page)
            if state is not None and state.error:
                raise WorldError(f"The page of {task.id} failed to start: {state.error}.")
            if state is not None and state.started and state.ready:
                return state
            if limit.left() <= 0:
                raise WorldError(f"The page of {task.id} did not start within {START_SECONDS:.0f} s.")
            await asyncio.sleep(0.01)


def html_root() -> Path:
    """Return the folder of the package's pages; raises WorldError if the package is missing."""
    # Found, not imported: the package would load gymnasium and selenium.
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise WorldError("The miniwob package is not installed: install it with `pip install miniwob`.")
    root = Path(next(iter(spec.submodule_search_locations))) / "html"
    if not (root / "core" / "core.js").is_file():
        raise WorldError(f"The miniwob package has no pages in {root}: install it again.")
    return root


def page_files(root: Path) -> tuple[str, ...]:
    """Return the pages below `root` that are tasks, by name, the flight pages last."""
    plain = sorted(path.relative_to(root).as_posix() for path in (root / "miniwob").glob("*.html"))
    flight = sorted(path.relative_to(root).as_posix() for path in (root / "flight").glob("*/wrapper.html"))
    return (*plain, *flight)


def task_name(page: str) -> str:
    """Return the task's name of a page: ``click-test`` or ``flight-aa``."""
    path = Path(page)
    return f"flight-{path.parent.name.lower()}" if path.name == "wrapper.html" else path.stem


def read_catalogue() -> tuple[PageEntry, ...]:
    """Return what is known of the pages; raises DataError if the file is damaged."""
    path = RESOURCES / "environments" / "miniwob.json"
    try:
        return TypeAdapter(tuple[PageEntry, ...]).validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}; install Backstep again.") from error
    except ValidationError as error:
        raise DataError(f"{path} is damaged: {error.errors()[0]['msg']}; install Backstep again.") from error


def plain_instruction(utterance: str) -> str:
    """Return an instruction as a sentence; the flight pages give theirs as JSON."""
    text = " ".join(utterance.split())
    if not text.startswith("{"):
        return text
    try:
        wishes = json.loads(text)
    except json.JSONDecodeError:
        return text
    listed = "; ".join(f"{name}: {value}" for name, value in wishes.items())
    return f"Fill in the form and search for flights with these details. {listed}."


def _task(entry: PageEntry | None, page: str) -> Task:
    details: dict[str, Any] = {"page": page}
    flight = page.startswith("flight/")
    if flight:
        details["success_from"] = 1.0
    if entry is not None and entry.note:
        details["note"] = entry.note
    return Task(
        id=f"miniwob/{task_name(page)}",
        environment="miniwob",
        instruction=entry.instruction if entry else "",
        tags=entry.tags if entry else (),
        viewport=_VIEWPORT,
        seeded=True,
        details=details,
    )


async def _read(page: PageDriver) -> EpisodeState | None:
    """Return how the episode stands, or None if the tab shows another page."""
    state = await page.evaluate(
        '(() => { const episode = window[Symbol.for("backstep.episode")];'
        " return episode ? episode.read() : null; })()",
        main_world=True,
    )
    return None if state is None else EpisodeState.model_validate(state)


def _call(script: str, settings: dict[str, Any]) -> str:
    source = (RESOURCES / "scripts" / script).read_text(encoding="utf-8")
    return f"({source})({json.dumps(settings)});\n"
