"""Going back in a real page: what each way brings back, and what it says where it cannot."""

from dataclasses import replace

from core.browser.capturer import picture_of
from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext, RestoreOutcome
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import (
    AsItIs,
    HistoryEntry,
    ReplayFromNearest,
    ReplayFromStart,
    ReplayInPlace,
    ReplayRecorded,
    SameDocument,
    UrlWithStorage,
)
from core.schema.action_text import parse_action
from core.schema.element_identity import RecordedInput, marks_of
from core.schema.observation import Observation
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

FORM = """
<h1>Order</h1>
<label>Name <input id=n></label>
<label>Secret <input type=password></label>
<label><input type=checkbox> Gift</label>
<label>Size <select><option>S<option>M<option>L</select></label>
<label><input type=radio name=r checked> Red</label><label><input type=radio name=r> Blue</label>
<div style="height: 3000px"></div>
"""
COUNTER = """
<button onclick="n.textContent = +n.textContent + 1">Add</button><p id=n>0</p>
<button onclick="this.textContent = 'Sent'">Send</button>
"""


def ground(browser: Browsing, url: str) -> RestoreContext:
    async def reopen() -> None:
        await browser.tabs.open_profile()
        await browser.open(url)

    return RestoreContext(tabs=browser.tabs, actor=browser.actor, read=browser.see, reopen=reopen)


async def done(browser: Browsing, *texts: str) -> tuple[list[RecordedInput], Observation]:
    """Carry out actions by role and name, recorded by their refs; return them and the page after them."""
    inputs = []
    for number, text in enumerate(texts, start=1):
        before = await browser.see()
        role, name = text.split('"')[0].rpartition("[")[2].strip(), text.split('"')[1]
        ref = next(one.ref for one in before.elements if (one.role, one.name) == (role, name))
        written = text.replace(f'{role} "{name}"', str(ref))
        await browser.do(written)
        action = parse_action(written)
        inputs.append(RecordedInput(step=number, action=action, marks=marks_of(action, before)))
    return inputs, await browser.see()


@in_browser
async def test_a_form_is_back_with_fields_scroll_and_focus_after_the_page_was_left(
    browser: Browsing, site: Site
) -> None:
    url = site.page(FORM)
    await browser.open(url)
    await done(
        browser,
        'type [textbox "Name"] [Ada "L" [x]]',
        'check [checkbox "Gift"]',
        'select [combobox "Size"] [L]',
        'click [radio "Blue"]',
    )
    await browser.js("scrollTo(0, 700)")
    recorded = await browser.see()
    await browser.open(site.page("<p>elsewhere"))
    found = await restore(Checkpoint(step=5, observation=recorded), ground(browser, url))
    assert (found.grade, found.strategy) == ("equivalent", UrlWithStorage.name)
    assert found.verified
    assert await browser.js("[n.value, document.querySelector('select').value, scrollY]") == [
        'Ada "L" [x]',
        "L",
        700,
    ]


@in_browser
async def test_what_only_scripts_knew_is_replayed_and_then_exact(browser: Browsing, site: Site) -> None:
    url = site.page(COUNTER)
    await browser.open(url)
    inputs, recorded = await done(browser, 'click [button "Add"]', 'click [button "Add"]')
    await browser.do('click [button "Send"]')
    checkpoint = Checkpoint(step=3, observation=recorded, inputs=tuple(inputs))
    found = await restore(checkpoint, ground(browser, url))
    assert [(one.strategy, one.grade) for one in found.attempts] == [
        (AsItIs.name, "same page"),
        (SameDocument.name, "same page"),
        (HistoryEntry.name, None),
        (UrlWithStorage.name, "same page"),
        (ReplayRecorded.name, None),
        (ReplayFromNearest.name, None),
        (ReplayInPlace.name, None),
        (ReplayFromStart.name, "exact"),
    ]
    assert (found.grade, found.verified) == ("exact", True)
    assert found.sentence == "Back at step 3 by replay from the start: exact, no difference."


BOARD = """
<style>body { margin: 0 }</style><canvas id=c width=200 height=100 tabindex=0 aria-label=board></canvas>
<p id=p>some words to mark</p><p id=log></p><script>
const hear = (...words) => { log.textContent += words.join(' ') + '; ' };
c.onclick = e => hear('click', e.offsetX, e.offsetY, e.shiftKey);
c.oncontextmenu = e => { e.preventDefault(); hear('menu', e.offsetX) };
c.onmousedown = e => hear('down', e.offsetX);
c.onwheel = e => { e.preventDefault(); hear('wheel') };
document.onmouseup = () => hear('up', getSelection().toString());
</script>
"""


@in_browser
async def test_what_was_done_at_places_and_to_words_is_done_again_there(
    browser: Browsing, site: Site
) -> None:
    url = site.page(BOARD)
    await browser.open(url)
    inputs, recorded = await done(
        browser,
        'click [canvas "board"] [at=0.25,0.7] [keys=Shift]',
        'right_click [canvas "board"] [at=0.5,0.5]',
        'drag [canvas "board"] [canvas "board"] [from_at=0.1,0.5] [to_at=0.9,0.5]',
        'scroll [down] [canvas "board"]',
        'select_text [paragraph "some words to mark"] [words to]',
    )
    heard = await browser.js("log.textContent")
    assert all(one in heard for one in ("click 50 70 true", "menu 100", "down 20", "wheel", "up words to"))
    checkpoint = Checkpoint(step=6, observation=recorded, inputs=tuple(inputs))
    await browser.open(site.page("<p>elsewhere"))
    found = await restore(checkpoint, ground(browser, url), strategies=(ReplayFromStart(),))
    assert (found.grade, await browser.js("log.textContent")) == ("exact", heard)


@in_browser
async def test_a_page_that_differs_every_time_is_not_said_to_be_restored(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<p id=w></p><script>w.textContent = 'word ' + Math.random()</script><button>b</button>")
    await browser.open(url)
    recorded = await browser.see()
    found = await restore(
        Checkpoint(step=1, observation=recorded),
        ground(browser, url),
        strategies=(UrlWithStorage(), ReplayFromStart()),
    )
    assert found.grade in ("same page", "lost")
    assert not found.verified
    assert len(found.attempts) == 2


@in_browser
async def test_an_action_that_cannot_be_done_again_is_named_and_the_page_is_lost(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<script>if (!localStorage.seen) document.write('<button>Once</button>')</script><p>text")
    await browser.open(url)
    inputs, recorded = await done(browser, 'click [button "Once"]')
    gone = site.page("<p>another page")

    found = await restore(
        Checkpoint(step=2, observation=recorded, inputs=tuple(inputs)),
        ground(browser, gone),
        strategies=(ReplayFromStart(),),
    )
    assert (found.grade, found.attempts[0].grade) == ("lost", None)
    assert 'button "Once" was not found' in found.attempts[0].reason
    assert found.sentence == f"Back at step 2 by {ReplayFromStart.name}: lost. {found.attempts[0].reason}"


@in_browser
async def test_of_a_lost_page_it_is_said_what_differs_the_address_first(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<button>Pay</button>")
    await browser.open(url)
    recorded = await browser.see()
    other = site.page("<button>Go</button>")
    found = await restore(
        Checkpoint(step=1, observation=recorded), ground(browser, other), strategies=(ReplayFromStart(),)
    )
    assert found.grade == "lost"
    differs = f'the page: url "{url}" is now "{other}"; button "Pay" gone; button "Go" added'
    assert found.sentence.endswith(f": lost, 3 differences ({differs}).")


@in_browser
async def test_a_password_is_put_back_only_while_it_is_known_and_that_is_said(
    browser: Browsing, site: Site
) -> None:
    url = site.page(FORM)
    await browser.open(url)
    _, recorded = await done(browser, 'type [textbox "Secret"] [hunter2]')
    checkpoint = Checkpoint(step=2, observation=recorded)
    found = await restore(checkpoint, ground(browser, url), strategies=(UrlWithStorage(),))
    assert found.grade == "equivalent"
    assert await browser.js("document.querySelector('[type=password]').value") == "hunter2"
    browser.tabs.passwords.clear()  # As in another session.
    found = await restore(checkpoint, ground(browser, url), strategies=(UrlWithStorage(),))
    assert found.grade == "same page"
    assert any("the text is hidden and was not recorded" in remark for remark in found.attempts[0].remarks)


@in_browser
async def test_a_replay_in_a_profile_that_keeps_what_was_done_is_not_called_exact(
    browser: Browsing, site: Site
) -> None:
    url = site.page(COUNTER)
    await browser.open(url)
    inputs, recorded = await done(browser, 'click [button "Add"]')
    checkpoint = Checkpoint(step=2, observation=recorded, inputs=tuple(inputs))
    grades = []
    for clean in (True, False):
        there = ground(browser, url)
        there.clean = clean
        found = await restore(checkpoint, there, strategies=(ReplayFromStart(),))
        grades.append(found.grade)
    assert grades == ["exact", "equivalent"]


# Pictures

PAINTED = """
<h1>Draw</h1><canvas id=c width=300 height=200 style="border: 1px solid"></canvas>
<button onclick="const b = c.getContext('2d'); b.fillRect(20, 20, 60, 40)">Paint</button>
"""
TICKING = """
<canvas id=t width=60 height=60 style="float: right"></canvas>
<script>
  const brush = t.getContext('2d');
  setInterval(() => {  // Never twice the same.
    for (let at = 0; at < 100; at++) {
      brush.fillStyle = Math.random() < 0.5 ? 'black' : 'white';
      brush.fillRect(at % 10 * 6, Math.floor(at / 10) * 6, 6, 6);
    }
  }, 30);
</script>
"""


async def pictured(browser: Browsing, url: str) -> RestoreContext:
    """Return a restore context with the picture of the page as it is now."""
    picture = await picture_of(browser.tabs.current, (await browser.see()).viewport[0])
    return replace(ground(browser, url), recorded_picture=lambda _: picture)


@in_browser
async def test_a_canvas_that_clicks_painted_is_not_back_when_it_is_blank(
    browser: Browsing, site: Site
) -> None:
    url = site.page(PAINTED)
    await browser.open(url)
    inputs, recorded = await done(browser, 'click [button "Paint"]')
    then = await pictured(browser, url)
    checkpoint = Checkpoint(step=2, observation=recorded, inputs=tuple(inputs))
    await browser.open(site.page("<p>elsewhere"))
    found = await restore(checkpoint, then, strategies=(UrlWithStorage(),))
    assert found.grade == "same page"
    assert found.comparison.only_looks_different
    assert "1 difference (the elements are equal, but the picture differs in" in found.sentence
    found = await restore(checkpoint, then)
    assert (found.grade, found.strategy) == ("equivalent", ReplayFromStart.name) or found.grade == "exact"
    assert found.comparison.differences == ()


@in_browser
async def test_the_page_that_only_looks_different_is_kept_where_no_other_is_better(
    browser: Browsing, site: Site
) -> None:
    url = site.page(PAINTED)
    await browser.open(url)
    _, recorded = await done(browser, 'click [button "Paint"]')
    then = await pictured(browser, url)
    await browser.open(site.page("<p>elsewhere"))

    class Elsewhere(UrlWithStorage):
        name = "elsewhere"

        async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
            await browser.open(site.page("<p>another page"))
            return RestoreOutcome()

    ways = (UrlWithStorage(), Elsewhere())
    found = await restore(Checkpoint(step=2, observation=recorded), then, strategies=ways)
    assert (found.grade, found.strategy) == ("same page", UrlWithStorage.name)
    assert [one.strategy for one in found.attempts] == [ways[0].name, "elsewhere", ways[0].name]


@in_browser
async def test_a_page_stays_as_compared_where_the_better_way_no_longer_applies(
    browser: Browsing, site: Site
) -> None:
    url = site.page(PAINTED)
    await browser.open(url)
    recorded = await browser.see()
    then = await pictured(browser, url)
    await done(browser, 'click [button "Paint"]')

    class WithMore(UrlWithStorage):
        name = "with more"

        async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
            await browser.open(url)
            await browser.js("document.body.append('an advertisement')")
            return RestoreOutcome()

    ways = (SameDocument(), WithMore())
    found = await restore(Checkpoint(step=2, observation=recorded), then, strategies=ways)
    assert (found.grade, found.strategy) == ("same page", "with more")
    assert "added" in [one.what for one in found.comparison.differences]
    assert [one.strategy for one in found.attempts] == [ways[0].name, "with more", ways[0].name]


@in_browser
async def test_of_pictures_what_moves_by_itself_is_left_out_and_told(browser: Browsing, site: Site) -> None:
    url = site.page(PAINTED + TICKING)
    await browser.open(url)
    recorded = await browser.see()
    then = await pictured(browser, url)
    await browser.open(site.page("<p>elsewhere"))
    found = await restore(Checkpoint(step=1, observation=recorded), then, strategies=(UrlWithStorage(),))
    assert found.grade == "equivalent"
    assert "looks different where it changes by itself" in found.sentence


@in_browser
async def test_what_looks_different_under_the_pointer_is_compared_under_it(
    browser: Browsing, site: Site
) -> None:
    style = "<style>button { width: 300px; height: 90px } button:hover { background: navy }</style>"
    url = site.page(style + "<button>Over</button><p>more")
    await browser.open(url)
    inputs, recorded = await done(browser, 'hover [button "Over"]')
    then = await pictured(browser, url)
    await browser.open(site.page("<p>elsewhere"))
    await browser.tabs.current.playwright_page.mouse.move(700, 500)
    checkpoint = Checkpoint(step=2, observation=recorded, inputs=tuple(inputs))
    found = await restore(checkpoint, then, strategies=(UrlWithStorage(),))
    assert (found.grade, found.comparison.pictures) == ("equivalent", "")


@in_browser
async def test_a_step_without_a_picture_has_that_told(browser: Browsing, site: Site) -> None:
    url = site.page("<p>plain")
    await browser.open(url)
    recorded = await browser.see()
    then = replace(ground(browser, url), recorded_picture=lambda _: b"")
    found = await restore(Checkpoint(step=1, observation=recorded), then)
    assert found.sentence.endswith("no difference. Pictures were not compared: none was kept of that step.")
