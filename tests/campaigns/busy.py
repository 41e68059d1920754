"""The same results on a busy machine: the built-in LLM plays 22 tasks on an idle machine, then beside busy processes.

    python -m tests.campaigns.busy [--processes 8] [--seeds 1] [--browser embedded|PATH]... [--tasks NAME...]

Prints each episode whose reward or end differs, actions that failed only on the
busy machine, and pages or browsers that were taken for dead there. What differs
is played once more, and the exit code is 1 where it differs again. Actions may
differ: where a page had more time, there is nothing to wait for.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

from core.browser.chromium import find_chromium
from core.browser.host import BrowserHost
from core.llm.rules import RulesLLM
from core.schema.task import Task
from tests.benchmarks.bench_rules import Played, Player, wanted
from tests.benchmarks.bench_steps import in_browser
from tests.core.system.busy import busy

TASKS = (
    "book-flight",
    "choose-list",
    "click-button",
    "click-checkboxes",
    "click-checkboxes-soft",
    "click-collapsible-2",
    "click-link",
    "click-option",
    "click-tab-2",
    "click-test-2",
    "email-inbox",
    "enter-date",
    "enter-password",
    "enter-text",
    "find-word",
    "login-user",
    "navigate-tree",
    "search-engine",
    "social-media",
    "terminal",
    "use-autocomplete",
    "use-spinner",
)
"""The families that exemplars are recorded of, and two more."""
FIRST_SEED = 100


class Found(NamedTuple):
    """In what the busy machine made a difference, a line each."""

    twice: list[str]
    """When it was played again, too."""
    once: list[str]


async def compare(host: BrowserHost, tasks: Sequence[str], seeds: int, processes: int) -> Found:
    """Play each task idle, then busy, and once more what differs."""
    async with Player(RulesLLM(), host) as player:
        episodes = [
            (task, seed)
            for task in wanted(player.tasks, list(tasks))
            for seed in range(FIRST_SEED, FIRST_SEED + seeds)
        ]

        async def play(chosen: Sequence[tuple[Task, int]]) -> list[tuple[Played, Played]]:
            idle = [await player.play(*one) for one in chosen]
            with busy(processes):
                loaded = [await player.play(*one) for one in chosen]
            return list(zip(idle, loaded, strict=True))

        pairs = await play(episodes)
        told = [differences(*pair) for pair in pairs]
        differing = [at for at, lines in enumerate(told) if lines]
        repeated = await play([episodes[at] for at in differing]) if differing else []
        again = [differences(*pair) for pair in repeated]
    idle, loaded = (sum(pair[side].seconds for pair in pairs) for side in (0, 1))
    print(
        f"{host.name}: {len(pairs)} episodes, {sum(one.success for one, _ in pairs)} with success; "
        f"{idle:.0f} s idle, {loaded:.0f} s beside {processes} busy processes",
        flush=True,
    )
    found = Found([], [])
    for at, lines in zip(differing, again, strict=True):
        if lines:
            found.twice.extend(lines)
        else:
            found.once.extend(told[at])
    return found


def differences(idle: Played, loaded: Played) -> list[str]:
    """Return in what two episodes of one task and seed differ, a line each."""
    name = f"{idle.task} seed {idle.seed}"
    found = [
        f"{name}: {event.text}" for event in loaded.events if event.kind in ("hang", "crash", "replaced")
    ]
    if (idle.reward, idle.ended) != (loaded.reward, loaded.ended):
        found.append(
            f"{name}: {idle.ended}, reward {idle.reward:g}; busy: {loaded.ended}, reward {loaded.reward:g}"
        )
    failed = {turn.result for turn in idle.turns}
    found += [
        f"{name}, step {turn.number}: {turn.action}; busy: {turn.result}"
        for turn in loaded.turns
        if turn.result != "done" and turn.result not in failed
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=8, help="how many processes compute beside it")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds a task")
    parser.add_argument("--browser", action="append", help="embedded, or a path; both where none")
    parser.add_argument("--tasks", nargs="+", default=TASKS, help="names of MiniWoB++ tasks")
    given = parser.parse_args()
    installed = find_chromium()
    browsers = given.browser or [*([installed] if installed else []), "embedded"]
    twice, once = [], []
    for browser in browsers:
        work = lambda host: compare(host, given.tasks, given.seeds, given.processes)  # noqa: E731
        found: Found = in_browser(browser, work)
        twice += [f"{browser}: {line}" for line in found.twice]
        once += [f"{browser}: {line}, but not when it was played again" for line in found.once]
    print("\n".join((*twice, *once)) or "Nothing differs.")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
