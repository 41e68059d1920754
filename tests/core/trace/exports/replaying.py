"""Real runs, and their exported scripts run as processes against pages served as Backstep serves them."""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from core.agent.state import Budget
from core.debugger.headless import RunReport, run_headless
from core.environments.miniwob import PAGE_CLOCK, RESOURCES, html_root
from core.environments.shop.application import ShopApplication, ShopState
from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.environment import FOLDER
from core.environments.shop.goals import bundled_goals, score
from core.environments.sites import SiteAnswer, SiteRequest, SiteServer
from core.environments.static_server import LoopbackServer
from tests.core.stage import Stage, llms_for, need_chromium

_TELLS_ITS_END = """
setInterval(() => {
  const state = window[Symbol.for("backstep.episode")].read();
  if (state.done) navigator.sendBeacon("/ended", JSON.stringify(state));
}, 20);
"""


def run_by_rules(stage: Stage, task: str, *, seed: int = 0, preset: str = "plain") -> RunReport:
    """Run a task to its end with the built-in LLM."""
    llms = llms_for(stage.settings)
    services = stage.services
    try:
        return stage.thread.run(
            run_headless(
                services,
                services.environments.find(task),
                seed,
                preset=preset,
                llm=llms.routed("rules"),
                budget=Budget(),
                on_gate="allow",
            )
        )
    finally:
        stage.thread.run(llms.close())


def replay(script: str, folder: Path, url: str) -> "subprocess.CompletedProcess[str]":
    """Run an exported script as a user does, in a process of its own."""
    path = folder / "replay.py"
    path.write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(path), "--url", url, "--browser", need_chromium()],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


class _MiniWobPages(SimpleHTTPRequestHandler):
    """The package's pages, each begun with a seed as Backstep begins it, that tell how their episode ended."""

    ends: list[dict[str, Any]]
    start: str

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html":
            super().do_GET()
            return
        body = path.read_text(encoding="utf-8").replace("<head>", f"<head><script>{self.start}</script>", 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        self.ends.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def miniwob_pages(seed: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve the pages with a seed; yields the origin, and how episodes ended, filled as they do."""
    handler = type("_Pages", (_MiniWobPages,), {"ends": []})
    pages = LoopbackServer(
        functools.partial(handler, directory=str(html_root())), what="the pages of the test"
    )
    settings = {"origin": pages.origin, "seed": seed, "clock": PAGE_CLOCK, "mode": "train", "timed": False}
    scripts = [
        (RESOURCES / "scripts" / name).read_text(encoding="utf-8")
        for name in ("fixed_clock.js", "miniwob_episode.js")
    ]
    handler.start = "".join(f"({script})({json.dumps(settings)});\n" for script in scripts) + _TELLS_ITS_END
    try:
        yield pages.origin, handler.ends
    finally:
        pages.close()


class _WatchedShop(ShopApplication):
    """The shop, with the state that the last visit left."""

    last: ShopState | None = None

    def answer(self, request: SiteRequest, state: ShopState) -> tuple[SiteAnswer, ShopState]:
        answer, self.last = super().answer(request, state)
        return answer, self.last


@contextmanager
def shop() -> Iterator[tuple[str, _WatchedShop]]:
    """Serve the shop, each visitor with a fresh session."""
    watched = _WatchedShop(bundled_catalogue())
    server = SiteServer(watched, FOLDER / "static")
    try:
        yield server.origin, watched
    finally:
        server.close()


def reward_of(state: ShopState | None, goal: str) -> float:
    """Return the reward of what was bought first, for a goal by its name."""
    assert state is not None
    assert state.orders, "nothing was bought"
    bought = state.orders[0]
    wanted = next(one.goal for one in bundled_goals() if one.name == goal)
    return score(wanted, bundled_catalogue().product(bought.product), bought.options, bought.price).reward
