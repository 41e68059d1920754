"""Imports histories of browser-use (`AgentHistoryList.save_to_file`), since 0.1, as runs of an agent.

An item of the history may contain several actions: each becomes a step, and the first one gets the thought.
Actions that Backstep does not have keep their names.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, ValidationError

from core.schema import action as kinds
from core.schema.action import Action, Target
from core.schema.hiding import Secrets
from core.schema.secrets import kind_of_attributes, kind_of_name, kind_of_selector
from core.trace.imports.records import (
    FaultyError,
    FileEntry,
    ImportedRun,
    ImportedStep,
    first_reason,
    hidden_in,
)

_NAMES = {
    "go_to_url": "navigate",
    "open_tab": "new_tab",
    "click_element": "click",
    "click_element_by_index": "click",
    "input_text": "input",
    "select_dropdown_option": "select_dropdown",
    "switch_tab": "switch",
    "close_tab": "close",
    "upload_file_to_element": "upload_file",
}
"""What older versions called the same action."""


def _listed(value: Any) -> Any:
    """Return a list; early versions have one object in its place, and a history that broke off has null."""
    return [] if value is None else [value] if isinstance(value, dict) else value


_Objects = Annotated[list[dict[str, Any] | None], BeforeValidator(_listed)]


class _State(BaseModel):
    """The page as an item of the history found it."""

    model_config = ConfigDict(extra="ignore")
    url: str | None = None
    title: str | None = None
    tabs: _Objects = []
    interacted_element: _Objects = []
    screenshot: str | None = None


class _Metadata(BaseModel):
    model_config = ConfigDict(extra="ignore")
    step_start_time: FiniteFloat = Field(ge=0, lt=6e10)
    step_end_time: FiniteFloat = Field(ge=0, lt=6e10)


class _Item(BaseModel):
    """One item of the history."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())
    model_output: dict[str, Any] | None = None
    result: _Objects = []
    state: Annotated[_State, BeforeValidator(lambda value: {} if value is None else value)] = _State()
    metadata: Any = None


def is_browser_use_history(document: object) -> bool:
    return isinstance(document, dict) and isinstance(document.get("history"), list)


def read_browser_use_history(document: dict[str, Any]) -> ImportedRun:
    """Return the run; the file does not tell the task, nor which LLM it was.

    What was typed into fields for secrets is bullets, as in runs of our own.
    """
    secrets = Secrets()
    run = _read(document, secrets)
    return _read(hidden_in(document, secrets), secrets) if len(secrets) else run


def _read(document: dict[str, Any], secrets: Secrets) -> ImportedRun:
    """Return the run, and note the secrets that were typed: they may stand anywhere in the file."""
    steps: list[ImportedStep] = []
    left_out: list[FileEntry] = []
    faulty: list[FileEntry] = []
    for number, entry in enumerate(document["history"]):
        position = f"history[{number}]"
        try:
            item = _Item.model_validate(entry)
            found, faults = _steps(position, item, secrets)
        except (FaultyError, ValidationError) as error:
            why = first_reason(error) if isinstance(error, ValidationError) else str(error)
            faulty.append(FileEntry(position=position, why=why))
            continue
        steps += found
        faulty += faults
        if not found and not faults:
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


def _steps(position: str, item: _Item, secrets: Secrets) -> tuple[list[ImportedStep], list[FileEntry]]:
    """Return the steps of an item, and its actions that cannot be read."""
    output, state = item.model_output or {}, item.state
    actions = _listed(output.get("action"))
    if not isinstance(actions, list):
        raise FaultyError("model_output.action is not a list of actions")
    elements = state.interacted_element
    begun, seconds = _times(item.metadata)
    shared: dict[str, Any] = {"url": state.url or "", "title": state.title or ""}
    first = {
        "thought": _thought(output),
        "screenshot": _screenshot(state),
        "begun": begun,
        "seconds": seconds,
    }
    steps: list[ImportedStep] = []
    faulty: list[FileEntry] = []
    for place, entry in enumerate(actions):
        where = f"{position}.model_output.action[{place}]"
        element = (elements[place] if place < len(elements) else None) or {}
        result = item.result[place] if place < len(item.result) else None
        entry, result = _hidden(entry, element, result, secrets)
        try:
            made = _actions(entry, element, state)
        except FaultyError as error:
            faulty.append(FileEntry(position=where, why=str(error)))
            continue
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
    errors = [str(one["error"]) for one in item.result if one and one.get("error")]
    if not actions and errors:
        message = " ".join(errors)
        steps.append(
            ImportedStep(
                position=position, effect="none", outcome="failed", message=message, **shared, **first
            )
        )
    return steps, faulty


def _hidden(
    entry: Any, element: dict[str, Any], result: dict[str, Any] | None, secrets: Secrets
) -> tuple[Any, dict[str, Any] | None]:
    """Return an action and its result without what was typed into a field for a secret."""
    for name, given in entry.items() if isinstance(entry, dict) else ():
        text = _text(given, "text") if isinstance(given, dict) else ""
        if not text or _NAMES.get(name, name) == "select_dropdown":
            continue
        kind = (
            kind_of_attributes(_attributes(element), text)
            or kind_of_name(_text(element, "ax_name"), text)
            or kind_of_selector(_xpath(element), text)
        )
        if kind is not None:
            instead = "•" * len(text)
            secrets.add(kind, text, instead)
            entry = {**entry, name: {**given, "text": instead}}
            word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
            said = {
                key: word.sub(instead, one) for key, one in (result or {}).items() if isinstance(one, str)
            }
            result = result and result | said
    return entry, result


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


def _actions(entry: object, element: dict[str, Any], state: _State) -> tuple[Action, ...]:
    """Return what an action of browser-use is in our words; opening an address in a new tab is two."""
    if not isinstance(entry, dict):
        raise FaultyError('it is not an object such as {"click": {"index": 1}}')
    named = {
        name: value for name, value in entry.items() if value is not None and name != "interacted_element"
    }
    if len(named) != 1:
        raise FaultyError(f"it must have one action, not {len(named)}")
    ((name, given),) = named.items()
    values = {key: one for key, one in given.items() if one is not None} if isinstance(given, dict) else {}
    try:
        return _known(_NAMES.get(name, name), values, element, state) or (_named(name, given),)
    except KeyError as error:
        raise FaultyError(f"{name} needs {error.args[0]}") from error
    except ValidationError as error:
        raise FaultyError(f"{name}: {first_reason(error)}") from error
    except (TypeError, ValueError) as error:
        raise FaultyError(f"{name} has a value that cannot be used ({error})") from error


def _known(name: str, values: dict[str, Any], element: dict[str, Any], state: _State) -> tuple[Action, ...]:
    """Return the actions, or none where we have no word for it."""

    def target() -> Target:
        if xpath := _xpath(element) or _xpath(values):
            return kinds.XPathTarget(xpath=xpath)
        return kinds.RefTarget(ref=values["id"] if "id" in values else values["index"])

    clears = [values[one] for one in ("clear", "clear_existing") if one in values]

    make: dict[str, Callable[[], tuple[Action, ...]]] = {
        "navigate": lambda: (
            *((kinds.NewTab(),) if values.get("new_tab") else ()),
            kinds.Goto(url=values["url"]),
        ),
        "new_tab": lambda: (kinds.NewTab(), kinds.Goto(url=values["url"])),
        "click": lambda: _click(values, target) if {"index", "id"} & set(values) else _at_pixel(values),
        "input": lambda: (
            kinds.Type(target=target(), text=values["text"], append=bool(clears) and not clears[0]),
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
        "close": lambda: _close(values, state),
        "done": lambda: (kinds.Stop(answer=_answer(values)),),
    }
    return make[name]() if name in make else ()


def _scroll(direction: Any, values: dict[str, Any], target: Callable[[], Target]) -> Action:
    values["index"] = values.get("index") or values.get("frame_element_index")
    return kinds.Scroll(direction=direction, target=target() if values["index"] else None)


def _click(values: dict[str, Any], target: Callable[[], Target]) -> tuple[Action, ...]:
    """Return the clicks; early versions tell their number, later ones whether Control was held."""
    held = "Control" if values.get("ctrl") or values.get("while_holding_ctrl") else ""
    times = values.get("num_clicks", 1)
    return (kinds.Click(target=target(), keys=held),) * (times if times in range(1, 11) else 0)


def _at_pixel(values: dict[str, Any]) -> tuple[Action, ...]:
    """Return a click that names a pixel; raises KeyError if it names none."""
    x, y = values.get("coordinate_x"), values.get("coordinate_y")
    if x is None or y is None:
        raise KeyError("index")
    return (kinds.ClickAt(x=x, y=y),) if isinstance(x, int) and isinstance(y, int) else ()


def _tab(values: dict[str, Any], state: _State) -> int | None:
    """Return the place of the tab that an action names: by number, by handle, by the end of its id, or by address."""
    if isinstance(values.get("page_id"), int):
        return values["page_id"] if values["page_id"] >= 0 else None
    for name, keys in (("tab_id", ("target_id", "tab_id")), ("handle", ("handle",)), ("url", ("url",))):
        if wanted := _text(values, name):
            tabs = [[str(tab.get(key)) for key in keys] for tab in state.tabs if tab is not None]
            fits = [at for at, said in enumerate(tabs) if any(one.endswith(wanted) for one in said)]
            return fits[0] if len(fits) == 1 else None
    return None


def _switch(values: dict[str, Any], state: _State) -> tuple[Action, ...]:
    place = _tab(values, state)
    return () if place is None else (kinds.TabFocus(index=place),)


def _close(values: dict[str, Any], state: _State) -> tuple[Action, ...]:
    """Return what closes the tab that is named; the current one where none is."""
    if values.get("page_id") is None and values.get("tab_id") is None:
        return (kinds.CloseTab(),)
    place = _tab(values, state)
    if place is None:
        return ()
    tab = state.tabs[place] if place < len(state.tabs) else None
    is_current = tab is not None and tab.get("url") == state.url
    return (kinds.CloseTab(),) if is_current else (kinds.TabFocus(index=place), kinds.CloseTab())


def _named(name: str, given: object) -> Action:
    """Return the action by its own name, in which a sign that no name may have becomes an underscore."""
    listed = list(given.values()) if isinstance(given, dict) else [] if given is True else [given]
    return kinds.Named(
        name=re.sub(r"[^\w]", "_", name), arguments=tuple(_said(one) for one in listed if one is not None)
    )


def _answer(values: dict[str, Any]) -> str:
    """Return the answer: a text, or the structured output, which 0.1 had in place of the text."""
    given = {name: one for name, one in values.items() if name not in ("success", "files_to_display")}
    if set(given) <= {"text"} or set(given) == {"data"}:
        return _said(next(iter(given.values()), ""))
    return _said(given)


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _thought(output: dict[str, Any]) -> str:
    """Return what the agent thought: newer versions have it next to the action, older ones below it."""
    brain = output.get("current_state")
    brain = brain if isinstance(brain, dict) else output
    said = [_text(brain, "thinking"), _text(brain, "next_goal")]
    return "\n".join(text for text in said if text) or _text(brain, "memory")


def _xpath(element: dict[str, Any]) -> str:
    path = _text(element, "x_path") or _text(element, "xpath")
    return path if path.startswith("/") or not path else f"/{path}"


def _attributes(element: dict[str, Any]) -> dict[str, str]:
    has = element.get("attributes")
    return {name: one for name, one in has.items() if isinstance(one, str)} if isinstance(has, dict) else {}


def _words(element: dict[str, Any]) -> str:
    attributes = _attributes(element)
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


def _times(metadata: object) -> tuple[float | None, float]:
    try:
        times = _Metadata.model_validate(metadata)
    except ValidationError:
        return None, 0.0
    return times.step_start_time, max(0.0, times.step_end_time - times.step_start_time)


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
