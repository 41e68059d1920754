"""An attached agent in an installed Chromium: what depends on the browser that the window drives."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page
from pytestqt.qtbot import QtBot

from core.browser.chromium import ChromiumHost
from tests.gui.live.attached import AttachedWindow
from tests.gui.live.test_attached_agent import (
    test_it_is_brought_back_to_a_step_by_its_recorded_answers_and_goes_on_live,
    test_it_is_stepped_from_its_question_to_its_click_to_success,
)
from tests.gui.live.test_launched_browser import (
    CONTEXTS,
    ran,
    test_contexts_one_after_another_begin_clean,
    test_two_browsers_at_once_have_tabs_of_their_own,
)
from tests.llm_server import LLMServer

__all__ = [
    "test_contexts_one_after_another_begin_clean",
    "test_it_is_brought_back_to_a_step_by_its_recorded_answers_and_goes_on_live",
    "test_it_is_stepped_from_its_question_to_its_click_to_success",
    "test_two_browsers_at_once_have_tabs_of_their_own",
]
pytestmark = pytest.mark.browser


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[AttachedWindow]:
    desk = AttachedWindow(qtbot, tmp_path, llm_server)
    desk.browser = "chromium"
    yield desk
    assert "chromium" in desk.hosts
    desk.close()


def test_a_popup_that_the_host_has_not_heard_of_yet_is_closed_with_its_context(
    desk: AttachedWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, waiting = ChromiumHost._on_page, []

    async def hears_late(host: ChromiumHost, page: Page) -> None:
        if await page.opener() is not None:
            waiting.append(page)
            await page.wait_for_event("close", timeout=30_000)
        await heard(host, page)

    monkeypatch.setattr(ChromiumHost, "_on_page", hears_late)
    assert ran(desk, tmp_path, CONTEXTS)[-1] == "True True"
    assert waiting
