"""An installed Chromium as browser host: found by path, started headless, ended with us."""

import os
import shutil
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from playwright.async_api import (
    Browser,
    BrowserContext,
    Dialog,
    Download,
    Error,
    Page,
    Playwright,
)

from core.browser.host import BrowserEvent, TabId
from core.errors import BrowserError

VIEWPORT = (1000, 720)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, Chrome or Edge, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class ChromiumHost:
    """Chromium with a clean context an episode, driven as Playwright launches it."""

    def __init__(
        self,
        executable: str,
        *,
        dialogs: Literal["accept", "dismiss"] = "accept",
        profiles: str = "",
        headless: bool = True,
    ) -> None:
        self.name = executable
        self._executable = executable
        self._dialogs = dialogs
        self._profiles = profiles
        self._headless = headless
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._persistent: BrowserContext | None = None
        self._tabs: list[tuple[TabId, Page]] = []
        self._current: TabId = ""
        self._listeners: list[Callable[[BrowserEvent], None]] = []
        self._crashed: dict[TabId, str] = {}

    async def connect(self, playwright: Playwright) -> Any:
        """Launch the executable; raises BrowserError when it is not there or does not start."""
        if not os.access(self._executable, os.X_OK):
            raise BrowserError(
                f"There is no browser at {self._executable}; give the path of an installed Chromium, or embedded."
            )
        self._playwright = playwright
        try:
            self._browser = await playwright.chromium.launch(
                executable_path=self._executable, headless=self._headless, args=self._arguments()
            )
        except Error as error:
            raise BrowserError(
                f"{self._executable} did not start as a browser: {str(error).splitlines()[0]}"
            ) from error
        return self._Contexts(self)

    class _Contexts:
        """What `Tabs` reads of a browser: its contexts, the persistent one of a named profile among them."""

        def __init__(self, host: "ChromiumHost") -> None:
            self._host = host

        @property
        def contexts(self) -> list[BrowserContext]:
            return [self._host._context] if self._host._context is not None else []

    def _arguments(self) -> list[str]:
        arguments = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            arguments.append("--no-sandbox")
        return arguments

    async def open_profile(self, name: str | None) -> TabId:
        await self._close_context()
        viewport: Any = {"width": VIEWPORT[0], "height": VIEWPORT[1]}
        assert self._playwright is not None
        assert self._browser is not None
        if name:
            self._persistent = await self._playwright.chromium.launch_persistent_context(
                os.path.join(self._profiles, name),
                executable_path=self._executable,
                headless=self._headless,
                args=self._arguments(),
                viewport=viewport,
                accept_downloads=False,
            )
            self._context = self._persistent
        else:
            self._context = await self._browser.new_context(viewport=viewport, accept_downloads=False)
        page = self._context.pages[0] if self._context.pages else await self._context.new_page()
        tab = await self._add(page)
        self._context.on("page", self._on_page)
        self._current = tab
        return tab

    async def open_tab(self) -> TabId:
        assert self._context is not None
        page = await self._context.new_page()
        tab = next((known for known, open_page in self._tabs if open_page is page), None) or await self._add(page)
        self._current = tab
        return tab

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
            tab = await self._add(page)
        except Error:
            return
        if opener is not None:
            self._current = tab
            self._announce("popup", f"The page opened a new tab at {page.url}.", tab, page.url)

    def _watch(self, tab: TabId, page: Page) -> None:
        page.on("dialog", lambda dialog: self._on_dialog(tab, dialog))
        page.on("crash", lambda page: self._on_crash(tab, page))
        page.on("close", lambda _: self._on_close(tab))
        page.on("download", lambda download: self._on_download(tab, download))

    async def _on_dialog(self, tab: TabId, dialog: Dialog) -> None:
        # Leaving a page is never held up by it.
        accept = self._dialogs == "accept" or dialog.type in ("alert", "beforeunload")
        done = "accepted" if accept else "dismissed"
        self._announce("dialog", f'The page asked ({dialog.type}): "{dialog.message}"; it was {done}.', tab)
        try:
            if accept:
                await dialog.accept(dialog.default_value)
            else:
                await dialog.dismiss()
        except Error:
            return

    async def _on_download(self, tab: TabId, download: Download) -> None:
        self._announce(
            "download",
            f"The page offered the download {download.suggested_filename}; it was refused.",
            tab,
            download.url,
        )
        try:
            await download.cancel()
        except Error:
            return

    def _on_crash(self, tab: TabId, page: Page) -> None:
        self._crashed[tab] = page.url

    def _on_close(self, tab: TabId) -> None:
        index = next((i for i, (known, _) in enumerate(self._tabs) if known == tab), None)
        if index is None:
            return
        del self._tabs[index]
        if self._current == tab and self._tabs:
            self._current = self._tabs[max(index - 1, 0)][0]
            self._announce("tab_closed", "The current tab was closed.", tab)

    def _announce(self, kind: Any, text: str, tab: TabId, url: str = "") -> None:
        for listener in self._listeners:
            listener(BrowserEvent(kind=kind, text=text, tab=tab, url=url))

    async def activate_tab(self, tab: TabId) -> None:
        self._current = tab
        if (page := self._page(tab)) is not None and not page.is_closed() and len(self._tabs) > 1:
            await page.bring_to_front()

    async def close_tab(self, tab: TabId) -> None:
        if (page := self._page(tab)) is not None:
            await page.close()

    def _page(self, tab: TabId) -> Page | None:
        return next((page for known, page in self._tabs if known == tab), None)

    async def tabs(self) -> tuple[TabId, ...]:
        return tuple(tab for tab, _ in self._tabs)

    async def current_tab(self) -> TabId:
        return self._current

    async def reload_crashed(self, tab: TabId) -> None:
        """Put a new tab in place of the dead one: Chromium's own cannot be driven any more."""
        assert self._context is not None
        url = self._crashed.pop(tab, "")
        dead = self._page(tab)
        page = await self._context.new_page()
        self._current = await self._add(page)
        if dead is not None:
            await dead.close()
        if url:
            try:
                await page.goto(url, wait_until="commit")
            except Error as error:
                raise BrowserError(f"The crashed page {url} cannot be loaded again.") from error

    async def picture(self, tab: TabId) -> Awaitable[bytes] | None:
        return None

    def on_event(self, listener: Callable[[BrowserEvent], None]) -> None:
        self._listeners.append(listener)

    async def _close_context(self) -> None:
        self._tabs.clear()
        context, self._context = self._context, None
        if context is not None:
            await context.close()

    async def close(self) -> None:
        try:
            await self._close_context()
            if self._browser is not None:
                await self._browser.close()
        except Error:
            return
