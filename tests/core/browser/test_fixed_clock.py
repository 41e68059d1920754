"""A task with a clock shows the same times and draws the same random numbers each time it is opened."""

from core.environments.task_file import TaskFile
from core.schema.task import Task
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


@in_browser
async def test_time_and_chance_are_the_same_at_each_opening_and_follow_the_seed(
    browser: Browsing, site: Site
) -> None:
    inner = site.page("<p id=p></p><script>p.textContent = new Date().getFullYear()</script>")
    url = site.page(
        f"<p id=p></p><iframe src='{inner}'></iframe>"
        "<script>p.textContent = [new Date().toISOString().slice(0, 16), Math.random()]</script>"
    )
    task = Task(id="t/a", environment="t", start_url=url, details={"clock": 1777626000000})
    file = TaskFile("t", "t", (task,))

    async def opened(seed: int) -> str:
        await browser.tabs.open_profile()
        await file.open(task, seed, browser.driver)
        return await browser.words()

    first, again, other = await opened(1), await opened(1), await opened(2)
    assert "2026-05-01T09:00" in first
    assert '"2026"' in first.splitlines()[-1]

    def chance(words: str) -> str:
        return next(line for line in words.splitlines() if "T09:00" in line).partition(",")[2]

    assert chance(first) == chance(again) != chance(other)
