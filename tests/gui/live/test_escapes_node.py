"""As test_escapes.py, for agents in Node: with Playwright and with Puppeteer."""

import asyncio
import json
from pathlib import Path

import playwright
import pytest

from core.attach.agent_connection import ActMessage, Refused
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.test_attach import served
from tests.gui.live.test_escapes import PAGE, state_of
from tests.packages import CannotInstall, install_node_modules
from tests.sites.serving import default_folder

pytestmark = pytest.mark.browser

DRIVER = Path(playwright.__file__).parent / "driver"
PROGRAM = """
const lines = require("readline").createInterface({ input: process.stdin })[Symbol.asyncIterator]();
(async () => {
    const address = process.argv[2];
    const page = await (CONNECT)(require(process.argv[1]), address);
    page.setDefaultTimeout(20000);
    for (;;) {
        const { value } = await lines.next();
        if (!value) break;
        const act = new (Object.getPrototypeOf(async () => {}).constructor)("page", "await " + JSON.parse(value));
        if (value.includes("page.goto")) await act(page);
        else await act(page).catch(() => {});
        await new Promise(done => setTimeout(done, 30));  // Longer than a timer takes, if one was begun.
        console.log("done");
    }
    process.exit(0);
})();
"""
BY_PLAYWRIGHT = (
    "async (library, url) => (await library.chromium.connectOverCDP(url)).contexts()[0].pages()[0]"
)
BY_PUPPETEER = """async (library, url) => {
    const { webSocketDebuggerUrl } = await (await fetch(`${url}/json/version`)).json();
    const browser = await library.connect({ browserWSEndpoint: webSocketDebuggerUrl, defaultViewport: null });
    return (await browser.pages())[0];
}"""
ACTS = (
    'page.evaluate(() => document.querySelector("button").click())',
    'page.locator("button").evaluate(e => e.click())',
    'page.locator("button").evaluateAll(all => all.forEach(node => node.click()))',
    'page.$eval("button", r => r.click())',
    'page.evaluate(async () => { await null; document.querySelector("button").click(); })',
    "page.waitForFunction(() => { order(); return true; }, null, { timeout: 3000 })",
    "page.evaluate(() => { localStorage.a = 'b'; })",
)
"""Functions, which Python has none of; anything else is sent by the same driver as there."""
READS = (
    "page.evaluate(() => document.body.innerText)",
    'page.locator("button").evaluate((e, more) => e.textContent + more.a[0], { a: ["x"] })',
    'page.waitForFunction(title => document.title === title, "page")',
)
PUPPETEER_ACTS = (
    'page.click("button")',
    'page.locator("button").click()',
    'page.type("#name", "x")',
    'page.select("#list", "b")',
    'page.$eval("button", e => e.click())',
    'page.evaluate(() => document.querySelector("button").click())',
    'page.evaluate("order()")',
    'page.addScriptTag({ content: "order()" })',
    "page.setContent('<p>other')",
)
PUPPETEER_READS = (
    "page.content()",
    "page.title()",
    'page.$eval("button", e => e.textContent)',
    "page.evaluate(() => document.body.innerText)",
    'page.waitForSelector("button")',
)


async def unheld_and_taken(
    browser: Browsing, url: str, library: Path, connect: str, acts: tuple[str, ...], reads: tuple[str, ...]
) -> tuple[list[str], list[tuple[str, tuple[str, ...]]]]:
    """Return the acts that were not held or had an effect all the same, and the reads that were taken for acts."""
    held: list[str] = []

    async def refuse(message: ActMessage) -> None:
        if message.part.act.kind != "goto":
            held.append(str(message.part.act))
            raise Refused("Refused by the person.")

    async with served(browser, refuse) as address:
        program = await asyncio.create_subprocess_exec(
            *(str(DRIVER / "node"), "-e", PROGRAM.replace("CONNECT", connect), str(library), address),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert program.stdin is not None
        assert program.stdout is not None

        async def do(act: str) -> None:
            program.stdin.write(json.dumps(act).encode() + b"\n")
            assert await program.stdout.readline() == b"done\n"

        escaped, taken = [], []
        for act in acts:
            await do(f'page.goto("{url}")')
            before = await state_of(browser)
            held.clear()
            await do(act)
            if not held or await state_of(browser) != before:
                escaped.append(act)
        await do(f'page.goto("{url}")')
        for act in reads:
            held.clear()
            await do(act)
            if held:
                taken.append((act, tuple(held)))
        program.stdin.close()
        await program.wait()
    return escaped, taken


@in_browser
async def test_what_a_script_of_a_node_program_does_is_held_and_what_it_reads_is_not(
    browser: Browsing, site: Site
) -> None:
    library = DRIVER / "package"
    seen = await unheld_and_taken(browser, site.page(PAGE), library, BY_PLAYWRIGHT, ACTS, READS)
    assert seen == ([], [])


@in_browser
async def test_what_an_agent_with_puppeteer_does_is_held_and_what_it_reads_is_not(
    browser: Browsing, site: Site
) -> None:
    folder = default_folder() / "puppeteer"
    try:
        install_node_modules(folder, "puppeteer-core@24")
    except (CannotInstall, FileNotFoundError) as error:
        pytest.skip(f"puppeteer-core cannot be had: {error}")
    library = folder / "node_modules" / "puppeteer-core"
    seen = await unheld_and_taken(
        browser, site.page(PAGE), library, BY_PUPPETEER, PUPPETEER_ACTS, PUPPETEER_READS
    )
    assert seen == ([], [])
