"""Imports histories of browser-use (`AgentHistoryList.save_to_file`) as runs of an agent.

An item of the history may contain several actions: each becomes a step, and the first one gets the thought.
Actions that Backstep does not have keep their names.
"""

import base64
import binascii
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from core.schema import action as kinds
from core.schema.action import Action, Target
from core.trace.imports.records import FaultyError, FileEntry, ImportedRun, ImportedStep, first_reason

_NAMES = {
    "go_to_url": "navigate",
    "open_tab": "new_tab",
    "click_element": "click",
    "click_element_by_index": "click",
    "input_text": "input",
    "select_dropdown_option": "select_dropdown",
    "switch_tab": "switch",
    "close_tab": "close",
}
"""What older versions called the same action."""


class _State(BaseModel):
    """The page as an item of the history found it."""

    model_config = ConfigDict(extra="ignore")
    url: str | None = None
    title: str | None = None
    tabs: list[dict[str, Any]] = []
    interacted_element: list[dict[str, Any] | None] | None = None
    screenshot: str | None = None


class _Metadata(BaseModel):
    model_config = ConfigDict(extra="ignore")
    step_start_time: FiniteFloat = Field(ge=0, lt=1e11)
    step_end_time: FiniteFloat = Field(ge=0, lt=1e11)


class _Item(BaseModel):
    """One item of the history."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())
    model_output: dict[str, Any] | None = None
    result: list[dict[str, Any]] = []
    state: _State = _State()
    metadata: _Metadata | None = None


def is_browser_use_history(document: object) -> bool:
    return isinstance(document, dict) and isinstance(document.get("history"), list)


def read_browser_use_history(document: dict[str, Any]) -> ImportedRun:
    """Return the run; the file does not tell the task, nor which LLM it was."""
    steps: list[ImportedStep] = []
    left_out: list[FileEntry] = []
    faulty: list[FileEntry] = []
    for number, entry in enumerate(document["history"]):
        position = f"history[{number}]"
        try:
            item = _Item.model_validate(entry)
            found = _steps(position, item)
        except (FaultyError, ValidationError) as error:
            why = first_reason(error) if isinstance(error, ValidationError) else str(error)
            faulty.append(FileEntry(position=position, why=why))
            continue
        steps += found
        if not found:
            left_out.append(FileEntry(position=position, why="it contains neither an action nor an error"))
    answers = [step.action.answer for step in steps if isinstance(step.action, kinds.Stop)]
    return ImportedRun(
        origin="agent",
        made_with="browser-use",
        start_url=next((step.url for step in steps if step.url), ""),
        answer=answers[-1] if answers else "",
        steps=tuple(steps),
        left_out=tuple(left_out),
        faulty=tuple(faulty),
    )


def _steps(position: str, item: _Item) -> list[ImportedStep]:
    output, state = item.model_output or {}, item.state
    actions = output.get("action", [])
    if not isinstance(actions, list) or not all(isinstance(one, dict) for one in actions):
        raise FaultyError("model_output.action is not a list of actions")
    elements = state.interacted_element or []
    begun, seconds = _times(item.metadata)
    shared: dict[str, Any] = {"url": state.url or "", "title": state.title or ""}
    first = {
        "thought": _thought(output),
        "screenshot": _screenshot(state),
        "begun": begun,
        "seconds": seconds,
    }
    steps: list[ImportedStep] = []
    for place, entry in enumerate(actions):
        where = f"{position}.model_output.action[{place}]"
        element = (elements[place] if place < len(elements) else None) or {}
        result = item.result[place] if place < len(item.result) else None
        made = _actions(entry, element, state, where)
        for one in made:
            steps.append(
                ImportedStep(
                    position=where,
                    action=one,
                    target=_words(element),
                    xpath=_xpath(element),
                    **shared,
                    **(first if not steps else {"begun": begun}),
                    **_outcome(one, result),
                )
            )
    errors = [str(one["error"]) for one in item.result if one.get("error")]
    if not actions and errors:
        message = " ".join(errors)
        steps.append(
            ImportedStep(
                position=position, effect="none", outcome="failed", message=message, **shared, **first
            )
        )
    return steps


def _outcome(action: Action, result: dict[str, Any] | None) -> dict[str, Any]:
    effect = {"stop": "stop", "note": "note"}.get(action.kind, "page action")
    if isinstance(action, kinds.Named):
        effect = "none"
    if result is None:
        return {
            "effect": "none",
            "outcome": "skipped",
            "message": "The history has no result for it: it was not carried out.",
        }
    if result.get("error"):
        return {"effect": effect, "outcome": "failed", "message": str(result["error"])}
    return {
        "effect": effect,
        "message": "" if effect == "stop" else str(result.get("extracted_content") or ""),
    }


def _actions(entry: dict[str, Any], element: dict[str, Any], state: _State, where: str) -> tuple[Action, ...]:
    """Return what an action of browser-use is in our words; opening an address in a new tab is two."""
    given = {
        name: value for name, value in entry.items() if value is not None and name != "interacted_element"
    }
    if len(given) != 1:
        raise FaultyError(f"{where} must have one action, not {len(given)}")
    ((name, values),) = given.items()
    values = values if isinstance(values, dict) else {}
    try:
        return _known(_NAMES.get(name, name), values, element, state) or (_named(name, values),)
    except KeyError as error:
        raise FaultyError(f"{where}: {name} needs {error.args[0]}") from error
    except ValidationError as error:
        raise FaultyError(f"{where}: {name}: {first_reason(error)}") from error
    except (TypeError, ValueError) as error:
        raise FaultyError(f"{where}: {name} has a value that cannot be used ({error})") from error


def _known(name: str, values: dict[str, Any], element: dict[str, Any], state: _State) -> tuple[Action, ...]:
    """Return the actions, or none where we have no word for it."""

    def target() -> Target:
        xpath = _xpath(element)
        return kinds.XPathTarget(xpath=xpath) if xpath else kinds.RefTarget(ref=values["index"])

    make: dict[str, Callable[[], tuple[Action, ...]]] = {
        "navigate": lambda: (
            *((kinds.NewTab(),) if values.get("new_tab") else ()),
            kinds.Goto(url=values["url"]),
        ),
        "new_tab": lambda: (kinds.NewTab(), kinds.Goto(url=values["url"])),
        "click": lambda: (kinds.Click(target=target()),) if "index" in values else _at_pixel(values),
        "input": lambda: (
            kinds.Type(target=target(), text=values["text"], append=not values.get("clear", True)),
        ),
        "select_dropdown": lambda: (kinds.Select(target=target(), option=values["text"]),),
        "upload_file": lambda: (kinds.Upload(target=target(), path=values["path"]),),
        "send_keys": lambda: (kinds.Press(keys=values["keys"]),),
        "scroll": lambda: (_scroll("down" if values.get("down", True) else "up", values, target),),
        "scroll_down": lambda: (_scroll("down", values, target),),
        "scroll_up": lambda: (_scroll("up", values, target),),
        "go_back": lambda: (kinds.GoBack(),),
        "wait": lambda: (
            (kinds.Wait(seconds=values.get("seconds", 3)),) if values.get("seconds", 3) <= 30 else ()
        ),
        "switch": lambda: _switch(values, state),
        "close": lambda: (kinds.CloseTab(),),
        "done": lambda: (kinds.Stop(answer=_answer(values)),),
    }
    return make[name]() if name in make else ()


def _scroll(direction: Any, values: dict[str, Any], target: Callable[[], Target]) -> Action:
    return kinds.Scroll(direction=direction, target=target() if values.get("index") else None)


def _at_pixel(values: dict[str, Any]) -> tuple[Action, ...]:
    """Return a click that names a pixel, or nothing if it names none."""
    x, y = values.get("coordinate_x"), values.get("coordinate_y")
    return (kinds.ClickAt(x=x, y=y),) if isinstance(x, int) and isinstance(y, int) else ()


def _switch(values: dict[str, Any], state: _State) -> tuple[Action, ...]:
    """Return the tab by its place; newer versions name it by the last signs of its id."""
    if isinstance(values.get("page_id"), int) and values["page_id"] >= 0:
        return (kinds.TabFocus(index=values["page_id"]),)
    wanted = str(values.get("tab_id") or "\0")
    places = [index for index, tab in enumerate(state.tabs) if str(tab.get("target_id")).endswith(wanted)]
    return (kinds.TabFocus(index=places[0]),) if len(places) == 1 else ()


def _named(name: str, values: dict[str, Any]) -> Action:
    return kinds.Named(
        name=name, arguments=tuple(str(value) for value in values.values() if value is not None)
    )


def _answer(values: dict[str, Any]) -> str:
    return str(values["text"]) if "text" in values else str(values.get("data", ""))


def _thought(output: dict[str, Any]) -> str:
    """Return what the agent thought: newer versions have it next to the action, older ones below it."""
    brain = output.get("current_state")
    brain = brain if isinstance(brain, dict) else output
    said = [_text(brain, "thinking"), _text(brain, "next_goal")]
    return "\n".join(text for text in said if text) or _text(brain, "memory")


def _xpath(element: dict[str, Any]) -> str:
    path = _text(element, "x_path") or _text(element, "xpath")
    return path if path.startswith("/") or not path else f"/{path}"


def _words(element: dict[str, Any]) -> str:
    attributes = element.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    tag = (_text(element, "node_name") or _text(element, "tag_name")).lower()
    names = [_text(element, "ax_name"), *(_text(attributes, one) for one in ("aria-label", "placeholder"))]
    name = next((one for one in names if one), "")
    return f'{tag} "{name}"' if name else tag


def _screenshot(state: _State) -> bytes:
    """Return the picture where the file itself holds it."""
    try:
        return base64.b64decode(state.screenshot or "", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _times(metadata: _Metadata | None) -> tuple[float | None, float]:
    if metadata is None:
        return None, 0.0
    return metadata.step_start_time, max(0.0, metadata.step_end_time - metadata.step_start_time)


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
