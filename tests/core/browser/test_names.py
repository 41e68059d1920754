"""The walker's roles and names against the protocol's own accessibility tree."""

import asyncio
from typing import Any

import pytest

from core.environments.miniwob import MiniWob
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

COMPARED = frozenset(
    {
        *("button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "listbox", "slider"),
        *("spinbutton", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "heading", "img"),
    }
)
OURS = {
    "image": "img",
    "DisclosureTriangle": "button",
    "ColorWell": "button",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "SvgRoot": "img",
}
"""Roles of Chromium's own, which ARIA does not know, and the role the walker gives instead."""


async def _tree(browser: Browsing) -> dict[int, tuple[str, str]]:
    """Return node to role and name, as the protocol has them."""
    page = browser.tabs.current
    await page.send("Accessibility.enable", {})
    nodes = (await page.send("Accessibility.getFullAXTree", {}))["nodes"]
    await page.send("Accessibility.disable", {})
    found: dict[int, tuple[str, str]] = {}
    for node in nodes:
        if node.get("ignored") or "backendDOMNodeId" not in node:
            continue
        role = OURS.get(node["role"]["value"], node["role"]["value"])
        if role in COMPARED:
            name = " ".join(str(node.get("name", {}).get("value", "")).split())
            found[node["backendDOMNodeId"]] = (role, name)
    return found


async def _walked(browser: Browsing) -> dict[int, tuple[str, str]]:
    """Return node to role and name, as the walker has them."""
    page = browser.tabs.current
    elements = [element for element in (await browser.see()).elements if element.role in COMPARED]
    world = await page.world(page.main_frame())

    async def node_of(ref: int) -> int:
        handle = await page.send(
            "Runtime.evaluate", {"expression": f"__backstep.byRef({ref})", "contextId": world}
        )
        node: dict[str, Any] = await page.send("DOM.describeNode", {"objectId": handle["result"]["objectId"]})
        return int(node["node"]["backendNodeId"])

    nodes = await asyncio.gather(*(node_of(element.ref) for element in elements))
    return {
        node: (element.role, " ".join(element.name.split()))
        for node, element in zip(nodes, elements, strict=True)
    }


def _expected(
    tree: dict[int, tuple[str, str]], walked: dict[int, tuple[str, str]]
) -> dict[int, tuple[str, str]]:
    """Return the tree without what the walker leaves out on purpose.

    A picture that another element's name tells already is not told again, and
    one that nobody named says nothing; neither is in the prompt.
    """
    return {node: said for node, said in tree.items() if said[0] != "img" or node in walked}


@in_browser
async def test_roles_and_names_are_those_of_the_accessibility_tree(browser: Browsing, site: Site) -> None:
    await browser.open(site.file("names.html"))
    walked, tree = await _walked(browser), await _tree(browser)
    assert len(tree) > 60
    assert walked == _expected(tree, walked)


BELIEVED = '[role=presentation][tabindex="-1"]'
"""The walker believes an element that it is nothing where the Tab key does not reach it; the browser does not."""
MINIWOB = ("book-flight", "email-inbox", "click-tab-2", "use-slider")


@pytest.mark.parametrize("task", MINIWOB)
@in_browser
async def test_roles_and_names_of_miniwob_pages_are_those_of_the_tree(browser: Browsing, task: str) -> None:
    miniwob = MiniWob()
    try:
        browser.capturer.hidden = miniwob.hidden_selectors
        one = next(known for known in miniwob.tasks() if known.id == f"miniwob/{task}")
        await miniwob.open(one, 1, browser.driver)
        walked, tree = await _walked(browser), await _tree(browser)
        away = await _inside(browser, (*miniwob.hidden_selectors, BELIEVED))
        assert walked == {node: said for node, said in _expected(tree, walked).items() if node not in away}
    finally:
        browser.capturer.hidden = ()
        await miniwob.close()


async def _inside(browser: Browsing, selectors: tuple[str, ...]) -> set[int]:
    """Return the nodes that the selectors match, and all inside them."""
    page = browser.tabs.current
    found: set[int] = set()
    root = (await page.send("DOM.getDocument", {"depth": 0}))["root"]["nodeId"]
    inside = ", ".join(f"{selector}, {selector} *" for selector in selectors)
    for node in (await page.send("DOM.querySelectorAll", {"nodeId": root, "selector": inside}))["nodeIds"]:
        described = await page.send("DOM.describeNode", {"nodeId": node})
        found.add(int(described["node"]["backendNodeId"]))
    await page.send("DOM.disable", {})
    return found
