"""As test_escapes.py, for an agent in Node."""

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

pytestmark = pytest.mark.browser

DRIVER = Path(playwright.__file__).parent / "driver"
PROGRAM = """
const { chromium } = require(process.argv[1]);
const lines = require("readline").createInterface({ input: process.stdin })[Symbol.asyncIterator]();
(async () => {
    const [address, url] = process.argv.slice(2);
    const browser = await chromium.connectOverCDP(address);
    const page = browser.contexts()[0].pages()[0];
    page.setDefaultTimeout(20000);
    for (;;) {
        const { value } = await lines.next();
        if (!value) break;
        const act = new (Object.getPrototypeOf(async () => {}).constructor)("page", "await " + JSON.parse(value));
        if (value.includes("page.goto")) await act(page);
        else await act(page).catch(() => {});
        await page.waitForTimeout(30);  // Longer than a timer takes, if one was begun.
        console.log("done");
    }
    process.exit(0);
})();
"""
ACTS = (
    'page.evaluate(() => document.querySelector("button").click())',
    'page.locator("button").evaluate(e => e.click())',
    'page.locator("button").evaluateAll(all => all.forEach(node => node.click()))',
    'page.$eval("button", r => r.click())',
    'page.evaluate(async () => { await null; document.querySelector("button").click(); })',
    'page.evaluate("order()")',
    'page.evaluate(text => eval(`(${text})`)(), "() => order()")',
    'page.dispatchEvent("button", "click")',
    'page.locator("button").dispatchEvent("click")',
    'page.addScriptTag({ content: "order()" })',
    "page.waitForFunction(() => { order(); return true; }, null, { timeout: 3000 })",
    'page.evaluate(() => document.execCommand("selectAll"))',
    "page.setContent('<p>other')",
    'page.locator("#day").fill("2026-01-02")',
    'page.locator("#list").selectOption("b")',
    'page.locator("#file").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("x") })',
    "page.evaluate(() => { new Worker(URL.createObjectURL(new Blob(['1']))); })",
    "page.evaluate(() => { localStorage.a = 'b'; })",
)
READS = (
    "page.evaluate(() => document.body.innerText)",
    'page.evaluate("document.title")',
    'page.locator("button").evaluate((e, more) => e.textContent + more.a[0], { a: ["x"] })',
    'page.locator("button").innerText()',
    'page.waitForFunction(title => document.title === title, "page")',
    "page.content()",
)


@in_browser
async def test_what_a_script_of_a_node_program_does_is_held_and_what_it_reads_is_not(
    browser: Browsing, site: Site
) -> None:
    held: list[str] = []
    url = site.page(PAGE)

    async def refuse(message: ActMessage) -> None:
        if message.part.act.kind != "goto":
            held.append(str(message.part.act))
            raise Refused("Refused by the person.")

    async with served(browser, refuse) as address:
        program = await asyncio.create_subprocess_exec(
            *(str(DRIVER / "node"), "-e", PROGRAM, str(DRIVER / "package"), address, url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert program.stdin is not None
        assert program.stdout is not None

        async def do(act: str) -> None:
            program.stdin.write(json.dumps(act).encode() + b"\n")
            assert await program.stdout.readline() == b"done\n"

        escaped, taken = [], []
        for act in ACTS:
            await do(f'page.goto("{url}")')
            before = await state_of(browser)
            held.clear()
            await do(act)
            if not held or await state_of(browser) != before:
                escaped.append(act)
        await do(f'page.goto("{url}")')
        for act in READS:
            held.clear()
            await do(act)
            if held:
                taken.append((act, tuple(held)))
        program.stdin.close()
        await program.wait()
    assert (escaped, taken) == ([], [])
