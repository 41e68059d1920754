"""The browser inside the window as a `BrowserHost`: the worker's loop calls, the GUI thread answers."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, TypeVar
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot

from core.browser.host import Engine, end_process, name_problem, profile_names
from core.schema.errors import UsageError
from core.schema.events import TabId
from core.schema.viewport import VIEWPORT
from core.system.patience import Limit
from gui.live.page_area import PageArea

T = TypeVar("T")
_PORT_SECONDS = 10.0
_PORT_PAUSE = 0.005


class _Caller(QObject):
    """Runs functions in its own thread."""

    asked = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.asked.connect(self._run, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def _run(self, job: "tuple[Callable[[], Any], Future[Any]]") -> None:
        function, future = job
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)


class EmbeddedHost:
    """QtWebEngine as browser host. Create it in the GUI thread, use it from the worker's loop."""

    name = "embedded"
    engine: Engine = "QtWebEngine"

    def __init__(self, area: PageArea, endpoint: str, allowed: Iterable[str] = ()) -> None:
        """`allowed` are the named profiles that may be opened."""
        self._area = area
        self._allowed = set(allowed)
        self._endpoint = endpoint
        self._caller = _Caller(area)
        self.events = area.events
        self.viewport = VIEWPORT
        self._unused = ""
        """The tab of a clean profile that is not in use yet."""

    def prepare(self) -> None:
        """Start the engine, which opens its port with its first page. Call this in the GUI thread."""
        if not self._area.tabs():
            self._unused = self._area.open_profile(None)

    async def connect(self, playwright: Any) -> Any:
        await self._ask(self.prepare)
        await self._port_opened()
        # The engine's protocol has no browser contexts. no_defaults keeps Playwright from asking for them.
        return await playwright.chromium.connect_over_cdp(self._endpoint, no_defaults=True, is_local=True)

    async def _port_opened(self) -> None:
        """Wait until the engine accepts connections. If it never does, the next client to connect reports why."""
        limit = Limit(_PORT_SECONDS)
        address = urlsplit(self._endpoint)
        while limit.left() > 0:
            try:
                _, writer = await asyncio.open_connection(address.hostname, address.port)
            except OSError:
                await asyncio.sleep(_PORT_PAUSE)  # The engine does not report when it has opened its port.
            else:
                writer.close()
                return

    async def protocol_address(self) -> str:
        return self._endpoint

    async def _ask(self, function: Callable[[], T]) -> T:
        future: Future[T] = Future()
        self._caller.asked.emit((function, future))
        return await asyncio.wrap_future(future)

    async def _change(self, function: Callable[[], T]) -> T:
        """Run a function that the engine must execute at once: first answer its pages' open questions by rule."""
        questions = self._area.questions

        def change() -> tuple[bool, Any]:
            return (True, function()) if not questions.engine_waits else (False, None)

        while True:
            done, result = await self._ask(change)
            if done:
                return result  # type: ignore[no-any-return]
            await self.end_questions()
            await self.awake()

    async def open_profile(self, name: str | None) -> TabId:
        # The engine's port has no password, and the engine does not support a pipe.
        if name and name not in self._allowed and not name_problem(name):
            raise UsageError(
                f"The profile {name} was not opened: another user of this machine can drive the embedded browser, and "
                "use its logins, while it is open. Choose the task again (Ctrl+N), which asks; name the profile in "
                "embedded_profiles of the settings or with --embedded-profiles; or take an installed Chromium "
                "(--browser)."
            )
        unused, self._unused = self._unused, ""
        if unused and not name and unused in await self.tabs():
            await self._ask(lambda: self._area.device.set_page_size(QSize(*self.viewport)))
            return unused
        return await self._change(lambda: self._area.open_profile(name, self.viewport))

    def profiles(self) -> tuple[str, ...]:
        return profile_names(self._area.profiles.folder)

    def allow_profile(self, name: str) -> None:
        self._allowed.add(name)

    async def open_tab(self) -> TabId:
        return await self._change(self._area.open_tab)

    async def activate_tab(self, tab: TabId) -> None:
        await self._change(lambda: self._area.activate_tab(tab))

    async def close_tab(self, tab: TabId) -> None:
        await self._change(lambda: self._area.close_tab(tab))

    async def tabs(self) -> tuple[TabId, ...]:
        return await self._ask(self._area.tabs)

    async def current_tab(self) -> TabId:
        return await self._ask(self._area.current_tab)

    async def replace_tab(self, tab: TabId) -> TabId:
        return await self._change(lambda: self._area.replace_tab(tab))

    async def end_renderer(self, tab: TabId) -> bool:
        process = await self._change(lambda: self._area.renderer_of(tab))
        return bool(process) and end_process(process)

    async def awake(self) -> None:
        # The embedded browser runs in the GUI thread, and blocks there while its pages wait for the person.
        await asyncio.wrap_future(await self._ask(self._area.questions.quiet))

    async def end_questions(self) -> None:
        await self._ask(self._area.questions.end)

    async def kill(self) -> None:
        """Close the pages. The browser belongs to the window and closes with it."""
        # Otherwise the next client would wait for a page that is in an endless loop.
        self._unused = ""
        await self._change(lambda: self._area.open_profile(None))

    async def close(self) -> None:
        """Do nothing: the browser belongs to the window and closes with it."""
