"""What an attached agent waits for more: its LLM calls through the gateway, what it does in a page through the proxy.

    python -m tests.benchmarks.bench_attach [--rounds 5] [--times 100]

A program with the openai package asks a loopback server, and one with
Playwright clicks, types and reads in the embedded browser, by turns directly
and through Backstep, with nothing held. Prints medians in milliseconds.
"""

import argparse
import asyncio
import json
import statistics
import sys
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from core.attach.agent_connection import ActMessage
from core.attach.browser_proxy import BrowserProxy
from core.attach.gateway import AgentQuestion, Gateway
from core.attach.partly import Partly
from core.attach.server import AgentServer
from core.attach.upstream import QuestionLLM, answer_beside
from core.browser.host import BrowserHost
from core.llm.openai_compatible import OpenAICompatibleLLM
from tests.benchmarks.bench_steps import in_browser
from tests.llm_server import LLMServer, Reply

CALLS = """
import json, sys, time
from openai import OpenAI
client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2])
took = []
for _ in range(int(sys.argv[3])):
    began = time.perf_counter()
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "What? " * 500}])
    took.append((time.perf_counter() - began) * 1000)
print(json.dumps({"an LLM call": took}))
"""
ACTS = """
import json, sys, time
from playwright.sync_api import sync_playwright
PAGE = "data:text/html,<button onclick='this.textContent = Date.now()'>now</button><input>"
took = {"click": [], "fill": [], "read": []}
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(sys.argv[1], no_defaults=True).contexts[0].pages[0]
    page.goto(PAGE)
    button, field = page.locator("button"), page.locator("input")
    acts = {"click": button.click, "fill": lambda: field.fill("Rome"), "read": lambda: page.inner_text("body")}
    for _ in range(int(sys.argv[2])):
        for name, act in acts.items():
            began = time.perf_counter()
            act()
            took[name].append((time.perf_counter() - began) * 1000)
print(json.dumps(took))
"""


async def times_of(program: str, *given: str) -> dict[str, list[float]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, *given, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return dict(json.loads(said))


async def carry_out(message: ActMessage) -> None:
    """Hold nothing."""


async def measured(host: BrowserHost, rounds: int, times: int) -> dict[str, tuple[float, float]]:
    """Return the medians, directly and through Backstep, of what was done."""
    with LLMServer() as llms:
        llms.otherwise = Reply(text="Press the button that says now. " * 20)
        llm = OpenAICompatibleLLM("m", base_url=llms.base_url, model="m", key="k")

        async def ask(question: AgentQuestion) -> None:
            by = QuestionLLM(question, llm, holds_replies=False)
            by.complete(await by.reply(question.request))

        endpoint = await host.protocol_address()
        gateway = Gateway(ask, lambda path, body: answer_beside(llm, path, body), Partly(lambda: True))
        proxy = BrowserProxy(host, carry_out)
        server = AgentServer(Starlette(routes=[Mount("/v1", gateway.app()), Mount(proxy.path, proxy.app())]))
        await host.open_profile(None)
        await server.start()
        here = f"http://127.0.0.1:{server.port}"
        ways: dict[str, list[tuple[str, ...]]] = {
            "direct": [(CALLS, llms.base_url, "k"), (ACTS, endpoint)],
            "through": [(CALLS, f"{here}/v1", gateway.key), (ACTS, f"{here}{proxy.path}")],
        }
        found: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
        for _ in range(rounds):
            for way, programs in ways.items():
                for program in programs:
                    for name, took in (await times_of(*program, str(times))).items():
                        found[way].setdefault(name, []).extend(took)
        await gateway.close()
        await proxy.close()
        await server.close()
        await llm.close()
    direct, through = found["direct"], found["through"]
    return {name: (statistics.median(direct[name]), statistics.median(through[name])) for name in direct}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args()

    async def work(host: BrowserHost) -> Any:
        return await measured(host, given.rounds, given.times)

    print(f"{'':<12} {'direct':>8} {'through':>8} {'more':>8}")
    for name, (direct, through) in in_browser("embedded", work).items():
        print(
            f"{name:<12} {direct:>8.2f} {through:>8.2f} {through - direct:>8.2f}  {through / direct - 1:+.1%}"
        )


if __name__ == "__main__":
    main()
