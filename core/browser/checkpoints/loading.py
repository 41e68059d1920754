"""Ways back that load the page anew."""

from core.browser.checkpoints.checkpoint import Checkpoint, Ground
from core.browser.checkpoints.fields import put_fields_back, put_scroll_and_focus_back
from core.browser.checkpoints.kept import origin_of
from core.browser.checkpoints.page_state import put_cookies_back, put_storage_back
from core.browser.checkpoints.strategy import Brought, RestoreError

BLANK = "about:blank"


class HistoryEntry:
    """Goes to the page's entry in the history of its tab, and puts fields, scroll position and focus back."""

    name = "history entry"
    restores = (
        "The page as the browser kept it or loads it again, what fields held, scroll and focus; cookies, and the "
        "state of a bundled site's server. Not storage, nor what scripts kept in memory where it is loaded again."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        return "" if checkpoint.page.entry is not None else "Its place in the history is not recorded."

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> Brought:
        recorded, kept = checkpoint.observation, checkpoint.page
        page = ground.tabs.current
        if page.tab != kept.tab:
            raise RestoreError("It was in another tab.")
        history = await page.send("Page.getNavigationHistory", {})
        entries, here = history["entries"], int(history["currentIndex"])
        if kept.entry not in [entry["id"] for entry in entries]:
            raise RestoreError("The history does not have it any more.")
        if entries[here]["id"] == kept.entry:
            raise RestoreError("It is the entry that is shown.")
        await put_cookies_back(page, recorded.url, kept, but=ground.own_cookies)
        await ground.put_server(kept.server)
        before = ground.tabs.mark()
        await page.send("Page.navigateToHistoryEntry", {"entryId": kept.entry})
        await ground.tabs.settle(before)
        remarks = await put_fields_back(recorded, ground)
        await put_scroll_and_focus_back(recorded, ground)
        return Brought(remarks=remarks)


class UrlWithStorage:
    """Puts cookies and storage back, opens the step's URL anew, and gives fields, scroll and focus what they had."""

    name = "URL with storage"
    restores = (
        "The URL, cookies, local and session storage, IndexedDB where it holds plain values, what fields held, scroll "
        "and focus; the state of a bundled site's server. Not what scripts kept in memory."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        if not checkpoint.observation.url.startswith(("http:", "https:", "file:", "data:", "about:")):
            return f"{checkpoint.observation.url or 'A page without a URL'} cannot be opened by its URL."
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> Brought:
        recorded, kept = checkpoint.observation, checkpoint.page
        await put_cookies_back(ground.tabs.current, recorded.url, kept, but=ground.own_cookies)
        await ground.put_server(kept.server)
        remarks: tuple[str, ...] = ()
        if origin_of(recorded.url):
            failed = await put_storage_back(ground.tabs, recorded.url, kept)
            remarks = tuple(f"Storage was not put back: {one}." for one in (*kept.unread, *failed))
        elif recorded.url != BLANK:
            # The same address again, or another fragment of it, would not load the page.
            await ground.tabs.goto(BLANK)
        await ground.tabs.goto(recorded.url)
        remarks += await put_fields_back(recorded, ground)
        await put_scroll_and_focus_back(recorded, ground)
        return Brought(remarks=remarks)
