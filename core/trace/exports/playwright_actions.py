"""One action as lines of Python that do it with Playwright, on the page that the script calls ``page``."""

import json
from urllib.parse import urlsplit

from core.browser.keys import chord
from core.schema.action import (
    Action,
    Check,
    Click,
    CloseTab,
    DoubleClick,
    Drag,
    FocusTarget,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    RefTarget,
    RoleTarget,
    Scroll,
    Select,
    TabFocus,
    Target,
    Type,
    Upload,
    Wait,
    XPathTarget,
)
from core.schema.observation import Element, Observation

ROLES = frozenset(
    "button cell checkbox columnheader combobox gridcell heading img link listbox menuitem menuitemcheckbox"
    " menuitemradio option progressbar radio row rowheader scrollbar searchbox slider spinbutton switch tab"
    " textbox tooltip treeitem".split()
)
"""Roles whose name Playwright tells as we do; elements of others are found by their XPath, or by their words."""

_SIDES = {"up": (0, -0.8), "down": (0, 0.8), "left": (-0.8, 0), "right": (0.8, 0)}
"""How far an action scrolls, across and down, as a part of what is shown."""


class CannotBeToldError(Exception):
    """Says why an action has no lines, in words that go after ``it``."""


def literal(text: str) -> str:
    """Return the text as a string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def lines_of(action: Action, seen: Observation | None, xpath: str, start_url: str) -> list[str]:
    """Return the lines that repeat the action; raises CannotBeToldError.

    `seen` is the page that its refs belong to, `xpath` that of its first
    element as it was found, `start_url` where the run began: addresses there
    are told by their paths, for it may be served elsewhere now.
    """

    def on(target: Target, path: str = xpath) -> str:
        return _locator(target, seen, path, start_url)

    match action:
        case Click():
            return [f"{on(action.target)}.click()"]
        case DoubleClick():
            return [f"{on(action.target)}.dblclick()"]
        case Hover():
            return [f"{on(action.target)}.hover()"]
        case Type():
            append = ", append=True" if action.append else ""
            lines = [f"type_into({on(action.target)}, {literal(action.text)}{append})"]
            return [*lines, 'page.keyboard.press("Enter")'] if action.enter else lines
        case Press():
            return [f"page.keyboard.press({literal(chord(action.keys))})"]
        case Scroll():
            what = on(action.target) if action.target is not None else 'page.locator("html")'
            across, down = _SIDES[action.direction]
            return [f"scroll({what}, across={across}, down={down})"]
        case Select():
            return [f"{on(action.target)}.select_option({_options(action, seen)})"]
        case Check():
            return [f"{on(action.target)}.set_checked({action.checked})"]
        case Drag():
            return [f"drag({on(action.target)}, {on(action.to, '')})"]
        case Upload():
            return [f"{on(action.target)}.set_input_files({literal(action.path)})"]
        case Goto():
            return [f"page.goto({address(action.url, start_url)})"]
        case GoBack():
            return ["page.go_back()"]
        case GoForward():
            return ["page.go_forward()"]
        case NewTab():
            return ["page = context.new_page()"]
        case TabFocus():
            return [f"page = context.pages[{action.index}]", "page.bring_to_front()"]
        case CloseTab():
            return ["page.close()", "page = context.pages[-1]"]
        case Wait():
            return [f"page.wait_for_timeout({action.seconds * 1000:.0f})"]
    raise CannotBeToldError(f"{action.name} is no action of Playwright's")


def address(url: str, start_url: str) -> str:
    """Return the URL as an expression: from the script's start address where it lies on the same site."""
    parts, start = urlsplit(url), urlsplit(start_url)
    if start.scheme in ("http", "https") and (parts.scheme, parts.netloc) == (start.scheme, start.netloc):
        return f"urljoin(start, {literal(parts._replace(scheme='', netloc='').geturl() or '/')})"
    return literal(url)


def _locator(target: Target, seen: Observation | None, xpath: str, start_url: str) -> str:
    match target:
        case FocusTarget():
            return 'page.locator(":focus")'
        case XPathTarget():
            return f"page.locator({literal(f'xpath={target.xpath}')})"
        case RoleTarget():
            if target.role not in ROLES:
                return _by_xpath(xpath)
            return _either(f"page.{_by_role(target.role, target.name)}", xpath)
        case RefTarget():
            element = seen.element(target.ref) if seen is not None else None
            if seen is None or element is None:
                return _by_xpath(xpath)
            return _of_element(element, seen, xpath, start_url)


def _of_element(element: Element, seen: Observation, xpath: str, start_url: str) -> str:
    scope = _scope(element, seen, start_url)
    if not element.name or (xpath and element.role not in ROLES):
        return _by_xpath(xpath, scope)
    alike = [
        one.ref
        for one in seen.elements
        if (one.role, one.name, one.frame) == (element.role, element.name, element.frame)
    ]
    named = f"{scope}.get_by_text({literal(element.name)}, exact=True)"
    if element.role in ROLES:
        named = f"{scope}.{_by_role(element.role, element.name)}"
    if len(alike) > 1:
        named += f".nth({alike.index(element.ref)})"
    return _either(named, xpath, scope)


def _either(named: str, xpath: str, scope: str = "page") -> str:
    return f"one({named}, {_by_xpath(xpath, scope)})" if xpath else named


def _by_role(role: str, name: str) -> str:
    return f"get_by_role({literal(role)}, name={literal(name)}, exact=True)"


def _by_xpath(xpath: str, scope: str = "page") -> str:
    if not xpath:
        raise CannotBeToldError("its element was recorded neither by role and name nor by an XPath")
    return f"{scope}.locator({literal(f'xpath={xpath}')})"


def _scope(element: Element, seen: Observation, start_url: str) -> str:
    """Return the page, or the frame in it that the element lies in."""
    if element.frame == 0 or element.frame >= len(seen.frames):
        return "page"
    frame = seen.frames[element.frame]
    by = f"name={literal(frame.name)}" if frame.name else f"url={address(frame.url, start_url)}"
    return f"frame(page, {by})"


def _options(action: Select, seen: Observation | None) -> str:
    """Return what to choose: the option's label as the page had it, and what was chosen where several may be."""
    target = action.target
    element = seen.element(target.ref) if seen is not None and isinstance(target, RefTarget) else None
    if element is None or not element.options:
        return literal(action.option)
    wanted = " ".join(action.option.split())
    named = [one.label for one in element.options if one.label == wanted]
    named += [one.label for one in element.options if one.value == action.option]
    named += [one.label for one in element.options if one.label.lower() == wanted.lower()]
    label = named[0] if named else action.option
    if element.role == "listbox":
        chosen = [one.label for one in element.options if one.selected and one.label != label]
        if chosen:
            return f"label=[{', '.join(literal(one) for one in (*chosen, label))}]"
    return f"label={literal(label)}"
