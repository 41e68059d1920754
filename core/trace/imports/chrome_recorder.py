"""Imports recordings of Chrome DevTools' Recorder panel (the JSON of @puppeteer/replay) as runs of a person."""

import json
import re
from typing import Any

from cssselect import HTMLTranslator, SelectorError
from lxml.etree import XPath, XPathSyntaxError  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, ValidationError

from core.schema import action as kinds
from core.schema.action import Action, Target
from core.schema.hiding import Secrets
from core.schema.record import Record
from core.schema.secrets import Kind, kind_of_name, kind_of_selector
from core.settings.file_kinds import is_recording
from core.trace.imports.records import (
    FaultyError,
    FileEntry,
    ImportedRun,
    ImportedStep,
    first_reason,
    hidden_in,
)

_NEEDED = {
    "navigate": ("url",),
    "click": ("selectors",),
    "doubleClick": ("selectors",),
    "hover": ("selectors",),
    "change": ("selectors", "value"),
    "keyDown": ("key",),
    "keyUp": ("key",),
    "scroll": (),
    "close": (),
    "setViewport": (),
    "emulateNetworkConditions": (),
    "waitForElement": (),
    "waitForExpression": (),
    "customStep": (),
}
"""The fields that each kind of step has to have."""
_NO_ACTIONS = {
    "setViewport": "it sets up the window",
    "emulateNetworkConditions": "it sets up the network",
    "waitForElement": "it only waits",
    "waitForExpression": "it only waits",
    "customStep": "it belongs to an extension of the recorder",
    "keyUp": "it releases a key",
}
_MODIFIERS = ("Control", "Shift", "Alt", "Meta")
_NO_TARGET = "Its selector goes through a shadow root or has no XPath: it cannot be repeated."
_KEYS = {"\r": "Enter", "\n": "Enter", " ": "Space"}
_ATTRIBUTE = re.compile(
    r"""\[\s*(?P<key>name|role)\s*=\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*\]""", re.DOTALL
)
_ROLE = r"[a-z]+(?:-[a-z]+)*"
_SELECT = re.compile(r"(?:^|[\s>/])select(?:\[[^\]]*\]|[.#:][\w-]+(?:\(\d+\))?)*$")
_BUTTONS = {
    "auxiliary": "middle_click",
    "back": "go_back",
    "forward": "go_forward",
}


class _Asserted(BaseModel):
    model_config = ConfigDict(extra="ignore")
    type: str = ""
    url: str | None = None
    title: str | None = None


class _Step(BaseModel):
    """One entry, whatever its kind."""

    model_config = ConfigDict(extra="ignore")
    type: str
    url: str = ""
    selectors: list[str | list[str]] = []
    value: str = ""
    key: str = ""
    button: str = "primary"
    x: float | None = None
    y: float | None = None
    target: str = "main"
    frame: tuple[int, ...] = ()
    assertedEvents: list[_Asserted] = []  # noqa: N815 (the file's own name)


class _Found(Record):
    """An element as an action names it, and in words."""

    target: Target | None
    """None if no target of ours says it."""
    words: str
    selector: str
    xpath: str = ""
    is_select: bool = False


def is_chrome_recording(document: object) -> bool:
    return isinstance(document, dict) and is_recording(document)


def read_chrome_recording(document: dict[str, Any]) -> ImportedRun:
    """Return the run; the first address opened is where it starts, and no step.

    What was typed into fields for secrets is bullets, as in runs of our own.
    """
    secrets = Secrets()
    run = _read(document, secrets)
    return _read(hidden_in(document, secrets), secrets) if len(secrets) else run


def _read(document: dict[str, Any], secrets: Secrets) -> ImportedRun:
    """Return the run, and note the secrets that were typed: they may stand anywhere in the file."""
    reading = _Reading(secrets)
    for number, entry in enumerate(document["steps"]):
        reading.take(f"steps[{number}]", entry)
    title = document.get("title")
    return ImportedRun(
        origin="person",
        made_with="Chrome DevTools Recorder",
        instruction=title if isinstance(title, str) else "",
        start_url=reading.start_url,
        steps=tuple(reading.steps),
        left_out=tuple(reading.left_out),
        faulty=tuple(reading.faulty),
    )


class _Reading:
    """Reads the entries in order, and tracks the page, its scroll position and the held keys."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self.start_url = ""
        self.steps: list[ImportedStep] = []
        self.left_out: list[FileEntry] = []
        self.faulty: list[FileEntry] = []
        self._url = self._title = ""
        self._scrolled = (0.0, 0.0)
        self._held: list[str] = []

    def take(self, position: str, entry: object) -> None:
        try:
            step = _valid(entry)
            why = self._no_action(step)
            if why:
                self.left_out.append(FileEntry(position=position, why=why))
            else:
                self.steps.append(self._step(position, step))
        except (FaultyError, ValidationError) as error:
            # An action may refuse what the format allows, such as an empty key.
            why = first_reason(error) if isinstance(error, ValidationError) else str(error)
            self.faulty.append(FileEntry(position=position, why=why))
            return
        self._move_on(step)

    def _no_action(self, step: _Step) -> str:
        """Return why an entry is not a step, or nothing; takes note of keys that are held."""
        modifier = _modifier(step.key)
        if step.type == "keyUp" and modifier in self._held:
            self._held.remove(modifier)
        if step.type == "keyDown" and modifier:
            self._held.append(modifier)
            return "it holds a key for the following steps"
        if step.type == "navigate" and not self.start_url and not self.steps:
            self.start_url = step.url
            return "it is where the run starts"
        return _NO_ACTIONS.get(step.type, "")

    def _step(self, position: str, step: _Step) -> ImportedStep:
        if step.type == "change" and (kind := _kind(step)) is not None:
            typed, step.value = step.value, "•" * len(step.value)
            self._secrets.add(kind, typed, step.value)
            # What is in a field is a text selector of it, too.
            step.selectors = [one for one in step.selectors if f"text/{typed}" not in (one, *one[-1:])]
        found = _found(step) if step.selectors else None
        action, message = self._action(step, found)
        there = step.target if "://" in step.target else self._url
        return ImportedStep(
            position=position,
            action=action,
            target=found.words if found is not None else _in_frame(step).strip(),
            xpath=found.xpath if found is not None else "",
            frames=step.frame,
            url=there,
            title=self._title if there == self._url else "",
            message=message,
        )

    def _action(self, step: _Step, found: _Found | None) -> tuple[Action, str]:
        """Return the action, and what the recording tells of it beyond that."""
        match step.type:
            case "navigate":
                return kinds.Goto(url=step.url), ""
            case "keyDown":
                key = _KEYS.get(step.key, step.key)
                return kinds.Press(keys="+".join([*dict.fromkeys(self._held), key])), ""
            case "close":
                return kinds.CloseTab(), ""
            case "scroll" if found is None or found.target is not None:
                return self._scroll(step, found)
        assert found is not None
        if found.target is None:
            given = (found.selector, step.value) if step.type == "change" else (found.selector,)
            return kinds.Named(name=f"{step.type}_by_selector", arguments=given), _NO_TARGET
        held = "+".join(dict.fromkeys(self._held))
        beside = f"{held} was held." if held else ""
        match step.type:
            case "doubleClick" if step.button != "primary":
                return kinds.Named(name=f"double_{step.button}_click", arguments=(str(found.target),)), beside
            case "doubleClick":
                return kinds.DoubleClick(target=found.target), beside
            case "hover":
                return kinds.Hover(target=found.target), beside
            case "change" if found.is_select:
                return kinds.Select(target=found.target, option=step.value), ""
            case "change":
                return kinds.Type(target=found.target, text=step.value), ""
        if step.button == "secondary":
            return kinds.RightClick(target=found.target), beside
        if step.button in _BUTTONS:
            return kinds.Named(name=_BUTTONS[step.button], arguments=(str(found.target),)), beside
        return kinds.Click(target=found.target, keys=held), ""

    def _scroll(self, step: _Step, found: _Found | None) -> tuple[Action, str]:
        """Return the direction of a scroll; the recording tells the place, which no action of ours has."""
        x, y = step.x or 0.0, step.y or 0.0
        before = (0.0, 0.0) if found is not None else self._scrolled
        across, down = x - before[0], y - before[1]
        if abs(across) > abs(down):
            action = kinds.Scroll(direction="right" if across > 0 else "left", target=found and found.target)
        else:
            action = kinds.Scroll(direction="up" if down < 0 else "down", target=found and found.target)
        if found is None:
            self._scrolled = (x, y)
        return action, f"Scrolled to {x:g}, {y:g}."

    def _move_on(self, step: _Step) -> None:
        if step.type == "navigate":
            self._url, self._title, self._scrolled = step.url, "", (0.0, 0.0)
        for event in step.assertedEvents:
            if event.type == "navigation" and event.url:
                self._url, self._title, self._scrolled = event.url, event.title or "", (0.0, 0.0)


def _valid(entry: object) -> _Step:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise FaultyError('it has no type: a step is an object such as {"type": "click", …}')
    kind = entry["type"]
    if kind not in _NEEDED:
        raise FaultyError(f"there is no step type {kind!r}")
    missing = [name for name in _NEEDED[kind] if entry.get(name) in (None, [])]
    if missing:
        raise FaultyError(f"a {kind} needs {' and '.join(missing)}")
    try:
        return _Step.model_validate({key: value for key, value in entry.items() if value is not None})
    except ValidationError as error:
        raise FaultyError(first_reason(error)) from error


def _modifier(key: str) -> str:
    plain = key.removesuffix("Left").removesuffix("Right")
    return plain if plain in _MODIFIERS else ""


def _kind(step: _Step) -> Kind | None:
    """Return which kind of secret was typed, by the selectors of the field."""
    for one in step.selectors:
        last = one if isinstance(one, str) else one[-1] if one else ""
        if last.startswith("aria/"):
            kind = kind_of_name(_aria(last.removeprefix("aria/"))[1], step.value)
        elif last.startswith("text/"):
            continue
        elif _SELECT.search(last):
            return None  # Options of a list are no secrets.
        else:
            kind = kind_of_selector(last.removeprefix("pierce/").removeprefix("xpath/"), step.value)
        if kind is not None:
            return kind
    return None


def _found(step: _Step) -> _Found:
    """Return the element by role and name, else by XPath, CSS, name or text; what is in a shadow root has no XPath."""
    chains = [[one] if isinstance(one, str) else one for one in step.selectors if one]
    # A selector of several parts goes through a shadow root.
    outside = [one[0] for one in chains] if all(len(one) == 1 for one in chains) else []
    aria = [_aria(chain[-1].removeprefix("aria/")) for chain in chains if chain[-1].startswith("aria/")]
    named = next((one for one in aria if re.fullmatch(_ROLE, one[0]) and one[1]), None)
    css = [one.removeprefix("pierce/") for one in outside if not one.startswith(("aria/", "xpath/", "text/"))]
    texts = [one.removeprefix("text/") for one in outside if one.startswith("text/")]
    xpaths = [one.removeprefix("xpath/") for one in outside if one.startswith("xpath/")]
    xpaths += map(css_xpath, sorted(css, key=lambda one: not re.fullmatch(r"#[\w-]+", one)))
    xpaths += [name_xpath(name) for _, name in aria if outside and name]
    xpaths += [text_xpath(text) for text in texts if text.strip()]
    xpath = next(filter(None, xpaths), "")
    selector = next((" >>> ".join(chain) for chain in chains if any(chain)), "")
    words = [f"{role} {json.dumps(name, ensure_ascii=False)}".strip() for role, name in aria if role or name]
    words += [f'"{text}"' for text in texts]
    target: Target | None = None
    if named is not None:
        target = kinds.RoleTarget(role=named[0], name=named[1])
    elif xpath:
        target = kinds.XPathTarget(xpath=xpath)
    elif not selector or selector == "xpath/":
        raise FaultyError("its selectors are empty; add one")
    return _Found(
        target=target,
        words=(words[0] if words else selector) + _in_frame(step),
        selector=selector,
        xpath=xpath,
        is_select=any(_SELECT.search(chain[-1]) for chain in chains),
    )


def _in_frame(step: _Step) -> str:
    return f" in frame {', '.join(map(str, step.frame))}" if step.frame else ""


def _aria(selector: str) -> tuple[str, str]:
    """Return the role and the name of ``Name[role="button"]``, either of which may be missing."""
    given = {one["key"]: one["value"] for one in _ATTRIBUTE.finditer(selector)}
    name = given.get("name") or _ATTRIBUTE.sub("", selector)
    return given.get("role", ""), " ".join(name.split())


_SVG = re.compile(
    r"(?<=[/:])(svg|g|path|circle|rect|use|line|polygon|polyline|ellipse|text|tspan)(?=[\[/ ]|$)"
)
"""Elements that XPath finds in an HTML document only by their local name."""
_LONGEST = 2000


def css_xpath(css: str) -> str:
    """Return the XPath of a CSS selector, or nothing for one that has none or is not understood."""
    if not css.strip() or len(css) > _LONGEST:
        return ""
    try:
        xpath = HTMLTranslator().css_to_xpath(css, prefix="//")
        XPath(xpath)
    except (SelectorError, XPathSyntaxError, ValueError, RecursionError):
        return ""
    # What depends on the pointer or the like is translated to what is never there.
    return "" if "[0]" in xpath else _SVG.sub(r'*[local-name()="\1"]', xpath)


def text_xpath(text: str) -> str:
    """Return the XPath of the innermost element with this text."""
    same = f"normalize-space()={quoted(' '.join(text.split()))}"
    return f"//*[{same} and not(*[{same}])]"


def name_xpath(name: str) -> str:
    """Return the XPath of the first element with this accessible name: by attribute, label or text."""
    wanted = quoted(" ".join(name.split()))
    same = f"normalize-space()={wanted}"
    attributes = " or ".join(f"@{one}={wanted}" for one in ("aria-label", "alt", "title", "placeholder"))
    return (
        f"(//*[{attributes} or self::input[@value={wanted}] or @id=//label[{same}]/@for"
        f" or {same} and not(*[{same}]) and not(self::label)])[1]"
    )


def quoted(text: str) -> str:
    """Return the text as XPath quotes it."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    parts = ", '\"', ".join(f'"{part}"' for part in text.split('"'))
    return f"concat({parts})"
