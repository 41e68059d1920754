"""Pages that flood the embedded browser: what Qt tells of them is thinned, cut and drawn at most so often."""

import ctypes
from contextlib import suppress

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolTip
from pytestqt.qtbot import QtBot

from core.schema.errors import BrowserError
from gui.live import memory
from gui.live.page_area import PageArea
from gui.theme.theme import PlainTextStyle
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.browser.test_floods import test_a_burst_that_ends_costs_neither_page_nor_renderer
from tests.core.browser.test_recovery import harmless_page_works

__all__ = ["test_a_burst_that_ends_costs_neither_page_nor_renderer"]
pytestmark = pytest.mark.browser


@in_browser
async def test_of_many_events_of_a_page_the_first_are_told_and_the_others_counted(
    browser: Browsing, site: Site
) -> None:
    await browser.open(HOSTILE["questions"].serve(site, 300))
    told = [one.text for one in browser.events() if one.kind == "dialog"]
    assert 100 <= len(told) < 300
    assert any("more events were only counted" in one for one in told)


@in_browser
async def test_what_a_page_asks_with_megabytes_is_told_by_its_beginning(
    browser: Browsing, site: Site
) -> None:
    await browser.open(HOSTILE["a long question"].serve(site, 3_000_000))
    (told,) = [one.text for one in browser.events() if one.kind == "dialog"]
    assert "more characters left out" in told
    assert len(told) < 3000


@in_browser
async def test_a_page_that_opens_tabs_without_end_is_ended(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.live.page_area.MOST_TABS", 3)
    with suppress(BrowserError):
        await browser.open(HOSTILE["windows"].serve(site, 10))
    told = [one.text for one in browser.events() if one.kind == "popup"]
    assert told.count("The page opened a new tab.") == 3
    assert "The page opened too many tabs; its renderer was ended." in told
    listed = await browser.tabs.list()
    assert 1 < len(listed) <= 4
    assert all(one.url for one in listed)
    await harmless_page_works(browser, site)


@in_browser
async def test_a_page_that_changes_its_title_without_end_is_ended(browser: Browsing, site: Site) -> None:
    with suppress(BrowserError):
        await browser.open(HOSTILE["titles"].serve(site))
    told = [one.text for one in browser.events() if "changed its title without end" in one.text]
    assert 1 <= len(told) <= 3  # Once for each time that it was loaded.
    await harmless_page_works(browser, site)


def test_titles_are_drawn_more_seldom_than_a_page_changes_them(
    browser: Browsing, site: Site, area: PageArea, qtbot: QtBot
) -> None:
    drawn: list[str] = []
    told: list[str] = []
    draw = area._bar.setTabText
    area._bar.setTabText = lambda index, text: (drawn.append(text), draw(index, text))  # type: ignore[method-assign]
    try:
        browser.worker.run(browser.open(site.page("<p>titles</p>")))
        view = area.current_view()
        assert view is not None
        view.page().titleChanged.connect(told.append)
        browser.worker.run(
            browser.js(
                "setInterval(() => { for (let i = 0; i < 20; i++) document.title = 't' + Math.random() }, 0)"
            )
        )
        qtbot.waitUntil(lambda: len(told) > 500, timeout=60_000)
        browser.worker.run(browser.open("about:blank"))
    finally:
        del area._bar.setTabText
    assert len(drawn) < len(told) / 4


def test_a_title_is_shown_as_it_reads_and_an_address_as_it_is_sent(
    browser: Browsing, site: Site, area: PageArea, qtbot: QtBot
) -> None:
    url = site.page(
        "<p>p</p><script>document.title = 'Q&A \\u202egpj.exe'; history.replaceState(0, '', '?\\u202egpj')</script>"
    )
    browser.worker.run(browser.open(url))
    qtbot.waitUntil(lambda: area._bar.tabText(0) == "Q&&A \ufffdgpj.exe", timeout=60_000)
    assert area._bar.tabToolTip(0) == "Q&A \ufffdgpj.exe"
    qtbot.waitUntil(lambda: area.strip.address.text().endswith("?%E2%80%AEgpj"), timeout=60_000)
    assert QUrl(area.strip.address.text()) == area._addressed


def test_a_tool_tip_of_a_page_is_plain_and_short(
    browser: Browsing, site: Site, area: PageArea, qtbot: QtBot, qapp: QApplication
) -> None:
    said = "<b>bold</b><img src='file:///etc/hostname'>"
    longer = "<script>document.querySelector('div').title += 'w'.repeat(1e6)</script>"
    page = f'<div style="height:600px" title="{said}"></div>{longer}'
    browser.worker.run(browser.open(site.page(page)))
    before = qapp.style().name()
    qapp.setStyle(PlainTextStyle())
    try:
        view = area.current_view()
        assert view is not None
        browser.worker.run(browser.tabs.current.playwright_page.mouse.move(200, 200))
        qtbot.waitUntil(lambda: view.toolTip().startswith(said), timeout=60_000)
        at = view.rect().center()
        QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, at, view.mapToGlobal(at)))
        tips = [one for one in qapp.allWidgets() if one.inherits("QTipLabel") and one.isVisible()]
        (tip,) = tips
        assert isinstance(tip, QLabel)
        assert tip.textFormat() == Qt.TextFormat.PlainText
        assert tip.text().startswith(said)
        assert tip.text().endswith("more characters left out)")
        QToolTip.hideText()
    finally:
        qapp.setStyle(before)


def test_memory_that_has_become_free_is_given_back(area: PageArea, qtbot: QtBot) -> None:
    spare = next(iter(area.findChildren(memory.SpareMemory)))
    before = memory.resident_bytes()
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    pieces = [library.malloc(60_000) for _ in range(5000)]
    for piece in pieces:
        ctypes.memset(piece, 1, 60_000)
    for piece in pieces[:-1]:
        library.free(piece)
    spare._least = before
    spare._look()
    qtbot.waitUntil(lambda: memory.resident_bytes() < before + 150_000_000, timeout=60_000)
    library.free(pieces[-1])
