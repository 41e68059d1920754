"""The general state space: one state for all pages, whose permissible actions are those that the page offers.

Each usable element adds the actions that a person could do with it. Other actions (scrolling, history, tabs,
waiting, notes, stopping) are offered when they can do something. On long pages, the elements nearest to the
viewport are offered, and the prompt says how many were left out.
"""

import re
from collections.abc import Iterable, Iterator

from core.schema.action import Action, ClickAt, Press, RefTarget
from core.schema.action_space import Choice, Parameter, ParameterType, Permissible, PermissibleAction
from core.schema.observation import Element, Observation, Use

CAP = 250
"""Usable elements offered at most."""

CHORDS = (
    r"^((Control|Shift|Alt|Meta)\+)*"
    r"(Enter|Tab|Escape|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown"
    r"|Arrow(Up|Down|Left|Right)|F[1-9]|F1[0-2]|[!-~])$"
)
"""Keys by the names that Playwright's keyboard has for them, with or without modifiers."""

PLACES = r"^(0(\.\d+)?|1(\.0+)?),(0(\.\d+)?|1(\.0+)?)$"
HELD_KEYS = r"^(Control|Shift|Alt|Meta)(\+(Control|Shift|Alt|Meta))*$"

_SURFACES = ("canvas", "svg", "img", "object", "embed")
"""Elements within which it matters where one clicks."""
_LARGE = 48
"""CSS pixels of both sides from which on that is so of what can be clicked and has no name."""
_MANY = ("option", "treeitem", "row", "gridcell", "cell", "listitem", "canvas")
"""Roles of what is chosen together with others by a key that is held."""
_SHAPES = ("graphics-symbol", "canvas")
"""Roles of what charts are drawn with, which often answer the mouse over them and no click."""
_READ = ("text", "paragraph", "code", "blockquote")
"""Roles of running text."""
_WORDS = 3
"""From so many words on a text is one to select in."""


def usable_elements(observation: Observation, cap: int = CAP) -> tuple[tuple[Element, ...], int]:
    """Return the usable elements in page order, and how many were left out.

    Disabled ones are not usable. Over the cap, those in the viewport go first,
    then those nearest below and above it.
    """
    usable = [
        element for element in observation.elements if element.uses and "disabled" not in element.states
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


def describe(element: Element) -> str:
    """Return what an element is in a few words, such as ``button "Save"``."""
    words = f'{element.role} "{element.name}"' if element.name else element.role
    if not element.name and element.detail:
        words = f"{element.role} ({element.detail})"
    if element.role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"):
        words += " checked" if "checked" in element.states else " unchecked"
    return words if len(words) <= 120 else words[:119] + "…"


_NOT_DONE = re.compile(r"focused|required|readonly|busy|level \d+|(row|column) \d+|.* (rows|columns)")
"""States that say nothing of what was done with an element."""


def describe_filled(element: Element) -> str:
    """Return what an element is and what is in it, such as ``textbox "Name" value="Ada"``."""
    chosen = ", ".join(option.label or option.value for option in element.options if option.selected)
    value = " ".join((chosen or element.value).split())
    value = value if len(value) <= 80 else value[:79] + "…"
    shown = [f'value="{value}"'] if value and value != element.name else []
    words = describe(element)
    states = (
        state for state in element.states if not _NOT_DONE.fullmatch(state) and not words.endswith(state)
    )
    return " ".join([words, *shown, *states])


def label_of(observation: Observation, action: Action) -> str:
    """Return what the action acts on, in words: its first element, or what has the focus for a key."""
    if isinstance(action, Press):
        focused = (one for one in reversed(observation.elements) if "focused" in one.states)
        return next((describe(element) for element in focused), "")
    if isinstance(action, ClickAt):
        return "; ".join(describe(element) for element in _at(observation, action.x, action.y))
    for target in action.targets:
        if isinstance(target, RefTarget) and (element := observation.element(target.ref)):
            return describe(element)
        return str(target)
    return ""


def _at(observation: Observation, x: float, y: float) -> tuple[Element, ...]:
    """Return the usable elements that lie at a pixel of the window, the outermost first."""
    return tuple(
        element
        for element in observation.elements
        if element.uses
        and element.box.x <= x <= element.box.x + element.box.width
        and element.box.y <= y <= element.box.y + element.box.height
    )


def permissible_of(
    observation: Observation, *, cap: int = CAP, back: int = 0, forward: int = 0, pictures: bool = False
) -> Permissible:
    """Return the permissible actions of any page.

    `back` and `forward` are how many pages the tab can go back and forward in its history, `pictures` is
    whether the LLM sees a picture of the page.
    """
    elements, left_out = usable_elements(observation, cap)
    actions = (
        *_element_actions(observation, elements),
        *(_picture_actions(observation) if pictures else ()),
        *_page_actions(observation, back, forward),
        _action(
            "note",
            "Keep a text for later steps.",
            Parameter(name="text"),
        ),
        _action(
            "stop",
            "End the task.",
            _optional("answer", "Only if the task asks for one."),
        ),
    )
    return Permissible(actions=actions, left_out=left_out)


def _action(name: str, description: str, *parameters: Parameter) -> PermissibleAction:
    return PermissibleAction(name=name, description=description, parameters=parameters)


def _optional(name: str, description: str, type: ParameterType = "string") -> Parameter:
    return Parameter(name=name, type=type, description=description, required=False)


def _target(elements: Iterable[Element], description: str, name: str = "target") -> Parameter:
    choices = tuple(Choice(value=str(element.ref), label=describe(element)) for element in elements)
    return Parameter(name=name, type="integer", description=description, choices=choices)


def _element_actions(observation: Observation, elements: tuple[Element, ...]) -> Iterator[PermissibleAction]:
    def of_use(use: Use) -> list[Element]:
        return [element for element in elements if use in element.uses]

    clicked = of_use("click")
    surfaces = [one for one in clicked if _is_surface(one)]
    at = _places("at", "Where in it: fractions of its width and height.") if surfaces else ()
    if clicked:
        together = any(one.role in _MANY for one in clicked)
        keys = Parameter(
            name="keys",
            description="Keys to hold meanwhile, such as Control or Shift.",
            pattern=HELD_KEYS,
            required=False,
        )
        yield _action(
            "click",
            "Click an element.",
            _target(clicked, "The number of the element."),
            *at,
            *((keys,) if together else ()),
        )
    if typed := [element for element in of_use("type") if "readonly" not in element.states]:
        yield _action(
            "type",
            "Replace what a field holds.",
            _target(typed, "The number of the field."),
            Parameter(name="text"),
            _optional("enter", "Press Enter after it.", "boolean"),
            _optional("append", "Add to what the field holds.", "boolean"),
        )
    options = {
        element.ref: tuple(
            dict.fromkeys(option.label or option.value for option in element.options if not option.disabled)
        )
        for element in of_use("select")
    }
    if selects := [element for element in of_use("select") if options[element.ref]]:
        yield _action(
            "select",
            "Choose an option of a list.",
            _target(selects, "The number of the list."),
            Parameter(
                name="option",
                description="The option's label.",
                choices_by_ref={one.ref: options[one.ref] for one in selects},
            ),
            *(
                (
                    _optional(
                        "selected", "False takes the option back, where several may be chosen.", "boolean"
                    ),
                )
                if any(one.role == "listbox" for one in selects)
                else ()
            ),
        )
    if checked := of_use("check"):
        yield _action(
            "check",
            "Check a box or choose a radio button; checked=false clears a box.",
            _target(checked, "The number of the box."),
            _optional("checked", "The state wanted.", "boolean"),
        )
    dragged = [element for element in elements if "drag" in element.uses or element in surfaces]
    if dragged:
        places = [element for element in observation.elements if element.in_viewport][:CAP]
        yield _action(
            "drag",
            "Drag an element and drop it on another.",
            _target(dragged, "The number of the element to drag."),
            _target(places, "The number of the element to drop it on.", name="to"),
            *_places("from_at", "Where to take it: fractions of its width and height."),
            *_places("to_at", "Where to drop it: fractions of the other's width and height."),
        )
    if uploads := of_use("upload"):
        yield _action(
            "upload",
            "Give a file to a file field, or several to one that takes several.",
            _target(uploads, "The number of the field."),
            Parameter(name="path", description="The path of the file, or one path per line."),
        )
    if clicked:
        target = _target(clicked, "The number of the element.")
        yield _action("double_click", "Click an element twice in quick succession.", target, *at)
        yield _action(
            "right_click", "Click an element with the right button, for the page's menu.", target, *at
        )
    shapes = [element for element in observation.elements if element.role in _SHAPES and element.in_viewport][
        :CAP
    ]
    hovered = dict.fromkeys((*clicked, *of_use("hover"), *shapes))
    if hovered:
        target = _target(hovered, "The number of the element.")
        yield _action("hover", "Move the mouse over an element.", target, *at)
    if any(_has_words(element) for element in observation.elements):
        yield _action(
            "select_text",
            "Select words, to mark or style them.",
            Parameter(name="target", type="integer"),
            Parameter(name="text", description="As it stands there; empty for all of it."),
            _optional("nth", "Which one, from 1, of several.", "integer"),
        )


def _is_surface(element: Element) -> bool:
    large = min(element.box.width, element.box.height) >= _LARGE
    return element.tag in _SURFACES or (large and not element.name and element.role == "generic")


def _has_words(element: Element) -> bool:
    text = element.value if "type" in element.uses else element.name if element.role in _READ else ""
    return len(text.split()) >= _WORDS


def _places(name: str, description: str) -> tuple[Parameter, ...]:
    return (
        Parameter(name=name, description=f"{description} Such as 0.3,0.7.", pattern=PLACES, required=False),
    )


def _picture_actions(observation: Observation) -> Iterator[PermissibleAction]:
    width, height = observation.viewport
    yield _action(
        "click_at",
        "Click at a pixel of the picture, where no number names what is there.",
        Parameter(name="x", type="integer", description=f"From the left, up to {max(width - 1, 0)}."),
        Parameter(name="y", type="integer", description=f"From the top, up to {max(height - 1, 0)}."),
    )


def _page_actions(observation: Observation, back: int, forward: int) -> Iterator[PermissibleAction]:
    yield _action(
        "press",
        "A key or chord, such as Enter or Control+a.",
        Parameter(name="keys", pattern=CHORDS),
    )
    yield _action(
        "scroll",
        "Scroll the page, or the part that holds the target.",
        Parameter(
            name="direction", choices=tuple(Choice(value=way) for way in ("up", "down", "left", "right"))
        ),
        _optional("target", "An element in the part to scroll.", "integer"),
    )
    yield _action("goto", "Open a URL.", Parameter(name="url"))
    if back > 0:
        yield _action("go_back", "Go back to the page before.")
    if forward > 0:
        yield _action("go_forward", "Go forward to the page after this one.")
    yield _action("new_tab", "Open an empty tab.")
    if len(observation.tabs) > 1:
        tabs = tuple(Choice(value=str(tab.index), label=tab.title or tab.url) for tab in observation.tabs)
        yield _action(
            "tab_focus", "Switch to another tab.", Parameter(name="index", type="integer", choices=tabs)
        )
        yield _action("close_tab", "Close the current tab.")
    yield _action(
        "wait",
        "Wait for the page to change.",
        _optional("seconds", "At most, up to 30.", "number"),
    )
