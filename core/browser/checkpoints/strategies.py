"""The strategies that restore a page: in the present document, by loading it again, or by repeating the actions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.browser.checkpoints.checkpoint import (
    Checkpoint,
    Choose,
    NotTried,
    RestoreContext,
    RestoreError,
    RestoreOutcome,
    Strategy,
    WouldRepeat,
)
from core.browser.checkpoints.comparison import Provenance
from core.browser.checkpoints.fields import put_fields_back
from core.browser.checkpoints.page_state import (
    PageState,
    TabHistory,
    open_again,
    put_storage_back,
)
from core.browser.recorded.exchange import SOCKET
from core.browser.recorded.offline_replay import Seal
from core.schema.action import Action, RefTarget
from core.schema.element_identity import Marks, RecordedInput, called, find_marked
from core.schema.errors import ActionError
from core.schema.observation import Observation


class AsItIs(Strategy):
    """Leaves the page as it is. This goes back to a step after which nothing has changed.

    Restored: nothing. The page is only compared.
    """

    name = "comparing only"

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        if ground.fresh and not checkpoint.inputs:
            return RestoreOutcome(provenance="replayed" if ground.clean else "restored")
        untouched = bool(checkpoint.page.touched) and checkpoint.page.touched == ground.touched()
        if not untouched and ground.begin_here is not None:
            raise NotTried("The page was used since then, and its scripts may have noticed.")
        return RestoreOutcome(provenance="untouched" if untouched else "restored")


class SameDocument(Strategy):
    """Restores fields, scroll position and focus in the same document.

    Restored: fields, scroll position, focus, and the state of a bundled site's server. The document stays,
    with all changes by scripts and their memory.
    """

    name = "same document"

    def unfit(self, checkpoint: Checkpoint) -> str:
        return "" if checkpoint.observation.document else "The identity of its document was not recorded."

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        recorded, now = checkpoint.observation, await ground.read()
        if now.document != recorded.document:
            raise NotTried("The page now has another document.")
        if now.url != recorded.url:
            raise NotTried(f"The document is now at {now.url}.")
        await ground.put_kept_back(recorded.url, checkpoint.page)
        return await put_fields_back(recorded, ground)


class HistoryEntry(Strategy):
    """Goes to the page's entry in the history of its tab, and restores fields, scroll position and focus.

    Restored: the page from the browser's cache or loaded again, fields, scroll position, focus, cookies, and
    the state of a bundled site's server. Not restored: storage, and the memory of scripts if the page is
    loaded again.
    """

    name = "history entry"

    def unfit(self, checkpoint: Checkpoint) -> str:
        return "" if checkpoint.page.entry is not None else "Its place in the history was not recorded."

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        recorded, kept = checkpoint.observation, checkpoint.page
        page = ground.tabs.current
        if page.tab != kept.tab:
            raise NotTried("It was open in another tab.")
        history = await TabHistory.read(page)
        entry = kept.entry if kept.entry in dict(history.entries) else None
        if entry is None and kept.behind is not None:
            entry = history.entry_after(kept.behind, recorded.url)  # Another visit of it.
        if entry is None:
            raise NotTried("The history no longer contains it.")
        if entry == history.entry:
            raise NotTried("It is the history entry that is shown now.")
        await ground.put_kept_back(recorded.url, kept)
        await history.go(ground.tabs, entry)
        return await put_fields_back(recorded, ground)


class UrlWithStorage(Strategy):
    """Restores cookies and storage, opens the step's URL again, and restores fields, scroll position and focus.

    Restored: the URL, cookies, local and session storage, IndexedDB with plain values, fields, scroll
    position, focus, and the state of a bundled site's server. Not restored: the memory of scripts.
    """

    name = "URL with storage"

    def unfit(self, checkpoint: Checkpoint) -> str:
        if not checkpoint.observation.url.startswith(("http:", "https:", "file:", "data:", "about:")):
            return f"{checkpoint.observation.url or 'A page without a URL'} cannot be opened by its URL."
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        recorded, kept = checkpoint.observation, checkpoint.page
        remarks = await _load(recorded, kept, ground)
        brought = await put_fields_back(recorded, ground)
        return replace(brought, remarks=(*remarks, *brought.remarks))


async def _load(recorded: Observation, kept: PageState, ground: RestoreContext) -> tuple[str, ...]:
    """Restore the state of browser and server, and load the page; return what was not restored."""
    await ground.put_kept_back(recorded.url, kept)
    failed = await put_storage_back(ground.tabs, recorded.url, kept)
    await open_again(ground.tabs, recorded.url, kept.behind)
    return tuple(f"Storage was not restored: {one}." for one in (*kept.unread, *failed))


_NOT_ASKED = "The state of the server was not restored."


class ReplayFromNearest(Strategy):
    """Opens the page of the earlier step that loaded the document, and repeats the actions in it.

    Restored: the URL and storage of that step, and the effects of the actions, including the memory of
    scripts. Not tried if the actions would repeat something that cannot be undone.
    """

    name = "replay from the nearest checkpoint"

    def unfit(self, checkpoint: Checkpoint) -> str:
        nearest = checkpoint.nearest
        if nearest is None:
            return "No earlier step loaded its document."
        return UrlWithStorage().unfit(nearest)

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        nearest = checkpoint.nearest
        assert nearest is not None
        inputs = checkpoint.inputs[len(nearest.inputs) :]
        _check_repeats(inputs, ground)
        brought = await UrlWithStorage().restore(nearest, ground)
        remarks = await _do_again(inputs, ground, brought.seen)
        return RestoreOutcome(remarks=(*brought.remarks, *remarks))


class ReplayInPlace(Strategy):
    """Opens the task's first page again in the present tab and repeats all actions before the step.

    Restored: the effects of all actions, including the memory of scripts, if the task's pages need no server.
    The profile and the tab's history stay.
    """

    name = "replay in place"

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        if ground.begin_here is None:
            raise NotTried("The task's pages depend on a server.")
        await ground.begin_here()
        return RestoreOutcome(remarks=await _do_again(checkpoint.inputs, ground))


class ReplayRecorded(Strategy):
    """Repeats the actions offline: each request gets its recorded answer.

    Restored: the effects of all actions, including the memory of scripts, with the recorded answers. No
    request reaches a server, so the run continues later with the server's present state.
    """

    name = "replay with recorded answers"

    def unfit(self, checkpoint: Checkpoint) -> str:
        if not any(exchange.kind != SOCKET for exchange in checkpoint.exchanges):
            return "The answers of servers were not recorded."
        if any(exchange.kind == SOCKET for exchange in checkpoint.exchanges):
            return "The page used a WebSocket, whose messages are not recorded."
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        if not ground.clean:
            raise NotTried("A named profile keeps its data between runs, and that data was not recorded.")
        if ground.body is None:
            raise NotTried("The recorded answers are not available.")
        seal = Seal(checkpoint.exchanges, ground.body, stable=ground.volatile.url)
        async with ground.tabs.sealed(seal):
            await ground.reopen()
            remarks = await _do_again(checkpoint.inputs, ground)
        # In a run that reaches no server the recorded answers are all there is.
        provenance: Provenance = "replayed" if ground.tabs.closed_off else "recorded"
        return RestoreOutcome(remarks=(*remarks, *seal.remarks, _NOT_ASKED), provenance=provenance)


class ReplayFromStart(Strategy):
    """Starts the task again, in a clean profile unless it has a named one, and repeats all actions.

    Restored: all effects of the actions, including the memory of scripts; a named profile keeps its data. Not
    tried if the actions would repeat something that cannot be undone.
    """

    name = "replay from the start"

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        _check_repeats(checkpoint.inputs, ground)
        await ground.reopen()
        remarks = await _do_again(checkpoint.inputs, ground)
        return RestoreOutcome(remarks=remarks, provenance="replayed" if ground.clean else "restored")


def _check_repeats(inputs: Sequence[RecordedInput], ground: RestoreContext) -> None:
    """Raise WouldRepeat if these inputs would repeat something that cannot be undone."""
    if reason := ground.repeats(inputs):
        raise WouldRepeat(reason)


async def _do_again(
    inputs: Sequence[RecordedInput], ground: RestoreContext, seen: Observation | None = None
) -> tuple[str, ...]:
    """Carry out the input, from the page as it was last `seen` if nothing was done since; return what was
    done differently.
    """
    remarks: list[str] = []
    for done in inputs:
        now, seen = seen or await ground.read(), None
        before = ground.tabs.mark()
        try:
            action, remark = await retarget(done.action, done.marks, now, ground.choose)
            if remark:
                remarks.append(f"Step {done.step}: {remark}")
            await ground.actor.act(action)
        except (ActionError, RestoreError) as error:
            if not done.failed:
                raise RestoreError(
                    f"Step {done.step}, {done.action}, could not be repeated: {error}"
                ) from error
        await ground.tabs.settle(before)
    return tuple(remarks)


async def retarget(
    action: Action, marks: Marks, now: Observation, choose: Choose | None = None
) -> tuple[Action, str]:
    """Return `action` with its refs those of the page as it is now, and a remark if that was chosen, not known.

    Raises RestoreError if an element is not found again.
    """
    changes: dict[str, Any] = {}
    remarks: list[str] = []
    for part in ("target", "to"):
        target = getattr(action, part, None)
        if not isinstance(target, RefTarget):
            continue
        mark = marks.get(part)
        if mark is None:
            raise RestoreError(f"[{target.ref}] is not in the recorded page of {action}.")
        element, found = mark.element, find_marked(mark, now)
        chosen = found.element
        if chosen is None and found.candidates and choose is not None:
            chosen = await choose(element, found, now)
            if chosen is not None:
                remarks.append(
                    f"{called(element)} is the best match of {len(found.candidates)}, but not certain."
                )
        if chosen is None:
            raise RestoreError(f"{called(element)} was not found: {found.why}")
        changes[part] = RefTarget(ref=chosen.ref)
    return (action.replace(**changes) if changes else action), " ".join(remarks)


STRATEGIES: tuple[Strategy, ...] = (
    AsItIs(),
    SameDocument(),
    HistoryEntry(),
    UrlWithStorage(),
    ReplayRecorded(),
    ReplayFromNearest(),
    ReplayInPlace(),
    ReplayFromStart(),
)
"""In the order they are tried."""

_LEAVING_NOTHING_OUT = (AsItIs, ReplayFromNearest, ReplayInPlace, ReplayFromStart)
_OFFLINE = (AsItIs, ReplayRecorded)
_LOADING = (UrlWithStorage, ReplayFromNearest, ReplayFromStart)


def strategies_for(ground: RestoreContext) -> tuple[Strategy, ...]:
    """Return the ways that are tried there: what scripts hide in memory, only doing again brings back.

    Where no server is reached, only its recorded answers in their order do. A page that
    is to be live is loaded from its server where something was sent since: what the
    browser kept of it, and recorded answers, are of before.
    """
    if ground.tabs.closed_off:
        return tuple(strategy for strategy in STRATEGIES if isinstance(strategy, _OFFLINE))
    if ground.live and ground.sent:
        return tuple(strategy for strategy in STRATEGIES if isinstance(strategy, _LOADING))
    if ground.begin_here is None:
        return STRATEGIES
    return tuple(strategy for strategy in STRATEGIES if isinstance(strategy, _LEAVING_NOTHING_OUT))
