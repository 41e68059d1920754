"""Hostile pages in random order in one browser; after each one a harmless page must be read and acted in.

    python -m tests.campaigns.pages [--times 100] [--seed 0] [--browser chromium|embedded] [--only NUMBER]
        [--page NAME]... [--sample]

The pages are those of tests/core/browser/hostile_pages.py, at full strength
unless --sample is given: each of them is visited before one is visited again.
A visit opens the page and reads it. What the browser does about a page that
does not let it go on is counted by what had to be replaced: the script, the
renderer, a tab, the profile, the connection. Interrupted, it prints what has
come of it so far.
"""

import asyncio
import logging
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from core.browser.host import BrowserHost
from core.cli.output import put, put_table
from core.schema.errors import BackstepError
from core.schema.events import BrowserEvent
from tests.campaigns.browsers import OtherClient, add_browser_flag, in_browser
from tests.campaigns.report import Loss, Progress, conclude, flags
from tests.core.browser.browsing import Browsing
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.browser.test_recovery import harmless_page_works

SECONDS = 300.0
"""After which a browser that was given a harmless page counts as one that works no more."""
RUNGS = {
    "script": "its script was stopped",
    "renderer": "renderer",
    "tab": "The tab was closed.",
    "profile": "by a new profile",
    "connection": "It was disconnected",
}
"""What was replaced, the smallest part first, with words of the sentence that tells it."""


@dataclass(frozen=True)
class Visit:
    """One hostile page, and the harmless one after it."""

    number: int
    page: str
    seconds: float
    """How long opening and reading the hostile page took, or giving it up."""
    seconds_after: float
    """How long it took then until a harmless page had been opened, read and acted in."""
    refused: str = ""
    """Why the hostile page was given up; empty where it was read."""
    rungs: Counter[str] = field(default_factory=Counter)
    problem: str = ""
    """Why the harmless page did not work."""


def order_of(names: Sequence[str], number: int, seed: int) -> str:
    """Return the name of the page of this number, from 0: each is drawn before one is drawn again."""
    drawn = random.Random(f"{seed} {number // len(names)}").sample(names, len(names))
    return drawn[number % len(names)]


async def visit(browser: Browsing, site: Site, number: int, name: str, *, sample: bool) -> Visit:
    """Visit a hostile page and a harmless one; what fails is told in what is returned."""
    page = HOSTILE[name]
    url = page.serve(site, page.sample if sample else page.size)
    browser.events()
    refused = problem = ""
    began = time.monotonic()
    try:
        await browser.open(url)
        await browser.see()
    except BackstepError as error:
        refused = str(error)
    given_up = time.monotonic()
    try:
        async with asyncio.timeout(SECONDS):
            await harmless_page_works(browser, site)
    except (BackstepError, AssertionError, TimeoutError) as error:
        problem = f"{type(error).__name__}: {error}"
    return Visit(
        number=number,
        page=name,
        seconds=given_up - began,
        seconds_after=time.monotonic() - given_up,
        refused=refused,
        rungs=rungs_in(browser.events()),
        problem=problem,
    )


def rungs_in(events: Sequence[BrowserEvent]) -> Counter[str]:
    """Return how often which part was replaced."""
    told = [one.text for one in events if one.kind in ("hang", "crash", "replaced")]
    return Counter(rung for rung, words in RUNGS.items() for text in told if words in text)


async def visit_all(
    host: BrowserHost, names: Sequence[str], numbers: Sequence[int], seed: int, *, sample: bool
) -> list[Visit]:
    """Visit the pages of these numbers in one browser."""
    browser = Browsing(host)
    await browser.tabs.browser.start()
    progress, visits = Progress(len(numbers)), []
    try:
        with Site() as site:
            await harmless_page_works(browser, site)
            with suppress(asyncio.CancelledError):
                for number in numbers:
                    name = order_of(names, number, seed)
                    visits.append(await visit(browser, site, number, name, sample=sample))
                    progress.tell(len(visits), _losses(visits[-1:]))
    finally:
        await browser.tabs.browser.close()
    return visits


def _losses(visits: Sequence[Visit]) -> list[Loss]:
    return [
        Loss(one.number, f'after "{one.page}" a harmless page did not work: {one.problem}')
        for one in visits
        if one.problem
    ]


def print_table(browser: str, visits: Sequence[Visit]) -> None:
    """Print what came of the visits, by page."""
    pages = [[one for one in visits if one.page == name] for name in HOSTILE]
    rows = [_line(those[0].page, those) for those in pages if those]
    put(f"{browser}, {len(visits)} hostile pages")
    columns = (
        "page",
        "visits",
        "given up",
        "median s",
        "worst s",
        "after, median s",
        "after, worst s",
        *RUNGS,
    )
    put_table((*columns, "failed"), [*rows, _line("all", visits)])


def _line(title: str, those: Sequence[Visit]) -> tuple[str, ...]:
    seconds = [one.seconds for one in those]
    after = [one.seconds_after for one in those]
    rungs = sum((one.rungs for one in those), Counter[str]())
    times = (statistics.median(seconds), max(seconds), statistics.median(after), max(after))
    return (
        title,
        str(len(those)),
        str(sum(bool(one.refused) for one in those)),
        *(f"{one:.1f}" for one in times),
        *(str(rungs[rung]) for rung in RUNGS),
        str(sum(bool(one.problem) for one in those)),
    )


def main() -> int:
    parser = flags(__doc__, times=100)
    add_browser_flag(parser)
    parser.add_argument("--page", action="append", choices=tuple(HOSTILE), metavar="NAME")
    parser.add_argument("--sample", action="store_true", help="as much of each page as the tests take")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    names = [name for name in options.page or HOSTILE if HOSTILE[name].sample or not options.sample]
    numbers = range(options.times) if options.only is None else [options.only]

    async def work(host: BrowserHost, _client: OtherClient) -> list[Visit]:
        return await visit_all(host, names, numbers, options.seed, sample=options.sample)

    visits = in_browser(options.browser, work)
    print_table(options.browser, visits)
    words = [
        f"--seed {options.seed} --browser {options.browser}",
        *(f'--page "{one}"' for one in options.page or ()),
    ]
    if options.sample:
        words.append("--sample")
    return conclude("tests.campaigns.pages", _losses(visits), " ".join(words))


if __name__ == "__main__":
    sys.exit(main())
