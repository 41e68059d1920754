"""Going back: how well, how fast, by which way, and whether what was called exact or equivalent was so.

    python -m tests.benchmarks.bench_backtrack [--count 500] [--tasks NAME]... [--way NAME]... [--seed 0]
        [--embedded] [--json FILE]

Walks tasks of MiniWoB++, the bundled shop and the airline desk by random
permissible actions, each step kept in a trace as a run keeps it, and goes back
to random earlier steps by the product's own `restore`: from the end of a walk,
and once more from where the rest of it has led anew.

Every page that was called exact or equivalent is looked at twice more. It is
read by a script of its own in the page's main world, and compared with the same
reading from when the step was first there; left out is only the cookie of a
bundled site's session, of which each branch has its own. And the rest of the
walk is done from it: pages and reward must be those that were recorded. Where
they are not, the whole walk is done anew from the start: a page that does not
repeat itself then either (an animation, a clock) says nothing of going back,
and is counted apart. With --way only the ways named are tried, such as
"replay from the start", which alone calls a page exact that was touched.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from core.agent.going_back import restore_context_of
from core.agent.llm_calls import Asker
from core.agent.prompt_builder import Prompter
from core.agent.resources import AgentResources, agent_resources_of
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import Strategy
from core.browser.checkpoints.comparison import Volatile, load_volatile
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import STRATEGIES
from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.registry import Environments
from core.schema.errors import BackstepError
from core.schema.record import Record
from core.schema.restore import VERIFIED, Attempt, Grade
from core.schema.task import Task
from core.trace.store import TraceStore
from tests.benchmarks.walks import RandomWalker, Walk, begin_walk, differing

MINIWOB = (
    "ascending-numbers",
    "bisect-angle",
    "book-flight",
    "book-flight-nodelay",
    "buy-ticket",
    "choose-date",
    "choose-list",
    "click-button-sequence",
    "click-checkboxes",
    "click-checkboxes-transfer",
    "click-collapsible-2",
    "click-dialog-2",
    "click-link",
    "click-menu",
    "click-option",
    "click-pie",
    "click-scroll-list",
    "click-shades",
    "click-tab-2-hard",
    "click-widget",
    "copy-paste-2",
    "daily-calendar",
    "email-inbox",
    "email-inbox-forward",
    "enter-date",
    "enter-password",
    "enter-text-dynamic",
    "enter-time",
    "find-word",
    "form-sequence-2",
    "generate-number",
    "guess-number",
    "hot-cold",
    "login-user-popup",
    "multi-layouts",
    "navigate-tree",
    "number-checkboxes",
    "order-food",
    "search-engine",
    "social-media-all",
    "stock-market",
    "text-editor",
    "tic-tac-toe",
    "use-autocomplete",
    "use-slider-2",
    "use-spinner",
)
SHOP = tuple(f"goal-{number:03}" for number in range(0, 240, 24))
TITLES = {"miniwob": "MiniWoB++", "shop": "Shop", "airline": "Airline desk"}
STEPS = (2, 8)
BACKS = 2
"""How often each walk is gone back in."""
NAMED = 12
"""Pages wrongly called that are listed."""


class Back(Record):
    """One time of going back, and what became of it."""

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

    @property
    def verified(self) -> bool:
        return self.grade in VERIFIED

    @property
    def wrong(self) -> bool:
        return self.repeats and bool(self.plays or (self.reads and self.grade == "exact"))


async def measure(host: BrowserHost, names: list[str], ways: list[str], count: int, seed: int) -> list[Back]:
    """Walk the tasks in turn until `count` times were gone back, by these ways alone where some are named."""
    strategies = tuple(one for one in STRATEGIES if one.name in ways) or None
    environments, resources = Environments(), agent_resources_of()
    tasks = [environments.find(name) for name in names or _all(environments)]
    tabs = Tabs(host)
    await tabs.start()
    found: list[Back] = []
    with tempfile.TemporaryDirectory() as folder:
        store = TraceStore.open(Path(folder) / "bench.db")
        try:
            number = 0
            while len(found) < count:
                task = tasks[number % len(tasks)]
                at = seed + number // len(tasks)
                number += 1
                try:
                    found += await _walk_and_go_back(
                        store, tabs, environments, resources, task, at, strategies
                    )
                except (BackstepError, PageGone) as error:
                    print(f"{task.id}, seed {at}: {error}", file=sys.stderr, flush=True)
                if number % 20 == 0:
                    print(f"{len(found)} of {count}", file=sys.stderr, flush=True)
        finally:
            store.close()
            await environments.close()
            await tabs.close()
    return found


def _all(environments: Environments) -> list[str]:
    airline = [task.id for task in environments.tasks() if task.environment == "airline"]
    miniwob = [f"miniwob/{name}" for name in MINIWOB]
    return [*miniwob, *(f"shop/{name}" for name in SHOP), *airline]


async def _walk_and_go_back(
    store: TraceStore,
    tabs: Tabs,
    environments: Environments,
    resources: AgentResources,
    task: Task,
    seed: int,
    strategies: Sequence[Strategy] | None,
) -> list[Back]:
    dice = random.Random(f"{task.id} {seed}")
    volatile = load_volatile()
    walk = await begin_walk(
        store, tabs, environments, resources, task, seed=seed, dice=f"{task.id} {seed}", volatile=volatile
    )
    await walk.walk(dice.randint(*STEPS))
    prompter = Prompter(resources, Asker(store, RandomWalker(""), lambda asked: None))
    found = []
    for _ in range(BACKS):
        step = dice.randint(1, len(walk.done))
        found.append(await _go_back(walk, prompter, step, seed, volatile, strategies))
    return found


async def _go_back(
    walk: Walk,
    prompter: Prompter,
    step: int,
    seed: int,
    volatile: Volatile,
    strategies: Sequence[Strategy] | None,
) -> Back:
    state, world = walk.run.state, walk.world
    ground = replace(restore_context_of(state, world, prompter, walk.history), choose=None)
    restored = await restore(walk.history.checkpoint(step), ground, strategies=strategies, volatile=volatile)
    back = Back(
        task=state.episode.task.id,
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
    reads = differing(walk.readings[step - 1], await walk.read())
    plays = await walk.play(step)
    doubtful = bool(plays or (reads and back.grade == "exact"))
    repeats = not doubtful or await walk.can_be_repeated()
    return back.replace(reads=reads, plays=plays, repeats=repeats)


def print_table(browser: str, found: list[Back]) -> None:
    """Print what came of it: by environment and way, in all, and what was wrongly called."""
    print(f"\n{browser}, {len(found)} times gone back")
    print(
        _row("environment", "way", "times", *get_args(Grade), "median ms", "90 % ms"),
    )
    ways = [strategy.name for strategy in STRATEGIES]
    for environment, title in TITLES.items():
        for way in ways:
            those = [one for one in found if one.task.startswith(f"{environment}/") and one.strategy == way]
            if those:
                print(_line(title, way, those))
    print(_line("all", "", found))
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
    sure = [one for one in those if one.repeats]
    print(
        f"called {grade}: {len(those)}; read otherwise {sum(bool(one.reads) for one in sure)}, "
        f"rest played otherwise {sum(bool(one.plays) for one in sure)}; "
        f"pages that do not repeat themselves {len(those) - len(sure)}"
    )
    contradicted = [one for one in those if one.plays or one.reads]
    for one in sorted(contradicted, key=lambda one: not one.wrong)[:NAMED]:
        apart = "" if one.repeats else " (does not repeat itself)"
        print(f"  {_place(one)}{apart}: {one.plays or one.reads}")


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


def _line(title: str, way: str, those: list[Back]) -> str:
    grades = Counter(one.grade for one in those)
    median, ninetieth = _milliseconds(those)
    counts = [str(grades[grade]) for grade in get_args(Grade)]
    return _row(title, way, str(len(those)), *counts, f"{median:.0f}", f"{ninetieth:.0f}")


def _row(*cells: str) -> str:
    return f"{cells[0]:13}{cells[1]:33}" + "".join(f"{cell:>11}" for cell in cells[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--tasks", action="append", default=[], metavar="NAME")
    names = [one.name for one in STRATEGIES]
    parser.add_argument("--way", action="append", default=[], choices=names, metavar="NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--embedded", action="store_true", help="in the embedded browser")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    def work(host: BrowserHost) -> "asyncio.Future[list[Back]]":
        return asyncio.ensure_future(measure(host, options.tasks, options.way, options.count, options.seed))

    if options.embedded:
        from gui.live.engine import run_offscreen

        found = run_offscreen(work)
    else:
        path = find_chromium()
        if path is None:
            raise SystemExit("No Chromium is installed here; measure the embedded browser by --embedded.")
        found = asyncio.run(
            measure(ChromiumHost(path), options.tasks, options.way, options.count, options.seed)
        )
    print_table("embedded" if options.embedded else "chromium", found)
    if options.json:
        options.json.write_text(json.dumps([one.model_dump(mode="json") for one in found]), encoding="utf-8")


if __name__ == "__main__":
    main()
