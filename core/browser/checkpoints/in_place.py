"""Ways back within the document that is there."""

from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext
from core.browser.checkpoints.fields import put_fields_back
from core.browser.checkpoints.page_state import put_cookies_back
from core.browser.checkpoints.strategy import Brought, RestoreError


class AsItIs:
    """Leaves the page alone: the step after which nothing changed can be gone back to by staying."""

    name = "nothing to do"
    restores = "Nothing: the page is looked at, and stays where it is as recorded."

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        if ground.fresh and not checkpoint.inputs:
            return Brought(provenance="replayed" if ground.clean else "restored")
        untouched = bool(checkpoint.page.touched) and checkpoint.page.touched == ground.touched()
        if not untouched and ground.begin_here is not None:
            raise RestoreError("It was touched since, and its scripts may know of it.")
        return Brought(provenance="untouched" if untouched else "restored")


class SameDocument:
    """Gives fields, scroll position and focus of the document that is still there back what they were."""

    name = "same document"
    restores = (
        "What fields held, scroll and focus; the state of a bundled site's server. The document stays, with all "
        "that scripts changed in it and keep in memory."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        return "" if checkpoint.observation.document else "Which document it was is not recorded."

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        recorded, now = checkpoint.observation, await ground.read()
        if now.document != recorded.document:
            raise RestoreError("The page is another document by now.")
        if now.url != recorded.url:
            raise RestoreError(f"The document is at {now.url} by now.")
        await put_cookies_back(ground.tabs.current, recorded.url, checkpoint.page, but=ground.own_cookies)
        await ground.put_server(checkpoint.page.server)
        return await put_fields_back(recorded, ground)
