"""Converts BrowserGym's actions, which are calls of Python functions, to actions of this program.

The calls are parsed and never run. What is no call, or has no corresponding action, is kept unchanged.
"""

import ast
import re
from collections.abc import Callable
from inspect import signature
from typing import Any

from core.schema import action as ours
from core.schema.action import Action, FocusTarget, RefTarget, RoleTarget, Target, XPathTarget

_MOST = 50_000


def read_calls(code: str, page: str, remarks: list[str], *, is_last: bool) -> list[str]:
    """Return the actions; `page` is the text of the page that shows each bid.

    A message to the user is the answer where it comes last, and a note where
    it does not.
    """
    try:
        body = ast.parse(code).body if len(code) <= _MOST else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if code and not body and not code.startswith("#"):
        remarks.append("the action is kept unchanged, because it is not a call")
        return [code]
    actions: list[str] = []
    for number, statement in enumerate(body):
        try:
            made = _made(statement, page, remarks, is_last=is_last and number == len(body) - 1)
        except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError):
            made = []
        written = ast.get_source_segment(code, statement) or code
        if not made:
            name = written.partition("(")[0]
            remarks.append(f"{name} is kept unchanged, because there is no corresponding action")
        actions += map(str, made) if made else [written]
    return actions


def _made(statement: ast.stmt, page: str, remarks: list[str], *, is_last: bool) -> list[Action]:
    """Return the actions of a call, or none; raises ValueError, TypeError or KeyError for one that is none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
            named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords}
            given = signature(_CALLS[name]).bind(*map(ast.literal_eval, args), **named).arguments
        case _:
            return []
    targets = {key: _target(str(given[key]), page) for key in ("bid", "from_bid", "to_bid") if key in given}
    made = _CALLS[name](**(given | targets))
    if name == "send_msg_to_user" and not is_last:
        made = ours.Note(text=given["text"])
    for key, target in targets.items() if made else ():
        if isinstance(target, XPathTarget):
            remarks.append(f"{given[key]} has no unique name in the page; its bid is used")
    if name == "press":
        remarks.append(f"press has the target {targets['bid']}; here a key goes to the focused element")
    return made if isinstance(made, list) else [made] if made else []


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


def _click(bid: Any, button: str = "left", modifiers: Any = ()) -> Action | None:
    held = "+".join("Control" if key == "ControlOrMeta" else key for key in _listed(modifiers or []))
    if button == "right" and not held:
        return ours.RightClick(target=bid)
    return ours.Click(target=bid, keys=held) if button == "left" else None


def _double_click(bid: Any, button: str = "left", modifiers: Any = ()) -> Action | None:
    return ours.DoubleClick(target=bid) if button == "left" and not modifiers else None


def _click_at(x: float, y: float, button: str = "left") -> Action | None:
    return ours.ClickAt(x=round(float(x)), y=round(float(y))) if button == "left" else None


def _scroll(delta_x: float, delta_y: float) -> Action:
    across, down = float(delta_x), float(delta_y)
    if abs(across) > abs(down):
        return ours.Scroll(direction="right" if across > 0 else "left")
    return ours.Scroll(direction="up" if down < 0 else "down")


def _type_on(text: str) -> Action:
    return ours.Type(target=FocusTarget(), text=text, append=True)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_CALLS: dict[str, Callable[..., Action | list[Action] | None]] = {
    "click": _click,
    "mouse_click": _click_at,
    "dblclick": _double_click,
    "hover": lambda bid: ours.Hover(target=bid),
    "fill": lambda bid, value, enable_autocomplete_menu=False: ours.Type(target=bid, text=value),
    "clear": lambda bid: ours.Type(target=bid, text=""),
    "check": lambda bid: ours.Check(target=bid),
    "uncheck": lambda bid: ours.Check(target=bid, checked=False),
    "select_option": lambda bid, options: [
        ours.Select(target=bid, option=option) for option in _listed(options)
    ],
    "press": lambda bid, key_comb: ours.Press(keys=key_comb),
    "drag_and_drop": lambda from_bid, to_bid: ours.Drag(target=from_bid, to=to_bid),
    "upload_file": lambda bid, file: ours.Upload(target=bid, path="\n".join(_listed(file))),
    "keyboard_press": lambda key: ours.Press(keys=key),
    "keyboard_type": _type_on,
    "keyboard_insert_text": _type_on,
    "scroll": _scroll,
    "goto": lambda url: ours.Goto(url=url),
    "go_back": lambda: ours.GoBack(),
    "go_forward": lambda: ours.GoForward(),
    "new_tab": lambda: ours.NewTab(),
    "tab_close": lambda: ours.CloseTab(),
    "tab_focus": lambda index: ours.TabFocus(index=index),
    "noop": lambda wait_ms=1000: ours.Wait(seconds=min(30.0, float(wait_ms) / 1000)),
    "send_msg_to_user": lambda text: ours.Stop(answer=text),
    "report_infeasible": lambda reason: ours.Stop(lacked=reason),
}
"""The actions of each call, with the parameters as BrowserGym has them; a `bid` is given as its element."""
