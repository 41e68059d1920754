"""An installed Chromium as browser host: found by its path, started headless, ended with this program."""

import asyncio
import logging
import os
import shutil
from typing import Any, Literal

from playwright.async_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Dialog,
    Download,
    Error,
    Page,
    Playwright,
)

from core.browser import dialogs
from core.browser.dialogs import DialogAnswer
from core.browser.floods import BrowserEvents, FloodLimit, shortened
from core.browser.host import (
    MOST_TABS,
    Engine,
    end_process,
    free_port,
    profile_folder,
    profile_names,
    runs_as_root,
)
from core.browser.screen import Screen
from core.browser.screencast import Opened, Screencast
from core.schema.errors import BrowserError, UsageError
from core.schema.events import TabId
from core.schema.viewport import VIEWPORT
from core.system.paths import expanded
from core.system.patience import within

log = logging.getLogger(__name__)

_ACTIVATE_SECONDS = 2.0
_OFF_IN_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades "
    "HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning "
    "AvoidCorsURLLoaderRestartOnRedirect TcpPortRandomizationWin OptimizationHints NetworkTimeServiceQuerying "
    "AimEnabled PreconnectToSearch msForceBrowserSignIn msEdgeUpdateLaunchServicesPreferredVersion"
).split()
"""Features that Playwright switches off; of two such lists Chromium takes the last, so ours repeats them."""
_NOT_FROM_PLAYWRIGHT = ["--disable-ipc-flooding-protection"]
"""With it a page that changes its history without end keeps the browser and the protocol busy."""
_OFF_HERE = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess")
"""What Chromium does ahead, in vain for a profile of one page: pages for the address bar, a process for a next site."""
_NAMES = (
    "chromium chromium-browser google-chrome google-chrome-stable chrome microsoft-edge chromium-headless-shell"
).split()


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, Chrome or Edge, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def chromium_at(name: str) -> str:
    """Return the path of the executable that is meant by a path, or by ``chromium``: the installed one.

    Raises BrowserError if there is none.
    """
    if name != "chromium":
        path = str(expanded(name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        raise BrowserError(
            f"There is no browser at {path}; give the path of an installed Chromium, or write chromium or embedded."
        )
    if (found := find_chromium()) is None:
        raise BrowserError(
            "No Chromium, Chrome or Edge is on the PATH; install one (on Debian: apt install chromium), or "
            "give the path of its executable."
        )
    return found


def chromium_arguments() -> list[str]:
    """Return what a Chromium is started with besides what Playwright gives it."""
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    arguments.append(f"--disable-features={','.join((*_OFF_IN_PLAYWRIGHT, *_OFF_HERE))}")
    # A page that failed stays as it failed until somebody asks for it again.
    arguments.append("--disable-auto-reload")
    if runs_as_root():
        arguments.append("--no-sandbox")
    return arguments


class ChromiumHost:
    """A Chromium with a clean context per episode, launched as Playwright does it."""

    engine: Engine = "Chromium"

    def __init__(
        self,
        executable: str,
        *,
        dialogs: Literal["accept", "dismiss"] = "accept",
        profiles: str = "",
        headless: bool = True,
        screen: Screen | None = None,
        shared: bool = False,
    ) -> None:
        """On a `screen` a person sees it, in a window. `shared` is one that others can drive too, as agents do."""
        self.name = executable
        self.viewport = VIEWPORT
        self._executable = executable
        self._dialogs = dialogs
        self._profiles = profiles
        self._headless = headless
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._profile_died = False
        self._tabs: list[tuple[TabId, Page]] = []
        self._current: TabId = ""
        self._closing: TabId = ""
        self.events = BrowserEvents()
        self._windows = FloodLimit()
        self._crashed: set[TabId] = set()
        self._processes: list[int] = []
        """The processes of the browsers that were started."""
        self._opening = asyncio.Lock()
        self._screen = screen
        self._shared = shared
        self._screencast: Screencast | None = None
        self._port = 0
        """Where others can drive it; 0 if none can."""

    async def connect(self, playwright: Playwright) -> Any:
        """Launch the executable; raises BrowserError when it is not there or does not start."""
        chromium_at(self._executable)
        self._playwright = playwright
        arguments = chromium_arguments()
        if self._shared:
            # Playwright's own way to it stays the pipe.
            self._port = free_port()
            arguments.append(f"--remote-debugging-port={self._port}")
        try:
            self._browser = await playwright.chromium.launch(
                executable_path=self._executable,
                headless=self._headless,
                args=arguments,
                ignore_default_args=_NOT_FROM_PLAYWRIGHT,
            )
        except Error as error:
            raise BrowserError(
                f"{self._executable} could not be started as a browser: {_said(error)}"
            ) from error
        self._processes = [await self._process_of(self._browser)]
        await self._end_screencast()
        if self._screen is not None:
            self._browser.on("disconnected", lambda _: self._note_change())
            self._screencast = Screencast(self._screen, self._opened, self.activate_tab)
        return self._Contexts(self)

    @property
    def launched(self) -> tuple[Playwright, Browser]:
        """Playwright and the browser that it has launched; raises BrowserError if none runs."""
        if self._playwright is None or self._browser is None:
            raise BrowserError(f"{self.name} is not running.")
        return self._playwright, self._browser

    @staticmethod
    async def _process_of(browser: Browser) -> int:
        session = await browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        await session.detach()
        return int(next(process["id"] for process in processes if process["type"] == "browser"))

    class _Contexts:
        """The part of a browser that `Tabs` uses: its contexts, including the persistent one of a named profile."""

        def __init__(self, host: "ChromiumHost") -> None:
            self._host = host

        @property
        def contexts(self) -> list[BrowserContext]:
            return [self._host._context] if self._host._context is not None else []

        def is_connected(self) -> bool:
            browser = self._host._browser
            return browser is not None and browser.is_connected() and not self._host._profile_died

        async def new_browser_cdp_session(self) -> CDPSession:
            assert self._host._browser is not None
            return await self._host._browser.new_browser_cdp_session()

    async def protocol_address(self) -> str:
        if not self._shared:
            raise UsageError(f"{self.name} was not started for attached agents.")
        if not self._alive:
            raise BrowserError("The browser has ended; go back to a step, or open the task again.")
        return f"http://127.0.0.1:{self._port}"

    @property
    def _alive(self) -> bool:
        return self._browser is not None and self._browser.is_connected() and not self._profile_died

    # On the screen

    def _opened(self) -> Opened:
        browser = self._context.browser if self._context is not None else self._browser
        return Opened(
            self._alive,
            browser,
            tuple(self._tabs),
            self._current,
            crashed=self._current in self._crashed,
        )

    def _note_change(self) -> None:
        if self._screencast is not None:
            self._screencast.note_change()

    async def _end_screencast(self) -> None:
        screencast, self._screencast = self._screencast, None
        if screencast is not None:
            await screencast.close()

    async def open_profile(self, name: str | None) -> TabId:
        await self._close_context()
        self._windows.forget()
        viewport: Any = dict(zip(("width", "height"), self.viewport, strict=True))
        assert self._playwright is not None
        assert self._browser is not None
        if name:
            self._context = await self._open_named(name, viewport)
        else:
            self._context = await self._browser.new_context(viewport=viewport, accept_downloads=False)
        self._context.on("page", self._on_page)
        page = self._context.pages[0] if self._context.pages else await self._context.new_page()
        self._current = await self._add(page)
        self._note_change()
        return self._current

    async def _open_named(self, name: str, viewport: Any) -> BrowserContext:
        folder = profile_folder(self._profiles, name)
        assert self._playwright is not None
        try:
            context = await self._playwright.chromium.launch_persistent_context(
                folder,
                executable_path=self._executable,
                headless=self._headless,
                args=chromium_arguments(),
                ignore_default_args=_NOT_FROM_PLAYWRIGHT,
                viewport=viewport,
                accept_downloads=False,
            )
        except Error as error:
            raise BrowserError(
                f"The profile {name} could not be opened; close the browser that uses it: {_said(error)}"
            ) from error
        context.on("close", self._on_profile_closed)
        if context.browser is not None:
            self._processes.append(await self._process_of(context.browser))
        return context

    def _on_profile_closed(self, context: BrowserContext) -> None:
        # A named profile has a browser process of its own; it may die alone.
        if context is self._context:
            self._profile_died = True
            self._note_change()

    def profiles(self) -> tuple[str, ...]:
        return profile_names(self._profiles)

    def allow_profile(self, name: str) -> None:
        """Every profile is open to this program alone: the browser is driven by a pipe."""

    async def open_tab(self) -> TabId:
        async with self._opening:
            return await self._open_tab()

    async def _open_tab(self) -> TabId:
        assert self._context is not None
        page = await self._context.new_page()
        self._current = await self._add(page)
        self._note_change()
        return self._current

    async def _add(self, page: Page) -> TabId:
        for known, open_page in self._tabs:
            if open_page is page:
                return known
        session = await page.context.new_cdp_session(page)
        tab = str((await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"])
        await session.detach()
        if all(open_page is not page for _, open_page in self._tabs):
            self._tabs.append((tab, page))
            self._watch(tab, page)
        return tab

    async def _on_page(self, page: Page) -> None:
        try:
            opener = await page.opener()
            if opener is not None and not self._windows.admits("tab", MOST_TABS):
                refused = "The page opened too many tabs; one was closed."
                self.events.tell("popup", refused, lambda: (self._current, ""))
                await page.close()
                return
            tab = await self._add(page)
        except Error:
            return
        self._note_change()
        if opener is not None:
            self._current = tab
            told = f"The page opened a new tab at {shortened(page.url)}."
            self.events.tell("popup", told, lambda: (tab, page.url))

    def _watch(self, tab: TabId, page: Page) -> None:
        page.on("dialog", lambda dialog: self._on_dialog(tab, dialog))
        page.on("crash", lambda page: self._on_crash(tab, page))
        page.on("close", lambda _: self._on_close(tab))
        page.on("download", lambda download: self._on_download(tab, download))

    async def _on_dialog(self, tab: TabId, dialog: Dialog) -> None:
        # Leaving a page is never held up by it.
        accept = self._dialogs == "accept" or dialog.type in ("alert", "beforeunload")
        answer, by = DialogAnswer(accept, dialog.default_value), ""
        asked = self.events.dialogs.ask(tab)
        planned = self.events.dialogs.planned(dialog.type, dialog.default_value)
        if planned is not None:
            answer, by = planned, dialogs.PLANNED
        elif asked is not None and dialog.type != "beforeunload":
            await asyncio.wait([asyncio.wrap_future(asked)], timeout=dialogs.SECONDS)
            answer, by = dialogs.answer_of(asked, answer)
        told = dialogs.told(dialog.type, shortened(dialog.message), answer, by)
        self.events.tell("dialog", told, lambda: (tab, ""))
        self.events.dialogs.give(dialog.type, dialog.message, answer, "" if by else told)
        try:
            if answer.accepted:
                await dialog.accept(answer.text)
            else:
                await dialog.dismiss()
        except Error:
            return

    async def _on_download(self, tab: TabId, download: Download) -> None:
        name = shortened(download.suggested_filename)
        told = f"The page offered the download {name}; it was refused."
        self.events.tell("download", told, lambda: (tab, download.url))
        try:
            await download.cancel()
        except Error:
            return

    def _on_crash(self, tab: TabId, page: Page) -> None:
        self._crashed.add(tab)
        self._note_change()

    def _on_close(self, tab: TabId) -> None:
        index = next((i for i, (known, _) in enumerate(self._tabs) if known == tab), None)
        if index is None:
            return
        del self._tabs[index]
        self._crashed.discard(tab)
        if self._current == tab and self._tabs:
            self._current = self._tabs[max(index - 1, 0)][0]
        self._note_change()
        if tab != self._closing:
            self.events.tell("tab_closed", "A tab was closed by its page.", lambda: (tab, ""))

    async def activate_tab(self, tab: TabId) -> None:
        self._current = tab
        self._note_change()
        page = self._page(tab)
        if page is None or page.is_closed() or tab in self._crashed or len(self._tabs) <= 1:
            return
        try:
            async with within(_ACTIVATE_SECONDS):
                await page.bring_to_front()
        except TimeoutError:
            return  # It loops; whoever acts in it finds out.

    async def close_tab(self, tab: TabId) -> None:
        if (page := self._page(tab)) is None:
            return
        self._closing = tab
        try:
            await page.close()
        finally:
            self._closing = ""

    def _page(self, tab: TabId) -> Page | None:
        return next((page for known, page in self._tabs if known == tab), None)

    async def tabs(self) -> tuple[TabId, ...]:
        await self._keep_one()
        return tuple(tab for tab, _ in self._tabs)

    async def current_tab(self) -> TabId:
        await self._keep_one()
        return self._current

    async def _keep_one(self) -> None:
        """Open an empty tab where a page has closed the last one."""
        async with self._opening:
            if not self._tabs and self._context is not None and self._alive:
                await self._open_tab()

    async def replace_tab(self, tab: TabId) -> TabId:
        place = next((i for i, (known, _) in enumerate(self._tabs) if known == tab), len(self._tabs))
        dead = self._page(tab)
        fresh = await self.open_tab()
        page = self._page(fresh)
        if dead is not None:
            self._tabs = [one for one in self._tabs if one[0] not in (tab, fresh)]
            if page is not None:
                self._tabs.insert(place, (fresh, page))
            await dead.close()
        return fresh

    async def end_renderer(self, tab: TabId) -> bool:
        return False  # The protocol does not tell which process runs which page.

    async def end_questions(self) -> None:
        """Nothing is asked of the person here: what pages ask is answered by rule."""

    async def awake(self) -> None:
        """The browser is a process of its own."""

    async def kill(self) -> None:
        self._tabs.clear()
        self._crashed.clear()
        self._browser, self._context, self._profile_died = None, None, False
        processes, self._processes = self._processes, []
        for process in processes:
            end_process(process)
        self._note_change()

    async def _close_context(self) -> None:
        self._tabs.clear()
        self._crashed.clear()
        context, self._context = self._context, None
        self._profile_died = False
        if context is not None:
            try:
                await context.close()
            except Error as error:
                log.info("Closing a profile: %s", error)
            del self._processes[1:]

    async def close(self) -> None:
        await self._end_screencast()
        if self._screen is not None:
            self._screen.disconnect()
        await self._close_context()
        browser, self._browser = self._browser, None
        if browser is not None:
            try:
                await browser.close()
            except Error as error:
                log.info("Closing the browser: %s", error)
        self._processes.clear()


def _said(error: Error) -> str:
    return error.message.partition("\n")[0]
