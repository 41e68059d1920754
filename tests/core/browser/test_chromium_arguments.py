import re

import pytest
from playwright.async_api import async_playwright

from core.browser.chromium import chromium_arguments


async def off_with(chromium: str, arguments: list[str]) -> set[str]:
    """Return the features that a Chromium started with these arguments was told to leave out."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = await browser.new_page()
        await page.goto("chrome://version")
        command = await page.inner_text("#command_line")
        await browser.close()
    # Chromium takes the last of several lists.
    return set(re.findall(r"--disable-features=(\S+)", command)[-1].split(","))


@pytest.mark.browser
async def test_what_playwright_switches_off_stays_off_beside_what_we_do(whole_chromium):
    without_ours = [one for one in chromium_arguments() if "features" not in one]
    assert await off_with(whole_chromium, without_ours) < await off_with(whole_chromium, chromium_arguments())
