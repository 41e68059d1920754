"""Agents that others wrote: each is attached to the browser and to the LLM, and its run is stepped as any other."""

import asyncio
import contextlib
import os
import tempfile
from collections import deque
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.agent.loop import AgentRun
from core.agent.presets import ATTACHED, Preset
from core.attach.addresses import Addresses, environment_of
from core.attach.bridge import AgentBridge
from core.attach.clock import HeldClock
from core.attach.program import AgentProgram, found_program
from core.attach.replay import ProgramReplay
from core.attach.run import AttachedRun
from core.attach.stand_in import StandIn
from core.debugger.attach.views import AttachRequest, AttachView
from core.debugger.branching.branches import AgentReturn
from core.debugger.commands import command
from core.debugger.service import Service
from core.environments.web import OPEN_TASK
from core.schema.errors import UsageError
from core.trace.records import RunRow

if TYPE_CHECKING:
    from core.debugger.session import Session

_BLANK = "about:blank"
_LINES = 500
"""Lines of a program's output that are kept in view."""
_TELL_EVERY = 0.1


class AttachService(Service[AttachView]):
    """Attaches one agent at a time; with its run its addresses end, and its program."""

    view = AttachView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._bridge: AgentBridge | None = None
        self._addresses: Addresses | None = None
        self._program: AgentProgram | None = None
        self._following: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._telling: asyncio.TimerHandle | None = None
        session.branches.lead_back = self._lead_back
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @command
    async def attach(self, request: AttachRequest) -> None:
        """Open a task for the agent, serve its addresses, and start its program where there is one to start."""
        await self._begin(request)
        try:
            run = await self._open(request)
            if run is None:
                await self._end()
                return
            if request.command:
                await self._start(request, run.state.episode.instruction, run.state.episode.start_url)
        except BaseException:
            await self._end()
            raise
        self._attached(run)
        self.session.run_commands.begin()

    async def _begin(self, request: AttachRequest) -> AgentBridge:
        """Serve addresses for an agent, in place of those of the last one."""
        services = self.services
        browser = services.browsers(request.browser)
        if request.command:
            found_program(request.command, _folder_of(request))
        await self._end()
        if self._ending is not None:
            await asyncio.wait([self._ending])
        self.send(AttachView(request=request))
        self._lines.clear()
        self._folder = tempfile.TemporaryDirectory(prefix="attach-", ignore_cleanup_errors=True)
        llm = services.llms.routed(self.session.session.llm)
        clock = HeldClock(Path(self._folder.name, "clock"))
        self._bridge = AgentBridge(browser, lambda: llm.llm_for("agent"), clock)
        self._addresses = await self._bridge.start()
        return self._bridge

    async def _start(self, request: AttachRequest, instruction: str, url: str) -> None:
        bridge, addresses = self._bridge, self._addresses
        assert bridge is not None
        assert addresses is not None
        assert self._folder is not None
        environment = environment_of(
            addresses,
            bridge.attachment.clock,
            StandIn(Path(self._folder.name, "browsers"), addresses.browser, os.environ),
            instruction=instruction if request.task or request.instruction else "",
            url=url,
        )
        program = AgentProgram(request.command, environment, _folder_of(request))
        await program.start()
        self._program = program
        self._following = asyncio.ensure_future(self._follow(program, bridge))

    def _attached(self, run: AgentRun) -> None:
        assert isinstance(run, AttachedRun)
        bridge = self._bridge
        run.on_end = lambda: self._on_run_end(bridge)
        run.on_note = lambda text: self.session.log("info", "agent", f"Step {run.state.number}: {text}")
        self.show(addresses=self._addresses, running=self._program is not None)

    async def _open(self, request: AttachRequest) -> AgentRun | None:
        assert self._bridge is not None
        name = " ".join(request.command) or "an agent that is started elsewhere"
        words = (
            ("", "") if request.task else (request.url or _BLANK, request.instruction or f"Attached: {name}")
        )
        return await self.session.tasks.open_attached(
            request.task or OPEN_TASK,
            request.seed,
            url=words[0],
            instruction=words[1],
            browser=request.browser,
            make=partial(AttachedRun, attachment=self._bridge.attachment),
            preset=_preset_of(request),
        )

    async def _lead_back(self, row: RunRow) -> AgentReturn:
        """Prepare to run the program of a run again, up to a step of it."""
        store = self.services.store
        try:
            request = AttachRequest.model_validate_json(store.preset_text(row.run))
        except ValidationError:
            request = AttachRequest()
        if not request.command:
            raise UsageError(
                f"The agent of run {row.run} was started elsewhere and cannot be started again here; "
                "fork with a preset (Ctrl+Shift+F) to have a built-in agent go on."
            )
        bridge = await self._begin(request)
        await self.services.use_browser(request.browser)

        async def start() -> None:
            await self._start(request, row.instruction, self.services.tabs.current.playwright_page.url)

        replay = ProgramReplay(store, row.run, bridge.attachment, start)
        return AgentReturn(
            strategy=replay,
            make=partial(AttachedRun, attachment=bridge.attachment, told=replay.told),
            preset=_preset_of(request),
            begun=self._attached,
            given_up=self._end,
        )

    async def _follow(self, program: AgentProgram, bridge: AgentBridge) -> None:
        how = await program.followed(self._on_line)
        self._tell_lines()
        self.session.log("info", "agent", how)
        self.show(running=False)
        bridge.attachment.on_end(how)

    def _on_line(self, line: str) -> None:
        self._lines.append(line)
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(_TELL_EVERY, self._tell_lines)

    def _tell_lines(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self.show(output=tuple(self._lines))

    @command
    async def detach(self) -> None:
        """Let the agent go: its program is ended, and its addresses hold no more."""
        await self._end()

    async def close(self) -> None:
        await super().close()
        await self._end()
        if self._ending is not None:
            await asyncio.wait([self._ending])

    def _on_run_end(self, bridge: AgentBridge | None) -> None:
        if self._bridge is not None and self._bridge is bridge:
            self._ending = asyncio.ensure_future(self._end())

    async def _end(self) -> None:
        bridge, self._bridge = self._bridge, None
        program, self._program = self._program, None
        following, self._following = self._following, None
        folder, self._folder = self._folder, None
        self._addresses = None
        if program is not None:
            await program.end()
        if following is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([following])
        if bridge is not None:
            await bridge.close()
            self.show(addresses=None, running=False)
        if folder is not None:
            folder.cleanup()


def _folder_of(request: AttachRequest) -> Path:
    return Path(request.folder or ".").absolute()


def _preset_of(request: AttachRequest) -> Preset:
    """Return what a run is stored with, so that its agent can be started again."""
    return ATTACHED.replace(text=request.replace(folder=str(_folder_of(request))).model_dump_json())


make_service = AttachService
