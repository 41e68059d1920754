"""Each way back in a real page, what is called exact, and what loading leaves behind."""

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
from core.schema.errors import ActionError
from core.schema.restore import Restored
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.checkpoints.test_restoring import COUNTER, done
from tests.core.browser.site import Site
from tests.core.browser.test_editors import drawn

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
async def test_a_text_that_was_not_recorded_whole_is_neither_typed_nor_taken_for_equal(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page("<textarea id=t></textarea>"))
    await browser.js("t.value = 'word '.repeat(1000)")
    checkpoint = await scene.checkpoint()
    assert (await scene.back(checkpoint, SameDocument())).grade == "equivalent"
    await browser.js("t.value += 'and the end'")
    found = await scene.back(checkpoint, SameDocument())
    assert (found.grade, [one.part for one in found.comparison.differences]) == ("same page", ["value"])
    assert "its text is too long to be restored" in found.attempts[0].remarks[0]
    assert (await browser.js("t.value")).endswith("and the end")
    held = checkpoint.observation.elements[-1].replace(digest="")
    older = checkpoint.replace(observation=checkpoint.observation.replace(elements=(held,)))
    assert (await scene.back(older, SameDocument())).grade == "same page"


@in_browser
async def test_an_editor_of_which_only_the_lines_in_view_were_read_keeps_its_text(
    browser: Browsing, site: Site
) -> None:
    scene = await opened(browser, site.page(drawn(40)))
    checkpoint = await scene.checkpoint()
    found = await scene.back(checkpoint, SameDocument())
    assert (found.grade, found.attempts[0].remarks) == ("equivalent", ())
    await browser.do('scroll [down] [textbox "Code"]')
    found = await scene.back(checkpoint, SameDocument())
    assert await browser.js("lines.length") == 40
    assert found.grade == "same page"
    assert found.attempts[0].remarks == (
        'textbox "Code" was not restored: only the lines in view were read.',
    )
    found = await scene.back(
        checkpoint, UrlWithStorage()
    )  # Of another document the other lines are not known.
    assert "only the lines in view were read." in found.attempts[0].remarks[-1]


@in_browser
async def test_all_options_of_a_list_that_were_chosen_are_chosen_again_and_no_others(
    browser: Browsing, site: Site
) -> None:
    lists = (
        "<select id=m aria-label=Many multiple><option>a<option>b<option>c</select>"
        "<select id=o aria-label=One size=3><option>x<option>y</select>"
        "<select id=n aria-label=None multiple><option>p<option>q</select>"
    )
    scene = await opened(browser, site.page(lists))
    held = "[m, o, n].map(one => Array.from(one.selectedOptions, option => option.label).join())"
    await done(
        browser,
        'select [listbox "Many"] [a]',
        'select [listbox "Many"] [b]',
        'select [listbox "One"] [x]',
    )
    checkpoint = await scene.checkpoint()
    await browser.js("m.value = 'c'; o.value = 'y'; n.value = 'q'")
    found = await scene.back(checkpoint, SameDocument())
    assert await browser.js(held) == ["a,b", "x", ""]
    assert (found.grade, found.attempts[0].remarks) == ("equivalent", ())


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
