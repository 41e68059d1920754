"""Each way back in a real page, and what going back says where page, server or tab stand in its way."""

from functools import partial
from pathlib import Path

import pytest
from werkzeug import Request, Response

from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext, Strategy
from core.browser.checkpoints.page_state import EMPTY_PAGE, PageState, TabHistory, read_page_state
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import (
    AsItIs,
    HistoryEntry,
    ReplayFromNearest,
    ReplayFromStart,
    ReplayInPlace,
    SameDocument,
    UrlWithStorage,
    strategies_for,
)
from core.schema.action_text import parse_action
from core.schema.element_identity import RecordedInput, marks_of
from core.schema.errors import ActionError, BrowserError, DataError
from core.schema.observation import Element
from core.schema.restore import Restored, Sent, SentAt
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.checkpoints.test_restoring import COUNTER, done
from tests.core.browser.site import Site

KEEPER = """
<button>b</button><p id=p></p><script>
const put = (key, value) => new Promise(kept => {
  const request = indexedDB.open("notes", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("lines");
  request.onsuccess = () => {
    const store = request.result.transaction("lines", "readwrite").objectStore("lines");
    store.put(value, key).onsuccess = () => { request.result.close(); kept(true); };
  };
});
const get = key => new Promise(found => {
  const request = indexedDB.open("notes", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("lines");
  request.onsuccess = () => {
    const asked = request.result.transaction("lines").objectStore("lines").get(key);
    asked.onsuccess = () => { request.result.close(); found(asked.result); };
  };
});
const keep = async word => {
  document.cookie = `c=${word}`; localStorage.l = word; sessionStorage.s = word; await put("i", word); show();
};
const kept = async () => [document.cookie, localStorage.l, sessionStorage.s, await get("i")].join(" ");
const show = () => { p.textContent = `${document.cookie} ${localStorage.l}`; };
show();
</script>
"""
APP = """
<p id=p></p><button onclick="go('two')">Two</button><button onclick="go('three')">Three</button><script>
const show = () => { p.textContent = history.state || 'one'; };
const go = name => { history.pushState(name, '', '?' + name); show(); };
onpopstate = show;
show();
</script>
"""
FIELDS = "<label>Name <input></label><label><input type=checkbox> Gift</label><button>b</button>"


class Scene:
    """A page to go back in: counts touches as a run does, and begins anew at one address."""

    def __init__(self, browser: Browsing, start: str) -> None:
        self.browser = browser
        self.start = start
        self.touches = 0

    @property
    def ground(self) -> RestoreContext:
        return RestoreContext(
            tabs=self.browser.tabs,
            actor=self.browser.actor,
            read=self.browser.see,
            reopen=self._reopen,
            page_state=self.page_state,
            touched=lambda: str(self.touches),
            touch=self._touch,
        )

    def _touch(self) -> None:
        self.touches += 1

    async def _reopen(self) -> None:
        await self.browser.tabs.open_profile()
        await self.browser.open(self.start)

    async def page_state(self) -> PageState:
        return await read_page_state(self.browser.tabs.current, touched=str(self.touches), server="")

    async def checkpoint(self, step: int = 1) -> Checkpoint:
        return Checkpoint(step=step, observation=await self.browser.see(), page=await self.page_state())

    async def back(self, checkpoint: Checkpoint, *strategies: Strategy) -> Restored:
        self._touch()
        return await restore(checkpoint, self.ground, strategies=strategies or None)


async def opened(browser: Browsing, url: str) -> Scene:
    await browser.open(url)
    return Scene(browser, url)


# Each way


@in_browser
async def test_a_page_that_nobody_touched_is_exact_by_nothing_to_do(browser: Browsing, site: Site) -> None:
    scene = await opened(browser, site.page(COUNTER))
    checkpoint = await scene.checkpoint()
    found = await restore(checkpoint, scene.ground)
    assert (found.grade, found.strategy, len(found.attempts)) == ("exact", AsItIs.name, 1)


@in_browser
async def test_a_page_that_was_touched_and_looks_the_same_is_not_called_exact(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(COUNTER))
    found = await scene.back(await scene.checkpoint())
    assert (found.grade, found.strategy) == ("equivalent", AsItIs.name)


@in_browser
async def test_fields_are_put_back_in_the_document_that_is_still_there(browser: Browsing, site: Site) -> None:
    scene = await opened(browser, site.page(FIELDS))
    await done(browser, 'type [textbox "Name"] [Ada]')
    checkpoint = await scene.checkpoint()
    await done(browser, 'type [textbox "Name"] [Grace]', 'check [checkbox "Gift"]')
    found = await scene.back(checkpoint)
    assert (found.grade, found.strategy) == ("equivalent", SameDocument.name)
    assert await browser.js(
        "[...document.querySelectorAll('input')].map(one => one.value + one.checked)"
    ) == [
        "Adafalse",
        "onfalse",
    ]


@in_browser
async def test_an_app_that_pushes_states_goes_back_by_its_history_and_keeps_its_memory(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(APP))
    await done(browser, 'click [button "Two"]')
    checkpoint = await scene.checkpoint()
    await browser.js("globalThis.memory = 'kept'")
    await done(browser, 'click [button "Three"]')
    found = await scene.back(checkpoint)
    assert (found.grade, found.strategy) == ("equivalent", HistoryEntry.name)
    assert await browser.js("[p.textContent, globalThis.memory]") == ["two", "kept"]


@in_browser
@pytest.mark.parametrize("foreign", [False, True], ids=["on the same site", "on another site"])
async def test_cookies_storage_and_databases_are_put_back_by_url(
    browser: Browsing, site: Site, foreign: bool
) -> None:
    scene = await opened(browser, site.page(KEEPER))
    await browser.js("keep('then')")
    checkpoint = await scene.checkpoint()
    await browser.js("keep('later'), document.cookie = 'more=1', localStorage.more = 1, 0")
    left_for = site.page(
        "<p>elsewhere<script>localStorage.l = 'of the other site'</script>" if foreign else "<p>"
    )
    await browser.open(site.elsewhere(left_for) if foreign else left_for)
    found = await scene.back(checkpoint, UrlWithStorage())
    assert (found.grade, found.strategy) == ("equivalent", UrlWithStorage.name), found
    assert await browser.js("kept()") == "c=then then then then"
    assert await browser.js("localStorage.length") == 1


@in_browser
async def test_what_scripts_knew_is_back_by_replay_from_where_the_document_was_loaded(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page("<p>before"))
    await browser.open(site.page(COUNTER))
    nearest = await scene.checkpoint(2)
    inputs, _ = await done(browser, 'click [button "Add"]', 'click [button "Add"]')
    checkpoint = (await scene.checkpoint(4)).replace(
        inputs=tuple(inputs), nearest=nearest, observation=await browser.see()
    )
    await done(browser, 'click [button "Send"]')
    found = await scene.back(checkpoint)
    assert (found.grade, found.strategy) == ("equivalent", ReplayFromNearest.name)
    assert await browser.js("n.textContent") == "2"


@in_browser
async def test_a_page_made_by_scripts_is_done_again_before_its_parts_are_put_back(
    browser: Browsing, site: Site
) -> None:
    hidden = "<button onclick='window.n = (window.n || 0) + 1'>Count</button><label>Name <input></label>"
    url = site.page(hidden)
    scene = await opened(browser, url)
    inputs, _ = await done(browser, 'click [button "Count"]')
    checkpoint = (await scene.checkpoint(2)).replace(inputs=tuple(inputs))
    await done(browser, 'click [button "Count"]', 'type [textbox "Name"] [x]')
    scene.touches += 1
    ground = scene.ground
    ground.begin_here = partial(browser.open, url)
    found = await restore(checkpoint, ground)
    assert (found.grade, found.strategy) == ("equivalent", ReplayInPlace.name)
    assert await browser.js("window.n") == 1


def test_doing_again_is_the_last_way_where_it_may_do_harm(browser: Browsing) -> None:
    ground = Scene(browser, "").ground
    names = [one.name for one in strategies_for(ground)]
    assert names[-3:] == [ReplayFromNearest.name, ReplayInPlace.name, ReplayFromStart.name]


@in_browser
async def test_what_a_failed_action_left_is_there_again_when_it_has_failed_again(
    browser: Browsing, site: Site
) -> None:
    cover = "<button onmouseenter=\"c.style.display = 'block', c.textContent = 'Covered'\">Buy</button>"
    url = site.page(f"{cover}<div id=c style='display: none; position: fixed; inset: 0'></div>")
    scene = await opened(browser, url)
    before = await browser.see()
    buy = parse_action(f"click [{next(one.ref for one in before.elements if one.name == 'Buy')}]")
    with pytest.raises(ActionError):
        await browser.actor.act(buy)
    failed = RecordedInput(step=1, action=buy, marks=marks_of(buy, before), failed=True)
    checkpoint = (await scene.checkpoint(2)).replace(inputs=(failed,))
    await browser.js("document.body.append('more')")
    found = await scene.back(checkpoint, ReplayFromStart())
    assert (found.grade, "Covered" in await browser.words()) == ("exact", True)
    unfailed = failed.replace(failed=False)
    found = await scene.back(checkpoint.replace(inputs=(unfailed,)), ReplayFromStart())
    assert "could not be repeated" in found.attempts[0].reason


# What is called exact


@in_browser
async def test_what_no_element_shows_keeps_a_replayed_page_from_being_called_exact(
    browser: Browsing, site: Site
) -> None:
    answers = ["<p>page<i data-n=1></i>", "<p>page<i data-n=2></i>"]
    scene = await opened(browser, site.serve(lambda _: Response(answers.pop(0), content_type="text/html")))
    found = await scene.back(await scene.checkpoint(), ReplayFromStart())
    assert found.grade == "equivalent"
    assert [(one.part, one.volatile) for one in found.comparison.differences] == [("html", True)]


@in_browser
async def test_what_moves_by_itself_is_recognised_by_a_second_look(browser: Browsing, site: Site) -> None:
    tick = "const tick = () => { m.value = performance.now(); requestAnimationFrame(tick); }; tick()"
    scene = await opened(browser, site.page(f"<input id=m aria-label=Clock><script>{tick}</script>"))
    found = await scene.back(await scene.checkpoint(), ReplayFromStart())
    assert found.grade == "equivalent"
    assert {one.part for one in found.comparison.differences} == {"value"}


# What loading leaves behind


@in_browser
async def test_the_empty_page_for_storage_does_not_stay_in_the_history(browser: Browsing, site: Site) -> None:
    behind = site.page("<p>behind")
    scene = await opened(browser, behind)
    await browser.open(site.page(KEEPER))
    await browser.js("keep('then')")
    checkpoint = await scene.checkpoint()
    await browser.js("keep('later')")
    found = await scene.back(checkpoint, UrlWithStorage())
    assert found.verified
    await browser.do("go_back")
    assert (await browser.see()).url == behind


@in_browser
async def test_what_lay_behind_a_page_is_behind_it_again(browser: Browsing, site: Site) -> None:
    behind = site.page("<p>behind")
    await browser.open(behind)
    scene = await opened(browser, site.page(COUNTER))
    checkpoint = await scene.checkpoint()
    assert checkpoint.page.behind == (behind,)
    await browser.do("go_back")
    await browser.open(site.page("<p>elsewhere"))
    found = await scene.back(checkpoint)
    assert (found.strategy, found.grade) == (UrlWithStorage.name, "equivalent")
    await browser.do("go_back")
    assert (await browser.see()).url == behind


@in_browser
async def test_a_first_page_that_is_opened_again_from_the_first_place_has_nothing_behind_it(
    browser: Browsing, site: Site
) -> None:
    start = site.page("<a href='#down'>Down</a>")
    scene = await opened(browser, start)
    await done(browser, 'click [link "Down"]')
    await browser.open(site.page("<p>elsewhere"))
    assert len((await scene.page_state()).behind or ()) == 2
    await (await TabHistory.read(browser.tabs.current)).go_to_first(browser.tabs)
    await browser.open(start)
    assert (await scene.page_state()).behind == ()


@in_browser
async def test_another_visit_of_a_page_is_gone_to_by_the_history(browser: Browsing, site: Site) -> None:
    start = site.page("<p>start")
    await browser.open(start)
    scene = await opened(browser, site.page(COUNTER))
    checkpoint = await scene.checkpoint()
    await browser.do("go_back")
    await browser.open(checkpoint.observation.url)
    await browser.do("go_back")
    found = await scene.back(checkpoint)
    assert (found.strategy, found.grade) == (HistoryEntry.name, "equivalent")


@in_browser
async def test_a_page_with_another_past_in_its_tab_is_not_called_exact(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>behind"))
    scene = await opened(browser, site.page(COUNTER))
    found = await scene.back(await scene.checkpoint(), ReplayFromStart())
    assert found.grade == "equivalent"
    assert [one.part for one in found.comparison.differences] == ["history"]


@in_browser
async def test_a_page_whose_storage_is_as_it_was_is_loaded_once_and_nothing_else(
    browser: Browsing, site: Site
) -> None:
    loads: list[str] = []

    def answer(request: Request) -> Response:
        loads.append(request.path)
        return Response("<!doctype html><p>page<button>b</button>", content_type="text/html")

    scene = await opened(browser, site.serve(answer))
    checkpoint = await scene.checkpoint()
    await browser.js("document.body.append('more')")
    asked: list[str] = []
    page = browser.tabs.current.playwright_page
    page.on("request", lambda request: asked.append(request.url))
    found = await scene.back(checkpoint, UrlWithStorage())
    assert (found.grade, len(loads)) == ("equivalent", 2)
    assert not [url for url in asked if url.endswith(EMPTY_PAGE)]


@in_browser
async def test_a_page_at_another_fragment_is_loaded_anew(browser: Browsing, site: Site) -> None:
    scene = await opened(browser, site.page("<p id=p>text</p><a href='#p'>Down</a>"))
    checkpoint = await scene.checkpoint()
    await done(browser, 'click [link "Down"]')
    await browser.js("p.textContent = 'changed'")
    found = await scene.back(checkpoint, UrlWithStorage())
    assert found.grade == "equivalent", found


@in_browser
async def test_a_file_is_loaded_anew_at_its_fragment(browser: Browsing, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><p id=p>text<button>b</button>", encoding="utf-8")
    scene = await opened(browser, file.as_uri() + "#p")
    checkpoint = await scene.checkpoint()
    await browser.js("p.textContent = 'changed'")
    found = await scene.back(checkpoint, UrlWithStorage())
    assert (found.grade, found.comparison.differences) == ("equivalent", ()), found


@in_browser
async def test_a_field_that_leads_away_when_it_is_put_back_is_not_taken_for_success(
    browser: Browsing, site: Site
) -> None:
    away = site.page("<p>away")
    scene = await opened(browser, site.page(FIELDS))
    checkpoint = await scene.checkpoint()
    await done(browser, 'type [textbox "Name"] [Ada]')
    await browser.js(f"document.querySelector('input').oninput = () => {{ location.href = '{away}'; }}, 0")
    found = await scene.back(checkpoint, SameDocument(), UrlWithStorage())
    assert [one.grade for one in found.attempts] == ["lost", "equivalent"]


# Faults


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


@in_browser
async def test_a_page_recorded_before_hidden_drawings_were_left_out_comes_back_as_equal(
    browser: Browsing, site: Site
) -> None:
    drawing = "<svg aria-hidden=true width=9 height=9><rect width=9 height=9 fill=red /></svg>"
    scene = await opened(browser, site.page(f"<button>b</button><p>Cart {drawing}</p>"))
    checkpoint = await scene.checkpoint()
    read = checkpoint.observation
    icon = Element(
        ref=99, role="graphics-symbol", detail="red rectangle 9×9 at 3,4", box=read.elements[0].box
    )
    earlier = read.replace(elements=(*read.elements, icon), reader=0)
    found = await scene.back(checkpoint.replace(observation=earlier))
    assert (found.grade, found.verified) == ("equivalent", True)
    assert [one.by_reader for one in found.comparison.differences] == [True]
