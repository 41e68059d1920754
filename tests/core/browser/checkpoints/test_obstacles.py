"""What going back says and does where page, server or tab stand in its way, and where the page is to be live."""

import pytest
from werkzeug import Request, Response

from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext, Strategy
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import (
    AsItIs,
    HistoryEntry,
    ReplayFromStart,
    SameDocument,
    UrlWithStorage,
)
from core.schema.errors import BrowserError, DataError
from core.schema.restore import Sent, SentAt
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.checkpoints.test_restoring import COUNTER, done
from tests.core.browser.checkpoints.test_ways_back import FIELDS, KEEPER, opened
from tests.core.browser.site import Site


@in_browser
async def test_a_server_that_is_down_is_said_to_be_the_reason(browser: Browsing, site: Site) -> None:
    with Site() as short:
        scene = await opened(browser, short.page(FIELDS))
        checkpoint = await scene.checkpoint()
        await browser.open(site.page("<p>elsewhere"))
    found = await scene.back(checkpoint, UrlWithStorage(), ReplayFromStart())
    assert (found.grade, found.verified) == ("lost", False)
    assert all("could not be opened" in attempt.reason for attempt in found.attempts), found.attempts


@in_browser
async def test_a_page_that_redirects_by_now_is_not_taken_for_the_recorded_one(
    browser: Browsing, site: Site
) -> None:
    answers = [Response("<!doctype html><p>page<button>b</button>", content_type="text/html")]
    moved = site.page("<p>moved here")
    url = site.serve(
        lambda _: answers.pop() if answers else Response(status=302, headers={"Location": moved})
    )
    scene = await opened(browser, url)
    checkpoint = await scene.checkpoint()
    await browser.open(site.page("<p>elsewhere"))
    found = await scene.back(checkpoint, UrlWithStorage())
    assert found.grade == "lost"
    assert [one.now for one in found.comparison.differences if one.part == "url"] == [moved]


@in_browser
async def test_a_field_that_is_gone_is_named(browser: Browsing, site: Site) -> None:
    answers = [
        Response(f"<!doctype html>{body}", content_type="text/html") for body in ("<p>no fields", FIELDS)
    ]
    scene = await opened(browser, site.serve(lambda _: answers.pop()))
    await done(browser, 'type [textbox "Name"] [Ada]')
    checkpoint = await scene.checkpoint()
    found = await scene.back(checkpoint, UrlWithStorage())
    assert not found.verified
    assert any('textbox "Name" was not restored' in remark for remark in found.attempts[0].remarks)


@in_browser
async def test_a_page_that_may_not_store_is_back_all_the_same_and_other_storage_is_left_alone(
    browser: Browsing, site: Site
) -> None:
    headers = {"Content-Security-Policy": "sandbox allow-scripts allow-forms"}
    other = site.page("<p>other")
    await browser.open(other)
    await browser.js("localStorage.mine = 1")
    scene = await opened(browser, site.page(FIELDS, headers=headers))
    await done(browser, 'type [textbox "Name"] [Ada]')
    checkpoint = await scene.checkpoint()
    assert len(checkpoint.page.unread) >= 2
    await done(browser, 'type [textbox "Name"] [Grace]')
    found = await scene.back(checkpoint, UrlWithStorage())
    assert found.grade == "equivalent", found
    assert any(remark.startswith("Storage was not restored") for remark in found.attempts[0].remarks)
    await browser.open(other)
    assert await browser.js("localStorage.mine") == "1"


@in_browser
async def test_a_page_that_goes_elsewhere_by_itself_is_not_said_to_be_back(
    browser: Browsing, site: Site
) -> None:
    away = site.page("<p>away")
    answers = ["<p>page", f"<p>page<script>location.href = '{away}'</script>"]
    scene = await opened(browser, site.serve(lambda _: Response(answers.pop(0), content_type="text/html")))
    checkpoint = await scene.checkpoint()
    await browser.open(site.page("<p>elsewhere"))
    found = await scene.back(checkpoint, UrlWithStorage())
    assert found.grade == "lost"
    assert [one.now for one in found.comparison.differences if one.part == "url"] == [away]


class _ClosesTheTab:
    """A way back in whose middle a person closes the tab."""

    name = "interrupted"

    def __init__(self, inner: Strategy) -> None:
        self._inner = inner

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext):  # type: ignore[no-untyped-def]
        await ground.tabs.current.playwright_page.close()
        return await self._inner.restore(checkpoint, ground)


@pytest.mark.parametrize("way", [AsItIs(), SameDocument(), HistoryEntry(), UrlWithStorage()])
def test_a_tab_that_is_closed_meanwhile_is_reported_and_the_task_begun_anew(
    browser: Browsing, site: Site, way: Strategy
) -> None:
    async def test() -> None:
        scene = await opened(browser, site.page(KEEPER))
        checkpoint = await scene.checkpoint()
        await browser.js("keep('later')")
        found = await scene.back(checkpoint, _ClosesTheTab(way), ReplayFromStart())
        assert [one.grade for one in found.attempts] == [None, "exact"]
        assert found.attempts[0].reason

    browser.worker.run(test())


@in_browser
async def test_what_the_browser_refuses_ends_one_way_and_not_going_back(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(FIELDS))
    checkpoint = await scene.checkpoint()
    cookie: dict[str, object] = {
        "name": "c",
        "value": "v",
        "domain": "127.0.0.1",
        "path": "no path",
        "expires": "never",
    }
    damaged = checkpoint.page.replace(cookies=(cookie,))
    checkpoint = checkpoint.replace(page=damaged)
    await done(browser, 'type [textbox "Name"] [Ada]')
    found = await scene.back(checkpoint, SameDocument(), ReplayFromStart())
    assert "refused Network.setCookie" in found.attempts[0].reason
    assert found.strategy == ReplayFromStart.name


@in_browser
async def test_a_session_of_the_server_that_is_gone_ends_one_way_and_not_going_back(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(FIELDS))
    checkpoint = await scene.checkpoint()
    checkpoint = checkpoint.replace(page=checkpoint.page.replace(server="then"))

    def gone() -> str:
        raise DataError("The shop site no longer has the session 'x': open the task again.")

    async def put_back(snapshot: str) -> None:
        gone()

    ground = scene.ground
    ground.server_state, ground.put_server_back = gone, put_back
    found = await restore(checkpoint, ground, strategies=(SameDocument(), ReplayFromStart()))
    assert "no longer has the session" in found.attempts[0].reason
    assert found.attempts[1].grade is not None


@in_browser
async def test_a_browser_that_cannot_begin_anew_ends_going_back(browser: Browsing, site: Site) -> None:
    scene = await opened(browser, site.page(FIELDS))
    checkpoint = await scene.checkpoint()

    async def ended() -> None:
        raise BrowserError("The browser has ended; open the task again.")

    ground = scene.ground
    ground.reopen = ended
    with pytest.raises(BrowserError, match="has ended"):
        await restore(checkpoint, ground, strategies=(ReplayFromStart(),))


# A page that is to be live, and what is not done again

SENT = (SentAt(step=1, sent=Sent(method="POST", url="http://shop.example/add")),)


@in_browser
async def test_a_page_that_is_to_be_live_is_asked_of_its_server_where_something_was_sent_since(
    browser: Browsing, site: Site
) -> None:
    count = 0

    def page(_: Request) -> Response:
        # The browser may keep it for an hour: its history would show what it said first.
        headers = {"Cache-Control": "max-age=3600"}
        body = f"<p>{count} items</p>" + "<button>b</button>" * 4
        return Response(body, content_type="text/html", headers=headers)

    scene = await opened(browser, site.serve(page))
    checkpoint = await scene.checkpoint()
    count = 1
    await browser.open(site.page("<p>elsewhere"))
    kept = await scene.back(checkpoint)
    assert (kept.grade, kept.strategy) == ("equivalent", HistoryEntry.name)
    ground = scene.ground
    ground.live, ground.sent = True, SENT
    found = await restore(checkpoint, ground)
    assert found.attempts[0].strategy == UrlWithStorage.name
    assert found.grade == "same page"
    assert found.sentence.endswith(
        'same page, 2 differences (paragraph "0 items" gone; paragraph "1 items" added). '
        "Already sent, and not undone: POST http://shop.example/add (step 1)."
    )
    assert await browser.js("document.querySelector('p').textContent") == "1 items"


@in_browser
async def test_a_page_that_is_to_be_live_takes_the_cheapest_way_where_nothing_was_sent(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(COUNTER))
    checkpoint = await scene.checkpoint()
    ground = scene.ground
    ground.live = True
    assert (await restore(checkpoint, ground)).strategy == AsItIs.name


@in_browser
async def test_what_would_be_done_again_is_left_and_the_page_stays_as_the_way_before_left_it(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(COUNTER))
    inputs, recorded = await done(browser, 'click [button "Add"]')
    checkpoint = Checkpoint(step=2, observation=recorded, inputs=tuple(inputs))
    ground = scene.ground
    ground.repeats = lambda inputs: "Repeating it would order twice."
    found = await restore(checkpoint, ground, strategies=(UrlWithStorage(), ReplayFromStart()))
    assert (found.grade, found.strategy) == ("same page", UrlWithStorage.name)
    assert found.not_repeated == "Repeating it would order twice."
    assert found.attempts[1].reason == found.not_repeated
    assert await browser.js("n.textContent") == "0"
