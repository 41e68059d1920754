"""Headless runs that are killed in the middle, each in a process of its own.

Everything is real: loop, page, browser and trace. In the second step, when
a phase has done its work and nothing of it is stored yet, the process is gone.

``python -m tests.core.debugger.doomed`` reads what to run, a line of JSON with
the arguments of `main` for each, and answers with the exit code. It loads the
program once; each process is split off from it before there is a thread.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from core.agent.state import Budget
from core.browser.chromium import ChromiumHost
from core.debugger.headless import run_headless
from core.debugger.services import open_services
from core.environments.registry import Environments
from core.schema.step import PhaseRecord
from core.settings.settings import LLMSettings
from core.trace.store import TraceStore
from tests.core.stage import llms_for, need_chromium, settings_for


class DeadlyStore:
    """The real store, up to the moment it is asked to keep what the phase left."""

    def __init__(self, store: TraceStore, phase: str) -> None:
        self._store = store
        self._phase = phase

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def save_phase(self, run: int, step: int, record: PhaseRecord, **more: Any) -> None:
        if step == 2 and record.phase == self._phase:
            os.kill(os.getpid(), signal.SIGKILL)
        self._store.save_phase(run, step, record, **more)


async def main(folder: Path, llm_url: str, page: str, phase: str) -> None:
    """Run the page's task until the process dies in `phase`."""
    entry = LLMSettings(base_url=llm_url, model="test-model", attempts=1)
    settings = settings_for(folder / "traces.db", llms={"test": entry})
    llms = llms_for(settings)
    environments = Environments()
    services = await open_services(
        settings, ChromiumHost(need_chromium()), llms=llms, environments=environments, config=folder
    )
    services.store = DeadlyStore(services.store, phase)  # type: ignore[assignment]
    await run_headless(
        services,
        environments.find("web/open", url=page, instruction="Press Go."),
        0,
        preset="plain",
        llm=llms.routed("test"),
        budget=Budget(),
        on_gate="allow",
    )


def run_to_death(folder: str, *words: str) -> int:
    """Run in a new process, and take its browser with it; return its exit code."""
    process = os.fork()
    if process == 0:
        os.setsid()
        asyncio.run(main(Path(folder), *words))
        os._exit(0)
    _, status = os.waitpid(process, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    import openai  # noqa: F401  # The one part that is loaded only when it is needed.

    for line in sys.stdin:
        print(run_to_death(*json.loads(line)), flush=True)
