"""Ways to bring a page back, each with what it restores and what it cannot."""

from typing import Protocol

from core.action import Action, Check, RefTarget, Select, Type
from core.browser.checkpoints.checkpoint import Checkpoint, Choose, Ground
from core.browser.checkpoints.comparing import Provenance
from core.browser.checkpoints.identity import FoundAgain, find_again, find_marked
from core.browser.checkpoints.inputs import Marks
from core.browser.page import PageGone
from core.errors import ActionError, BackstepError
from core.observation import Element, Observation

BLANK = "about:blank"
SECRET = "•"
"""What an observation shows of a password; the words themselves are not known."""


class RestoreError(BackstepError):
    """A strategy could not go on; its text says at what and why."""


class Strategy(Protocol):
    """One way to restore a checkpoint."""

    name: str
    restores: str
    """What it brings back, and what not, in a sentence."""
    provenance: Provenance

    def unfit(self, checkpoint: Checkpoint) -> str:
        """Return why it cannot be used for this checkpoint, or nothing."""
        ...

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> tuple[str, ...]:
        """Bring the page back, and return remarks on what was done otherwise or left.

        Raises RestoreError, ActionError or BrowserError.
        """
        ...


class AsItIs:
    """Leaves the page alone: the step after which nothing changed can be gone back to by staying."""

    name = "nothing to do"
    restores = "Nothing: the page is looked at, and stays where it is as recorded."
    provenance: Provenance = "restored"

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> tuple[str, ...]:
        state = checkpoint.server_state
        if state and ground.server_state is not None and ground.server_state() != state:
            raise RestoreError("The site's server is in another state than at that step.")
        return ()


class UrlWithFields:
    """Opens the step's URL anew and puts its form fields, scroll position and focus back."""

    name = "URL with fields"
    restores = (
        "The URL, what fields held, scroll and focus; the state of a bundled site's server. "
        "Not what scripts kept in memory."
    )
    provenance: Provenance = "restored"

    def unfit(self, checkpoint: Checkpoint) -> str:
        if not checkpoint.observation.url.startswith(("http:", "https:", "file:", "data:", "about:")):
            return f"{checkpoint.observation.url or 'A page without a URL'} cannot be opened by its URL."
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> tuple[str, ...]:
        recorded = checkpoint.observation
        if checkpoint.server_state and ground.put_server_back is not None:
            await ground.put_server_back(checkpoint.server_state)
        if recorded.url != BLANK:
            # The same address again, or another fragment of it, would not load the page.
            await ground.tabs.goto(BLANK)
        await ground.tabs.goto(recorded.url)
        remarks = await _put_fields_back(recorded, ground)
        await _scroll_and_focus(recorded, ground)
        return remarks


class ReplayFromStart:
    """Begins the task anew in a clean profile and does again what was done until the step."""

    name = "replay from the start"
    restores = (
        "Everything that follows from the actions, scripts' memory too. "
        "What they do at a server is done a second time, unless it is a bundled site's."
    )
    provenance: Provenance = "replayed"

    def unfit(self, checkpoint: Checkpoint) -> str:
        return ""

    async def restore(self, checkpoint: Checkpoint, ground: Ground) -> tuple[str, ...]:
        await ground.reopen()
        remarks: list[str] = []
        for done in checkpoint.inputs:
            now = await ground.read()
            action, remark = await retarget(done.action, done.marks, now, ground.choose)
            if remark:
                remarks.append(f"Step {done.step}: {remark}")
            before = ground.tabs.mark()
            try:
                await ground.actor.act(action)
            except ActionError as error:
                raise RestoreError(
                    f"Step {done.step}, {done.action}, could not be done again: {error}"
                ) from error
            await ground.tabs.settle(before)
        return tuple(remarks)


STRATEGIES: tuple[Strategy, ...] = (AsItIs(), UrlWithFields(), ReplayFromStart())
"""From the cheapest to the dearest."""


async def retarget(
    action: Action, marks: Marks, now: Observation, choose: Choose | None = None
) -> tuple[Action, str]:
    """Return `action` with its refs those of the page as it is now, and a remark where that was chosen, not known.

    Raises RestoreError where an element is not found again.
    """
    changes: dict[str, RefTarget] = {}
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
                remarks.append(f"{_called(element)} was chosen among {len(found.candidates)}, not known.")
        if chosen is None:
            raise RestoreError(f"{_called(element)} was not found again: {found.why}")
        changes[part] = RefTarget(ref=chosen.ref)
    return (action.model_copy(update=changes) if changes else action), " ".join(remarks)


async def _put_fields_back(recorded: Observation, ground: Ground) -> tuple[str, ...]:
    remarks: list[str] = []
    now = await ground.read()
    for element in recorded.elements:
        if not {"type", "select", "check"} & set(element.uses) or {"disabled", "readonly"} & set(
            element.states
        ):
            continue
        found = find_again(element, recorded, now)
        if found.element is None:
            if _holds_something(element):
                remarks.append(f"{_called(element)} was not put back: {found.why}")
            continue
        for action in _to_put_back(element, found.element):
            if isinstance(action, str):
                remarks.append(action)
                continue
            try:
                before = ground.tabs.mark()
                await ground.actor.act(action)
                await ground.tabs.settle(before)
            except (ActionError, PageGone) as error:
                remarks.append(f"{_called(element)} was not put back: {error}")
                break
            now = await ground.read()
            if now.element(found.element.ref) is None:
                break
    return tuple(remarks)


def _to_put_back(element: Element, now: Element) -> list[Action | str]:
    """Return the actions that give `now` what `element` held, and a remark for what cannot be given."""
    target = RefTarget(ref=now.ref)
    if "select" in element.uses and element.options:
        chosen = next((one for one in element.options if one.selected), None)
        held = next((one for one in now.options if one.selected), None)
        if chosen is None or (held is not None and held.value == chosen.value):
            return []
        return [Select(target=target, option=chosen.label or chosen.value)]
    if "check" in element.uses:
        wanted = "checked" in element.states
        if wanted == ("checked" in now.states) or (not wanted and element.role == "radio"):
            return []
        return [Check(target=target, checked=wanted)]
    if "type" in element.uses and element.value != now.value:
        if element.value and set(element.value) == {SECRET}:
            return [f"{_called(element)} was not put back: a password is not recorded."]
        return [Type(target=target, text=element.value)]
    return []


def _holds_something(element: Element) -> bool:
    return bool(element.value) or "checked" in element.states


async def _scroll_and_focus(recorded: Observation, ground: Ground) -> None:
    page = ground.tabs.current
    focused = next((one for one in reversed(recorded.elements) if "focused" in one.states), None)
    if focused is not None:
        found: FoundAgain = find_again(focused, recorded, await ground.read())
        if found.element is not None:
            await page.evaluate(f"__backstep.byRef({found.element.ref})?.focus({{preventScroll: true}})")
    else:
        await page.evaluate("document.activeElement?.blur?.()")
    x, y = recorded.scroll
    await page.evaluate(f"window.scrollTo({{left: {x}, top: {y}, behavior: 'instant'}})")


def _called(element: Element) -> str:
    return f'{element.role} "{element.name}"' if element.name else element.role
