"""Opens every MiniWoB++ page and writes what was found into resources/environments/miniwob.json.

    python -m tests.core.environments.miniwob_catalogue

The sample instruction is the one of seed 0. Tags and notes are written by
hand and kept; a page that is new to the file gets tags from the controls
that it shows. Pages that are no longer installed are dropped.
"""

import asyncio
import json
import sys

from playwright.async_api import async_playwright

from core.browser.chromium import find_chromium
from core.environments.miniwob import RESOURCES, MiniWob, PageEntry, read_catalogue
from core.environments.protocol import PageDriver
from core.schema.task import Task
from tests.core.environments.driver import PlaywrightDriver

CATALOGUE = RESOURCES / "environments" / "miniwob.json"

CONTROLS = {
    "click": "button, a, [onclick], svg *",
    "type": "textarea, input:not([type]), input[type=text], input[type=password], input[type=search]",
    "check": "input[type=checkbox], input[type=radio]",
    "select": "select",
    "date": "input[type=date]",
    "canvas": "#area canvas, #area svg",
}


async def entries() -> list[PageEntry]:
    """Return an entry for each installed page, read from the page itself."""
    path = find_chromium()
    if path is None:
        sys.exit("No Chromium was found; install one.")
    known = {entry.page: entry for entry in read_catalogue()}
    environment = MiniWob()
    found: list[PageEntry] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for task in environment.tasks():
            context = await browser.new_context()
            driver = PlaywrightDriver(await context.new_page())
            found.append(await _entry(task, environment, driver, known.get(task.details["page"])))
            await context.close()
        await browser.close()
    await environment.close()
    return found


async def _entry(task: Task, environment: MiniWob, driver: PageDriver, known: PageEntry | None) -> PageEntry:
    episode = await environment.open(task, 0, driver)
    if known is not None:
        return known.replace(instruction=episode.instruction)
    controls = await driver.evaluate(
        f"Object.entries({json.dumps(CONTROLS)})"
        ".filter(([tag, css]) => document.querySelector(css)).map(([tag]) => tag)"
    )
    return PageEntry(
        page=task.details["page"],
        instruction=episode.instruction,
        tags=tuple(controls),
    )


def main() -> None:
    lines = [
        json.dumps(entry.model_dump(exclude_defaults=True), ensure_ascii=False)
        for entry in asyncio.run(entries())
    ]
    CATALOGUE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} pages written to {CATALOGUE}", file=sys.stderr)


if __name__ == "__main__":
    main()
