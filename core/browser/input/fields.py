"""Fills in fields: text, sliders, options, checkboxes, files."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from core.browser.channel import FrameLink
from core.browser.input.mouse_and_keys import TYPED_BY_KEYS, click, press, typed
from core.browser.input.sliders import SliderPlace, bring_to
from core.browser.locating import Filled, Located, frame_of, locate, require, resolve
from core.browser.page import Page
from core.browser.settling import SettleMark, mark, settle
from core.schema import action as kinds
from core.schema.action import Target
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import HIDDEN_TEXT, is_hidden
from core.system.paths import expanded
from core.system.patience import within

_NO_FILE_FIELD = "is not a file field"
"""What the walker says of an element that takes no file."""
_CHOOSER_SECONDS = 3.0
"""So long a page may take after a click to ask for a file."""
_DRAWN_MILLISECONDS = 300
"""The most that an editor, a slider or a box is given to show what it was set to."""
_FILTERED_MILLISECONDS = 600
"""The most that a list is given after the last key to show what fits: many look only 300 ms later."""


async def type_text(page: Page, action: kinds.Type, passwords: dict[str, str]) -> Located:
    """Type a text, or of `passwords` that of the field where the text is bullets; raises ActionError.

    What is typed into a field that hides it is noted there, by origin and XPath.
    In a list of options the one with this label or value is chosen.
    """
    if isinstance(action.target, kinds.FocusTarget):
        ref, frame = await resolve(page, action.target)
        found = Located(ref=ref, label=await _label(page, ref, frame), frame=frame.id if frame else "")
    else:
        found = await locate(page, action.target)
        frame = await frame_of(page, found.ref)
    answer = await page.walker("ready", found.ref, action.append, frame=frame)
    require(answer, f"[{found.ref}] {found.label}")
    if answer.get("hides"):
        action = action.replace(text=_typed_before(action.text, found, passwords, answer["place"]))
        passwords[answer["place"]] = action.text
    keyboard, since = page.playwright_page.keyboard, mark(page)
    if answer.get("list"):
        chosen = await choose(page, kinds.Select(target=kinds.RefTarget(ref=found.ref), option=action.text))
        if action.enter:
            await typed(page, keyboard.press("Enter"))
        return chosen.replace(note="It is a list: the option was chosen.")
    if "editor" in answer:
        await _write(page, action, found, frame, answer["editor"])
    elif answer.get("slider"):
        found = await _slide(page, action.text, found, frame)
    elif answer.get("assign"):
        answer = await page.walker("assign", found.ref, action.text, False, frame=frame)
        require(answer, f"[{found.ref}] {found.label}")
        if found.type == "range":
            if answer.get("key"):
                await press(page, answer["key"])
            try:
                found = await _slide(page, action.text, found, frame)
            except ActionError:  # The page keeps the keys from it.
                await page.walker("assign", found.ref, action.text, True, frame=frame)
                found = await _slide(page, action.text, found, frame)
    elif not action.text:
        if not action.append and not answer.get("empty"):
            await typed(page, keyboard.press("Delete"))
    elif len(action.text) > TYPED_BY_KEYS:
        await typed(page, keyboard.insert_text(action.text[:-1]))
        await typed(page, keyboard.type(action.text[-1]))
    else:
        await typed(page, keyboard.type(action.text))
    if action.text and not {"editor", "slider", "assign"} & set(answer):
        await _until_filtered(page, found, frame, since)
    before = answer.get("value")
    part = action.append and before is None
    filled = Filled(
        ref=found.ref,
        kind="part" if part else "text",
        value=f"{before}{action.text}" if action.append and not part else action.text,
    )
    found = found.replace(filled=filled)
    if action.enter:
        # Afterwards the field may well be empty, for its text was taken.
        differs = await difference(page, found)
        await typed(page, keyboard.press("Enter"))
        found = found.replace(note=f"{found.note} {differs}".strip(), filled=None)
    return found


async def difference(page: Page, found: Located) -> str:
    """Return a sentence that says what a field holds instead of what was put into it, if it is still there.

    Raises PageGone, ActionError and BrowserError.
    """
    filled = found.filled
    if filled is None:
        return ""
    frame = await frame_of(page, filled.ref)
    holds: str | None = await page.walker("differs", filled.ref, filled.kind, filled.value, frame=frame)
    if holds is None:
        return ""
    if filled.kind == "box":
        return f"It is now {holds}."
    holds = f'"{holds}"' if holds else "nothing"
    return f"The {'list' if 'option' in filled.kind else 'field'} now holds {holds}."


def _typed_before(text: str, found: Located, passwords: dict[str, str], place: str) -> str:
    """Return the text, or what was typed into the field before if it is bullets; raises ActionError."""
    if not is_hidden(text):
        return text
    known = next((one for one in map(passwords.get, (place, text)) if one and len(one) == len(text)), None)
    if known is None:
        raise ActionError(f"[{found.ref}] {found.label}: {HIDDEN_TEXT}")
    return known


async def _until_filtered(page: Page, found: Located, frame: FrameLink | None, since: SettleMark) -> None:
    """Wait until a list that the field filters shows what fits, also one that a server answers."""
    late = await page.walker("filtered", found.ref, _FILTERED_MILLISECONDS, frame=frame) == "late"
    if late and page.requests.open_since(since.requests):
        await settle(page, since)
        await page.walker("filtered", found.ref, _DRAWN_MILLISECONDS, frame=frame)


async def choose(page: Page, action: kinds.Select) -> Located:
    found = await locate(page, action.target)
    frame = await frame_of(page, found.ref)
    answer = await page.walker("choose", found.ref, action.option, action.selected, frame=frame)
    require(answer, f"[{found.ref}] {found.label}")
    kind: Literal["option", "no option"] = "option" if action.selected else "no option"
    return found.replace(filled=Filled(ref=found.ref, kind=kind, value=action.option))


async def check(page: Page, action: kinds.Check) -> Located:
    ref, frame = await resolve(page, action.target)
    before = await page.walker("isChecked", ref, frame=frame)
    require(before, f"[{ref}]")
    filled = Filled(ref=ref, kind="box", value=action.checked)
    if before["checked"] == action.checked and not before["mixed"]:
        return (await locate(page, kinds.RefTarget(ref=ref))).replace(filled=filled)
    if before["radio"] and not action.checked:
        raise ActionError(
            f"[{ref}] is a radio button, which cannot be cleared; choose another one of its group."
        )
    # From a mixed state the first click may lead to either of the others.
    for _ in range(2 if before["mixed"] else 1):
        found = await click(page, kinds.RefTarget(ref=ref))
        after = await page.walker("isChecked", ref, frame=frame)
        if after.get("checked") != action.checked or after["mixed"]:
            await page.walker("settle", _DRAWN_MILLISECONDS, 2, frame=frame)
            after = await page.walker("isChecked", ref, frame=frame)
        if "problem" in after:  # Choosing an entry of a menu closes it.
            return found
        if after["checked"] == action.checked and not after["mixed"]:
            return found.replace(filled=filled)
    state = "mixed" if after["mixed"] else "checked" if after["checked"] else "not checked"
    raise ActionError(f"[{ref}] {found.label} is {state} after it was clicked.")


async def upload(page: Page, action: kinds.Upload) -> Located:
    paths = [_existing(path) for path in action.paths]
    ref, frame = await resolve(page, action.target)
    link = frame or page.main_frame()
    answer = await page.walker("fileField", ref, frame=link)
    if answer.get("problem") == _NO_FILE_FIELD:
        return await _upload_where_asked(page, action.target, paths, link)
    require(answer, f"[{ref}]")
    handle = await page.send(
        "Runtime.evaluate",
        {"expression": f"__backstep.byRef({answer['ref']})", "contextId": await page.world(link)},
        session=link.session,
    )
    await page.send(
        "DOM.setFileInputFiles",
        {"files": paths, "objectId": handle["result"]["objectId"]},
        session=link.session,
    )
    filled = Filled(ref=answer["ref"], kind="files", value=tuple(Path(path).name for path in paths))
    return Located(ref=ref, label=await _label(page, ref, frame), frame=link.id, filled=filled)


async def _write(
    page: Page, action: kinds.Type, found: Located, frame: FrameLink | None, before: str
) -> None:
    """Put a text into an editor that draws its lines itself; raises ActionError if it takes none."""
    keyboard = page.playwright_page.keyboard
    await typed(page, keyboard.press("ControlOrMeta+End" if action.append else "ControlOrMeta+a"))
    if not action.text:
        if not action.append:
            await typed(page, keyboard.press("Delete"))
    elif not await page.walker("paste", found.ref, action.text, frame=frame):
        await typed(page, keyboard.insert_text(action.text))
    await page.walker("settle", _DRAWN_MILLISECONDS, 2, frame=frame)
    after = await page.walker("written", found.ref, frame=frame)
    changes = bool(action.text) if action.append else action.text != before
    if after is not None and after == before and changes:
        raise ActionError(f"[{found.ref}] {found.label} did not accept the text; it may be read-only.")


async def _slide(page: Page, text: str, found: Located, frame: FrameLink | None) -> Located:
    """Bring a slider to a value by keys, unless it is there; raises ActionError if it cannot be reached."""
    what = f"[{found.ref}] {found.label}"

    async def stand() -> SliderPlace:
        await page.walker("settle", _DRAWN_MILLISECONDS, 1, frame=frame)
        answer = await page.walker("slid", found.ref, frame=frame)
        require(answer, what)
        return SliderPlace.model_validate(answer)

    async def press_often(key: str, times: int) -> None:
        for _ in range(times):
            await press(page, key)

    reached = await bring_to(text, what, stand, press_often)
    return found.replace(note=f"{what} is at {reached} now.")


async def _label(page: Page, ref: int, frame: FrameLink | None) -> str:
    return str(await page.walker("labelOf", ref, frame=frame))


async def _upload_where_asked(page: Page, target: Target, paths: list[str], link: FrameLink) -> Located:
    """Click what asks for files, and give them to the field that asks; no chooser is shown meanwhile."""
    session, asked = link.session.session, asyncio.get_running_loop().create_future()

    def note(event: dict[str, Any]) -> None:
        if not asked.done():
            asked.set_result(event)

    session.on("Page.fileChooserOpened", note)
    intercept = "Page.setInterceptFileChooserDialog"
    await page.send(intercept, {"enabled": True}, session=link.session)
    try:
        found = await click(page, target, 1)
        async with within(_CHOOSER_SECONDS):
            event = await asked
        if "backendNodeId" not in event:
            raise ActionError(f"{found.label} opens a file dialog that only a person can use.")
        node = event["backendNodeId"]
        filled = None
        with suppress(ActionError, BrowserError):  # It may be in another document, and goes uncompared then.
            field = await page.call_on(await page.resolved(node, link), "refOf", link)
            filled = Filled(ref=int(field), kind="files", value=tuple(Path(path).name for path in paths))
        files = {"files": paths, "backendNodeId": node}
        await page.send("DOM.setFileInputFiles", files, session=link.session)
    except TimeoutError:
        raise ActionError(
            f"{found.label} is not a file field, and clicking it opened no file dialog; name a file field, "
            "or a button that opens a file dialog."
        ) from None
    finally:
        session.remove_listener("Page.fileChooserOpened", note)
        await page.send(intercept, {"enabled": False}, session=link.session)
    return found.replace(filled=filled)


def _existing(path: str) -> str:
    found = expanded(path).absolute()
    if not os.path.isfile(found):
        raise ActionError(f"The file to upload does not exist: {found}.")
    return str(found)
