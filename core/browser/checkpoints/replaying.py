"""Doing again what was done in a page."""

from collections.abc import Sequence
from typing import Any

from core.browser.checkpoints.checkpoint import Checkpoint, Choose, RestoreContext
from core.browser.checkpoints.reloading import UrlWithStorage
from core.browser.checkpoints.strategy import Brought, RestoreError
from core.browser.recorded.exchange import SOCKET
from core.browser.recorded.offline_replay import Seal
from core.schema.action import Action, RefTarget
from core.schema.element_identity import called, find_marked
from core.schema.errors import ActionError
from core.schema.observation import Observation
from core.schema.recorded_input import Marks, RecordedInput

_NOT_ASKED = "The server was not asked: what it holds is as it is now."


class ReplayFromNearest:
    """Opens the page of an earlier step, where the document was loaded, and does again what was done in it."""

    name = "replay from the nearest checkpoint"
    restores = (
        "The URL and storage of the step at which the document was loaded, and what followed from the actions "
        "in it, scripts' memory too. What they do at a server is done a second time, unless it is a bundled site's."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        nearest = checkpoint.nearest
        if nearest is None:
            return "There is no earlier step at which its document was loaded."
        return UrlWithStorage().unfit(nearest)

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        nearest = checkpoint.nearest
        assert nearest is not None
        brought = await UrlWithStorage().restore(nearest, ground)
        remarks = await _do_again(checkpoint.inputs[len(nearest.inputs) :], ground, brought.seen)
        return Brought(remarks=(*brought.remarks, *remarks))


class ReplayInPlace:
    """Opens the task's first page again in the tab that is there and does again what was done until the step."""

    name = "replay in place"
    restores = (
        "What followed from the actions since the task was opened, scripts' memory too, where scripts alone make "
        "its pages. The profile and the tab's history stay."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        if ground.begin_here is None:
            raise RestoreError("The task's pages are not made by scripts alone.")
        await ground.begin_here()
        return Brought(remarks=await _do_again(checkpoint.inputs, ground))


class ReplayRecorded:
    """Does again what was done, in a page that reaches no server: each request gets what was recorded for it."""

    name = "replay with recorded answers"
    restores = (
        "What followed from the actions since the task was opened, scripts' memory too, with the answers of then: no "
        "request leaves for a server, which goes on afterwards from what it holds now."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        if not any(one.kind != SOCKET for one in checkpoint.exchanges):
            return "What servers answered was not recorded."
        if any(one.kind == SOCKET for one in checkpoint.exchanges):
            return "The page spoke over a WebSocket, and what came over it is not recorded."
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        if not ground.clean:
            raise RestoreError("A named profile keeps what it had come to, for which nothing was recorded.")
        if ground.body is None:
            raise RestoreError("The answers are not at hand.")
        seal = Seal(checkpoint.exchanges, ground.body, stable=ground.stable_url)
        async with ground.tabs.sealed(seal):
            await ground.reopen()
            remarks = await _do_again(checkpoint.inputs, ground)
        return Brought(remarks=(*remarks, *seal.remarks, _NOT_ASKED), provenance="replayed")


class ReplayFromStart:
    """Begins the task anew, in a clean profile unless it has a named one, and does again what was done."""

    name = "replay from the start"
    restores = (
        "Everything that follows from the actions, scripts' memory too. "
        "What they do at a server is done a second time, unless it is a bundled site's; "
        "a named profile keeps what it had come to."
    )

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        await ground.reopen()
        remarks = await _do_again(checkpoint.inputs, ground)
        return Brought(remarks=remarks, provenance="replayed" if ground.clean else "restored")


async def _do_again(
    inputs: Sequence[RecordedInput], ground: RestoreContext, seen: Observation | None = None
) -> tuple[str, ...]:
    """Do it, from the page as it was last `seen` where nothing was done since; return what was done otherwise."""
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
                    f"Step {done.step}, {done.action}, could not be done again: {error}"
                ) from error
        await ground.tabs.settle(before)
    return tuple(remarks)


async def retarget(
    action: Action, marks: Marks, now: Observation, choose: Choose | None = None
) -> tuple[Action, str]:
    """Return `action` with its refs those of the page as it is now, and a remark where that was chosen, not known.

    Raises RestoreError where an element is not found again.
    """
    changes: dict[str, Any] = {}
    remarks: list[str] = []
    for part in ("target", "to"):
        target = getattr(action, part, None)
        if not isinstance(target, RefTarget):
            continue
        mark = marks.get(part)
        if mark is None:
            raise RestoreError(f"[{target.ref}] is not in the page that was recorded for {action}.")
        element, found = mark.element, find_marked(mark, now)
        chosen = found.element
        if chosen is None and found.candidates and choose is not None:
            chosen = await choose(element, found, now)
            if chosen is not None:
                remarks.append(f"{called(element)} was chosen among {len(found.candidates)}, not known.")
        if chosen is None:
            raise RestoreError(f"{called(element)} was not found again: {found.why}")
        changes[part] = RefTarget(ref=chosen.ref)
    return (action.replace(**changes) if changes else action), " ".join(remarks)
