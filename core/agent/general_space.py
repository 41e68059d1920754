"""The general state space: one state for any page, whose permissible actions are what the page offers.

Every usable element gives the actions a person could do with it; the rest
(scrolling, history, tabs, waiting, notes, stopping) is there where it can do
something. Long pages are capped, nearest to the viewport first, and what was
left out is counted, for the prompt to say.
"""

from collections.abc import Iterable

from core.schema.action import Action, Press, RefTarget
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.observation import Element, Observation

CAP = 250
"""Usable elements offered at the most."""

_DISABLED = "disabled"


def usable_elements(observation: Observation, cap: int = CAP) -> tuple[tuple[Element, ...], int]:
    """Return the usable elements in page order, and how many were left out.

    Disabled ones are not usable. Over the cap, those in the viewport go first,
    then those nearest below and above it.
    """
    usable = [
        element for element in observation.elements if element.usable and _DISABLED not in element.states
    ]
    if len(usable) <= cap:
        return tuple(usable), 0
    height = observation.viewport[1]

    def distance(element: Element) -> float:
        if element.in_viewport:
            return 0.0
        top = element.box.y
        return top - height if top > height else abs(top) + height

    kept = {element.ref for element in sorted(usable, key=distance)[:cap]}
    return tuple(element for element in usable if element.ref in kept), len(usable) - cap


def _choices(elements: Iterable[Element]) -> tuple[Choice, ...]:
    return tuple(Choice(value=str(element.ref), label=describe(element)) for element in elements)


def describe(element: Element) -> str:
    """Return what an element is in a few words, such as ``button "Save"``."""
    words = f'{element.role} "{element.name}"' if element.name else element.role
    if not element.name and element.detail:
        words = f"{element.role} ({element.detail})"
    if element.role in ("checkbox", "radio", "switch"):
        words += " checked" if "checked" in element.states else " unchecked"
    return words if len(words) <= 120 else words[:119] + "…"


def label_of(observation: Observation, action: Action) -> str:
    """Return what the action acts on, in words: its first element, or what has the focus for a key."""
    if isinstance(action, Press):
        focused = (one for one in reversed(observation.elements) if "focused" in one.states)
        return next((describe(element) for element in focused), "")
    for target in action.targets:
        if isinstance(target, RefTarget) and (element := observation.element(target.ref)):
            return describe(element)
        return str(target)
    return ""


def permissible_of(
    observation: Observation, *, cap: int = CAP, back: int = 0, forward: int = 0
) -> Permissible:
    """Return what may be done on a page of no particular kind.

    `back` and `forward` are how many pages the tab can go either way in its history.
    """
    elements, left_out = usable_elements(observation, cap)
    actions = [
        *_element_actions(observation, elements),
        *_page_actions(observation, back, forward),
        PermissibleAction(
            name="note",
            description="Keep a text for later steps and for the answer.",
            parameters=(Parameter(name="text", description="What to keep."),),
        ),
        PermissibleAction(
            name="stop",
            description="End the task when it is done or cannot be; give the answer where one is asked for.",
            parameters=(
                Parameter(
                    name="answer", description="The answer, or empty where none is asked for.", required=False
                ),
            ),
        ),
    ]
    return Permissible(actions=tuple(actions), left_out=left_out)


def _target(elements: Iterable[Element], description: str, name: str = "target") -> Parameter:
    return Parameter(name=name, type="integer", description=description, choices=_choices(elements))


def _element_actions(observation: Observation, elements: tuple[Element, ...]) -> list[PermissibleAction]:
    found: list[PermissibleAction] = []
    by_use = {
        use: [e for e in elements if use in e.uses]
        for use in ("click", "type", "select", "check", "upload", "drag")
    }
    typed = [e for e in by_use["type"] if "readonly" not in e.states]
    if by_use["click"]:
        found.append(
            PermissibleAction(
                name="click",
                description="Click an element.",
                parameters=(_target(by_use["click"], "The number of the element."),),
            )
        )
    if typed:
        found.append(
            PermissibleAction(
                name="type",
                description="Type text into a field, in place of what it holds.",
                parameters=(
                    _target(typed, "The number of the field."),
                    Parameter(name="text", description="The text to type."),
                    Parameter(
                        name="enter", type="boolean", description="Press Enter after it.", required=False
                    ),
                    Parameter(
                        name="append",
                        type="boolean",
                        description="Add to what the field holds.",
                        required=False,
                    ),
                ),
            )
        )
    options = {
        e.ref: tuple(dict.fromkeys(o.label or o.value for o in e.options if not o.disabled))
        for e in by_use["select"]
    }
    selects = [e for e in by_use["select"] if options[e.ref]]
    if selects:
        found.append(
            PermissibleAction(
                name="select",
                description="Choose an option of a list.",
                parameters=(
                    _target(selects, "The number of the list."),
                    Parameter(
                        name="option",
                        description="The option's label.",
                        choices_by_ref={e.ref: options[e.ref] for e in selects},
                    ),
                ),
            )
        )
    if by_use["check"]:
        found.append(
            PermissibleAction(
                name="check",
                description="Check a box or choose a radio button; checked=false clears a box.",
                parameters=(
                    _target(by_use["check"], "The number of the box."),
                    Parameter(
                        name="checked", type="boolean", description="The state wanted.", required=False
                    ),
                ),
            )
        )
    if by_use["drag"]:
        places = [e for e in observation.elements if e.in_viewport][:CAP]
        found.append(
            PermissibleAction(
                name="drag",
                description="Drag an element and drop it on another.",
                parameters=(
                    _target(by_use["drag"], "The number of the element to drag."),
                    _target(places, "The number of the element to drop it on.", name="to"),
                ),
            )
        )
    if by_use["upload"]:
        found.append(
            PermissibleAction(
                name="upload",
                description="Give a file to a file field.",
                parameters=(
                    _target(by_use["upload"], "The number of the field."),
                    Parameter(name="path", description="The path of the file."),
                ),
            )
        )
    if by_use["click"]:
        found += [
            PermissibleAction(
                name="double_click",
                description="Click an element twice in quick succession.",
                parameters=(_target(by_use["click"], "The number of the element."),),
            ),
            PermissibleAction(
                name="hover",
                description="Move the mouse over an element.",
                parameters=(_target(by_use["click"], "The number of the element."),),
            ),
        ]
    return found


def _page_actions(observation: Observation, back: int, forward: int) -> list[PermissibleAction]:
    found = [
        PermissibleAction(
            name="press",
            description="Press a key or chord, such as Enter, Tab, ArrowDown or Control+a.",
            parameters=(Parameter(name="keys", description="The key or chord."),),
        ),
        PermissibleAction(
            name="scroll",
            description="Scroll the page, or the largest part of it that scrolls.",
            parameters=(
                Parameter(
                    name="direction",
                    choices=tuple(Choice(value=way) for way in ("up", "down", "left", "right")),
                ),
                Parameter(
                    name="target",
                    type="integer",
                    description="The number of an element inside the part to scroll.",
                    required=False,
                ),
            ),
        ),
        PermissibleAction(
            name="goto",
            description="Open a URL.",
            parameters=(Parameter(name="url", description="The address."),),
        ),
    ]
    if back > 0:
        found.append(PermissibleAction(name="go_back", description="Go back to the page before."))
    if forward > 0:
        found.append(
            PermissibleAction(name="go_forward", description="Go forward to the page after this one.")
        )
    found.append(PermissibleAction(name="new_tab", description="Open an empty tab."))
    if len(observation.tabs) > 1:
        tabs = tuple(Choice(value=str(tab.index), label=tab.title or tab.url) for tab in observation.tabs)
        found.append(
            PermissibleAction(
                name="tab_focus",
                description="Switch to another tab.",
                parameters=(Parameter(name="index", type="integer", choices=tabs),),
            )
        )
        found.append(PermissibleAction(name="close_tab", description="Close the current tab."))
    found.append(
        PermissibleAction(
            name="wait",
            description="Wait for the page to change.",
            parameters=(
                Parameter(
                    name="seconds", type="number", description="At most this long, up to 30.", required=False
                ),
            ),
        )
    )
    return found
