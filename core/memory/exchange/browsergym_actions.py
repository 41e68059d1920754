"""BrowserGym's actions, which are written as calls of functions, as actions of this program.

They are read and never run. What has no word here is kept as it is written.
"""

import ast
import re
from collections.abc import Callable
from typing import Any

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
    Note,
    Press,
    RefTarget,
    RoleTarget,
    Scroll,
    Select,
    Stop,
    TabFocus,
    Target,
    Type,
    Upload,
    Wait,
    XPathTarget,
)
from core.schema.record import Record
from core.trace.imports.records import FaultyError

_MOST = 50_000
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "click": ("bid", "button", "modifiers"),
    "dblclick": ("bid", "button", "modifiers"),
    "hover": ("bid",),
    "fill": ("bid", "value", "enable_autocomplete_menu"),
    "clear": ("bid",),
    "check": ("bid",),
    "uncheck": ("bid",),
    "select_option": ("bid", "options"),
    "press": ("bid", "key_comb"),
    "drag_and_drop": ("from_bid", "to_bid"),
    "upload_file": ("bid", "file"),
    "keyboard_press": ("key",),
    "keyboard_type": ("text",),
    "keyboard_insert_text": ("text",),
    "scroll": ("delta_x", "delta_y"),
    "goto": ("url",),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_close": (),
    "tab_focus": ("index",),
    "noop": ("wait_ms",),
    "send_msg_to_user": ("text",),
    "report_infeasible": ("reason",),
}


_BIDS = ("bid", "from_bid", "to_bid")
"""Parameters that name an element."""


class Calls(Record):
    """What one action of BrowserGym, which may be several calls, says."""

    actions: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def read_calls(code: str, page: str, *, is_last: bool) -> Calls:
    """Return the actions; `page` is the text of the page that shows each bid.

    A message to the user is the answer where it comes last, and a note where
    it does not. Raises FaultyError where there is no action.
    """
    if len(code) > _MOST:
        raise FaultyError(f"its action has {len(code)} characters, more than {_MOST}")
    if not code.strip():
        raise FaultyError("it has no action")
    try:
        body = ast.parse(code.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Calls(actions=(code.strip(),), remarks=("the action is kept as it is written: it is no call",))
    actions: list[str] = []
    remarks: list[str] = []
    for number, statement in enumerate(body):
        written = ast.get_source_segment(code.strip(), statement) or code.strip()
        try:
            made = _made(statement, page, is_last=is_last and number == len(body) - 1)
        except (KeyError, TypeError, ValueError, RecursionError):
            made = Calls(actions=())
        remarks += made.remarks
        if not made.actions:
            remarks.append(f"{written.split('(')[0]} is kept as it is written: there is no word for it here")
        actions += made.actions or [written]
    if not actions:
        raise FaultyError("it has no action")
    return Calls(actions=tuple(actions), remarks=tuple(remarks))


def _made(statement: ast.stmt, page: str, *, is_last: bool) -> Calls:
    """Return the actions of a call, or none; raises ValueError, TypeError or KeyError for one that is none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
            values = dict(zip(_PARAMETERS[name], map(ast.literal_eval, args), strict=False))
            values |= {str(one.arg): ast.literal_eval(one.value) for one in keywords}
        case _:
            return Calls(actions=())
    targets = {key: _target(str(values[key]), page) for key in _BIDS if key in values}

    def target(key: str = "bid") -> Target:
        return targets[key]

    make: dict[str, Callable[[], tuple[Action, ...]]] = {
        "click": lambda: (Click(target=target()),) if _is_plain(values) else (),
        "dblclick": lambda: (DoubleClick(target=target()),) if _is_plain(values) else (),
        "hover": lambda: (Hover(target=target()),),
        "fill": lambda: (Type(target=target(), text=values["value"]),),
        "clear": lambda: (Type(target=target(), text=""),),
        "check": lambda: (Check(target=target()),),
        "uncheck": lambda: (Check(target=target(), checked=False),),
        "select_option": lambda: tuple(
            Select(target=target(), option=one) for one in _some(values["options"])
        ),
        "press": lambda: (Press(keys=values["key_comb"]),),
        "drag_and_drop": lambda: (Drag(target=target("from_bid"), to=target("to_bid")),),
        "upload_file": lambda: tuple(Upload(target=target(), path=one) for one in _some(values["file"])),
        "keyboard_press": lambda: (Press(keys=values["key"]),),
        "keyboard_type": lambda: (Type(target=FocusTarget(), text=values["text"], append=True),),
        "keyboard_insert_text": lambda: (Type(target=FocusTarget(), text=values["text"], append=True),),
        "scroll": lambda: (_scroll(values),),
        "goto": lambda: (Goto(url=values["url"]),),
        "go_back": lambda: (GoBack(),),
        "go_forward": lambda: (GoForward(),),
        "new_tab": lambda: (NewTab(),),
        "tab_close": lambda: (CloseTab(),),
        "tab_focus": lambda: (TabFocus(index=values["index"]),),
        "noop": lambda: (Wait(seconds=min(30.0, float(values.get("wait_ms", 1000)) / 1000)),),
        "send_msg_to_user": lambda: (Stop(answer=values["text"]) if is_last else Note(text=values["text"]),),
        "report_infeasible": lambda: (Stop(lacked=values["reason"]),),
    }
    actions = make[name]()
    if not actions:
        return Calls(actions=())
    remarks = [
        f"the page tells no name that is {values[key]}'s alone; it is named by its bid"
        for key, one in targets.items()
        if isinstance(one, XPathTarget)
    ]
    if name == "press":
        remarks.append(f"press names {target()}; here a key goes to what has the focus")
    return Calls(actions=tuple(map(str, actions)), remarks=tuple(remarks))


def _is_plain(values: dict[str, Any]) -> bool:
    """Return whether a click is one with the left button, and no key held."""
    return values.get("button", "left") == "left" and not values.get("modifiers")


def _some(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _scroll(values: dict[str, Any]) -> Action:
    across, down = float(values["delta_x"]), float(values["delta_y"])
    if abs(across) > abs(down):
        return Scroll(direction="right" if across > 0 else "left")
    return Scroll(direction="up" if down < 0 else "down")


def _target(bid: str, page: str) -> Target:
    """Return the element by its number; a bid with letters by its role and name, where the page tells one such."""
    if re.fullmatch(r"[0-9]{1,9}", bid):
        return RefTarget(ref=int(bid))
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,20}", bid):
        raise ValueError("no bid")
    line = re.search(rf"^[ \t]*\[{re.escape(bid)}\] (\w+) (?:'([^'\n]*)'|\"([^\"\n]*)\")", page, re.MULTILINE)
    if line is not None:
        role, name = line[1].lower(), line[2] if line[2] is not None else line[3]
        same = re.findall(rf"^[ \t]*\[\w+\] {line[1]} ['\"]{re.escape(name)}['\"]", page, re.MULTILINE)
        if name and len(same) == 1 and re.fullmatch(r"[a-z]+", role):
            return RoleTarget(role=role, name=name)
    return XPathTarget(xpath=f'//*[@bid="{bid}"]')
