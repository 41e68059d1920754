"""Going back over random walks: how well, how fast, by which way, and whether it claimed more than is so.

    python -m tests.campaigns.back [--times 500] [--seed 0] [--browser chromium|embedded] [--only NUMBER]
        [--tasks NAME]... [--way NAME]...

Walks tasks of MiniWoB++, the bundled shop and the airline desk by random
permissible actions, each step kept in a trace as a run keeps it, and goes back
to random earlier steps by the product's own `restore`: from the end of a walk,
and once more from where the rest of it has led anew.

Every page that was called exact or equivalent is looked at twice more. Another
client of the browser, with a connection of its own, reads it by a script in the
page's main world, and compares it with the same reading from when the step was
first there; left out is only the cookie of a bundled site's session, of which
each branch has its own. And the rest of the walk is done from it: pages and
reward must be those that were recorded. Where they are not, the whole walk is
done anew from the start, some times, and then it is gone back to the page once
more: one that does not repeat itself, or that is as it was called the second
time, is a race (an animation, a clock), which says nothing of going back, and
is counted apart. All others claimed more than is so, and are losses. With --way only the ways named are
tried, such as "replay from the start", which alone calls a page exact that was
touched. Interrupted, it prints what has come of it so far.
"""

import asyncio
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import get_args

from core.agent.branching import stays_done_since
from core.agent.going_back import restore_context_of
from core.agent.llm_calls import Asker
from core.agent.prompt_builder import Prompter
from core.agent.resources import AgentResources, agent_resources_of
from core.browser.channel import PageGone
from core.browser.checkpoints.comparison import load_volatile
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import STRATEGIES
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.cli.output import put, put_table
from core.environments.registry import Environments
from core.schema.errors import BackstepError
from core.schema.record import Record
from core.schema.restore import VERIFIED, Attempt, Grade, Restored
from core.schema.task import Task
from core.trace.store import TraceStore
from tests.campaigns.browsers import OtherClient, add_browser_flag, in_browser
from tests.campaigns.report import Loss, Progress, conclude, flags
from tests.campaigns.walks import RandomWalker, Walk, begin_walk, differing

MINIWOB = """
ascending-numbers bisect-angle book-flight book-flight-nodelay buy-ticket choose-date choose-list
click-button-sequence click-checkboxes click-checkboxes-transfer click-collapsible-2 click-dialog-2
click-link click-menu click-option click-pie click-scroll-list click-shades click-tab-2-hard click-widget
copy-paste-2 daily-calendar email-inbox email-inbox-forward enter-date enter-password enter-text-dynamic
enter-time find-word form-sequence-2 generate-number guess-number hot-cold login-user-popup multi-layouts
navigate-tree number-checkboxes order-food search-engine social-media-all stock-market text-editor
tic-tac-toe use-autocomplete use-slider-2 use-spinner
""".split()
SHOP = tuple(f"goal-{number:03}" for number in range(0, 240, 24))
TITLES = {"miniwob": "MiniWoB++", "shop": "Shop", "airline": "Airline desk"}
STEPS = (2, 8)
BACKS = 2
"""How often each walk is gone back in."""
NAMED = 12
"""Pages wrongly called that are listed."""


class Back(Record):
    """One time of going back, and what became of it."""

    number: int
    """The walk's."""
    task: str
    seed: int
    step: int
    walked: int
    grade: Grade
    strategy: str
    seconds: float
    sentence: str = ""
    """The product's own sentence."""
    attempts: tuple[Attempt, ...] = ()
    reads: str = ""
    """Where the page's own scripts see something else."""
    plays: str = ""
    """Where the rest of the walk leads elsewhere."""
    repeats: bool = True
    """Whether the walk leads to the same pages when it is done anew."""
    again: bool = False
    """Whether what was claimed was contradicted once more, when it was gone back to the page again."""

    @property
    def verified(self) -> bool:
        return self.grade in VERIFIED

    @property
    def contradicted(self) -> bool:
        return bool(self.plays or (self.reads and self.grade == "exact"))

    @property
    def wrong(self) -> bool:
        return self.contradicted and self.repeats and self.again


class Campaign:
    """Walks and goes back in one browser, and counts what could not be walked."""

    def __init__(
        self, host: BrowserHost, client: OtherClient, *, names: Sequence[str] = (), ways: Sequence[str] = ()
    ) -> None:
        """By these ways alone where some are named, and with these tasks."""
        self._host = host
        self._client = client
        self._strategies = tuple(one for one in STRATEGIES if one.name in ways) or None
        self._names = names
        self.unwalked: list[str] = []
        """Why tasks could not be walked or gone back in, a sentence each."""

    async def go_back(self, seed: int, times: int, only: int | None = None) -> list[Back]:
        """Walk the tasks in turn until it was gone back so many times; `only` is the number of a single walk."""
        environments, resources = Environments(), agent_resources_of()
        tasks = [environments.find(name) for name in self._names or _all(environments)]
        tabs = Tabs(self._host)
        await tabs.browser.start()
        found: list[Back] = []
        progress = Progress(times)
        with tempfile.TemporaryDirectory() as folder:
            store = TraceStore.open(Path(folder) / "traces.db")
            try:
                for number in count() if only is None else [only]:
                    task, at = tasks[number % len(tasks)], seed + number // len(tasks)
                    try:
                        walk = await self._walk(store, tabs, environments, resources, task, at)
                        dice = random.Random(f"{task.id} {at}, back")
                        for _ in range(BACKS):
                            back = await self._go_back(walk, resources, dice, number, at)
                            found.append(back)
                            progress.tell(len(found), _losses([back]))
                    except (BackstepError, PageGone) as error:
                        self.unwalked.append(f"{task.id}, seed {at}: {error}")
                        print(self.unwalked[-1], file=sys.stderr, flush=True)
                    except asyncio.CancelledError:
                        break
                    if len(found) >= times or len(self.unwalked) > times:
                        break
            finally:
                store.close()
                await environments.close()
                await tabs.browser.close()
        return found

    async def _walk(
        self,
        store: TraceStore,
        tabs: Tabs,
        environments: Environments,
        resources: AgentResources,
        task: Task,
        seed: int,
    ) -> Walk:
        walk = await begin_walk(
            store,
            tabs,
            environments,
            resources,
            task,
            seed=seed,
            dice=f"{task.id} {seed}",
            volatile=load_volatile(),
            client=self._client,
        )
        await walk.walk(random.Random(f"{task.id} {seed}").randint(*STEPS))
        return walk

    async def _go_back(
        self, walk: Walk, resources: AgentResources, dice: random.Random, number: int, seed: int
    ) -> Back:
        step = dice.randint(1, len(walk.done))
        restored = await self._restored(walk, resources, step)
        back = Back(
            number=number,
            task=walk.run.state.episode.task.id,
            seed=seed,
            step=step,
            walked=len(walk.done),
            grade=restored.grade,
            strategy=restored.strategy,
            seconds=restored.seconds,
            sentence=restored.sentence,
            attempts=restored.attempts,
        )
        if not back.verified:
            return back
        back = await self._looked_at(walk, back)
        if not back.contradicted:
            return back
        if not await walk.can_be_repeated():
            return back.replace(repeats=False)
        restored = await self._restored(walk, resources, step)
        once_more = await self._looked_at(walk, back.replace(grade=restored.grade))
        return back.replace(again=restored.verified and once_more.contradicted)

    async def _restored(self, walk: Walk, resources: AgentResources, step: int) -> Restored:
        state, world = walk.run.state, walk.world
        prompter = Prompter(resources, Asker(walk.run.store, RandomWalker(""), lambda asked: None))
        context = restore_context_of(
            state,
            world,
            prompter,
            walk.history,
            sent=stays_done_since(walk.run.store, world, state.run, step),
            may_repeat=True,
        )
        ground = replace(context, choose=None)
        checkpoint = walk.history.checkpoint(step)
        return await restore(checkpoint, ground, strategies=self._strategies)

    @staticmethod
    async def _looked_at(walk: Walk, back: Back) -> Back:
        """Return it with what another client reads, and where the rest of the walk leads."""
        reads = differing(walk.readings[back.step - 1], await walk.read())
        return back.replace(reads=reads, plays=await walk.play(back.step))


def _all(environments: Environments) -> list[str]:
    airline = [task.id for task in environments.tasks() if task.environment == "airline"]
    miniwob = [f"miniwob/{name}" for name in MINIWOB]
    return [*miniwob, *(f"shop/{name}" for name in SHOP), *airline]


def _losses(found: Iterable[Back]) -> list[Loss]:
    return [
        Loss(one.number, f"{_place(one)} was called {one.grade}, but {one.plays or one.reads}")
        for one in found
        if one.wrong
    ]


def print_table(browser: str, found: list[Back]) -> None:
    """Print what came of it: by environment and way, in all, and what was wrongly called."""
    put(f"{browser}, {len(found)} times gone back")
    ways = [strategy.name for strategy in STRATEGIES]
    groups = [
        (title, way, [one for one in found if one.task.startswith(f"{name}/") and one.strategy == way])
        for name, title in TITLES.items()
        for way in ways
    ]
    rows = [_line(title, way, those) for title, way, those in groups if those]
    columns = ("environment", "way", "times", *get_args(Grade), "median ms", "90 % ms")
    put_table(columns, [*rows, _line("all", "", found)])
    share = sum(one.verified for one in found) / len(found)
    print(f"\nexact or equivalent: {share:.1%}; median {_milliseconds(found)[0]:.0f} ms")
    print(f"tasks: {len({one.task for one in found})}; way before the last, why it was not enough:")
    for (way, why), times in _failures(found).most_common(NAMED):
        print(f"  {times:4} {way}: {why}")
    for grade in VERIFIED:
        _print_honesty(grade, [one for one in found if one.grade == grade])
    for one in [one for one in found if not one.verified][:NAMED]:
        print(f"  {_place(one)}: {one.sentence} {_last_reason(one)}")


def _print_honesty(grade: str, those: list[Back]) -> None:
    sure = [one for one in those if one.wrong or not one.contradicted]
    put(
        f"called {grade}: {len(those)}; read otherwise {sum(bool(one.reads) for one in sure)}, "
        f"rest played otherwise {sum(bool(one.plays) for one in sure)}; "
        f"pages that do not repeat themselves {sum(not one.repeats for one in those)}, "
        f"contradicted one time of two {len(those) - len(sure) - sum(not one.repeats for one in those)}"
    )
    told = [one for one in those if one.plays or one.reads]
    for one in sorted(told, key=lambda one: (not one.wrong, not one.contradicted))[:NAMED]:
        apart = " (does not repeat itself)" if not one.repeats else ""
        apart = (
            " (not when gone back to once more)"
            if one.contradicted and one.repeats and not one.again
            else apart
        )
        put(f"  {_place(one)}{apart}: {one.plays or one.reads}")


def _place(one: Back) -> str:
    return f"{one.task}, seed {one.seed}, step {one.step} of {one.walked}, {one.strategy}"


def _last_reason(one: Back) -> str:
    return next((attempt.reason for attempt in reversed(one.attempts) if attempt.reason), "")


def _failures(found: Iterable[Back]) -> Counter[tuple[str, str]]:
    return Counter(
        (attempt.strategy, attempt.grade or attempt.reason.partition(":")[0])
        for one in found
        for attempt in one.attempts
        if attempt.grade not in VERIFIED and attempt.seconds
    )


def _milliseconds(those: list[Back]) -> tuple[float, float]:
    took = sorted(one.seconds * 1000 for one in those)
    return statistics.median(took), took[min(int(len(took) * 0.9), len(took) - 1)]


def _line(title: str, way: str, those: list[Back]) -> tuple[str, ...]:
    grades = Counter(one.grade for one in those)
    median, ninetieth = _milliseconds(those)
    counts = [str(grades[grade]) for grade in get_args(Grade)]
    return (title, way, str(len(those)), *counts, f"{median:.0f}", f"{ninetieth:.0f}")


def main() -> int:
    parser = flags(__doc__, times=500)
    add_browser_flag(parser)
    parser.add_argument("--tasks", action="append", default=[], metavar="NAME")
    names = [one.name for one in STRATEGIES]
    parser.add_argument("--way", action="append", default=[], choices=names, metavar="NAME")
    options = parser.parse_args()
    campaigns: list[Campaign] = []

    async def work(host: BrowserHost, client: OtherClient) -> list[Back]:
        campaigns.append(Campaign(host, client, names=options.tasks, ways=options.way))
        return await campaigns[0].go_back(options.seed, options.times, options.only)

    found = in_browser(options.browser, work)
    if not found:
        raise SystemExit("Nothing could be walked.")
    print_table(options.browser, found)
    put(f"walks that could not be done: {len(campaigns[0].unwalked)}")
    flagged = [f"--{flag} {name!r}" for flag in ("tasks", "way") for name in getattr(options, flag)]
    words = f"--seed {options.seed} --browser {options.browser} {' '.join(flagged)}".strip()
    return conclude("tests.campaigns.back", _losses(found), words)


if __name__ == "__main__":
    sys.exit(main())
