"""Traces of BrowserGym and AgentLab, as far as they can be read without opening a pickle.

Read are `steps_info.json` (one step or a list of them, as `save_json` writes
it), documents with a list of `steps` as trajectories are published, and the
`summary_info.json` next to them. The steps of an experiment's folder are
pickles: these are never opened, as that would run what is in them. Actions are
written as calls of functions, which are read and never run.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.memory.exchange.records import (
    Candidate,
    Document,
    MisplacedError,
    Reading,
    ReadOptions,
    fault_of,
    id_of,
    made_exemplar,
    object_of,
    plain,
    read_document,
)
from core.schema.action import (
    Action,
    Check,
    Click,
    ClickAt,
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
    RightClick,
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
from core.schema.errors import DataError
from core.schema.exemplar import ExemplarStep
from core.schema.record import Record
from core.settings.file_kinds import PICKLE
from core.trace.imports.records import FaultyError, FileEntry

SUMMARY = "summary_info.json"
STEPS = "steps_info.json"
_PAGES = ("axtree_txt", "axtree_pruned", "axtree", "pruned_html", "dom_txt", "text_obs")
_THOUGHTS = ("think", "thought", "reasoning")
_MOST = 50_000


def is_experiment(folder: Path) -> bool:
    """Return whether the folder is one experiment: a summary, or the pickles of one."""
    return any((folder / name).is_file() for name in (SUMMARY, STEPS, "exp_args.pkl", "step_0.pkl.gz"))


def is_browsergym(document: Document) -> bool:
    if document.path.name == SUMMARY:
        return isinstance(document.value, dict)
    return any(isinstance(one, dict) and "action" in one for one in _steps_of(document.value)[0])


def read_browsergym(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read a document of steps, with the summary next to it if there is one."""
    name = document.path.name
    if name == SUMMARY:
        why = f"it is a summary without steps: import its folder, or {STEPS}"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    entries, where = _steps_of(document.value)
    summary = beside.value if beside is not None and isinstance(beside.value, dict) else {}
    about = document.value if isinstance(document.value, dict) else {}
    inner = about.get("summary_info")
    summary = summary or (inner if isinstance(inner, dict) else {})
    label = _label(document.path)
    first = entries[0] if entries and isinstance(entries[0], dict) else {}
    if isinstance(first.get("step"), int) and first["step"] > 0:
        why = f"it begins at step {first['step']}: {STEPS} contains only the last step if each step overwrote it"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    reward, judged = _reward(entries, summary)
    if judged and reward < options.least_reward:
        why = f"its reward is {reward:.3g}, less than {options.least_reward:g}"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    return _trajectory(entries, where, about, label, reward if judged else None, options)


def read_experiment(folder: Path, options: ReadOptions) -> Reading:
    """Read the folder of one experiment; raises DataError if its JSON is none."""
    summary = read_document(folder / SUMMARY) if (folder / SUMMARY).is_file() else None
    reading = Reading()
    if (folder / STEPS).is_file():
        reading = read_browsergym(read_document(folder / STEPS), summary, options)
    pickles = sorted(one.name for one in folder.iterdir() if one.name.endswith((".pkl", ".pkl.gz")))
    if not reading.candidates and pickles:
        shown = pickles[0] if len(pickles) == 1 else f"{pickles[0]} and {len(pickles) - 1} more"
        which = "it" if len(pickles) == 1 else "each"
        entry = FileEntry(position=shown, why=f"{which} is {PICKLE.reason()}")
        return reading.replace(left_out=(*reading.left_out, entry))
    if not (folder / STEPS).is_file():
        entry = FileEntry(position=SUMMARY, why=f"the folder contains no {STEPS}, so there is no trajectory")
        return Reading(left_out=(entry,))
    return reading


def _steps_of(value: object) -> tuple[list[Any], str]:
    """Return the steps of a document and what they are called in it."""
    if isinstance(value, list):
        return value, ""
    if isinstance(value, dict):
        if isinstance(value.get("steps"), list):
            return value["steps"], "steps"
        if "action" in value and "obs" in value:
            return [value], ""
    return [], ""


def _label(path: Path) -> str:
    return path.parent.name if path.name == STEPS and path.parent.name else path.stem


def _reward(entries: list[Any], summary: dict[str, Any]) -> tuple[float, bool]:
    """Return what the run got, and whether anything tells it."""
    total = summary.get("cum_reward")
    if isinstance(total, (int, float)) and not isinstance(total, bool):
        return float(total), True
    given = [one.get("reward") for one in entries if isinstance(one, dict)]
    numbers = [float(one) for one in given if isinstance(one, (int, float)) and not isinstance(one, bool)]
    return sum(numbers), bool(numbers)


def _trajectory(
    entries: list[Any],
    where: str,
    about: dict[str, Any],
    label: str,
    reward: float | None,
    options: ReadOptions,
) -> Reading:
    left_out: list[FileEntry] = []
    remarks: list[str] = []
    steps: list[ExemplarStep] = []
    task = _goal(about)
    try:
        values = [object_of(one, f"{where}[{number}]") for number, one in enumerate(entries)]
        acted = [number for number, one in enumerate(values) if one.get("action") is not None]
        for number in acted:
            position = f"{where}[{number}]"
            one, after = values[number], values[number + 1] if number + 1 < len(values) else {}
            task = task or _goal(_part(one, "obs"))
            error = _said(after, ("last_action_error",))
            if error:
                left_out.append(
                    FileEntry(position=position, why=f"its action failed: {error.splitlines()[0][:160]}")
                )
                continue
            if not isinstance(one["action"], str):
                raise MisplacedError(f"{position}.action", "it must be a text")
            page = _said(one, _PAGES)
            try:
                read = read_calls(one["action"], page, is_last=number == acted[-1])
            except FaultyError as fault:
                raise MisplacedError(f"{position}.action", str(fault)) from fault
            if not page:
                remarks.append(f"{position}: it does not contain the page as text")
            remarks += [f"{position}: {remark}" for remark in read.remarks]
            steps.append(ExemplarStep(observation=page, thought=_thought(one), actions=read.actions))
        if not steps:
            raise FaultyError("it contains no action that was carried out")
        if not task:
            raise FaultyError("it does not contain the goal (obs.goal, or goal next to the steps)")
        if reward is None:
            remarks.append("It is not known whether it was a success.")
        exemplar = made_exemplar(
            id=id_of("browsergym", label),
            family=options.family
            or _family(plain(about.get("task_id")) or plain(about.get("task_name")) or label),
            task=task,
            steps=tuple(steps),
            source=f"BrowserGym, {label}",
            tags=("browsergym",),
        )
    except FaultyError as fault:
        return Reading(left_out=tuple(left_out), faulty=(fault_of(fault, label),))
    candidate = Candidate(position=label, exemplar=exemplar, remarks=tuple(remarks))
    return Reading(candidates=(candidate,), left_out=tuple(left_out))


def _part(values: dict[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _said(values: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these texts, of the step itself or its observation."""
    places = (values, _part(values, "obs"))
    return next((text for name in names for one in places if (text := plain(one.get(name))).strip()), "")


def _thought(values: dict[str, Any]) -> str:
    places = (values, _part(values, "agent_info"))
    return next((text for name in _THOUGHTS for one in places if (text := plain(one.get(name)))), "")


def _goal(values: dict[str, Any]) -> str:
    goal = plain(values.get("goal"))
    if goal.strip():
        return goal
    parts = values.get("goal_object")
    texts = (
        [plain(one.get("text")) for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    )
    return "\n".join(text for text in texts if text)


def _family(label: str) -> str:
    """Return the task's name, without the seed that experiments add to it."""
    name = re.sub(r"^.*?_on_", "", label)
    return re.sub(r"[._](\d+)$", "", name) or label


def open_experiments(folder: Path) -> tuple[Path, ...]:
    """Return the folders of experiments in this one, itself too; raises DataError if it cannot be gone through."""
    try:
        inside = {one.parent for one in folder.rglob(SUMMARY)} | {
            one.parent for one in folder.rglob("exp_args.pkl")
        }
    except OSError as error:
        raise DataError(f"{folder} cannot be read ({error.strerror}); check that it is there.") from error
    return tuple(sorted(inside | ({folder} if is_experiment(folder) else set())))


_BIDS = ("bid", "from_bid", "to_bid")
"""Parameters that name an element."""


class Calls(Record):
    """What one action of BrowserGym, which may be several calls, says."""

    actions: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def read_calls(code: str, page: str, *, is_last: bool) -> Calls:
    """Return the actions; `page` is the text of the page that shows each bid.

    A message to the user is the answer where it comes last, and a note where
    it does not. Raises FaultyError if there is no action.
    """
    if len(code) > _MOST:
        raise FaultyError(f"its action has {len(code)} characters, more than {_MOST}")
    if not code.strip():
        raise FaultyError("it has no action")
    try:
        body = ast.parse(code.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Calls(
            actions=(code.strip(),), remarks=("the action is kept unchanged, because it is not a call",)
        )
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
            remarks.append(
                f"{written.split('(')[0]} is kept unchanged, because there is no corresponding action"
            )
        actions += made.actions or [written]
    if not actions:
        raise FaultyError("it has no action")
    return Calls(actions=tuple(actions), remarks=tuple(remarks))


def _made(statement: ast.stmt, page: str, *, is_last: bool) -> Calls:
    """Return the actions of a call, or none; raises ValueError, TypeError or KeyError for one that is none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
            parameters, make = _CALLS[name]
            values = dict(zip(parameters, map(ast.literal_eval, args), strict=False))
            values |= {str(one.arg): ast.literal_eval(one.value) for one in keywords}
        case _:
            return Calls(actions=())
    targets = {key: _target(str(values[key]), page) for key in _BIDS if key in values}
    actions = make({**values, **targets})
    if name == "send_msg_to_user" and not is_last:
        actions = (Note(text=values["text"]),)
    if not actions:
        return Calls(actions=())
    remarks = [
        f"{values[key]} has no unique name in the page; its bid is used"
        for key, one in targets.items()
        if isinstance(one, XPathTarget)
    ]
    if name == "press":
        remarks.append(f"press has the target {targets['bid']}; here a key goes to the focused element")
    return Calls(actions=tuple(map(str, actions)), remarks=tuple(remarks))


def _clicked(values: dict[str, Any]) -> tuple[Action, ...]:
    """Return a click with its button and keys, or nothing if no action of ours is one."""
    held = "+".join(
        "Control" if key == "ControlOrMeta" else key for key in _some(values.get("modifiers") or [])
    )
    match values.get("button", "left"):
        case "left":
            return (Click(target=values["bid"], keys=held),)
        case "right" if not held:
            return (RightClick(target=values["bid"]),)
    return ()


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


_Values = dict[str, Any]
_CLICK = ("bid", "button", "modifiers")
_CALLS: dict[str, tuple[tuple[str, ...], Callable[[_Values], tuple[Action, ...]]]] = {
    "click": (_CLICK, _clicked),
    "mouse_click": (
        ("x", "y", "button"),
        lambda of: (
            (ClickAt(x=round(float(of["x"])), y=round(float(of["y"]))),)
            if of.get("button", "left") == "left"
            else ()
        ),
    ),
    "dblclick": (_CLICK, lambda of: (DoubleClick(target=of["bid"]),) if _is_plain(of) else ()),
    "hover": (("bid",), lambda of: (Hover(target=of["bid"]),)),
    "fill": (
        ("bid", "value", "enable_autocomplete_menu"),
        lambda of: (Type(target=of["bid"], text=of["value"]),),
    ),
    "clear": (("bid",), lambda of: (Type(target=of["bid"], text=""),)),
    "check": (("bid",), lambda of: (Check(target=of["bid"]),)),
    "uncheck": (("bid",), lambda of: (Check(target=of["bid"], checked=False),)),
    "select_option": (
        ("bid", "options"),
        lambda of: tuple(Select(target=of["bid"], option=one) for one in _some(of["options"])),
    ),
    "press": (("bid", "key_comb"), lambda of: (Press(keys=of["key_comb"]),)),
    "drag_and_drop": (
        ("from_bid", "to_bid"),
        lambda of: (Drag(target=of["from_bid"], to=of["to_bid"]),),
    ),
    "upload_file": (
        ("bid", "file"),
        lambda of: (Upload(target=of["bid"], path="\n".join(_some(of["file"]))),),
    ),
    "keyboard_press": (("key",), lambda of: (Press(keys=of["key"]),)),
    "keyboard_type": (("text",), lambda of: (Type(target=FocusTarget(), text=of["text"], append=True),)),
    "keyboard_insert_text": (
        ("text",),
        lambda of: (Type(target=FocusTarget(), text=of["text"], append=True),),
    ),
    "scroll": (("delta_x", "delta_y"), lambda of: (_scroll(of),)),
    "goto": (("url",), lambda of: (Goto(url=of["url"]),)),
    "go_back": ((), lambda of: (GoBack(),)),
    "go_forward": ((), lambda of: (GoForward(),)),
    "new_tab": ((), lambda of: (NewTab(),)),
    "tab_close": ((), lambda of: (CloseTab(),)),
    "tab_focus": (("index",), lambda of: (TabFocus(index=of["index"]),)),
    "noop": (("wait_ms",), lambda of: (Wait(seconds=min(30.0, float(of.get("wait_ms", 1000)) / 1000)),)),
    "send_msg_to_user": (("text",), lambda of: (Stop(answer=of["text"]),)),
    "report_infeasible": (("reason",), lambda of: (Stop(lacked=of["reason"]),)),
}
"""The parameters of each call, and the actions that it makes of their values and elements."""


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
