"""The live page while the person has it: what it asks, how it is moved about in, and that the agent goes on after."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QWidget
from werkzeug import Request, Response

from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.person import Person

pytestmark = pytest.mark.browser

ASKS = """
<button onclick="document.title = 'confirm ' + confirm('Really delete?')">delete</button>
<button onclick="document.title = 'prompt ' + prompt('Your name?', 'Ada')">name</button>
<button onclick="alert('Saved.'); document.title = 'alert over'">save</button>
<button onclick="document.title = 'pressed'">plain</button>
"""


@in_browser
@pytest.mark.usefixtures("impatient")
async def test_the_person_is_asked_what_the_page_asks_and_nobody_takes_the_page_for_dead(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(ASKS))
    box = person.area._box
    await person.press("delete")
    assert await person.asked() == f"{site.home.removeprefix('http://')} asks: Really delete?"
    reading = asyncio.ensure_future(browser.see())
    await person.until(lambda: person.area.questions._waiting)
    await person.do(box.cancel_button.click)
    await person.title("confirm false")
    await reading
    await person.press("name")
    await person.asked()
    await person.do(lambda: (box.field.setText("Grace"), box.ok_button.click()))
    await person.title("prompt Grace")
    await person.press("save")
    assert "Saved." in await person.asked()
    await person.do(box.ok_button.click)
    await person.title("alert over")
    told = [event.text for event in browser.events()]
    assert 'The page asked (confirm): "Really delete?"; it was dismissed by the person.' in told
    assert not [text for text in told if "Grace" in text or "did not answer" in text]
    await person.do(lambda: person.area.set_handed_over(False))
    await browser.do('click [button "plain"]')
    await person.title("pressed")


@in_browser
async def test_a_question_that_is_open_as_the_page_is_taken_back_is_answered_by_rule_and_told(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(ASKS))
    await person.press("delete")
    await person.asked()
    await browser.host.end_questions()
    await person.title("confirm true")
    (told,) = [event.text for event in browser.events() if event.kind == "dialog"]
    assert told.endswith("it was accepted by rule, for the page was taken back.")
    assert person.said[-1] == ("A question was answered by rule", told)


@in_browser
async def test_another_profile_is_opened_over_a_question_that_is_open(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(ASKS))
    await person.press("name")
    await person.asked()
    await browser.tabs.open_profile()
    assert not await person.do(lambda: person.area.questions.engine_waits)
    await browser.open(site.page(ASKS))
    await browser.do('click [button "plain"]')
    await person.title("pressed")


def guarded(request: Request) -> Response:
    login = request.authorization
    if login is not None and (login.username, login.password) == ("ada", "secret"):
        return Response("<title>inside</title>", content_type="text/html")
    return Response(
        "<title>refused</title>",
        401,
        {"WWW-Authenticate": 'Basic realm="the lab"'},
        content_type="text/html",
    )


@in_browser
async def test_a_server_that_wants_a_password_gets_the_person_s_and_refuses_the_agent_in_words(
    browser: Browsing, site: Site, person: Person
) -> None:
    url = site.serve(guarded)
    box = person.area._box
    await person.do(lambda: person.area.current_view().load(url))
    assert '"the lab"' in await person.asked()
    await person.do(box.cancel_button.click)
    await person.title("refused")
    await person.do(lambda: person.area.browse("reload"))
    await person.asked()
    await person.do(lambda: (box.field.setText("ada"), box.password.setText("secret"), box.ok_button.click()))
    await person.title("inside")
    title, text = person.said[-1]
    assert (title, text.startswith("Not recorded: you signed in to 127.0.0.1")) == ("⚠ Recording", True)
    assert not [event for event in browser.events() if "secret" in event.text]
    await person.do(lambda: person.area.set_handed_over(False))
    await browser.tabs.open_profile()
    await browser.open(url)
    await person.title("refused")
    told = [event.text for event in browser.events() if event.kind == "dialog"]
    assert len(told) == 1
    assert "it was refused: take the page (F6)" in told[0]


async def scaled(browser: Browsing, ratio: float) -> None:
    """Wait for the page to have this zoom, which reaches its renderer a moment later."""
    await browser.js(
        "new Promise(done => {"
        f" const look = () => devicePixelRatio === {ratio} ? done() : requestAnimationFrame(look); look(); }})"
    )


@in_browser
async def test_zoom_is_the_person_s_and_goes_with_them(browser: Browsing, site: Site, person: Person) -> None:
    here = site.page("<button onclick=\"document.title = 'hit'\" style='margin:200px 0 0 300px'>b</button>")
    there = site.elsewhere(site.page("there"))
    await browser.open(here)
    for _ in range(4):
        await person.do(lambda: person.area.browse("zoom_in"))
    assert await person.do(lambda: person.area.zoom) == 1.75
    await scaled(browser, 1.75)
    await browser.open(there)
    await scaled(browser, 1.75)
    await person.do(lambda: person.area.set_handed_over(False))
    assert person.said[-1][0] == "The page is at 100 % again"
    await browser.open(here)
    await scaled(browser, 1)
    await browser.do('click [button "b"]')
    await person.title("hit")


@in_browser
async def test_words_are_found_in_the_page(browser: Browsing, site: Site, person: Person) -> None:
    await browser.open(site.page("<p>Lamp, lamp, other.</p><p>A lamp.</p>"))
    await person.do(person.area.search)
    bar = person.area.find_bar
    await person.do(lambda: bar.field.setText("lamp"))
    await person.until(lambda: bar.counted.text() == "1 of 3")
    await person.do(bar.field.next_wanted.emit)
    await person.until(lambda: bar.counted.text() == "2 of 3")
    await person.do(bar.case_button.click)
    await person.until(lambda: bar.counted.text().endswith("of 2"))
    await person.do(lambda: bar.field.setText("nowhere"))
    await person.until(lambda: bar.counted.text() == "not found")
    await person.do(lambda: person.area.set_handed_over(False))
    assert not await person.do(bar.isVisible)


@in_browser
async def test_devtools_come_and_go_beside_the_agent(browser: Browsing, site: Site, person: Person) -> None:
    await browser.open(site.page(ASKS))
    before = len(browser.tabs.current.playwright_page.context.pages)
    await person.do(person.area.inspect)
    pages = browser.tabs.current.playwright_page.context.pages
    await person.until(
        lambda: len(pages) > before or len(browser.tabs.current.playwright_page.context.pages) > before
    )
    await person.do(lambda: person.area.set_handed_over(False))
    await browser.do('click [button "plain"]')
    await person.title("pressed")
    assert len(await browser.tabs.list()) == 1
    await browser.open(site.page(ASKS))
    await person.do(person.area.close_devtools)
    await browser.do('click [button "plain"]')
    await person.title("pressed")
    assert len(await browser.tabs.list()) == 1


@in_browser
async def test_the_person_s_download_is_saved(
    browser: Browsing, site: Site, person: Person, tmp_path: Path
) -> None:
    await browser.open(site.page("<p>files</p>"))
    downloads = person.area.downloads
    earlier = downloads.rows[:1]  # The window is that of other tests, too.
    await person.do(lambda: person.area.current_view().load(f"{site.home}/file"))
    await person.until(lambda: downloads.rows[:1] != earlier and not downloads.rows[0].running)
    assert downloads.rows[0].words.text() == "✓ Saved, 3 B"
    assert (tmp_path / "downloads" / "report.csv").read_text() == "abc"
    assert "report.csv; the person took it" in browser.events()[-1].text

    def cut_short(_: Request) -> Response:
        disposition = {"Content-Disposition": "attachment; filename=cut.bin", "Content-Length": "5000"}
        return Response([b"x" * 1000], headers=disposition, content_type="application/octet-stream")

    cut = site.serve(cut_short)
    saved = downloads.rows[:1]
    await person.do(lambda: person.area.current_view().load(cut))
    await person.until(lambda: downloads.rows[:1] != saved and not downloads.rows[0].running)
    assert downloads.rows[0].words.text() == "✗ Failed: the server closed the connection too early"
    assert "cut.bin was not saved: the server closed" in person.said[-1][1]


@in_browser
async def test_ctrl_and_the_wheel_zoom_and_esc_stops_a_page_that_loads(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page("<div style='height:3000px'>long</div>"))
    view = person.area.current_view()

    def turn(by: int) -> float:
        target, at, none = view.focusProxy(), QPointF(100, 100), QPoint()
        ctrl, phase = Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase
        button = Qt.MouseButton.NoButton
        wheel = QWheelEvent(at, target.mapToGlobal(at), none, QPoint(0, by), button, ctrl, phase, False)
        QApplication.sendEvent(target, wheel)
        return person.area.zoom

    assert await person.do(lambda: turn(120)) == 1.1
    assert await person.do(lambda: turn(-120)) == 1.0
    assert await browser.js("scrollY") == 0
    await person.do(lambda: view.load(f"{site.home}/held"))
    await person.until(lambda: person.area.strip.reload_button.toolTip() == "Stop loading (Esc)")
    await person.do(lambda: QTest.keyClick(view.focusProxy(), Qt.Key.Key_Escape))
    await person.until(lambda: not view.page().isLoading())


@in_browser
async def test_the_menu_of_a_link_copies_saves_inspects_and_opens_it(
    browser: Browsing, site: Site, person: Person, tmp_path: Path
) -> None:
    target = site.page("target")
    await browser.open(site.page(f"<a href='{target}' style='position:absolute;left:0;top:0'>a link</a>"))
    page = browser.tabs.current.playwright_page

    def shown(kind: type[QWidget]) -> list[QWidget]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()]

    async def choose(name: str) -> None:
        await page.mouse.click(12, 8, button="right")
        await person.until(lambda: shown(QMenu))

        def trigger() -> None:
            (menu,) = shown(QMenu)
            (entry,) = [one for one in menu.actions() if one.text().replace("&", "") == name]
            menu.close()
            entry.trigger()

        await person.do(trigger)

    await choose("Copy link address")
    assert await person.do(lambda: QApplication.clipboard().text()) == target
    inspected: list[object] = []
    person.area.inspected.connect(inspected.append)
    await choose("Inspect")
    await person.until(lambda: inspected)
    await person.do(person.area.close_devtools)
    await choose("Save link as…")
    await person.until(lambda: shown(QFileDialog))

    def save() -> None:
        (dialog,) = shown(QFileDialog)
        dialog.findChild(QLineEdit).setText(str(tmp_path / "mine.html"))
        dialog.accept()

    await person.do(save)
    await person.until((tmp_path / "mine.html").exists)
    await choose("Open link in new tab")
    await person.until(lambda: person.area.current_view().url().toString() == target)
    assert len(await person.do(person.area.tabs)) == 2
