"""The same results on a busy machine: the built-in LLM does 22 tasks on an idle machine, then beside busy processes.

    python -m tests.benchmarks.bench_busy [--processes 8] [--minutes 4] [--seeds 1] [--browser embedded|PATH]...
        [--tasks NAME...]

The runs are those of ``main.py run``, with the preset `plain`. Prints for each
browser the seconds of both, and in what they differ: another verdict, other
actions, a step recorded as failed on the busy machine only, a page or a browser
taken for dead there. What differs is done once more, idle and busy, for a page
may do by chance what no patience can change; the exit code is 1 where it
differs again, or where fewer than nine in ten idle runs succeed. Waiting is no
action here: where a page had more time, there is nothing to wait for. How long
the busy runs take depends on the machine more than on anything else: when the
minutes for a browser are over, no further one begins, and it is said how many
were left out.
"""

import argparse
import re
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from core.browser.chromium import find_chromium
from core.browser.host import BrowserHost
from core.debugger.headless import RunReport
from core.debugger.services import Services
from core.schema.record import Record
from tests.benchmarks.bench_steps import in_browser
from tests.benchmarks.by_rules import run_by_rules, services_for
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
LEAST_SUCCESSES = 0.9
"""Of the runs on the idle machine: where all fail alike, nothing was compared."""
_NUMBER = re.compile(r" \[\d+\]")


class Done(NamedTuple):
    """What one run came to."""

    report: RunReport
    actions: tuple[str, ...]
    """Without the numbers of elements, which count what was in view meanwhile, and without those that only wait."""
    failed: tuple[str, ...]
    """Steps recorded as failed, and why."""
    dead: tuple[str, ...]
    """What was told of pages and browsers taken for dead."""


class Compared(Record):
    """What a browser came to, as it is printed."""

    browser: str
    processes: int
    runs: int
    successes: int
    seconds_idle: float
    seconds_busy: float
    left_out: int = 0
    """For want of time."""
    twice: tuple[str, ...] = ()
    """In what the busy machine made a difference, a line each, when it was done again, too."""
    once: tuple[str, ...] = ()
    """The same, but not when it was done again."""


async def compare(
    host: BrowserHost, tasks: Sequence[str], seeds: int, processes: int, minutes: float
) -> Compared:
    """Do each task idle, then busy, and once more what differs."""
    async with services_for(host) as services:
        cases = [(task, seed) for task in tasks for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
        return await _compare(services, cases, processes, 60 * minutes)


async def _compare(
    services: Services, cases: Sequence[tuple[str, int]], processes: int, seconds: float
) -> Compared:
    async def do(chosen: Sequence[tuple[str, int]]) -> list[tuple[Done, Done]]:
        idle = [await done(services, *case) for case in chosen]
        loaded: list[Done] = []
        end = time.monotonic() + seconds
        with busy(processes):
            for case in chosen:
                if time.monotonic() > end:
                    break
                loaded.append(await done(services, *case))
        return list(zip(idle, loaded, strict=False))

    pairs = await do(cases)
    told = [differences(*pair) for pair in pairs]
    differing = [at for at, lines in enumerate(told) if lines]
    repeated = await do([cases[at] for at in differing]) if differing else []
    # What there was no time to do again differed, as far as anyone looked.
    again = [differences(*pair) for pair in repeated] + [told[at] for at in differing[len(repeated) :]]
    return Compared(
        browser=services.host.name,
        processes=processes,
        runs=len(pairs),
        successes=sum(bool(idle.report.success) for idle, _ in pairs),
        seconds_idle=sum(idle.report.seconds for idle, _ in pairs),
        seconds_busy=sum(loaded.report.seconds for _, loaded in pairs),
        left_out=len(cases) - len(pairs),
        twice=tuple(line for lines in again for line in lines),
        once=tuple(
            line for at, lines in zip(differing, again, strict=True) if not lines for line in told[at]
        ),
    )


async def done(services: Services, task: str, seed: int) -> Done:
    """Run a task to its end, and return what the trace has of it; a run that cannot begin has nothing there."""
    report = await run_by_rules(services, services.environments.find(f"miniwob/{task}"), seed, "end")
    if report.run is None:
        return Done(report, actions=(), failed=(), dead=())
    steps = services.store.steps(report.run)
    return Done(
        report,
        tuple(
            f"{_NUMBER.sub('', one.action)} on {one.target}"
            for one in steps
            if not one.action.startswith("wait")
        ),
        tuple(f"{one.action}: {one.message}" for one in steps if one.outcome == "failed"),
        tuple(
            event.text
            for event in (one.event for one in services.store.pages.events(report.run))
            if event.kind in ("hang", "crash", "replaced")
        ),
    )


def differences(idle: Done, loaded: Done) -> list[str]:
    """Return in what two runs of one task and seed differ, a line each."""
    name = f"{idle.report.task} seed {idle.report.seed}"
    found = [f"{name}: {text}" for text in loaded.dead]
    found += [f"{name}, failed: {text}" for text in loaded.failed if text not in idle.failed]
    if idle.actions != loaded.actions:
        found.append(f"{name}: {', '.join(idle.actions)}; busy: {', '.join(loaded.actions)}")
    ends = [
        f"{one.outcome}, reward {one.reward}{one.error and f', {one.error}'}"
        for one in (idle.report, loaded.report)
    ]
    if ends[0] != ends[1]:
        found.append(f"{name}: {ends[0]}; busy: {ends[1]}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=8, help="how many processes compute beside it")
    parser.add_argument("--minutes", type=float, default=4, help="for the busy runs of a browser")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds a task")
    parser.add_argument("--browser", action="append", help="embedded, or a path; both where none")
    parser.add_argument("--tasks", nargs="+", default=TASKS, help="names of MiniWoB++ tasks")
    given = parser.parse_args()
    installed = find_chromium()
    every: list[Compared] = []
    for browser in given.browser or [*([installed] if installed else []), "embedded"]:
        work = lambda host: compare(host, given.tasks, given.seeds, given.processes, given.minutes)  # noqa: E731
        one: Compared = in_browser(browser, work)
        every.append(one)
        print(
            f"{one.browser}: {one.runs} runs, {one.successes} with success; {one.seconds_idle:.0f} s idle, "
            f"{one.seconds_busy:.0f} s beside {one.processes} busy processes"
        )
        if one.left_out:
            print(f"  {one.left_out} more were left out: {given.minutes:g} minutes were over.")
        lines = (*one.twice, *(f"{line} (not when it was done again)" for line in one.once))
        print("\n".join(f"  {line}" for line in lines) or "  Nothing differs.", flush=True)
    failed = [one.browser for one in every if one.successes < LEAST_SUCCESSES * one.runs]
    if failed:
        print(
            f"Fewer than nine in ten runs had success on the idle machine: {', '.join(failed)}.", flush=True
        )
    return 1 if failed or any(one.twice for one in every) else 0


if __name__ == "__main__":
    sys.exit(main())
