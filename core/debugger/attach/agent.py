"""One attached agent: the addresses of its gateway and proxy, and its program if it is started here."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.agent.branching import RunSetup
from core.agent.llm_calls import Answerer
from core.agent.loop import MakeRun
from core.agent.presets import ATTACHED, Preset
from core.attach.addresses import Addresses, environment_of
from core.attach.attachment import Attachment
from core.attach.bridge import AgentBridge
from core.attach.clock import HeldClock
from core.attach.partly import Partly
from core.attach.program import AgentProgram, found_program
from core.attach.replay import ProgramReplay, RecordedCall
from core.attach.run import AttachedRun
from core.attach.stand_in import StandIn
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.debugger.attach.views import AttachRequest
from core.environments.web import OPEN_TASK
from core.llm.endpoints import ENVIRONMENT
from core.schema.errors import UsageError
from core.schema.secrets import HIDDEN_KEY
from core.trace.records import RunRow
from core.trace.store import TraceStore

_BLANK = "about:blank"


class AttachedAgent:
    """One attached agent; create it with `open_agent`, end it with `end`."""

    def __init__(
        self,
        request: AttachRequest,
        bridge: AgentBridge,
        addresses: Addresses,
        folder: "tempfile.TemporaryDirectory[str]",
    ) -> None:
        self.request = request
        self.addresses = addresses
        self._bridge = bridge
        self.on_line: Callable[[str], None] = lambda line: None
        """Is called with each line that its program writes."""
        self.on_end: Callable[[str], object] = lambda how: None
        """Is called once its program has ended, with how, in a sentence."""
        self._folder = folder
        self._program: AgentProgram | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def attachment(self) -> Attachment:
        return self._bridge.attachment

    @property
    def partly(self) -> Partly:
        return self._bridge.partly

    @property
    def started(self) -> bool:
        """Whether its program was started."""
        return self._program is not None

    @property
    def preset(self) -> Preset:
        """What its runs are stored with, so that it can be started again."""
        return ATTACHED.replace(text=_stored(self.request).model_dump_json())

    @property
    def task(self) -> tuple[str, int, str, str]:
        """The task that it works on: id, seed, and for an open page its URL and the instruction."""
        request = self.request
        if request.task:
            return request.task, request.seed, "", ""
        name = request.program if request.command else "an agent started elsewhere"
        return OPEN_TASK, request.seed, request.url or _BLANK, request.instruction or f"Attached: {name}"

    @property
    def make(self) -> MakeRun:
        """What makes its run."""
        return partial(AttachedRun, attachment=self.attachment)

    async def start(self, instruction: str, url: str) -> None:
        """Start its program on a page that was opened for it; raises UsageError if it cannot be."""
        request = self.request
        environment = environment_of(
            self.addresses,
            self.attachment.clock,
            StandIn(Path(self._folder.name, "browsers"), self.addresses.browser, os.environ),
            instruction=instruction if request.task or request.instruction else "",
            url=url,
            given={**os.environ, **{name: ENVIRONMENT[name] for name in request.env}},
        )
        program = AgentProgram(request.command, environment, _folder_of(request))
        await program.start()
        self.attachment.started = True
        self._program = program
        self._following = asyncio.ensure_future(self._follow(program))

    async def _follow(self, program: AgentProgram) -> None:
        watching = asyncio.ensure_future(self.partly.watch(program.process))
        try:
            how = await program.followed(lambda line: self.on_line(line))
        finally:
            watching.cancel()
        if (failed := program.failed) is not None:
            self.partly.ended(failed=failed)
        self.on_end(how)
        self.attachment.on_end(how)

    def leads_back(
        self,
        setup: RunSetup,
        store: TraceStore,
        row: RunRow,
        tabs: Tabs,
        *,
        given: Sequence[RecordedCall] = (),
    ) -> RunSetup:
        """Return a setup by which a branch of a stored run is led back by its program, and continues with it.

        `given` are replies to the questions of its first step.
        """

        async def start() -> None:
            await self.start(row.instruction, tabs.current.playwright_page.url)

        replay = ProgramReplay(store, row.run, self.attachment, start)
        make = partial(AttachedRun, attachment=self.attachment, told=replay.told, given=given)
        return replace(setup, preset=self.preset, strategies=(replay,), make=make)

    async def end(self) -> None:
        """End its program and its addresses."""
        if self._program is not None and self._following is not None:
            await self._program.end()
            await asyncio.wait([self._following])
        await self._bridge.close()
        self._folder.cleanup()


def check_agent(request: AttachRequest) -> None:
    """Raise UsageError if there is no such program, or a value for it is missing."""
    if request.lacks_value:
        raise UsageError(
            f"The command has {HIDDEN_KEY} in place of a value that is not stored; attach the program again with "
            "the value, or name its variable with --env or under Keys."
        )
    if missing := [name for name in request.env if name not in ENVIRONMENT]:
        raise UsageError(f"The variable {missing[0]} is not set; set it, then start Backstep again.")
    if request.command:
        found_program(request.command, _folder_of(request))


async def open_agent(request: AttachRequest, host: BrowserHost, llm: Callable[[], Answerer]) -> AttachedAgent:
    """Return an agent with its addresses; the browser of `host` need not run yet. Raises BackstepError and OSError.

    `llm` gives who answers what is not a question of its.
    """
    check_agent(request)
    folder = tempfile.TemporaryDirectory(prefix="attach-", ignore_cleanup_errors=True)
    try:
        bridge = AgentBridge(host, llm, HeldClock(Path(folder.name, "clock")))
        try:
            return AttachedAgent(request, bridge, await bridge.start(), folder)
        except BaseException:
            await bridge.close()
            raise
    except BaseException:
        folder.cleanup()
        raise


def agent_of(store: TraceStore, row: RunRow, known: Mapping[int, AttachRequest] = {}) -> AttachRequest:
    """Return how the agent of a stored run is started again; raises UsageError if it was started elsewhere.

    `known` has what was attached by its run, still with the values that are not stored.
    """
    request = AttachRequest.of_text(store.preset_text(row.run))
    if not request.command:
        raise UsageError(
            f"The agent of run {row.run} was started elsewhere and cannot be started again here; "
            "fork with a preset (Ctrl+Shift+F) to continue with a built-in agent."
        )
    same = [run for run, one in known.items() if _stored(one) == request]
    return known[max(same, key=lambda run: (run == row.run, run))] if same else request


def _stored(request: AttachRequest) -> AttachRequest:
    return request.kept.replace(folder=str(_folder_of(request)))


def _folder_of(request: AttachRequest) -> Path:
    return Path(request.folder or ".").absolute()
