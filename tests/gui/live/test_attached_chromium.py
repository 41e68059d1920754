"""An attached agent in an installed Chromium: what depends on the browser that the window drives."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page
from pytestqt.qtbot import QtBot

from core.browser.chromium import ChromiumHost
from tests.gui.live.attached import AttachedWindow
from tests.gui.live.test_launched_browser import (
    LAUNCHES_MANY,
    SAID,
    ran,
    test_it_is_stepped_in_the_page_of_the_task_and_brought_back_to_a_step,
)
from tests.llm_server import LLMServer

__all__ = ["test_it_is_stepped_in_the_page_of_the_task_and_brought_back_to_a_step"]
pytestmark = pytest.mark.browser


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[AttachedWindow]:
    desk = AttachedWindow(qtbot, tmp_path, llm_server)
    desk.browser = "chromium"
    yield desk
    assert "chromium" in desk.hosts
    desk.close()


def test_contexts_and_browsers_are_told_apart_where_the_host_has_not_heard_of_a_popup_yet(
    desk: AttachedWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, waiting = ChromiumHost._on_page, []

    async def hears_late(host: ChromiumHost, page: Page) -> None:
        if await page.opener() is not None:
            waiting.append(page)
            await page.wait_for_event("close", timeout=30_000)
        await heard(host, page)

    monkeypatch.setattr(ChromiumHost, "_on_page", hears_late)
    assert ran(desk, tmp_path, LAUNCHES_MANY) == SAID
    assert waiting
