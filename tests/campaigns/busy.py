"""The same results on a busy machine: the built-in LLM plays 22 tasks on an idle machine, then beside busy processes.

    python -m tests.campaigns.busy [--processes 8] [--seeds 1] [--browser embedded|PATH]... [--tasks NAME...]

Prints each episode whose reward or end differs, actions that failed only on the
busy machine, and pages or browsers that were taken for dead there. The exit code
is 1 where there is any. Actions may differ: where a page had more time, there is
nothing to wait for.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from core.browser.chromium import find_chromium
from core.browser.host import BrowserHost
from core.llm.rules import RulesLLM
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


async def compare(host: BrowserHost, tasks: Sequence[str], seeds: int, processes: int) -> list[str]:
    """Play each task idle, then busy; return what differs, a line each."""
    async with Player(RulesLLM(), host) as player:
        chosen = wanted(player.tasks, list(tasks))
        started = time.perf_counter()

        async def play() -> list[Played]:
            return [
                await player.play(task, seed)
                for task in chosen
                for seed in range(FIRST_SEED, FIRST_SEED + seeds)
            ]

        idle = await play()
        between = time.perf_counter()
        with busy(processes):
            loaded = await play()
        ended = time.perf_counter()
    print(
        f"{host.name}: {len(idle)} episodes, {sum(one.success for one in idle)} with success; "
        f"{between - started:.0f} s idle, {ended - between:.0f} s beside {processes} busy processes",
        flush=True,
    )
    return [line for pair in zip(idle, loaded, strict=True) for line in differences(*pair)]


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
    found = []
    for browser in browsers:
        work = lambda host: compare(host, given.tasks, given.seeds, given.processes)  # noqa: E731
        found += [f"{browser}: {line}" for line in in_browser(browser, work)]
    print("\n".join(found) or "Nothing differs.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
