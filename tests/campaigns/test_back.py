"""Going back is tried a few times in each run of the tests; and the campaign finds a page that claims too much."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from core.browser.chromium import ChromiumHost
from core.schema.restore import Comparison, Restored
from tests.campaigns.back import Back, Campaign
from tests.campaigns.browsers import with_port
from tests.core.stage import need_chromium

pytestmark = pytest.mark.browser

T = TypeVar("T")
TASKS = ("miniwob/click-checkboxes", "miniwob/enter-password")


def in_campaign(work: Callable[[Campaign], Awaitable[T]]) -> T:
    executable = need_chromium()

    async def begin() -> T:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            program, client = with_port(executable, Path(folder))
            return await work(Campaign(ChromiumHost(str(program)), client, names=TASKS))

    return asyncio.run(begin())


def test_a_page_that_was_gone_back_to_is_what_it_is_called():
    found = in_campaign(lambda campaign: campaign.go_back(seed=0, times=2))
    assert len(found) == 2
    assert [one for one in found if one.wrong] == []
    assert all(one.verified for one in found)


def test_a_page_that_is_called_exact_and_is_another_one_is_a_loss(monkeypatch):
    async def claim(*_: object, **__: object) -> Restored:
        comparison = Comparison(grade="exact")
        return Restored(step=1, grade="exact", strategy="comparing only", comparison=comparison)

    async def go_back(campaign: Campaign) -> list[Back]:
        monkeypatch.setattr("tests.campaigns.back.restore", claim)
        monkeypatch.setattr("tests.campaigns.walks.REPEATS", 1)
        return await campaign.go_back(seed=3, times=2)

    found = in_campaign(go_back)
    assert any(one.wrong and (one.reads or one.plays) for one in found)
