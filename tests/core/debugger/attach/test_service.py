"""Attaching one agent after the other, and letting them go."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from core.attach.run import AttachedRun
from core.debugger.attach.agent import AttachedAgent
from core.debugger.attach.service import AttachService
from core.debugger.attach.views import AttachRequest
from core.llm.rules.llm import RulesLLM


class Opened:
    """A session whose tasks open when a test says so; each opening replaces the one before."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.queued: list[asyncio.Future[None]] = []
        self.closers: list[Any] = []
        self.worked = SimpleNamespace(send=lambda service: None)
        self.branches = SimpleNamespace(lead_attached_by=lambda lead: setattr(self, "lead", lead))
        self.tasks, self.session = self, SimpleNamespace(llm="rules")
        self.run_commands = SimpleNamespace(begin=self.begun.set)
        self.openings: asyncio.Queue[asyncio.Future[object]] = asyncio.Queue()
        self._opening: asyncio.Future[object] | None = None
        routed = SimpleNamespace(llm_for=lambda purpose: RulesLLM())
        self._services = SimpleNamespace(
            browsers=lambda name: None, llms=SimpleNamespace(routed=lambda name: routed)
        )

    def services(self) -> Any:
        return self._services

    def queue(self, work: Any) -> None:
        self.queued.append(asyncio.ensure_future(work))

    async def open_attached(self, opening: object) -> object:
        if self._opening is not None:
            self._opening.cancel()
        self._opening = asyncio.get_running_loop().create_future()
        self.openings.put_nowait(self._opening)
        return await self._opening


def opened_run(number: int = 1) -> AttachedRun:
    run = object.__new__(AttachedRun)
    run.state = cast("Any", SimpleNamespace(run=number))
    return run


@pytest.fixture
async def session() -> Any:
    made = Opened()
    made.service = AttachService(cast("Any", made))  # type: ignore[attr-defined]
    yield made
    await made.closers[0]()
    await asyncio.gather(*made.queued, return_exceptions=True)


async def test_attaching_twice_attaches_the_second_agent(session: Any) -> None:
    session.service.attach(AttachRequest())
    await session.openings.get()
    session.service.attach(AttachRequest(url="about:blank"))
    (await session.openings.get()).set_result(opened_run())
    await session.begun.wait()
    view = session.service.view
    assert view.request.url == "about:blank"
    assert view.addresses is not None
    _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(view.addresses.llm).port)
    writer.close()


async def test_an_agent_that_is_let_go_while_its_task_opens_is_not_attached(session: Any) -> None:
    session.service.attach(AttachRequest())
    opening = await session.openings.get()
    session.service.detach()
    await session.queued[1]
    opening.set_result(opened_run())
    await session.queued[0]
    assert (session.service.view.addresses, session.service.view.problem) == (None, "")
    assert not session.begun.is_set()


async def test_going_back_has_the_values_that_are_not_stored_after_another_agent_was_attached(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(*_: object) -> None: ...

    monkeypatch.setattr(AttachedAgent, "start", at_once)
    monkeypatch.setattr(AttachedAgent, "leads_back", lambda *_, **__: None)
    request = AttachRequest(command=("env", "TOKEN=abc", "sh"), folder="/")
    episode = SimpleNamespace(instruction="", start_url="")
    for number, one in enumerate((request, AttachRequest()), start=1):
        run = opened_run(number)
        run.state.episode = cast("Any", episode)
        session.service.attach(one)
        (await session.openings.get()).set_result(run)
        await session.queued[-1]
    session._services.store = SimpleNamespace(preset_text=lambda run: request.kept.model_dump_json())
    session._services.use_browser, session._services.tabs = at_once, None
    await session.lead(SimpleNamespace(run=1), None, ())
    assert session.service.view.request == request
