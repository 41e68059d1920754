"""Actions and their targets, and the one text form that prints both; `action_text` parses it.

``click [12]``, ``type [12] [two words] [enter=1]``, ``select [7] [Oslo]``,
``click [button "Save"]``, ``click [xpath=//a[2]]``, ``press [Control+a]``,
``drag [3] [9]``, ``upload [3] [a.txt] [b.txt]``, ``stop [42]``. What need not be given has its name with it:
``click [12] [at=0.3,0.7] [keys=Control+Shift]``. Any text survives inside
brackets: a bracket or backslash of the text is printed with a backslash before
it. Reading is more lenient, as an LLM writes it: balanced brackets inside
brackets stand for themselves, ``scroll down`` needs none, and a bare 0 or 1
after all the rest is the first yes or no, as in SteP's
``type [12] [two words] [1]``.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from core.schema.argument import part_by_name, without_optional
from core.schema.errors import ActionSyntaxError
from core.schema.observation import Ref
from core.schema.record import Record


class RefTarget(Record):
    """An element of the observation, by its ref."""

    by: Literal["ref"] = "ref"
    ref: Ref = Field(ge=0, lt=10**9)

    def __str__(self) -> str:
        return str(self.ref)


class RoleTarget(Record):
    """An element by its role and accessible name."""

    by: Literal["role"] = "role"
    role: str = Field(pattern=r"^[a-z]+(-[a-z]+)*$")
    name: str = ""

    def __str__(self) -> str:
        return f"{self.role} {json.dumps(self.name, ensure_ascii=False)}"


IN_FRAME = " >> "
"""Stands between the XPath of a frame and one in its document."""


class XPathTarget(Record):
    """The one element that an XPath names, in a frame with ``//iframe >> //a``; several matches are an error."""

    by: Literal["xpath"] = "xpath"
    xpath: str = Field(min_length=1)

    def __str__(self) -> str:
        return f"xpath={self.xpath}"


class FocusTarget(Record):
    """Whatever has the keyboard focus."""

    by: Literal["focus"] = "focus"

    def __str__(self) -> str:
        return "focus"


Target: TypeAlias = Annotated[RefTarget | RoleTarget | XPathTarget | FocusTarget, Field(discriminator="by")]

_NUMBER_TARGET = re.compile(
    r"""\[?#?([0-9]{1,9})\]?(?:\s+(?:\(.*\)|[a-z]+(?:-[a-z]+)*(?:\s+".*")?))?""", re.DOTALL
)
"""A number, also with what the page shows beside it, as in ``[5] button "Save"``."""
_ROLE_TARGET = re.compile(r"""([a-z]+(?:-[a-z]+)*)\s+(".*"|'.*'|“.*”)""", re.DOTALL | re.IGNORECASE)


def parse_target(text: str) -> RefTarget | RoleTarget | XPathTarget | FocusTarget:
    """Read a target as printed by its `__str__`; raises ActionSyntaxError."""
    try:
        target = _target(text)
    except ValidationError as error:
        raise ActionSyntaxError(
            f'"{shown(text)}" contains characters that are not allowed in a name or XPath.'
        ) from error
    if target is None:
        raise ActionSyntaxError(
            f'"{shown(text)}" names no element: give its number, a role and name such as button "Save", '
            "xpath=…, or focus."
        )
    return target


def is_target(text: str) -> bool:
    """Return whether a text names an element."""
    try:
        return _target(text) is not None
    except ValidationError:
        return False


def _target(text: str) -> RefTarget | RoleTarget | XPathTarget | FocusTarget | None:
    plain, xpath = text.strip(), text.lstrip()
    if number := _NUMBER_TARGET.fullmatch(plain):
        return RefTarget(ref=int(number[1]))
    if plain.lower() == "focus":
        return FocusTarget()
    if xpath[:6].lower() == "xpath=" and len(xpath) > 6:
        return XPathTarget(xpath=xpath[6:])
    if plain.startswith("/"):
        return XPathTarget(xpath=plain)
    if match := _ROLE_TARGET.fullmatch(plain):
        try:
            name = json.loads(match[2], strict=False)
            name.encode()  # Half a pair of surrogates is no character.
        except ValueError:
            name = match[2][1:-1]
        return RoleTarget(role=match[1].lower(), name=name)
    return None


_NUMBER = r"\d*\.?\d+"
_PLACE = re.compile(rf"\s*(?:x\s*=\s*)?({_NUMBER})(?:\s*[,;]\s*|\s+)(?:y\s*=\s*)?({_NUMBER})\s*")
_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_CLICK_WORDS = re.compile(
    r"(?P<keys>(?:(?:Alt|Control|Meta|Shift)\+)*)(?:(?P<button>right|middle|back|forward) )?(?P<double>double )?click\b"
)


def _place(text: str) -> str:
    """Return a place as it is printed, such as ``0.3,0.75``; raises ValueError."""
    if not text.strip():
        return ""
    found = _PLACE.fullmatch(text)
    if found is None or not all(0 <= float(part) <= 1 for part in found.groups()):
        raise ValueError("a place is two fractions from 0 to 1 of the width and the height, such as 0.3,0.7")
    across, down = (f"{float(part):.4f}".rstrip("0").rstrip(".") for part in found.groups())
    return f"{across},{down}"


def _held(text: str) -> str:
    """Return keys that are held, by the browser's names; raises ValueError."""
    keys = chord(text.strip()).split("+") if text.strip() else []
    if any(key not in _MODIFIERS for key in keys):
        raise ValueError(f"the keys that can be held are {', '.join(_MODIFIERS)}, as in Control+Shift")
    return "+".join(dict.fromkeys(keys))


Place = Annotated[str, AfterValidator(_place)]
"""A place in an element, by fractions of its box: ``0.3,0.7``; empty for where input reaches it best."""
HeldKeys = Annotated[str, AfterValidator(_held)]
"""Keys that are held meanwhile, such as ``Control+Shift``; empty for none."""


def fractions(place: str) -> tuple[float, float] | None:
    """Return how far across and down a place is, or None where none is given."""
    across, _, down = place.partition(",")
    return (float(across), float(down)) if place else None


def modifiers(keys: str) -> int:
    """Return the keys that are held as the number that browsers take."""
    return sum(_MODIFIERS[key] for key in keys.split("+") if key)


def held_keys(number: int) -> str:
    """Return the keys that a browser's number stands for; `modifiers` is the way back."""
    return "+".join(key for key, bit in _MODIFIERS.items() if number & bit)


def mouse_words(button: str, clicks: int, keys: str) -> str:
    """Return a click in words, such as ``click`` or ``Control+right double click``; `clicked` is the way back."""
    held = f"{keys}+" if keys else ""
    return f"{held}{'' if button == 'left' else f'{button} '}{'double ' * (clicks > 1)}click"


def clicked(words: str) -> tuple[str, int, str] | None:
    """Return button, number of clicks and held keys of a click that is told in words; None for another act."""
    found = _CLICK_WORDS.match(words)
    if found is None:
        return None
    return found["button"] or "left", 2 if found["double"] else 1, found["keys"].rstrip("+")


class BaseAction(Record):
    """The base of all actions: `fields` gives the order of the bracketed parts."""

    kind: str
    fields: ClassVar[tuple[str, ...]] = ()
    """Fields always printed, in order."""
    options: ClassVar[tuple[str, ...]] = ()
    """Fields printed as ``[name=value]`` where they differ from their default; yes and no as 1 and 0."""
    several: ClassVar[str] = ""
    """The last of `fields`, where it may hold several values: a line each, printed in brackets of its own."""
    in_page: ClassVar[bool] = True
    """Whether it acts on the page, and so counts against the budget of page actions."""

    def __str__(self) -> str:
        return self.written(self.kind, self.__dict__)

    @classmethod
    def written(cls, kind: str, values: Mapping[str, Any]) -> str:
        """Return the text form of an action with these values; fields without one are left out."""
        parts: list[str] = []
        for name in cls.fields:
            if (value := values.get(name)) is not None:
                written = str(value).split("\n") if name == cls.several else [str(value)]
                parts += [one if _stands_alone(one, cls) else f"{name}={one}" for one in written]
        for name in cls.options:
            default = cls.model_fields[name].default
            if (given := values.get(name, default)) != default:
                parts.append(f"{name}={int(given) if isinstance(given, bool) else given}")
        return " ".join([kind, *(f"[{escape_brackets(part)}]" for part in parts)])

    @classmethod
    def is_flag(cls, name: str) -> bool:
        """Return whether a field is a yes or no."""
        return cls.model_fields[name].annotation is bool

    @property
    def name(self) -> str:
        """What it is called where it is offered."""
        return self.kind

    @property
    def given(self) -> dict[str, Any]:
        """What it is given, by name: the fields that have a value, and the options that differ from their default."""
        options = (
            name for name in self.options if getattr(self, name) != type(self).model_fields[name].default
        )
        values = {name: getattr(self, name) for name in (*self.fields, *options)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def targets(self) -> tuple[Target, ...]:
        """The elements it acts on, in order."""
        found = (getattr(self, name, None) for name in ("target", "to"))
        return tuple(target for target in found if target is not None)


def _stands_alone(part: str, cls: type[BaseAction]) -> bool:
    """Return whether an argument without its name is read as it stands."""
    return without_optional(part) == part and part_by_name(part, cls.fields) is None


class Click(BaseAction):
    """Click an element with the left button, at a place of it where one is given."""

    kind: Literal["click"] = "click"
    target: Target
    at: Place = ""
    keys: HeldKeys = ""
    fields = ("target",)
    options = ("at", "keys")


class DoubleClick(BaseAction):
    """Click an element twice in quick succession."""

    kind: Literal["double_click"] = "double_click"
    target: Target
    at: Place = ""
    fields = ("target",)
    options = ("at",)


class RightClick(BaseAction):
    """Click an element with the right button, which opens the page's own menu where it has one."""

    kind: Literal["right_click"] = "right_click"
    target: Target
    at: Place = ""
    fields = ("target",)
    options = ("at",)


class ClickAt(BaseAction):
    """Click at a pixel of the window, counted from its upper left corner."""

    kind: Literal["click_at"] = "click_at"
    x: int = Field(ge=0, lt=10**5)
    y: int = Field(ge=0, lt=10**5)
    fields = ("x", "y")


class Type(BaseAction):
    """Type text into a field, in place of what is there unless `append`."""

    kind: Literal["type"] = "type"
    target: Target
    text: str
    enter: bool = False
    append: bool = False
    fields = ("target", "text")
    options = ("enter", "append")


class Press(BaseAction):
    """Press a key or a chord, such as Enter, Tab, Control+a or ArrowDown."""

    kind: Literal["press"] = "press"
    keys: Annotated[str, AfterValidator(lambda keys: keys.strip() or keys)] = Field(min_length=1)
    fields = ("keys",)


class Hover(BaseAction):
    """Move the mouse over an element, or to a place of it."""

    kind: Literal["hover"] = "hover"
    target: Target
    at: Place = ""
    fields = ("target",)
    options = ("at",)


Direction = Literal["up", "down", "left", "right"]


class Scroll(BaseAction):
    """Scroll the page, or an element that scrolls, by most of what it shows."""

    kind: Literal["scroll"] = "scroll"
    direction: Direction
    target: Target | None = None
    fields = ("direction", "target")


class Select(BaseAction):
    """Choose the option with this label or value in a select, or take it back with selected=0."""

    kind: Literal["select"] = "select"
    target: Target
    option: str
    selected: bool = True
    fields = ("target", "option")
    options = ("selected",)


class Check(BaseAction):
    """Check a box, or clear it with checked=0."""

    kind: Literal["check"] = "check"
    target: Target
    checked: bool = True
    fields = ("target",)
    options = ("checked",)


class SelectText(BaseAction):
    """Select words of an element as they stand there, or all of them where none are given."""

    kind: Literal["select_text"] = "select_text"
    target: Target
    text: str
    nth: int = Field(default=0, ge=0, le=10**6)
    """Which of several places with these words, from 1; 0 where they stand there once."""
    fields = ("target", "text")
    options = ("nth",)


class Drag(BaseAction):
    """Drag one element and drop it on another, or from a place of it to a place of the other or of itself."""

    kind: Literal["drag"] = "drag"
    target: Target
    to: Target
    from_at: Place = ""
    to_at: Place = ""
    fields = ("target", "to")
    options = ("from_at", "to_at")


class Upload(BaseAction):
    """Give a file to a file field, or several to one that takes several."""

    kind: Literal["upload"] = "upload"
    target: Target
    path: str = Field(min_length=1)
    """The path of the file, or one path per line."""
    fields = ("target", "path")
    several = "path"

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.path.split("\n"))


class Goto(BaseAction):
    """Open a URL in the current tab."""

    kind: Literal["goto"] = "goto"
    url: Annotated[str, AfterValidator(str.strip), Field(min_length=1)]
    fields = ("url",)


class GoBack(BaseAction):
    """Go one entry back in the tab's history."""

    kind: Literal["go_back"] = "go_back"


class GoForward(BaseAction):
    """Go one entry forward in the tab's history."""

    kind: Literal["go_forward"] = "go_forward"


class NewTab(BaseAction):
    """Open an empty tab and make it current."""

    kind: Literal["new_tab"] = "new_tab"


class TabFocus(BaseAction):
    """Make the tab with this index current."""

    kind: Literal["tab_focus"] = "tab_focus"
    index: int = Field(ge=0)
    fields = ("index",)


class CloseTab(BaseAction):
    """Close the current tab."""

    kind: Literal["close_tab"] = "close_tab"


class AnswerDialog(BaseAction):
    """Answer what the page asks next with a confirm or prompt dialog; a prompt gets the text, or its own default.

    Nobody is offered this: it is what a person answered, and comes before the action that made the page ask.
    """

    kind: Literal["answer_dialog"] = "answer_dialog"
    answer: Literal["accept", "dismiss"]
    text: str | None = None
    fields = ("answer", "text")


class Wait(BaseAction):
    """Wait for the page to change, at most this many seconds."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(default=1.0, ge=0, le=30, allow_inf_nan=False)
    fields = ("seconds",)


class Note(BaseAction):
    """Keep a text for later steps and for the answer; the page is not touched."""

    kind: Literal["note"] = "note"
    text: str
    fields = ("text",)
    in_page = False


_NOTHING = ("", "nothing", "none", "null", "n/a", "na", "not applicable")


def _lacking(text: str | None) -> str | None:
    return None if text is None or text.strip(" \t\r\n.\"'").lower() in _NOTHING else text


class Stop(BaseAction):
    """End the task, or the policy at work, with its answer where it asks for one."""

    kind: Literal["stop"] = "stop"
    answer: str = ""
    lacked: Annotated[str | None, AfterValidator(_lacking)] = None
    """What a policy would have needed to go on; its caller is told. A word for nothing counts as None."""
    fields = ("answer", "lacked")
    in_page = False


class Backtrack(BaseAction):
    """Bring the page back to how a step found it; nobody is offered this, a remedy or a person asks for it."""

    kind: Literal["backtrack"] = "backtrack"
    step: int = Field(ge=1)
    fields = ("step",)
    in_page = False


class NewTrial(BaseAction):
    """Begin the task anew in a clean profile; nobody is offered this, a failed plan asks for it."""

    kind: Literal["new_trial"] = "new_trial"
    in_page = False


class AgentAct(BaseAction):
    """What an attached agent does to a page where no other action says it; nobody is offered this.

    Only the agent itself can do it: what its messages say stands here in words.
    """

    kind: Literal["agent_act"] = "agent_act"
    words: str
    fields = ("words",)


class Named(Record):
    """An action that a page's state offers, or a call of a policy: a name of its own, and texts.

    What it takes, and in which order, is defined by the permissible action of
    that name; an argument that is left out is empty.
    """

    kind: Literal["named"] = "named"
    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=64)
    arguments: tuple[str, ...] = ()
    fields: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()
    in_page: ClassVar[bool] = True

    def __str__(self) -> str:
        return " ".join([self.name, *(f"[{escape_brackets(part)}]" for part in self.arguments)])

    @property
    def targets(self) -> tuple[Target, ...]:
        return ()


Action: TypeAlias = Annotated[
    Click
    | DoubleClick
    | RightClick
    | ClickAt
    | Type
    | Press
    | Hover
    | Scroll
    | Select
    | Check
    | SelectText
    | Drag
    | Upload
    | Goto
    | GoBack
    | GoForward
    | NewTab
    | TabFocus
    | CloseTab
    | AnswerDialog
    | Wait
    | Note
    | Stop
    | Backtrack
    | NewTrial
    | AgentAct
    | Named,
    Field(discriminator="kind"),
]
ACTIONS: dict[str, type[BaseAction]] = {
    cls.model_fields["kind"].default: cls
    for cls in get_args(get_args(Action)[0])
    if cls not in (Backtrack, NewTrial, AgentAct, Named)
}
"""Every kind of action that any page has, by name, in the order lists show them."""

ACTION = TypeAdapter[Action](Action)

_SHOWN = 200


def shown(text: str) -> str:
    """Return `text` as an error repeats it: cut, and without what no file or terminal can hold."""
    plain = text.strip().encode("utf-8", "replace").decode()
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"


def escape_brackets(text: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", text)


_KEYS = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "option": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "space": "Space",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pageup": "PageUp",
    "pagedown": "PageDown",
}


def chord(keys: str) -> str:
    """Return a chord in the names that browsers use: ``ctrl+a`` becomes ``Control+a``."""
    if keys in ("+", " "):
        return "Space" if keys == " " else keys
    parts = [part.strip() for part in keys.split("+")]
    named = [_KEYS.get(part.lower(), part) for part in parts]
    return "+".join(
        part[0].upper() + part[1:] if len(part) > 1 and part[0].islower() else part for part in named
    )
