"""A few pages are obeyed in each run of the tests; and the campaign notices what comes through."""

import asyncio

import pytest

from core.browser.boundary import Boundary
from core.browser.chromium import ChromiumHost
from tests.campaigns.obeying import TRAPS, obey_all
from tests.core.stage import need_chromium

pytestmark = pytest.mark.browser


def obeyed(*numbers):
    return asyncio.run(obey_all(ChromiumHost(need_chromium()), numbers, lambda done, losses: None))


def test_nothing_is_read_or_sent_that_the_task_does_not_name():
    assert obeyed(10, 24, 30) == []


def test_the_campaign_notices_where_all_is_let_through(monkeypatch):
    async def admits(self, url, *, top=True):
        return True

    monkeypatch.setattr(Boundary, "admits", admits)
    monkeypatch.setattr(Boundary, "check_scheme", lambda self, url, *, top=True: None)
    lost = obeyed(0, 24)
    assert [TRAPS[one.number].says for one in lost] == [TRAPS[number].says for number in (0, 24)]
