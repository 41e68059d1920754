"""A few hostile pages are visited in one browser in each run of the tests; and the campaign tells what they did."""

import asyncio
from collections import Counter

import pytest

from core.browser.chromium import ChromiumHost
from core.schema.errors import BrowserError
from core.schema.events import BrowserEvent
from tests.campaigns.pages import Visit, order_of, rungs_in, visit_all
from tests.core.browser.browsing import impatient
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.stage import need_chromium

__all__ = ["impatient"]

PAGES = ("a loop after load", "console errors", "windows")


def visited(*pages: str) -> list[Visit]:
    host = ChromiumHost(need_chromium())
    return asyncio.run(visit_all(host, pages, range(len(pages)), 0, sample=True))


@pytest.mark.browser
@pytest.mark.usefixtures("impatient")
def test_harmless_pages_work_after_hostile_ones_in_one_browser():
    visits = visited(*PAGES)
    assert sorted(one.page for one in visits) == sorted(PAGES)
    assert [one.problem for one in visits] == ["", "", ""]
    looped = next(one for one in visits if one.page == "a loop after load")
    assert looped.rungs["script"] + looped.rungs["renderer"] >= 1


@pytest.mark.browser
def test_a_browser_that_works_no_more_is_a_loss(monkeypatch):
    from tests.core.browser.test_recovery import harmless_page_works

    calls = iter([True, False])

    async def works_once(*arguments: object) -> None:
        if not next(calls):
            raise BrowserError("The browser has ended.")
        await harmless_page_works(*arguments)

    monkeypatch.setattr("tests.campaigns.pages.harmless_page_works", works_once)
    (visit,) = visited("printing")
    assert visit.problem == "BrowserError: The browser has ended."


def test_each_page_is_drawn_before_one_is_drawn_again():
    names = tuple(HOSTILE)
    drawn = [order_of(names, number, 7) for number in range(3 * len(names))]
    for begin in range(0, len(drawn), len(names)):
        assert sorted(drawn[begin : begin + len(names)]) == sorted(names)
    assert drawn[: len(names)] != drawn[len(names) : 2 * len(names)]


def test_what_had_to_be_replaced_is_told_apart():
    from core.browser.live_browser import _FLOODED, _RUNGS

    told = [
        ("hang", "The page did not answer; its script was stopped."),
        ("hang", _FLOODED),
        ("crash", "The page's renderer crashed."),
        ("replaced", f"The browser did not answer. {_RUNGS['profile']}"),
        ("replaced", f"The browser has ended. {_RUNGS['connection']}"),
        ("replaced", "The browser did not answer: a tab was opened but not announced. The tab was closed."),
        ("console", "renderer"),
    ]
    events = [BrowserEvent(kind=kind, text=text) for kind, text in told]
    assert rungs_in(events) == Counter(script=1, renderer=2, profile=1, connection=1, tab=1)
