"""A page that is given little of the processors is waited for; one that uses what it is given for ever is not."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.core.system.busy import busy

pytestmark = [
    pytest.mark.usefixtures("impatient"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux"),
        reason="Only Linux tells how long a thread waited for a processor.",
    ),
]
_MOST = 250
"""Milliseconds of computing, longer than a page that gets a sixth of a processor is waited for by the clock."""
_WORK = """
    let rounds = 0;
    const work = () => { for (let i = 0; i < 1e5; i++) Math.sqrt(i); };
    for (const begun = performance.now(); performance.now() < begun + MOST; rounds++) work();
    const compute = (part = 1) => { for (let i = 0; i < rounds * part; i++) work(); document.body.append('computed'); };
""".replace("MOST", str(_MOST))


@contextmanager
def starved(processes: list[int], beside: int = 5) -> Iterator[None]:
    """Let the main threads of some processes run on one processor only, beside others that compute there."""
    one = min(os.sched_getaffinity(0))
    with busy(beside, one):
        for process in processes:
            os.sched_setaffinity(process, {one})
            os.setpriority(os.PRIO_PROCESS, process, 2)
        yield
    for process in processes:
        with suppress(ProcessLookupError):  # It was ended.
            os.sched_setaffinity(process, range(os.cpu_count() or 1))


async def renderers(browser: Browsing) -> list[int]:
    session = await browser.tabs.current.playwright_page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await session.detach()
    return [int(one["id"]) for one in processes if one["type"] == "renderer"]


@in_browser
async def test_a_page_that_computes_on_a_busy_machine_is_not_taken_to_hang(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page(f"<button onclick='compute()'>b</button><script>{_WORK}</script>"))
    with starved(await renderers(browser)):
        await browser.do('click [button "b"]')
        assert "computed" in await browser.words()
    assert browser.events() == []


@in_browser
async def test_a_page_that_changes_on_a_busy_machine_is_waited_for(browser: Browsing, site: Site) -> None:
    pieces = "for (let i = 1; i < 4; i++) setTimeout(compute, i, 0.3)"
    await browser.open(site.page(f"<button onclick='{pieces}'>b</button><script>{_WORK}</script>"))
    with starved(await renderers(browser)):
        await browser.do('click [button "b"]')
        assert (await browser.words()).count("computed") == 3


@in_browser
async def test_a_page_that_loops_on_a_busy_machine_is_ended(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button onclick='while (true);'>b</button>"))
    with starved(await renderers(browser), 2):
        await browser.do('click [button "b"]')
        assert "b" in await browser.words()
    assert [event.kind for event in browser.events()] == ["hang"]


@in_browser
async def test_a_page_that_keeps_the_machine_busy_itself_is_ended(browser: Browsing, site: Site) -> None:
    worker = "URL.createObjectURL(new Blob(['while (true);']))"
    loop = f"for (let i = 0; i < 8; i++) new Worker({worker}); while (true);"
    await browser.open(site.page(f"<button>b</button><script>setTimeout(() => {{ {loop} }}, 0)</script>"))
    assert "b" in await browser.words()
    assert [event.kind for event in browser.events()] == ["hang"]
