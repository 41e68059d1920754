"""One client of the DevTools protocol: passes its messages to the engine, in order, and the answers back."""

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable, Container, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from starlette.websockets import WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from core.attach.launched import LaunchedBrowser, LaunchedBrowsers
from core.attach.page_acts import ActPart, read
from core.attach.scripts import (
    LIBRARY_WORLDS,
    Script,
    context_of,
    is_no_expression,
    may_act,
    script_of,
    trials_of,
)
from core.attach.tab_names import NamedSocket
from core.browser.host import BrowserHost

_OWN = 1_000_000_000
"""From here on the numbers of messages are ours."""
_ELEMENT = 1
"""The type of a node that is an element."""
_NEEDS_SHOWN = ("Input.", "Page.captureScreenshot", "Page.startScreencast")
"""A tab that is not shown takes no input, and paints nothing."""
_ANSWER = re.compile(r'\{"id":(\d+),"result":')
_EVENT = re.compile(r'\{"method":"(\w+)\.')
_CONTEXT = '{"method":"Runtime.executionContextCreated"'
Message = dict[str, Any]


class Refused(Exception):
    """A message that cannot be carried out; the client gets the text."""


class Swallowed(Exception):
    """A message that is not carried out, although its client gets a success: a person does something else instead."""


class ActMessage(NamedTuple):
    """A message that does something to a page, before it is carried out."""

    tab: str
    part: ActPart
    node: int = 0
    """The backend id of the element that the message names, where it names one."""


OnAct = Callable[[ActMessage], Awaitable[None]]
"""Is awaited with each; raises Refused or Swallowed if it is not to be carried out."""


def connected(address: str) -> connect:
    """Return a connection to the engine, to be entered."""
    return connect(address, max_size=None, ping_interval=None, compression=None, proxy=None)


Emulation: TypeAlias = "Callable[[AgentConnection, Message], Awaitable[Message]]"
"""How a message is answered here instead of by the engine."""


class AgentConnection:
    """One client of the protocol, and its connection to the engine."""

    def __init__(
        self,
        agent: NamedSocket,
        engine: ClientConnection,
        host: BrowserHost,
        pages: str,
        on_act: OnAct,
        emulated: Mapping[str, Emulation],
        others: Container[str],
        launches: LaunchedBrowsers,
        *,
        page: str,
        launched: LaunchedBrowser | None,
    ) -> None:
        """`pages` is the engine's address of tabs; `page` the tab where the client has connected to one alone.

        `others` are pages of the engine that are no tabs of the host: the client hears nothing of them. `launched` is
        the browser that the client takes this for, if it has launched one.
        """
        self.host = host
        self.page = page
        self.launches = launches
        self.launched = launched
        self._agent = agent
        self._engine = engine
        self._pages = pages
        self._on_act = on_act
        self._emulated = emulated
        self._others = others
        self._other_sessions: set[str] = set()
        self._lanes: dict[str, asyncio.Task[None]] = {}
        """What a session does in turn, by its last message: none overtakes one that is held."""
        self._refused: dict[str, str] = {}
        """Why an act was refused just now, by its session."""
        self._library: set[tuple[str, int]] = set()
        """The sessions and contexts in which a client runs only functions of its own."""
        self._shown = ""
        self._asked: dict[int, asyncio.Future[Message]] = {}
        self._number = _OWN
        self._tabs: dict[str, str] = {}
        """The tab of each session."""
        self._above: dict[str, str] = {}
        """The session through which each session was begun, if that is not the browser's own."""
        self._targets: dict[str, str] = {}
        """The target of each session; Puppeteer is attached to a page through one that is its tab."""
        self._working: set[asyncio.Task[None]] = set()
        self.announced = asyncio.Condition()
        self.attached: set[str] = set()
        """The tabs that the client has been told it is attached to."""
        self.context = ""
        """The id of the browser context that the client has made."""
        self.attaches = False
        """Whether the client is attached to new tabs by itself."""

    async def serve(self) -> None:
        """Carry messages both ways until either side goes."""
        ways: list[asyncio.Task[object]] = [
            asyncio.create_task(self._from_agent()),
            asyncio.create_task(self._from_engine()),
        ]
        if self.launched is not None:
            ways.append(asyncio.create_task(self.launched.over.wait()))
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.host.events.dialogs.leave(self)
            for task in (*ways, *self._working):
                task.cancel()
            await asyncio.wait(ways)
            await self.close()

    async def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # The client has closed it.
            await self._agent.close()

    def end_refusals(self) -> None:
        """Refuse nothing more for an act that was refused: the agent has asked its LLM since."""
        self._refused.clear()

    def tab_of(self, message: Message) -> str:
        """Return the tab that a message of the client is about."""
        if message.get("method") == "Target.closeTarget":
            return str((message.get("params") or {}).get("targetId", ""))
        return self._tabs.get(message.get("sessionId", ""), self.page)

    async def hides(self, target: Message) -> bool:
        """Return whether the client is to hear nothing of a target: a page that is no tab of the host, or not its."""
        if target["targetId"] in self._others:
            return True
        if self.launched is None or target.get("type", "page") != "page":
            return False
        return not await self.launches.sees(self.launched, target["targetId"], target.get("openerId", ""))

    def told(self, target: Message) -> Message:
        """Return what the client is told of a target: of its pages, in which of its contexts they are."""
        if target.get("type") == "page":
            self.name(target["targetId"])
        context = self.launched.tabs.get(target["targetId"]) if self.launched is not None else None
        return {**target, "browserContextId": context} if context else target

    def name(self, tab: str) -> None:
        """Have the client know a tab by its name from now on."""
        self._agent.names.name(tab)

    async def detach(self, tab: str) -> None:
        """Take a tab away from the client, as if it had been closed."""
        gone = {tab}
        for session in [session for session, one in self._tabs.items() if one == tab]:
            top = self._above.get(session, session)
            gone.add(self._targets[top])
            with contextlib.suppress(Refused):  # It has gone with another one.
                await self.ask("Target.detachFromTarget", {"sessionId": top})
            self._tabs.pop(session, "")
        self.attached.discard(tab)
        for target in gone:
            closed = {"method": "Target.targetDestroyed", "params": {"targetId": target}}
            await self._agent.send_text(json.dumps(closed))

    async def ask(self, method: str, params: Message | None = None, session: str = "") -> Message:
        """Ask the engine something of our own; raises Refused with what it said."""
        self._number += 1
        number = self._number
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        message: Message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        await self._engine.send(json.dumps(message))
        try:
            answer = await future
        finally:
            del self._asked[number]
        if "error" in answer:
            raise Refused(answer["error"].get("message", "The engine refused it."))
        return dict(answer.get("result", {}))

    async def ask_tab(self, tab: str, method: str, *given: Message) -> Message:
        """Ask a tab something, once for each of `given`, and return the last answer; raises Refused.

        By a connection of its own: the client is not told of a session that it did not ask for.
        """
        answer: Message = {}
        async with connected(f"{self._pages}/{tab}") as link:
            for number, params in enumerate(given):
                await link.send(json.dumps({"id": number, "method": method, "params": params}))
                while "id" not in (answer := json.loads(await link.recv())):
                    pass
                if "error" in answer:
                    raise Refused(answer["error"].get("message", "The engine refused it."))
        return dict(answer.get("result", {}))

    # From the agent

    async def _from_agent(self) -> None:
        try:
            while True:
                text = await self._agent.receive_text()
                message = json.loads(text)
                method, session = message.get("method", ""), message.get("sessionId", "")
                script = self._script(message)
                part = None if self._lends(message) else read(message, script)
                if session in self._refused and script is not None and script.searches:
                    # Else Playwright tries until its time is over.
                    await self._answer(message, self._refused.pop(session))
                elif part is not None or method.startswith(_NEEDS_SHOWN) or session in self._lanes:
                    before = self._lanes.get(session)
                    self._lanes[session] = self._work(self._in_turn(before, message, text, part, script))
                elif method in self._emulated:
                    self._work(self._answered(message))
                else:
                    if method == "Page.enable" and (tab := self.tab_of(message)):
                        self.host.events.dialogs.listen(tab, self)
                    if method == "Target.setAutoAttach" and not session:
                        self.attaches = bool(message.get("params", {}).get("autoAttach"))
                    await self._engine.send(text)
        except (WebSocketDisconnect, ConnectionClosed, RuntimeError, ValueError):
            return

    def _script(self, message: Message) -> Script | None:
        given, session = message.get("params") or {}, message.get("sessionId", "")
        context = (
            given.get("contextId") or given.get("executionContextId") or context_of(given.get("objectId", ""))
        )
        return script_of(message, in_library=(session, context) in self._library)

    def _lends(self, message: Message) -> bool:
        """Return whether a message opens a page that is there already: the window's tab."""
        opens = message.get("method") == "Target.createTarget"
        return opens and self.launched is not None and self.launches.lends(self.launched)

    def _work(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def _in_turn(
        self,
        before: asyncio.Task[None] | None,
        message: Message,
        text: str,
        part: ActPart | None,
        script: Script | None,
    ) -> None:
        """Carry out a message once those before it in its session have gone."""
        if before is not None:
            await asyncio.wait([before])
        session, me = message.get("sessionId", ""), asyncio.current_task()
        try:
            if part is not None and script is not None and part.act.doubtful and not part.passes:
                part = None if await self._only_reads(message, script) else part
            if part is not None:
                if self.launched is not None and (tab := self.tab_of(message)):
                    self.launches.take(self.launched, tab)
                node = await self._node(part.act.objects, session) if part.begins else 0
                await self._on_act(ActMessage(self.tab_of(message), part, node))
                if part.begins:
                    self._shown = ""  # A person may have chosen another tab while it was held.
        except Swallowed:
            await self._answer(message, {})
        except Refused as refusal:
            self._refused[session] = str(refusal)
            await self._answer(message, str(refusal))
        else:
            if part is not None:
                self._refused.pop(session, None)
            if message["method"] in self._emulated:
                await self._answered(message)
            else:
                if message["method"].startswith(_NEEDS_SHOWN):
                    await self._show(self.tab_of(message))
                await self._engine.send(text)
        finally:
            if self._lanes.get(session) is me:
                del self._lanes[session]

    async def _only_reads(self, message: Message, script: Script) -> bool:
        """Return whether a script of the agent's changes nothing, which a trial shows."""
        session = message.get("sessionId", "")
        for trial in trials_of(message, script):
            try:
                answer = await self.ask(trial["method"], trial["params"], session)
            except Refused as refusal:
                # What has gone away can run no script of it either.
                return "objectId" in trial["params"] and "context" in str(refusal)
            if not is_no_expression(answer):
                return not may_act(answer)
        return False

    async def _node(self, objects: Iterable[str], session: str) -> int:
        """Return the backend id of the first of these objects of the client's that is an element; 0 for none."""
        for one in objects:
            with contextlib.suppress(Refused):
                answer = await self.ask("DOM.describeNode", {"objectId": one}, session)
                if answer["node"].get("nodeType") == _ELEMENT:
                    return int(answer["node"]["backendNodeId"])
        return 0

    async def _show(self, tab: str) -> None:
        if tab and tab != self._shown and tab in await self.host.tabs():
            await self.host.activate_tab(tab)
            self._shown = tab

    async def _answered(self, message: Message) -> None:
        """Answer a message as the table says."""
        try:
            await self._answer(message, await self._emulated[message["method"]](self, message))
        except Refused as refusal:
            await self._answer(message, str(refusal))
        if message["method"] == "Browser.close" and self.launched is not None:
            self.launched.over.set()

    async def _answer(self, message: Message, answer: Message | str) -> None:
        """Answer a message with its result, or with a sentence that refuses it."""
        told: Message = {"id": message.get("id")}
        if session := message.get("sessionId"):
            told["sessionId"] = session
        if isinstance(answer, str) and message["method"].startswith("Runtime."):
            told["result"] = _thrown(
                answer
            )  # Clients take other errors of a script for a page that went away.
        elif isinstance(answer, str):
            told["error"] = {"code": -32000, "message": answer}
        else:
            told["result"] = answer
        await self._agent.send_text(json.dumps(told))

    # From the engine

    async def _from_engine(self) -> None:
        try:
            async for text in self._engine:
                if not isinstance(text, str):
                    continue
                if self._concerns_client_alone(text):
                    await self._agent.send_text(text)
                    continue
                message = json.loads(text)
                if message.get("id", 0) > _OWN:
                    if (future := self._asked.get(message["id"])) is not None and not future.done():
                        future.set_result(message)
                    continue
                if await self._of_others(message):
                    continue
                method, params = message.get("method"), message.get("params", {})
                if method in ("Target.attachedToTarget", "Target.targetDestroyed"):
                    self._shown = ""  # Another tab may be shown now.
                if method == "Runtime.executionContextCreated":
                    self._note_context(params["context"], message.get("sessionId", ""))
                if method == "Target.attachedToTarget":
                    self._note_attached(params, message.get("sessionId", ""))
                if "targetInfo" in params:
                    params["targetInfo"] = self.told(params["targetInfo"])
                    text = json.dumps(message)
                await self._agent.send_text(text)
                if method == "Target.detachedFromTarget":
                    # Not before the client was told: what waits for it is answered then.
                    tab = self._tabs.pop(params["sessionId"], "")
                    if tab not in self._tabs.values():  # It may have been told of in several sessions.
                        self.attached.discard(tab)
                if method in ("Target.attachedToTarget", "Target.detachedFromTarget"):
                    async with self.announced:
                        self.announced.notify_all()
        except (ConnectionClosed, RuntimeError):
            return

    def _concerns_client_alone(self, text: str) -> bool:
        """Return whether a message of the engine is passed on as it is, by its beginning: most are."""
        if self._other_sessions:
            return False
        answer = _ANSWER.match(text)
        if answer is not None:
            return int(answer[1]) < _OWN and '"targetInfo' not in text
        event = _EVENT.match(text)
        return event is not None and event[1] not in ("Target", "Inspector") and not text.startswith(_CONTEXT)

    async def _of_others(self, message: Message) -> bool:
        """Return whether a message is about a page that the client is to hear nothing of."""
        method, params = message.get("method", ""), message.get("params") or {}
        target, session = params.get("targetInfo") or params, params.get("sessionId")
        parent = message.get("sessionId", "")
        # What ends in a page, such as a frame of it, is told by its number alone.
        if method.startswith("Target.") and "targetId" in target and ("type" in target or not parent):
            if session in self._other_sessions:
                return True
            if await self.hides(target):
                if session:
                    self._other_sessions.add(session)
                    await self._leave(session, parent)
                return True
        return message.get("sessionId", session) in self._other_sessions

    async def _leave(self, session: str, parent: str) -> None:
        """Have a page continue without the client, which was attached to it."""
        for method, params, asked in (
            ("Runtime.runIfWaitingForDebugger", {}, session),
            ("Target.detachFromTarget", {"sessionId": session}, parent),
        ):
            self._number += 1
            message = {"id": self._number, "method": method, "params": params}
            await self._engine.send(json.dumps(message | ({"sessionId": asked} if asked else {})))

    def _note_context(self, context: Message, session: str) -> None:
        if context.get("name", "").startswith(LIBRARY_WORLDS):
            self._library.add((session, context["id"]))

    def _note_attached(self, params: Message, parent: str) -> None:
        info, session = params["targetInfo"], params["sessionId"]
        self._targets[session] = info["targetId"]
        if parent:
            self._above[session] = parent
        if info["type"] == "page":
            self._tabs[session] = info["targetId"]
            self.attached.add(info["targetId"])


def _thrown(sentence: str) -> Message:
    """Return what a script has come to that threw an error."""
    error = {"type": "object", "subtype": "error", "className": "Error", "description": f"Error: {sentence}"}
    details = {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": error}
    return {"result": error, "exceptionDetails": details}
