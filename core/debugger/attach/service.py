"""Attaches agents written by others to the browser and the LLM. Their runs are stepped like any other."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from core.agent.branching import RunSetup
from core.agent.loop import AgentRun
from core.debugger.attach.views import AttachRequest, AttachView, Hold
from core.debugger.branching.branches import AgentReturn
from core.debugger.commands import command
from core.debugger.run_commands import Opening
from core.debugger.service import Service
from core.schema.restore import Restored
from core.trace.records import RunRow

if TYPE_CHECKING:
    from core.attach.replay import RecordedCall
    from core.debugger.attach.agent import AttachedAgent
    from core.debugger.session import Session

# A server, an HTTP client and more are loaded when an agent is attached: the window is to open quickly.

_LINES = 500
"""Lines of a program's output that are kept in view."""
_TELL_EVERY = 0.1


class AttachService(Service[AttachView]):
    """Attaches one agent at a time; its addresses and its program end with its run."""

    view = AttachView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._agent: AttachedAgent | None = None
        self._requests: dict[int, AttachRequest] = {}
        """What was attached, by its run: with the values that are not stored."""
        self._ending: asyncio.Task[None] | None = None
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._telling: asyncio.TimerHandle | None = None
        session.branches.lead_attached_by(self._lead_back)

    @command
    async def attach(self, request: AttachRequest) -> None:
        """Open a task for the agent, serve its addresses, and start its program if there is one to start."""
        agent = await self._begin(request)
        try:
            run = await self.session.tasks.open_attached(
                Opening(*agent.task, browser=request.browser, make=agent.make, preset=agent.preset)
            )
            if run is not None and request.command and self._agent is agent:
                episode = run.state.episode
                await agent.start(episode.instruction, episode.start_url)
        except BaseException:
            await self._end(agent)
            raise
        if run is None or self._agent is not agent:  # Another one was attached meanwhile, or it was let go.
            await self._end(agent)
            return
        self._attached(run, agent)
        self.session.run_commands.begin()

    async def _begin(self, request: AttachRequest) -> "AttachedAgent":
        """Serve addresses for an agent, in place of those of the last one."""
        from core.debugger.attach.agent import check_agent, open_agent

        browser = self.services.browsers(request.browser)
        check_agent(request)
        await self._end(self._agent)
        if self._ending is not None:
            await asyncio.wait([self._ending])
        self.send(AttachView(request=request))
        self._lines.clear()
        llm = self.services.llms.routed(self.session.session.llm)
        self._agent = agent = await open_agent(request, browser, lambda: llm.llm_for("agent"))
        agent.on_line, agent.on_end = self._on_line, self._on_program_end
        agent.partly.on_notice = self._on_notice
        if not request.command:
            agent.attachment.clock.on_change = self._on_hold
        return agent

    def _attached(self, run: AgentRun, agent: "AttachedAgent") -> None:
        from core.attach.run import AttachedRun

        assert isinstance(run, AttachedRun)
        self._requests[run.state.run] = agent.request
        run.on_end = lambda: self._on_run_end(agent)
        run.on_note = lambda text: self.session.log("info", "agent", f"Step {run.state.number}: {text}")
        self.show(addresses=agent.addresses, running=agent.started)

    async def _lead_back(self, row: RunRow, setup: RunSetup, given: "Sequence[RecordedCall]") -> AgentReturn:
        """Prepare to run the program of a run again, up to a step of it."""
        from core.debugger.attach.agent import agent_of

        store = self.services.store
        request = agent_of(store, row, self._requests)
        agent = await self._begin(request)
        await self.services.use_browser(request.browser)
        led = agent.leads_back(setup, store, row, self.services.tabs, given=given)
        return AgentReturn(
            setup=led, begun=partial(self._brought_back, agent), given_up=partial(self._end, agent)
        )

    def _brought_back(self, agent: "AttachedAgent", run: AgentRun, restored: Restored) -> None:
        self._attached(run, agent)
        self.show(parted=restored.parted)

    def _on_hold(self) -> None:
        """Tell how long an agent is held whose clock runs on."""
        if self._agent is None:
            return
        attachment = self._agent.attachment
        if not attachment.clock.holds:
            self.show(hold=None)
            return
        from core.attach.attachment import HeldAct

        what: Literal["call", "action"] = "action" if isinstance(attachment.next, HeldAct) else "call"
        self.show(hold=Hold(since=time.monotonic(), what=what, gave_up=attachment.gave_up))

    def _on_program_end(self, how: str) -> None:
        self._tell_lines()
        self.session.log("info", "agent", how)
        self.show(running=False)

    def _on_notice(self, text: str) -> None:
        self.session.log("warning", "agent", text)
        self.show(notices=(*self.view.notices, text))

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
        """Let the agent go: its program is ended, and its addresses are no longer valid."""
        await self._end(self._agent)

    async def close(self) -> None:
        await super().close()
        await self._end(self._agent)
        if self._ending is not None:
            await asyncio.wait([self._ending])

    def _on_run_end(self, agent: "AttachedAgent") -> None:
        if self._agent is agent:
            self._ending = asyncio.ensure_future(self._end(agent))

    async def _end(self, agent: "AttachedAgent | None") -> None:
        if agent is None:
            return
        if self._agent is agent:
            self._agent = None
        await agent.end()
        if self._agent is None:
            self.show(addresses=None, running=False, hold=None)


make_service = AttachService
