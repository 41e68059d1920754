"""Time of a step beside the LLM, by part, in both browsers, and the same work by bare Playwright calls.

    python -m tests.benchmarks.bench_steps [--blocks 3] [--rounds 5] [--browser embedded|PATH]
        [--browsergym PYTHON]

Prints medians in milliseconds over all rounds of all blocks, after each block anew. In a block every browser has
its turn with so many rounds a page, and after it BrowserGym in the same browser. `observe`, `act` and `settle`
are what the act phase measured; `recognise`, `abstract` and `commit` are whole phases with their writes; `step`
is everything from one commit to the next, the LLM's answer (given at once, in process) left out. `noop` is a whole
step that presses a key which does nothing, `reset` opens the task. `bare` is the same click by Playwright, two
painted frames, the accessibility tree and a screenshot.

With --browsergym PYTHON, an interpreter that has browsergym-miniwob, its own steps stand beside: a click as shipped,
and without waits a click by the element's id, one by the mouse at a place, a noop and a reset. They are in the same
installed browser; beside the embedded one stand those in the first installed one. Its observation is another one
(the protocol's trees), so only whole steps compare.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from core.agent.gates import Gates
from core.agent.loop import AgentRun, open_run
from core.agent.resources import agent_resources_of
from core.agent.state import Budget
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.chromium import ChromiumHost
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.miniwob import html_root
from core.environments.registry import Environments
from core.environments.static_server import StaticServer
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from core.trace.store import TraceStore
from tests.benchmarks.gym_steps import WAYS
from tests.benchmarks.pages import PageServer

MINIWOB = ("click-test-2", "book-flight", "email-inbox", "social-media")
SIZES = (2_000, 20_000)
INSTALLED = ("chromium", "chromium-headless-shell")
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


Samples = dict[str, dict[str, list[float]]]
"""Page → part or way → milliseconds of each round."""


async def measure_steps(host: BrowserHost, rounds: int, first: int = 0) -> Samples:
    """Return, for each page, the parts of a step and the bare calls, round by round; seeds begin at `first`."""
    tabs = Tabs(host)
    await tabs.browser.start()
    environments = Environments()
    results: Samples = {}
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
                count = max(1, rounds // 3) if "20000" in page else rounds
                seen: list[dict[str, float]] = []
                resources = agent_resources_of()
                for seed in range(first, first + count + 1):
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
                results[page] = {part: [one[part] for one in seen[1:]] for part in (*PARTS, "bare")}
                results[page]["elements"] = [float(len(run.state.observation.elements))]
        finally:
            store.close()
            await environments.close()
            await tabs.browser.close()
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


def print_table(what: str, ours: Samples, other: Samples) -> None:
    """Print the medians of one browser, with those of BrowserGym beside them."""
    head = ["page", "elements", *PARTS, "bare", "step/bare", *(f"gym {way}" for way in WAYS if other)]
    print(f"\n{what} (medians, ms)")
    print("  ".join(f"{word:>14}" for word in head))
    for page, samples in ours.items():
        medians = {part: statistics.median(took) for part, took in samples.items()}
        cells = [page, f"{medians['elements']:.0f}", *(f"{medians[part]:.1f}" for part in (*PARTS, "bare"))]
        cells.append(f"{medians['step'] / medians['bare']:.2f}")
        gym = other.get(page, {})
        cells += [f"{statistics.median(gym[way]):.0f}" if way in gym else "-" for way in WAYS if other]
        print("  ".join(f"{cell:>14}" for cell in cells), flush=True)


def browsergym_steps(python: str, browser: str, rounds: int, first: int = 0) -> Samples:
    """Do BrowserGym's steps in its own interpreter, on the same pages from the same files, in the browser at a path."""
    script = Path(__file__).with_name("gym_steps.py")
    with closing(StaticServer(html_root())) as server:
        command = [python, str(script), f"{server.origin}/miniwob/", str(rounds), str(first), *MINIWOB]
        done = subprocess.run(
            [*command, "--chromium", browser],
            env=with_bytecode(),
            capture_output=True,
            text=True,
            timeout=900,
        )
    if done.returncode != 0:
        raise SystemExit(f"BrowserGym failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def with_bytecode(**more: str) -> dict[str, str]:
    """Return the environment of a program that keeps compiled modules, as an installed one has them."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **more}


def add(all_samples: dict[str, Samples], what: str, found: Samples) -> None:
    """Add the rounds of a block to those before it."""
    for page, samples in found.items():
        for part, took in samples.items():
            all_samples.setdefault(what, {}).setdefault(page, {}).setdefault(part, []).extend(took)


def in_blocks(
    browsers: Sequence[str],
    blocks: int,
    rounds: int,
    python: str,
    ours: dict[str, Samples],
    gym: dict[str, Samples],
) -> Iterator[int]:
    """Add the rounds of each block, by browser, to those of Backstep and of BrowserGym, and yield its number then.

    The embedded browser is in a process of its own each time, for Qt starts only once in one.
    """
    for block in range(blocks):
        for browser in browsers:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                add(ours, browser, pool.submit(measure_in, browser, rounds, block * rounds).result())
            if python and browser != "embedded":
                add(gym, browser, browsergym_steps(python, browser, rounds, block * rounds))
        yield block


def measure_in(browser: str, rounds: int, first: int) -> Samples:
    """Measure the steps of one browser; in a process of its own."""
    found: Samples = in_browser(browser, lambda host: measure_steps(host, rounds, first))
    return found


def beside(browser: str, gym: dict[str, Samples]) -> Samples:
    """Return BrowserGym's figures in the same browser; beside the embedded one stand those in the first one."""
    return gym.get(browser) or next(iter(gym.values()), {})


def browsers_here() -> list[str]:
    """Return a whole Chromium and the headless shell where they are installed, and the embedded browser."""
    return [*filter(None, map(shutil.which, INSTALLED)), "embedded"]


def in_browser(browser: str, work: Callable[[BrowserHost], Awaitable[Any]]) -> Any:
    """Run `work` with the embedded browser, or with the one at a path."""
    if browser != "embedded":
        return asyncio.run(work(ChromiumHost(browser)))  # type: ignore[arg-type]
    from gui.live.engine import run_offscreen

    return run_offscreen(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5, help="how many of a page each block has")
    parser.add_argument("--browser", action="append", default=[])
    parser.add_argument("--browsergym", metavar="PYTHON", default="")
    options = parser.parse_args()
    browsers = options.browser or browsers_here()
    ours: dict[str, Samples] = {}
    gym: dict[str, Samples] = {}
    for block in in_blocks(browsers, options.blocks, options.rounds, options.browsergym, ours, gym):
        for browser in browsers:
            done = f"{block + 1} of {options.blocks} blocks"
            print_table(f"{browser}, {done}", ours[browser], beside(browser, gym))


if __name__ == "__main__":
    main()
