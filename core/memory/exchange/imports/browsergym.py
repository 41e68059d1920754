"""Traces of BrowserGym and AgentLab, as far as they can be read without opening a pickle.

Read are `steps_info.json` (one step or a list of them), documents with a list
of `steps` as trajectories are published, and the `summary_info.json` next to
them. The steps of an experiment's folder are pickles: these are never opened,
as that would run what is in them. Actions are written as calls of functions,
which are read and never run.
"""

import ast
import re
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from core.memory.exchange.documents import Document, is_pickle
from core.memory.exchange.reading import (
    AnyNumber,
    AnyObject,
    Foreign,
    LeftOutError,
    MisplacedError,
    Reading,
    Text,
    finite,
    id_of,
    parsed,
    plain,
)
from core.schema import action as ours
from core.schema.action import Action, FocusTarget, RefTarget, RoleTarget, Target, XPathTarget
from core.schema.exemplar import ExemplarStep
from core.settings.file_kinds import PICKLE
from core.trace.imports.records import FaultyError

SUMMARY = "summary_info.json"
STEPS = "steps_info.json"
_PAGES = ("axtree_txt", "axtree_pruned", "axtree", "pruned_html", "dom_txt", "text_obs")
_MOST = 50_000


class _Step(Foreign):
    model_config = ConfigDict(extra="allow")

    action: Text | None = None
    reward: AnyNumber = None
    step: AnyNumber = None
    obs: AnyObject = {}
    agent_info: AnyObject = {}

    def said(self, *names: str) -> str:
        """Return the first of these texts, of the step itself, its observation or what the agent tells."""
        places = (self.model_extra or {}, self.obs, self.agent_info)
        return next((text for name in names for one in places if (text := plain(one.get(name))).strip()), "")


def is_browsergym(document: Document) -> bool:
    if document.path.name == SUMMARY:
        return isinstance(document.value, dict)
    return any(isinstance(one, dict) and "action" in one for _, one in _steps(document))


def read_browsergym(reading: Reading) -> None:
    """Read a document of steps, with the summary next to it if there is one."""
    document, about = reading.document, reading.document.fields
    is_named = document.path.name == STEPS and document.path.parent.name
    label = document.path.parent.name if is_named else reading.name
    with reading.entry(label):
        if document.path.name == SUMMARY:
            raise LeftOutError(f"it is a summary without steps: import its folder, or {STEPS}")
        steps = [(position, parsed(_Step, one, position)) for position, one in _steps(document)]
        if (first := steps[0][1].step) and first > 0:
            why = f"{STEPS} contains only the last step if each step overwrote it"
            raise LeftOutError(f"it begins at step {first:g}: {why}")
        rewards = [step.reward for _, step in steps if step.reward is not None]
        summary = document.beside or about.get("summary_info")
        reward = finite(summary.get("cum_reward")) if isinstance(summary, dict) else None
        if reward is None and rewards:
            reward = sum(rewards)
        if reward is not None:
            reading.judge(reward)
        remarks = [] if reward is not None else ["It is not known whether it was a success."]
        task = next(filter(None, map(_goal, (about, *(step.obs for _, step in steps)))), "")
        taken = list(_taken(reading, steps, remarks))
        if not taken:
            raise FaultyError("it contains no action that was carried out")
        if not task:
            raise FaultyError("it does not contain the goal (obs.goal, or goal next to the steps)")
        name = plain(about.get("task_id")) or plain(about.get("task_name")) or label
        values = {
            "id": id_of("browsergym", label),
            # Without the seed that experiments add to the task's name.
            "family": re.sub(r"[._](\d+)$", "", re.sub(r"^.*?_on_", "", name)) or name,
            "task": task,
            "steps": taken,
            "source": f"BrowserGym, {label}",
            "tags": ("browsergym",),
        }
        reading.add(label, values, remarks)


def experiments(folder: Path) -> tuple[Path, ...]:
    """Return the folders of experiments in this one, itself too; raises OSError."""
    inside = {one.parent for name in (SUMMARY, "exp_args.pkl") for one in folder.rglob(name)}
    if any((folder / name).is_file() for name in (STEPS, "step_0.pkl.gz")):
        inside.add(folder)
    return tuple(sorted(inside))


def without_steps(experiment: Path) -> tuple[str, str]:
    """Return where the steps of an experiment without readable ones are, and why they are left out."""
    pickles = sorted(one.name for one in experiment.iterdir() if is_pickle(one))
    if not pickles:
        return SUMMARY, f"the folder contains no {STEPS}, so there is no trajectory"
    if len(pickles) == 1:
        return pickles[0], f"it is {PICKLE.reason()}"
    return f"{pickles[0]} and {len(pickles) - 1} more", f"each is {PICKLE.reason()}"


def _steps(document: Document) -> list[tuple[str, Any]]:
    """Return the steps of a document with their places."""
    value, where = document.value, ""
    if isinstance(value, dict):
        where = "steps" if isinstance(value.get("steps"), list) else ""
        value = value["steps"] if where else [value] if {"action", "obs"} <= value.keys() else []
    return [
        (f"{where}[{number}]", one) for number, one in enumerate(value if isinstance(value, list) else ())
    ]


def _goal(values: dict[str, Any]) -> str:
    if (goal := plain(values.get("goal"))).strip():
        return goal
    parts = values.get("goal_object")
    texts = (
        [plain(part.get("text")) for part in parts if isinstance(part, dict)]
        if isinstance(parts, list)
        else []
    )
    return "\n".join(filter(None, texts))


def _taken(reading: Reading, steps: list[tuple[str, _Step]], remarks: list[str]) -> Iterator[ExemplarStep]:
    """Give the steps whose action did not fail."""
    acted = [number for number, (_, step) in enumerate(steps) if step.action is not None]
    for number in acted:
        position, step = steps[number]
        if number + 1 < len(steps) and (error := steps[number + 1][1].said("last_action_error")):
            reading.leave_out(position, f"its action failed: {error.splitlines()[0][:160]}")
            continue
        page = step.said(*_PAGES)
        told = [] if page else ["it does not contain the page as text"]
        actions = _actions((step.action or "").strip(), page, told, is_last=number == acted[-1])
        if not actions:
            raise MisplacedError(position, "action", "it has no action")
        remarks += [f"{position}: {remark}" for remark in told]
        thought = step.said("think", "thought", "reasoning")
        yield ExemplarStep(observation=page, thought=thought, actions=tuple(actions))


def _actions(code: str, page: str, remarks: list[str], *, is_last: bool) -> list[str]:
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
        except (KeyError, TypeError, ValueError, RecursionError):
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
            named = {str(one.arg): ast.literal_eval(one.value) for one in keywords}
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
    "select_option": lambda bid, options: [ours.Select(target=bid, option=one) for one in _listed(options)],
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
