"""The history of a tab: where a page stands in it, and going there."""

from dataclasses import dataclass

from core.browser.page import Page
from core.browser.tabs import Tabs

BLANK = "about:blank"


@dataclass(frozen=True)
class TabHistory:
    """The pages of a tab as the browser numbers them; empty tabs at its beginning are no pages."""

    entries: tuple[tuple[int, str], ...]
    """Number and URL of each."""
    here: int
    """The place of the one that is shown."""

    @classmethod
    async def read(cls, page: Page) -> "TabHistory":
        """Return the history of a tab; raises PageGone or BrowserError."""
        told = await page.send("Page.getNavigationHistory", {})
        return cls(
            entries=tuple((int(one["id"]), str(one["url"])) for one in told["entries"]),
            here=int(told["currentIndex"]),
        )

    @property
    def entry(self) -> int | None:
        """The number of the page that is shown."""
        return self.entries[self.here][0] if 0 <= self.here < len(self.entries) else None

    def behind(self, place: int | None = None) -> tuple[str, ...]:
        """Return the URLs of the pages behind a place, or behind the page that is shown."""
        until = self.here if place is None else place
        return tuple(url for _, url in self.entries[:until] if url != BLANK)

    def entry_after(self, behind: tuple[str, ...], url: str) -> int | None:
        """Return the number of the page at `url` that has these behind it."""
        for place, (number, there) in enumerate(self.entries):
            if there == url and self.behind(place) == behind:
                return number
        return None

    async def go_to_first(self, tabs: Tabs) -> None:
        """Go to the tab's first page, so that opening its URL anew leaves nothing behind it."""
        first = next((number for number, url in self.entries if url != BLANK), None)
        if first is not None and self.behind():
            await self.go(tabs, first)

    async def go(self, tabs: Tabs, entry: int) -> None:
        """Go to a page of the history and wait; raises PageGone or BrowserError."""
        before = tabs.mark()
        await tabs.current.send("Page.navigateToHistoryEntry", {"entryId": entry})
        await tabs.settle(before)
