"""Ways back that load the page anew."""

from dataclasses import replace

from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext
from core.browser.checkpoints.fields import put_fields_back
from core.browser.checkpoints.history import TabHistory
from core.browser.checkpoints.page_state import open_again, put_cookies_back, put_storage_back
from core.browser.checkpoints.stored_state import PageState
from core.browser.checkpoints.strategy import Brought, RestoreError
from core.schema.observation import Observation


class HistoryEntry:
    """Goes to the page's entry in the history of its tab, and puts fields, scroll position and focus back."""

    name = "history entry"
    restores = (
        "The page as the browser kept it or loads it again, what fields held, scroll and focus; cookies, and the "
        "state of a bundled site's server. Not storage, nor what scripts kept in memory where it is loaded again."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        return "" if checkpoint.page.entry is not None else "Its place in the history is not recorded."

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        recorded, kept = checkpoint.observation, checkpoint.page
        page = ground.tabs.current
        if page.tab != kept.tab:
            raise RestoreError("It was in another tab.")
        history = await TabHistory.read(page)
        entry = kept.entry if kept.entry in dict(history.entries) else None
        if entry is None and kept.behind is not None:
            entry = history.entry_after(kept.behind, recorded.url)  # Another visit of it.
        if entry is None:
            raise RestoreError("The history does not have it any more.")
        if entry == history.entry:
            raise RestoreError("It is the entry that is shown.")
        await put_cookies_back(page, recorded.url, kept, but=ground.own_cookies)
        await ground.put_server(kept.server)
        await history.go(ground.tabs, entry)
        return await put_fields_back(recorded, ground)


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

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        recorded, kept = checkpoint.observation, checkpoint.page
        remarks = await _load(recorded, kept, ground)
        brought = await put_fields_back(recorded, ground)
        return replace(brought, remarks=(*remarks, *brought.remarks))


async def _load(recorded: Observation, kept: PageState, ground: RestoreContext) -> tuple[str, ...]:
    """Put back what the browser and the server kept, and load the page; return what was not put back."""
    await put_cookies_back(ground.tabs.current, recorded.url, kept, but=ground.own_cookies)
    await ground.put_server(kept.server)
    failed = await put_storage_back(ground.tabs, recorded.url, kept)
    await open_again(ground.tabs, recorded.url, kept.behind)
    return tuple(f"Storage was not put back: {one}." for one in (*kept.unread, *failed))
