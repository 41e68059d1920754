"""Time of a step beside the LLM, by part, in both browsers, and the same work by bare Playwright calls.

    python -m tests.benchmarks.bench_steps [--rounds 15] [--browser embedded|PATH] [--json FILE] [--browsergym PYTHON]

Prints medians in milliseconds. `observe`, `act` and `settle` are what the act
phase measured; `recognise`, `abstract` and `commit` are whole phases with
their writes; `step` is everything from one commit to the next, the LLM's
answer (given at once, in process) left out. `noop` is a whole step that
presses a key which does nothing, `reset` opens the task. `bare` is the same click by Playwright, two
painted frames, the accessibility tree and a screenshot.
With --browsergym PYTHON, an interpreter that has browsergym-miniwob, its own
click step stands beside, as shipped and with its wait at zero, and its noop
with its wait at zero; its observation is another one (the protocol's trees), so
only whole steps compare.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from core.agent.gates import Gates
from core.agent.loop import AgentRun, open_run
from core.agent.resources import agent_resources_of
from core.agent.state import Budget
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.miniwob import html_root
from core.environments.registry import Environments
from core.environments.static_server import StaticServer
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from core.trace.store import TraceStore
from tests.benchmarks.pages import PageServer

MINIWOB = ("click-test-2", "book-flight", "email-inbox", "social-media")
SIZES = (2_000, 20_000)
PARTS = ("observe", "recognise", "abstract", "act", "settle", "commit", "step", "noop", "reset")


class FirstClick:
    """Answers at once: first twice a key that changes nothing, then a click on the first thing that can be clicked."""

    name = "first-click"
    takes_images = False

    async def reply(self, request: LLMRequest, **_: Any) -> LLMReply:
        assert request.permissible is not None
        assert request.view is not None
        click = request.permissible.action("click")
        if len(request.view.history) < 2 or click is None:
            call = ToolCall(name="press", arguments='{"keys": "Shift"}')
        else:
            assert click.parameters[0].choices
            call = ToolCall(
                name="click", arguments=json.dumps({"target": int(click.parameters[0].choices[0].value)})
            )
        return LLMReply(text="Next.", tool_calls=(call,))

    async def close(self) -> None:
        return


async def measure_steps(host: BrowserHost, rounds: int) -> dict[str, dict[str, float]]:
    """Return, for each page, the medians of the parts of a step and of the bare calls."""
    tabs = Tabs(host)
    await tabs.start()
    environments = Environments()
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, PageServer() as server:
        store = TraceStore.open(Path(folder) / "bench.db")
        try:
            for page, task_id, url in _pages(server):
                words = "Click something." if url else ""
                task = environments.find(task_id, url=url, instruction=words)
                world = World(
                    tabs=tabs,
                    actor=Actor(tabs),
                    capturer=Capturer(),
                    environment=environments.environment_of(task),
                    gates=Gates(()),
                )
                count = max(3, rounds // 3) if "20000" in page else rounds
                seen: list[dict[str, float]] = []
                resources = agent_resources_of()
                for seed in range(count + 1):
                    began = time.perf_counter()
                    run = await open_run(
                        store,
                        world,
                        task,
                        seed,
                        preset=resources.presets.get("plain"),
                        llm=FirstClick(),
                        resources=resources,
                        budget=Budget(),
                        browser=host.name,
                    )
                    reset = (time.perf_counter() - began) * 1000
                    await _one_step(run)
                    noop = await _one_step(run)
                    seen.append(await _one_step(run) | {"noop": noop["step"], "reset": reset})
                    seen[-1]["bare"] = await _bare(tabs)
                    if not run.ended:
                        await run.finish("stopped")
                results[page] = {
                    part: statistics.median(one[part] for one in seen[1:]) for part in (*PARTS, "bare")
                }
                results[page]["elements"] = float(len(run.state.observation.elements))
        finally:
            store.close()
            await environments.close()
            await tabs.close()
    return results


def _pages(server: str) -> list[tuple[str, str, str]]:
    pages = [(name, f"miniwob/{name}", "") for name in MINIWOB]
    return pages + [(f"{size} elements", "web/open", f"{server}/?elements={size}") for size in SIZES]


async def _one_step(run: AgentRun) -> dict[str, float]:
    times: dict[str, float] = {}
    acted: dict[str, float] = {}
    started = time.perf_counter()
    while True:
        phase = run.next_phase
        clock = time.perf_counter()
        record = await run.advance()
        times[phase] = (time.perf_counter() - clock) * 1000
        if record.phase == "act":
            acted = record.milliseconds
        if record.phase == "commit":
            break
    times["step"] = (time.perf_counter() - started) * 1000
    times.update(acted)
    return times


async def _bare(tabs: Tabs) -> float:
    """Do the same by Playwright's own calls: click, two frames, accessibility tree, screenshot."""
    page = tabs.current.playwright_page
    session = await page.context.new_cdp_session(page)
    started = time.perf_counter()
    await page.locator("body").click(position={"x": 5, "y": 5}, timeout=5000)
    await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await session.send("Accessibility.getFullAXTree")
    await page.screenshot(type="jpeg")
    took = (time.perf_counter() - started) * 1000
    await session.detach()
    return took


def print_table(
    browser: str, results: dict[str, dict[str, float]], other: dict[str, dict[str, float]]
) -> None:
    head = ["page", "elements", *PARTS, "bare", "step/bare"]
    if other:
        head += ["browsergym", "without waits", "its noop", "its reset"]
    print(f"\n{browser} (medians, ms)")
    print("  ".join(f"{word:>14}" for word in head))
    for page, medians in results.items():
        cells = [page, f"{medians['elements']:.0f}", *(f"{medians[part]:.1f}" for part in (*PARTS, "bare"))]
        cells.append(f"{medians['step'] / medians['bare']:.2f}")
        if other:
            gym = other.get(page, {})
            cells += [
                f"{gym[key]:.0f}" if key in gym else "-"
                for key in ("shipped", "without waits", "noop", "reset")
            ]
        print("  ".join(f"{cell:>14}" for cell in cells))


def browsergym_medians(python: str, rounds: int) -> dict[str, dict[str, float]]:
    """Run BrowserGym's steps in its own interpreter, on the same pages from the same files."""
    script = Path(__file__).with_name("gym_steps.py")
    server = StaticServer(html_root())
    try:
        command = [python, str(script), f"{server.origin}/miniwob/", str(rounds), *MINIWOB]
        if chromium := find_chromium():
            command += ["--chromium", chromium]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    finally:
        server.close()
    if done.returncode != 0:
        raise SystemExit(f"BrowserGym failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def in_browser(browser: str, work: Callable[[BrowserHost], Awaitable[Any]]) -> Any:
    """Run `work` with the embedded browser, or with the one at a path."""
    if browser != "embedded":
        return asyncio.run(work(ChromiumHost(browser)))  # type: ignore[arg-type]
    from gui.live.engine import run_offscreen

    return run_offscreen(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--browser", action="append", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--browsergym", metavar="PYTHON")
    options = parser.parse_args()
    installed = find_chromium()
    browsers = options.browser or [*([installed] if installed else []), "embedded"]
    other = browsergym_medians(options.browsergym, options.rounds) if options.browsergym else {}
    everything: dict[str, Any] = {"browsergym": other}
    for browser in browsers:
        results = in_browser(browser, lambda host: measure_steps(host, options.rounds))
        everything[browser] = results
        print_table(browser, results, other)
    if options.json:
        options.json.write_text(json.dumps(everything, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
