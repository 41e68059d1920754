"""The device: the page keeps its size and its layout whatever the window does, and input meets what is drawn."""

import json

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QColorDialog, QLineEdit

from gui.live.page_area import PageArea
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.person import Person

WORDS = "The quick brown fox jumps over the lazy dog and wraps where it must. " * 5
PAGE = f"""<p style="width:40%">{WORDS}</p><p style="width:55%;font-size:13px">{WORDS}</p>
<button id=far style="position:fixed;left:1180px;top:660px;width:60px;height:30px"
  onclick="document.title = 'hit'">far</button>
<select id=list style="position:fixed;left:900px;top:400px"><option>one<option>two<option>three</select>
<input id=words style="position:fixed;left:600px;top:500px">
<input id=next style="position:fixed;left:900px;top:500px">"""
LAYOUT = """JSON.stringify([innerWidth, innerHeight, document.documentElement.clientWidth, scrollX,
  [...document.querySelectorAll('p, button, select')].map((one) => {
    const box = one.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })])"""


async def layout(browser: Browsing) -> list[object]:
    found: list[object] = json.loads(await browser.js(LAYOUT))
    return found


@in_browser
async def test_the_layout_of_the_page_does_not_depend_on_the_window(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(PAGE))
    first = await layout(browser)
    assert first[:2] == [1280, 720]
    for width, height in ((500, 300), (333, 777), (1900, 1100), (803, 541)):
        await person.do(lambda width=width, height=height: person.area.resize(width, height))
        assert await layout(browser) == first
    await person.do(lambda: person.area.device.set_fitted(False))
    assert await layout(browser) == first
    await person.do(lambda: person.area.device.set_fitted(True))


@in_browser
async def test_a_profile_is_opened_at_the_size_that_is_wanted(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.tabs.open_profile(viewport=(390, 844))
    await browser.open(site.page(PAGE))
    assert (await layout(browser))[:2] == [390, 844]
    await browser.tabs.open_profile()
    await browser.open(site.page(PAGE))
    assert (await layout(browser))[:2] == [1280, 720]


async def in_front(person: Person) -> None:
    """Give the page the keys, as in a window that is in front."""
    area = person.area
    await person.do(lambda: (area.window().activateWindow(), area.window().raise_()))
    await person.until(area.window().isActiveWindow)
    await person.do(area._focus_page)
    await person.until(area.device.hasFocus)


def at(area: PageArea, x: float, y: float) -> QPoint:
    """Return where a point of the page is drawn in the device."""
    return area.device.mapFromScene(QPointF(x, y))


@in_browser
@pytest.mark.parametrize("fitted", [True, False])
async def test_clicks_keys_and_tab_of_the_person_meet_what_is_drawn(
    browser: Browsing, site: Site, person: Person, fitted: bool
) -> None:
    await browser.open(site.page(PAGE))
    device = person.area.device

    def click(x: float, y: float) -> None:
        device.ensureVisible(x - 5, y - 5, 10, 10)
        QTest.mouseClick(device.viewport(), Qt.MouseButton.LeftButton, pos=at(person.area, x, y))

    await person.do(lambda: (person.area.resize(640, 420), device.set_fitted(fitted)))
    await in_front(person)
    await person.do(lambda: click(1210, 675))
    await person.title("hit")
    await person.do(lambda: click(620, 510))
    await browser.tabs.current.playwright_page.wait_for_function("document.activeElement.id === 'words'")
    await person.do(lambda: QTest.keyClicks(device, "tea"))
    await browser.tabs.current.playwright_page.wait_for_function(
        "document.getElementById('words').value === 'tea'"
    )
    await person.do(lambda: QTest.keyClick(device, Qt.Key.Key_Tab))
    await browser.tabs.current.playwright_page.wait_for_function("document.activeElement.id === 'next'")
    await person.do(lambda: device.set_fitted(True))


@in_browser
async def test_a_list_opens_at_its_field(browser: Browsing, site: Site, person: Person) -> None:
    await browser.open(site.page(PAGE))
    await person.do(lambda: person.area.resize(640, 420))
    await person.do(
        lambda: QTest.mouseClick(
            person.area.device.viewport(), Qt.MouseButton.LeftButton, pos=at(person.area, 910, 408)
        )
    )

    def lists() -> list[QPoint]:
        view = person.area.current_view()
        tops = (one for one in QApplication.topLevelWidgets() if one.isVisible() and one.parent() is view)
        return [one.pos() for one in tops]

    await person.until(lists)
    (place,) = await person.do(lists)
    field = await person.do(lambda: person.area.device.viewport().mapToGlobal(at(person.area, 900, 420)))
    assert abs(place.x() - field.x()) < 12
    assert abs(place.y() - field.y()) < 25
    await person.do(lambda: QTest.keyClick(person.area.device, Qt.Key.Key_Escape))
    await person.until(lambda: not lists())


@in_browser
async def test_a_page_that_is_handed_over_has_the_focus_and_keeps_it_beside_the_page(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page("<input id=words autofocus>"))
    area = person.area
    other = await person.do(lambda: QLineEdit(area))

    def elsewhere() -> None:
        other.show()
        area.window().activateWindow()
        other.setFocus()

    await in_front(person)
    await person.do(lambda: area.set_handed_over(False))
    await person.do(elsewhere)
    await person.until(lambda: other.hasFocus())
    await person.do(lambda: area.set_handed_over(True))
    await browser.tabs.current.playwright_page.wait_for_function("document.hasFocus()")
    await person.do(
        lambda: QTest.mouseClick(area.device.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    )
    await person.do(lambda: QTest.keyClicks(area.device, "tea"))
    await browser.tabs.current.playwright_page.wait_for_function(
        "document.getElementById('words').value === 'tea'"
    )
    await person.do(lambda: other.hide())


@in_browser
async def test_dialogs_are_windows_of_their_own(browser: Browsing, site: Site, person: Person) -> None:
    await browser.open(site.page("<p>x</p>"))

    def shown() -> tuple[bool, bool]:
        view = person.area.current_view()
        dialog = QColorDialog(view)  # The engine's own one for a colour field has this parent.
        dialog.show()
        found = dialog.graphicsProxyWidget() is None, view.main_window() is person.area.window()
        dialog.close()
        dialog.deleteLater()
        return found

    assert await person.do(shown) == (True, True)
