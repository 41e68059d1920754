"""The strip above the live page says which sites the agent may open."""

import pytest
from PySide6.QtWidgets import QWidget

from gui.live.page_strip import PageStrip


@pytest.mark.parametrize(
    ("sites", "shown", "told"),
    [
        ((), "", ""),
        (("shop.org",), "shop.org", "shop.org\n"),
        (("shop.org", "pay.org"), "shop.org + 1", "shop.org\npay.org\n"),
        (("shop.org", "*"), "all sites", "shop.org\nall sites of the internet\n"),
    ],
)
def test_the_sites_of_the_task_stand_beside_the_address(qtbot, sites, shown, told):
    window = QWidget()
    qtbot.addWidget(window)
    strip = PageStrip(window)
    strip.show_sites(sites)
    assert strip.sites.isHidden() == (not sites)
    assert strip.sites.text() == shown
    assert told in strip.sites.toolTip()
