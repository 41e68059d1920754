"""Reads what an agent does to a page from its messages to the browser.

`read` reads one message; `Fold` joins the messages of a click, a drag or typing into one act.
"""

import re
from collections.abc import Callable
from typing import Any, Literal

from core.attach.scripts import LIBRARY_WORLDS, Script, waits_for_condition
from core.schema.action import held_keys, mouse_words
from core.schema.record import Record

Message = dict[str, Any]
ActKind = Literal[
    "click",
    "type",
    "press",
    "scroll",
    "drag",
    "select",
    "upload",
    "goto",
    "reload",
    "history",  # back or forward
    "new tab",
    "close tab",
    "event",  # sent to an element by a script of the client's own
    "script",
    "change",  # of the document or its storage, without a script
    "request",  # beside the page
]

_OPTION = ("valueOrLabel", "label", "value")
"""What names the option to choose, in the arguments of Playwright's function for it."""
_SHOWN = 120
"""Letters of a script, or of a text, in the words for an act."""
_CLEARS = re.compile(r"\.value\s*=\s*(?:\"\"|'')|\.select\(\)")
_ECHOES = re.compile(r"\.dispatchEvent\(")
_SETS = re.compile(r"\.(?:click|submit|requestSubmit)\s*\(|\.(?:value|checked|selectedIndex)\s*=[^=]")
_SELECTS_ALL = ("Control+a", "Meta+a")
_EMPTIES = ("Backspace", "Delete")
_LIBRARY = 20_000
"""Letters from which a script brings functions for later, as clients do with theirs, rather than acts."""
_NAMED_KEY = 2
"""Letters from which a key has a name, such as ``Enter``."""
_MODIFIERS = ((2, "Control"), (1, "Alt"), (4, "Meta"), (8, "Shift"))
_MODIFIER_KEYS = tuple(name for _, name in _MODIFIERS)


class PageAct(Record):
    """One thing that an agent does to a page."""

    kind: ActKind
    x: float | None = None
    y: float | None = None
    """Where, in CSS pixels of the viewport."""
    to_x: float | None = None
    to_y: float | None = None
    """Where a drag has come to."""
    text: str = ""
    """What is typed, the key, the address, or the words of a script."""
    clicks: int = 1
    button: str = "left"
    held: int = 0
    """The keys held meanwhile, as the protocol counts them."""
    dx: float = 0.0
    dy: float = 0.0
    """How far it scrolls."""
    files: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    """The protocol's handles that the message names; the element is the first of them that is one."""
    doubtful: bool = False
    """Whether it is a script that may act, or only read: tried, it was stopped."""

    def __str__(self) -> str:
        place = "" if self.x is None or self.y is None else f" at {self.x:g}, {self.y:g}"
        words = " ".join(self.text.split())
        said = f" {words[:_SHOWN]}{'…' * (len(words) > _SHOWN)}" if words else ""
        kind = (
            mouse_words(self.button, self.clicks, held_keys(self.held)) if self.kind == "click" else self.kind
        )
        return f"{kind}{said}{place}"


class ActPart(Record):
    """The part of one message in an act."""

    act: PageAct
    begins: bool = True
    """Whether it begins an act; without it continues with the one before."""
    announces: bool = False
    """Whether it only prepares the page for the act, whose own messages follow."""
    clears: bool = False
    """Whether it selects or empties what is in a field, as before typing."""
    letterless: bool = False
    """Whether a key went down without its letter, which may follow."""
    echoes: bool = False
    """Whether it only sends the page events, as clients do after typing."""
    passes: bool = False
    """Whether it is let through unheld: what it does is known from its effect alone."""


def read(message: Message, script: Script | None = None) -> ActPart | None:
    """Return what a message does to a page, or None if it only reads or prepares; `script` is what it runs.

    A script of the agent's is `doubtful` until it was tried.
    """
    if script is not None:
        return _script(script)
    method, given = message.get("method", ""), message.get("params") or {}
    if (changed := _CHANGES.get(method)) is not None:
        objects = tuple(filter(None, [given.get("objectId")]))
        return ActPart(act=PageAct(kind="change", text=changed, objects=objects))
    reader = _READERS.get(method)
    return None if reader is None else reader(given)


def _mouse(given: Message) -> ActPart | None:
    place = {"x": given.get("x"), "y": given.get("y")}
    match given.get("type"):
        case "mousePressed":
            clicks, button = int(given.get("clickCount") or 1), str(given.get("button", "left"))
            held = int(given.get("modifiers") or 0)
            act = PageAct(kind="click", clicks=clicks, button=button, held=held, **place)
            return ActPart(act=act, begins=clicks <= 1)
        case "mouseReleased":
            return ActPart(act=PageAct(kind="click", **place), begins=False)
        case "mouseMoved" if given.get("buttons"):
            return ActPart(act=PageAct(kind="drag", **place), begins=False)
        case "mouseWheel":
            moved = {"dx": given.get("deltaX", 0), "dy": given.get("deltaY", 0)}
            return ActPart(act=PageAct(kind="scroll", **moved, **place))
    return None


def _drag(given: Message) -> ActPart | None:
    return ActPart(act=PageAct(kind="drag", x=given.get("x"), y=given.get("y")), begins=False)


def _touch(given: Message) -> ActPart | None:
    if given.get("type") != "touchStart" or not given.get("touchPoints"):
        return ActPart(act=PageAct(kind="click"), begins=False)
    point = given["touchPoints"][0]
    return ActPart(act=PageAct(kind="click", x=point.get("x"), y=point.get("y")))


def _key(given: Message) -> ActPart | None:
    key, text = str(given.get("key", "")), str(given.get("text", ""))
    modifiers = int(given.get("modifiers") or 0)
    kind = given.get("type")
    if kind == "keyUp" or key in _MODIFIER_KEYS:
        return ActPart(act=PageAct(kind="press", text=key), begins=False)
    if kind == "char":
        return ActPart(act=PageAct(kind="type", text=text)) if text.isprintable() and text else None
    if len(key) < _NAMED_KEY and text and not modifiers & ~8:
        return ActPart(act=PageAct(kind="type", text=text))
    if len(key) == 1 and key.isprintable() and not modifiers & ~8:
        return ActPart(act=PageAct(kind="type", text=key), letterless=True)
    names = [name for bit, name in _MODIFIERS if modifiers & bit and name != key]
    pressed = "+".join([*names, key])
    return ActPart(act=PageAct(kind="press", text=pressed), clears=pressed in _SELECTS_ALL)


def _script(script: Script) -> ActPart | None:
    objects = script.objects
    match script.calls:
        case "setupHitTargetInterceptor":
            if script.named("actionType") not in ("mouse", "tap") or script.named("trial"):
                return None
            click = PageAct(kind="click", x=script.named("x"), y=script.named("y"), objects=objects)
            return ActPart(act=click, announces=True)
        case "fill":
            filled = PageAct(kind="type", text=str(script.named("value") or ""), objects=objects)
            return ActPart(act=filled, announces=True)
        case "selectOptions":
            option = script.named(*_OPTION)
            return ActPart(act=PageAct(kind="select", text=str(option or ""), objects=objects))
        case "setInputFiles":
            return ActPart(act=PageAct(kind="upload", text=str(script.named("name") or ""), objects=objects))
        case "dispatchEvent":
            where = "" if objects else f" on {script.named('source')}"
            return ActPart(act=PageAct(kind="event", text=f"{script.named('type')}{where}", objects=objects))
        case "selectText" | "blurNode":
            words = {"selectText": "select the text", "blurNode": "blur"}[script.calls]
            return ActPart(act=PageAct(kind="event", text=words, objects=objects))
        case "focusNode":
            return ActPart(act=PageAct(kind="event", text="focus", objects=objects), passes=True)
    condition = waits_for_condition(script)
    if script.own and not condition and not script.acts:
        return None
    words = str(script.named("expression")) if condition else script.shown
    return ActPart(
        act=PageAct(kind="script", text=words[:2000], objects=objects, doubtful=not script.acts),
        clears=_CLEARS.search(words) is not None,
        echoes=_ECHOES.search(words) is not None and _SETS.search(words) is None,
        passes=len(words) > _LIBRARY,
    )


_CHANGES = {
    "DOM.setAttributeValue": "an attribute",
    "DOM.setAttributesAsText": "attributes",
    "DOM.removeAttribute": "an attribute",
    "DOM.setNodeName": "an element",
    "DOM.setNodeValue": "a text",
    "DOM.setOuterHTML": "an element",
    "DOM.removeNode": "an element",
    "DOM.copyTo": "an element",
    "DOM.moveTo": "an element",
    "Page.setDocumentContent": "the page's content",
    "DOMStorage.setDOMStorageItem": "its storage",
    "DOMStorage.removeDOMStorageItem": "its storage",
    "DOMStorage.clear": "its storage",
    "Runtime.runScript": "by a compiled script",
    "Debugger.evaluateOnCallFrame": "by a script where the page is paused",
    "Debugger.setVariableValue": "a variable",
}
"""Messages that change a page without input or a script of their own, with what they change."""


def _for_new_pages(given: Message) -> ActPart | None:
    source = str(given.get("source", ""))
    if not source or str(given.get("worldName", "")).startswith(LIBRARY_WORLDS):
        return None
    return ActPart(act=PageAct(kind="script", text=f"for each new page: {source[:2000]}"), passes=True)


_READERS: dict[str, Callable[[Message], ActPart | None]] = {
    "Input.dispatchMouseEvent": _mouse,
    "Input.dispatchDragEvent": _drag,
    "Input.dispatchTouchEvent": _touch,
    "Input.dispatchKeyEvent": _key,
    "Input.insertText": lambda given: ActPart(act=PageAct(kind="type", text=str(given.get("text", "")))),
    "Input.imeSetComposition": lambda given: ActPart(
        act=PageAct(kind="type", text=str(given.get("text", "")))
    ),
    "Input.synthesizeScrollGesture": lambda given: ActPart(
        act=PageAct(
            kind="scroll",
            x=given.get("x"),
            y=given.get("y"),
            dx=-given.get("xDistance", 0),
            dy=-given.get("yDistance", 0),
        )
    ),
    "Input.synthesizeTapGesture": lambda given: ActPart(
        act=PageAct(kind="click", x=given.get("x"), y=given.get("y"))
    ),
    "DOM.setFileInputFiles": lambda given: ActPart(
        act=PageAct(
            kind="upload",
            files=tuple(given.get("files") or ()),
            objects=tuple(filter(None, [given.get("objectId")])),
        )
    ),
    "Page.addScriptToEvaluateOnNewDocument": _for_new_pages,
    "DOM.focus": lambda given: ActPart(act=PageAct(kind="event", text="focus"), passes=True),
    "Page.navigate": lambda given: ActPart(act=PageAct(kind="goto", text=str(given.get("url", "")))),
    "Page.reload": lambda given: ActPart(act=PageAct(kind="reload")),
    "Page.navigateToHistoryEntry": lambda given: ActPart(
        act=PageAct(kind="history", text=str(given.get("entryId", "")))
    ),
    "Target.createTarget": lambda given: ActPart(act=PageAct(kind="new tab", text=str(given.get("url", "")))),
    "Target.closeTarget": lambda given: ActPart(act=PageAct(kind="close tab")),
    "Page.close": lambda given: ActPart(act=PageAct(kind="close tab")),
}


class Fold:
    """Joins the messages of one act."""

    def __init__(self, part: ActPart) -> None:
        """Begin with the first message."""
        self.act = part.act
        """The act so far."""
        self.announced = part.announces
        """Whether none of its own messages has come yet."""
        self._clears = part.clears
        self._letterless = part.letterless

    @property
    def types_by_letters(self) -> bool:
        """Whether a text follows of which no more than the first letter has come."""
        return self._clears or self._letterless

    @property
    def unfinished(self) -> bool:
        """Whether only what prepares for the act has come."""
        return self.announced or self._clears

    def takes(self, part: ActPart) -> bool:
        """Take in what a further message does; returns False, with nothing taken, where it begins another act."""
        act, new = self.act, part.act
        if self.announced and not part.announces and self._is_announced(new):
            self.act = new.replace(objects=act.objects) if new.kind == act.kind else act
            self.announced = False
            return True
        if self._clears and (part.clears or (new.kind == "press" and new.text in _EMPTIES)):
            return True
        if self._clears and new.kind == "type":
            self.act = new.replace(objects=act.objects)
            self._clears, self._letterless = False, part.letterless
            return True
        if act.kind == "type" and part.echoes:
            return True
        if self._letterless and new.kind == "type":
            self._letterless = part.letterless
            if not part.letterless and act.text.endswith(new.text):
                return True
        elif part.letterless:
            self._letterless = act.kind == "type"
        if part.begins and not (act.kind == new.kind and act.kind in ("type", "scroll")):
            return False
        if act.kind == "type" and new.kind == "type":
            self.act = act.replace(text=act.text + new.text)
        elif act.kind == "scroll" and new.kind == "scroll":
            self.act = act.replace(dx=act.dx + new.dx, dy=act.dy + new.dy)
        elif act.kind == "click" and new.kind == "click":
            self.act = act.replace(clicks=max(act.clicks, new.clicks))
        elif act.kind in ("click", "drag") and new.kind == "drag":
            self.act = act.replace(kind="drag", to_x=new.x, to_y=new.y)
        return True

    def _is_announced(self, new: PageAct) -> bool:
        if self.act.kind == "click":
            return new.kind == "click"
        text = self.act.text  # A field is filled at once, or emptied by a key.
        return (new.kind, new.text) == ("type", text) or (not text and new.text in _EMPTIES)
