"""What is read of a page beside Chromium's own accessibility tree: element by element, role, name, value and states."""

from typing import Any

from core.browser.channel import FrameLink
from core.schema.errors import BrowserError
from core.schema.observation import Element
from tests.core.browser.browsing import Browsing
from tests.core.browser.test_names import OURS

_USED = frozenset(
    "button link checkbox radio switch slider spinbutton combobox textbox searchbox tab menuitem menuitemcheckbox "
    "menuitemradio option treeitem DisclosureTriangle ColorWell Date DateTime InputTime".split()
)
"""Roles of Chromium's tree that are compared: what a person can use."""
_VALUED = frozenset({"slider", "spinbutton", "textbox", "searchbox"})
_IS_SEEN = """function() {
    if (this.nodeType !== 1) return null;
    for (let box = this.parentElement; box; box = box.parentElement) {
        const style = getComputedStyle(box);
        const empty = !(box.clientWidth && box.clientHeight);
        if (empty && style.overflow !== "visible" && style.display !== "inline") return null;
    }
    const seen = el => el && el.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && el.getBoundingClientRect().width > 2 && el.getBoundingClientRect().height > 2;
    if (this.closest('[inert]') || this.localName === 'option') return null;
    const faced = this.localName === 'input' && /checkbox|radio|range/.test(this.type);
    return seen(this) || faced && [...this.labels, this.parentElement].some(seen) ? __backstep.known(this) ?? 0 : null;
}"""
"""The ref of an element that a person sees, 0 for one that was not read, null for one that nobody sees."""


async def differences(browser: Browsing) -> list[str]:
    """Return what is read otherwise than Chromium tells it, in sentences."""
    page = browser.tabs.current
    read = {one.ref: one for one in (await browser.see()).elements}
    link = page.main_frame()
    nodes = (await page.send("Accessibility.getFullAXTree", {}))["nodes"]
    found = []
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in _USED or "backendDOMNodeId" not in node:
            continue
        ref = await _ref(browser, node["backendDOMNodeId"], link)
        if ref is not None:
            found.extend(_compared(node, read.get(ref)))
    return found


async def _ref(browser: Browsing, node: int, link: FrameLink) -> int | None:
    page = browser.tabs.current
    try:
        handle = await page.resolved(node, link)
    except BrowserError:
        return None  # It has gone, or lies in another document.
    asked = {"functionDeclaration": _IS_SEEN, "objectId": handle, "returnByValue": True}
    answer = await page.send("Runtime.callFunctionOn", asked)
    ref: int | None = answer["result"].get("value")
    return ref


def _squashed(value: object) -> str:
    return " ".join(str(value).replace("\u00a0", " ").split())


def _compared(node: dict[str, Any], read: Element | None) -> list[str]:
    role = OURS.get(node["role"]["value"], node["role"]["value"])
    name = _squashed(node.get("name", {}).get("value", ""))
    what = f'{role} "{name}"'
    if read is None:
        return [f"{what} is not read"]
    # Chromium's names are as the style sheet writes them, in capitals.
    told: list[tuple[str, object, object]] = [
        ("role", role, read.role),
        ("name", name.lower(), _squashed(read.name).lower()),
    ]
    if role in _VALUED:
        told.append(("value", _squashed(node.get("value", {}).get("value", "")), _squashed(read.value)))
    theirs = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
    told.extend(_states(theirs, read))
    return [
        f"{what}: {which} is {ours!r} and not {chromium!r}"
        for which, chromium, ours in told
        if chromium != ours
    ]


def _states(theirs: dict[str, Any], read: Element) -> list[tuple[str, object, object]]:
    states = read.states
    tri = {"true": "checked", "mixed": "mixed"}
    told: list[tuple[str, object, object]] = [
        ("disabled", bool(theirs.get("disabled")), "disabled" in states),
        ("required", bool(theirs.get("required")), "required" in states),
        ("selected", bool(theirs.get("selected")), "selected" in states),
        ("invalid", theirs.get("invalid", "false") not in ("false", False), "invalid" in states),
    ]
    if "checked" in theirs:
        told.append(
            (
                "checked",
                tri.get(str(theirs["checked"]).lower(), ""),
                next((s for s in ("checked", "mixed") if s in states), ""),
            )
        )
    if "pressed" in theirs:
        told.append(("pressed", str(theirs["pressed"]).lower() == "true", "pressed" in states))
    if read.tag == "select":
        return told  # It is not opened to choose of it, and its options are always told.
    expanded = {True: "expanded", False: "collapsed", None: ""}[theirs.get("expanded")]
    told.append(("expanded", expanded, next((s for s in ("expanded", "collapsed") if s in states), "")))
    return told
