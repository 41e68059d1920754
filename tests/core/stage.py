"""An installed Chromium, a trace and the scripted LLM server, joined as the program joins them.

The browser is started once for all tests, in a loop in a thread of its own;
each run opens a clean profile in it.
"""

import asyncio
import re
import shutil
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.agent.llm_calls import Asked
from core.agent.loop import AgentRun, open_run
from core.agent.state import Budget
from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.endpoints import Keys
from core.llm.registry import LLMs
from core.schema.step import Phase, PhaseRecord
from core.settings.settings import LLMSettings, Settings
from core.trace.replay_llm import ReplayLLM
from tests.llm_server import LLMServer, Reply, Request, call

T = TypeVar("T")
SECONDS = 60.0


def need_chromium() -> str:
    """Return the path of an installed Chromium, or skip the test.

    The headless shell, which Playwright takes for headless work too, costs
    half of what the whole Chromium does; tests/core/browser drives the whole.
    """
    found = shutil.which("chromium-headless-shell") or find_chromium()
    if found is None:
        pytest.skip("no Chromium is installed here")
    return found


class LoopThread:
    """An asyncio loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="stage", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.start(work).result(SECONDS)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        self.loop.close()


def settings_for(database: Path, base_url: str = "", **more: Any) -> Settings:
    """Return settings whose LLM ``test`` is at `base_url` and tries each call once."""
    entry = LLMSettings(base_url=base_url or "http://127.0.0.1:9/v1", model="test-model", attempts=1)
    values: dict[str, Any] = {"llm": "test", "llms": {"test": entry}, "database": database}
    return Settings(**{**values, **more})


def llms_for(settings: Settings, key: str = "") -> LLMs:
    return LLMs(settings, keys=Keys(environ={"OPENAI_API_KEY": key}), replay=ReplayLLM, first_wait=0.01)


def config_folder_in(folder: Path) -> Path:
    """Make a config folder with room for presets and prompts of one's own."""
    for name in ("presets", "prompts/plain"):
        (folder / name).mkdir(parents=True)
    return folder


class Stage:
    """Opens runs in the one browser and carries them on, phase by phase."""

    def __init__(self, folder: Path) -> None:
        self.thread = LoopThread()
        self.config = config_folder_in(folder / "config")
        self.settings = settings_for(folder / "traces.db")
        self.services: Services = self.thread.run(self._open())
        self.asked: list[Asked] = []
        self._llms: list[LLMs] = []

    async def _open(self) -> Services:
        return await open_services(
            self.settings,
            ChromiumHost(need_chromium()),
            llms=llms_for(self.settings),
            environments=Environments(),
            config=self.config,
        )

    def clear(self) -> None:
        """Let go of what a test has made."""
        for llms in self._llms:
            self.thread.run(llms.close())
        self._llms.clear()
        for path in self.config.rglob("*.*"):
            path.unlink()

    def close(self) -> None:
        self.thread.run(self.services.close())
        self.thread.close()

    def open(
        self,
        server: LLMServer,
        task: str = "miniwob/click-test-2",
        *,
        seed: int = 0,
        url: str = "",
        instruction: str = "Do it.",
        preset: str = "plain",
        steps: int = 30,
        calls: int = 200,
        takes_images: bool = False,
        headers: dict[str, str] | None = None,
        key: str = "",
        llm: str = "test",
        **settings: Any,
    ) -> AgentRun:
        """Open a task, or a page of the open web where `url` is given; ``test`` is the LLM at `server`."""
        entry = LLMSettings(
            base_url=server.base_url,
            model="test-model",
            attempts=1,
            takes_images=takes_images,
            headers=headers or {},
        )
        llms = llms_for(settings_for(self.settings.database, llms={"test": entry}, **settings), key)
        self._llms.append(llms)
        services = self.services
        found = (
            services.environments.find("web/open", url=url, instruction=instruction)
            if url
            else services.environments.find(task)
        )
        self.asked.clear()
        return self.thread.run(
            open_run(
                services.store,
                services.world(found),
                found,
                seed,
                preset=services.resources.presets.get(preset),
                llm=llms.routed(llm),
                resources=services.resources,
                budget=Budget(steps, calls),
                browser="chromium",
                on_asked=self.asked.append,
            )
        )

    def phase(self, run: AgentRun) -> PhaseRecord:
        return self.thread.run(run.advance())

    def until(self, run: AgentRun, phase: Phase) -> None:
        """Do phases until `phase` is the next one."""
        while run.next_phase != phase and not run.ended:
            self.phase(run)

    def step(self, run: AgentRun) -> None:
        """Do the rest of a step."""
        number = run.state.number
        while not run.ended and run.state.number == number:
            self.phase(run)

    def to_the_end(self, run: AgentRun) -> None:
        while not run.ended:
            self.phase(run)


def ref_in(request: Request, words: str) -> int:
    """Return the ref of the line that begins with `words`, such as ``button "ONE"``, in a prompt."""
    text = "\n".join(request.texts)
    found = re.findall(rf"\[(\d+)\] {re.escape(words)}", text)
    assert found, f"{words} is not in:\n{text}"
    return int(found[-1])


def on(words: str, name: str = "click", *, thought: str = "", **arguments: Any) -> Callable[[Request], Reply]:
    """Answer with an action on what the page's lines show as `words`."""

    def answer(request: Request) -> Reply:
        return Reply(text=thought, calls=(call(name, target=ref_in(request, words), **arguments),))

    return answer


def stop(answer: str = "") -> Reply:
    return Reply(text="It is done.", calls=(call("stop", answer=answer),))


def page_file(folder: Path, body: str, name: str = "page.html") -> str:
    """Write a page and return its URL."""
    path = folder / name
    path.write_text(f"<!doctype html><meta charset=utf-8><title>{name}</title><body>{body}")
    return path.as_uri()


__all__ = ["BrowserHost", "Stage"]
