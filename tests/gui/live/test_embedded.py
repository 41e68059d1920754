"""What only the embedded browser has: its hidden views, its connection."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtWidgets import QColorDialog, QLineEdit
from pytestqt.qtbot import QtBot

from core.browser.demonstration import Demonstration
from core.schema.errors import BrowserError, UsageError
from gui.live import page_strip
from gui.live.embedded_host import EmbeddedHost
from gui.live.page_area import PageArea
from gui.live.web_page import LEAVING
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.engine_plugin import ENDPOINT

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[3]


@in_browser
async def test_a_lost_connection_is_said_and_made_again(browser: Browsing, site: Site) -> None:
    url = site.page("<button>b</button>")
    await browser.open(url)
    context = browser.tabs.current.playwright_page.context
    assert context.browser is not None
    await context.browser.close()
    with pytest.raises(BrowserError, match="has ended"):
        await browser.do('click [button "b"]')
    await browser.tabs.open_profile()
    await browser.open(url)
    await browser.find("button", "b")


def test_an_area_that_was_hidden_or_is_minimised_is_worked_in(
    browser: Browsing, site: Site, area: PageArea
) -> None:
    browser.worker.run(browser.open(site.page("<button onclick=\"this.textContent += 'done'\">b</button>")))
    area.hide()
    area.show()
    browser.worker.run(browser.do('click [button "b"]'))
    browser.worker.run(browser.find("button", "bdone"))
    area.showMinimized()
    try:
        browser.worker.run(browser.do('click [button "bdone"]'))
        browser.worker.run(browser.find("button", "bdonedone"))
    finally:
        area.showNormal()


def test_a_prepared_tab_that_was_dropped_meanwhile_is_not_given_to_a_task(browser: Browsing) -> None:
    area = PageArea()
    host = EmbeddedHost(area, ENDPOINT)
    host.prepare()
    area.open_profile(None)  # As the window does while it shows another browser.
    tab = browser.worker.run(host.open_profile(None))
    assert area.tabs() == (tab,)
    area.close_pages()


@pytest.mark.parametrize("as_root", [True, False])
def test_a_page_of_the_web_without_a_sandbox_says_so(
    browser: Browsing,
    site: Site,
    area: PageArea,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    as_root: bool,
) -> None:
    monkeypatch.setattr(page_strip, "runs_as_root", lambda: as_root)
    browser.worker.run(browser.open(site.page("<p>here</p>")))
    assert not area.strip.no_sandbox.isVisible()
    view = area.current_view()
    assert view is not None
    view.setHtml("<p>there</p>", QUrl("http://web.example/"))
    qtbot.waitUntil(
        lambda: area.findChild(QLineEdit, "address").text() == "http://web.example/", timeout=60_000
    )
    assert area.strip.no_sandbox.isVisible() == as_root
    browser.worker.run(browser.open(site.page("<p>here</p>")))
    qtbot.waitUntil(lambda: not area.strip.no_sandbox.isVisible(), timeout=60_000)


def test_the_question_before_leaving_is_told_from_a_confirm_by_the_words_of_qt() -> None:
    library = Path(sys.modules["PySide6.QtWebEngineCore"].__file__ or "").parent
    engine = next(library.glob("Qt/lib/libQt6WebEngineCore.so*"), None)
    if engine is None:
        pytest.skip("Qt's library lies elsewhere on this system")
    words = QCoreApplication.translate("QWebEnginePage", LEAVING)
    assert subprocess.run(["grep", "-qF", words, engine], check=False).returncode == 0


@in_browser
async def test_a_profile_with_logins_is_refused_until_it_is_allowed(browser: Browsing) -> None:
    with pytest.raises(
        UsageError, match=r"^The profile bank was not opened: another user of this machine can drive"
    ):
        await browser.tabs.open_profile("bank")
    assert "bank" not in browser.host.profiles()
    browser.host.allow_profile("bank")
    await browser.tabs.open_profile("bank")
    assert "bank" in browser.host.profiles()
    await browser.tabs.open_profile()


OFFSCREEN = """
import asyncio, os, signal, sys, threading
from gui.live.engine import run_offscreen
from core.browser.tabs import Tabs
from core.schema.errors import Interrupted

async def work(host):
    tabs = Tabs(host)
    try:
        await tabs.browser.start()
        await tabs.open_profile()
        await tabs.goto("data:text/html,<title>here</title>")
        print(await tabs.current.evaluate("document.title"), flush=True)
        if sys.argv[1] == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        if sys.argv[1] == "fail":
            raise ValueError("mine")
        return "result"
    finally:
        print("let go", flush=True)
        await tabs.browser.close()

try:
    print(run_offscreen(work))
except Interrupted:
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("how", "code", "printed"),
    [("interrupt", 130, ["here", "let go"]), ("fail", 1, ["here", "let go"])],
)
def test_an_offscreen_run_ends_in_order(how: str, code: int, printed: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFSCREEN, how],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.split("\n")[:-1]) == (code, printed), done.stderr


GARBAGE = """
import asyncio, threading, weakref
from gui.live.engine import run_offscreen

class Knot:
    def __init__(self):
        self.itself = self

ended_in = []

async def work(host):
    weakref.finalize(Knot(), lambda: ended_in.append(threading.current_thread()))
    while not ended_in:
        kept = [[] for _ in range(10_000)]
        await asyncio.sleep(0)
    return ended_in[0] is threading.main_thread()

print(run_offscreen(work))
"""


def test_garbage_is_collected_in_the_thread_of_qt() -> None:
    # A timer that is destroyed in another thread crashes the program when it is due.
    done = subprocess.run(
        [sys.executable, "-c", GARBAGE], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "True\n", done.stderr


def test_a_person_who_has_the_page_chooses_a_colour_and_it_is_recorded(
    browser: Browsing, site: Site, area: PageArea, qtbot: QtBot
) -> None:
    run = browser.worker.run
    body = "<input type=color aria-label=Ink style='position:fixed;left:0;top:0;width:90px;height:60px'>"
    run(browser.open(site.page(body)))
    ink = run(browser.find("button", "Ink"))
    demonstration = Demonstration()
    run(demonstration.follow(browser.tabs.current))
    area.set_handed_over(True)
    try:
        run(browser.tabs.current.playwright_page.mouse.click(40, 30))
        view = area.current_view()
        assert view is not None
        qtbot.waitUntil(lambda: len(view.findChildren(QColorDialog)) == 1, timeout=20000)
        (dialog,) = view.findChildren(QColorDialog)
        dialog.setCurrentColor("#ff8800")
        dialog.accept()
        qtbot.waitUntil(lambda: run(browser.js("document.querySelector('input').value")) == "#ff8800")
    finally:
        area.set_handed_over(False)
        run(demonstration.stop())
    told = [demonstration.human_actions.get_nowait() for _ in range(demonstration.human_actions.qsize())]
    page = run(browser.see())
    assert [str(one.action(page)) for one in told if one.kind != "look"] == [f"type [{ink.ref}] [#ff8800]"]
