"""A person who has the live page: their input, and the questions and messages they get."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gui.live.page_area import PageArea
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered
from tests.core.browser.browsing import Browsing

T = TypeVar("T")
SECONDS = 60


class Person:
    """Performs a person's input in the area, from the worker's loop."""

    def __init__(self, area: PageArea, browser: Browsing) -> None:
        self.area = area
        self._browser = browser
        self.said: list[tuple[str, str]] = []
        area.said.connect(lambda *said: self.said.append(said))

    async def do(self, function: Callable[[], T]) -> T:
        return await self._browser.host._ask(function)  # type: ignore[attr-defined,no-any-return]

    async def until(self, condition: Callable[[], object]) -> None:
        end = asyncio.get_running_loop().time() + SECONDS
        while not await self.do(condition):
            assert asyncio.get_running_loop().time() < end, "what was waited for did not come about"
            await asyncio.sleep(0.01)

    async def press(self, name: str) -> None:
        """Click a button of the page, which does not respond before its question is answered."""
        page = self._browser.tabs.current.playwright_page
        box = await page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 4, box["y"] + 4)
        await page.mouse.down()
        self.later(page.mouse.up())

    def later(self, answer: Coroutine[Any, Any, object]) -> None:
        """Run in the background what the page completes only after its question is answered."""
        self._later = asyncio.ensure_future(answer)

    async def asked(self) -> str:
        await self.until(lambda: self.area.questions.current is not None)
        return await self.do(lambda: f"{self.area._box.title.text()}: {self.area._box.text.text()}")

    async def title(self, wanted: str) -> None:
        page = self._browser.tabs.current.playwright_page
        await page.wait_for_function("wanted => document.title === wanted", arg=wanted)


@pytest.fixture
def person(area: PageArea, browser: Browsing, tmp_path: Path, qapp: QApplication) -> Iterator[Person]:
    settings = QSettings(str(tmp_path / "person.ini"), QSettings.Format.IniFormat)
    remembered = Remembered(settings)
    remembered.downloads = str(tmp_path / "downloads")
    if area.downloads is None:
        area.equip(Theme(settings, area), remembered)
    else:
        area.downloads._remembered = remembered
    area.set_handed_over(True)
    yield Person(area, browser)
    area.set_handed_over(False)
