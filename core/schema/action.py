"""Actions and their targets, and the one text form that prints and parses both.

``click [12]``, ``type [12] [two words] [enter=1]``, ``select [7] [Oslo]``,
``click [button "Save"]``, ``click [xpath=//a[2]]``, ``press [Control+a]``,
``drag [3] [9]``, ``stop [42]``. Any text survives inside brackets: a bracket or
backslash of the text is printed with a backslash before it. Reading is more
lenient, as an LLM writes it: balanced brackets inside brackets stand for
themselves, ``scroll down`` needs none, and a bare 0 or 1 after all the rest is
the first flag, as in SteP's ``type [12] [two words] [1]``.
"""

import json
import re
from collections.abc import Container, Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

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


class XPathTarget(Record):
    """The one element that an XPath names; several matches are an error, not a guess."""

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

_ROLE_TARGET = re.compile(r'([a-z]+(?:-[a-z]+)*)\s+(".*")', re.DOTALL)


def parse_target(text: str) -> RefTarget | RoleTarget | XPathTarget | FocusTarget:
    """Read a target as printed by its `__str__`; raises ActionSyntaxError."""
    try:
        target = _target(text)
    except ValidationError as error:
        raise ActionSyntaxError(f'"{_shown(text)}" holds characters that no name or XPath has.') from error
    if target is None:
        raise ActionSyntaxError(
            f'"{_shown(text)}" names no element: give its number, a role and name such as button "Save", '
            "xpath=…, or focus."
        )
    return target


def _target(text: str) -> RefTarget | RoleTarget | XPathTarget | FocusTarget | None:
    plain, xpath = text.strip(), text.lstrip()
    if re.fullmatch(r"#?[0-9]{1,9}", plain):
        return RefTarget(ref=int(plain.lstrip("#")))
    if plain == "focus":
        return FocusTarget()
    if xpath.startswith("xpath=") and len(xpath) > 6:
        return XPathTarget(xpath=xpath[6:])
    if plain.startswith("/"):
        return XPathTarget(xpath=plain)
    if match := _ROLE_TARGET.fullmatch(plain):
        try:
            name = json.loads(match[2], strict=False)
        except json.JSONDecodeError:
            name = match[2][1:-1]
        return RoleTarget(role=match[1], name=name)
    return None


class _Action(Record):
    """The base of all actions: `fields` gives the order of the bracketed parts."""

    kind: str
    fields: ClassVar[tuple[str, ...]] = ()
    """Fields always printed, in order."""
    flags: ClassVar[tuple[str, ...]] = ()
    """Yes-or-no fields, printed as ``[name=1]`` where they differ from their default."""
    in_page: ClassVar[bool] = True
    """Whether it acts on the page, and so counts against the budget of page actions."""

    def __str__(self) -> str:
        return self.written(self.kind, self.__dict__)

    @classmethod
    def written(cls, kind: str, values: Mapping[str, Any]) -> str:
        """Return the text form of an action with these values; fields without one are left out."""
        parts = [str(value) for name in cls.fields if (value := values.get(name)) is not None]
        for name in cls.flags:
            default = cls.model_fields[name].default
            if (flag := values.get(name, default)) != default:
                parts.append(f"{name}={int(flag)}")
        return " ".join([kind, *(f"[{escape_brackets(part)}]" for part in parts)])

    @property
    def name(self) -> str:
        """What it is called where it is offered."""
        return self.kind

    @property
    def targets(self) -> tuple[Target, ...]:
        """The elements it acts on, in order."""
        found = (getattr(self, name, None) for name in ("target", "to"))
        return tuple(target for target in found if target is not None)


class Click(_Action):
    """Click an element with the left button."""

    kind: Literal["click"] = "click"
    target: Target
    fields = ("target",)


class DoubleClick(_Action):
    """Click an element twice in quick succession."""

    kind: Literal["double_click"] = "double_click"
    target: Target
    fields = ("target",)


class Type(_Action):
    """Type text into a field, in place of what is there unless `append`."""

    kind: Literal["type"] = "type"
    target: Target
    text: str
    enter: bool = False
    append: bool = False
    fields = ("target", "text")
    flags = ("enter", "append")


class Press(_Action):
    """Press a key or a chord, such as Enter, Tab, Control+a or ArrowDown."""

    kind: Literal["press"] = "press"
    keys: Annotated[str, AfterValidator(lambda keys: keys.strip() or keys)] = Field(min_length=1)
    fields = ("keys",)


class Hover(_Action):
    """Move the mouse over an element."""

    kind: Literal["hover"] = "hover"
    target: Target
    fields = ("target",)


Direction = Literal["up", "down", "left", "right"]


class Scroll(_Action):
    """Scroll the page, or an element that scrolls, by most of what it shows."""

    kind: Literal["scroll"] = "scroll"
    direction: Direction
    target: Target | None = None
    fields = ("direction", "target")


class Select(_Action):
    """Choose the option with this label or value in a select."""

    kind: Literal["select"] = "select"
    target: Target
    option: str
    fields = ("target", "option")


class Check(_Action):
    """Check a box, or clear it with checked=0."""

    kind: Literal["check"] = "check"
    target: Target
    checked: bool = True
    fields = ("target",)
    flags = ("checked",)


class Drag(_Action):
    """Drag one element and drop it on another."""

    kind: Literal["drag"] = "drag"
    target: Target
    to: Target
    fields = ("target", "to")


class Upload(_Action):
    """Give a file to a file field."""

    kind: Literal["upload"] = "upload"
    target: Target
    path: str = Field(min_length=1)
    fields = ("target", "path")


class Goto(_Action):
    """Open a URL in the current tab."""

    kind: Literal["goto"] = "goto"
    url: Annotated[str, AfterValidator(str.strip), Field(min_length=1)]
    fields = ("url",)


class GoBack(_Action):
    """Go one entry back in the tab's history."""

    kind: Literal["go_back"] = "go_back"


class GoForward(_Action):
    """Go one entry forward in the tab's history."""

    kind: Literal["go_forward"] = "go_forward"


class NewTab(_Action):
    """Open an empty tab and make it current."""

    kind: Literal["new_tab"] = "new_tab"


class TabFocus(_Action):
    """Make the tab with this index current."""

    kind: Literal["tab_focus"] = "tab_focus"
    index: int = Field(ge=0)
    fields = ("index",)


class CloseTab(_Action):
    """Close the current tab."""

    kind: Literal["close_tab"] = "close_tab"


class Wait(_Action):
    """Wait for the page to change, at most this many seconds."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(default=1.0, ge=0, le=30, allow_inf_nan=False)
    fields = ("seconds",)


class Note(_Action):
    """Keep a text for later steps and for the answer; the page is not touched."""

    kind: Literal["note"] = "note"
    text: str
    fields = ("text",)
    in_page = False


_NOTHING = ("", "nothing", "none", "null", "n/a", "na", "not applicable")


def _lacking(text: str | None) -> str | None:
    return None if text is None or text.strip(" \t\r\n.\"'").lower() in _NOTHING else text


class Stop(_Action):
    """End the task, or the policy at work, with its answer where it asks for one."""

    kind: Literal["stop"] = "stop"
    answer: str = ""
    lacked: Annotated[str | None, AfterValidator(_lacking)] = None
    """What a policy would have needed to go on; its caller is told. A word for nothing counts as None."""
    fields = ("answer", "lacked")
    in_page = False


class Backtrack(_Action):
    """Bring the page back to how a step found it; nobody is offered this, a remedy or a person asks for it."""

    kind: Literal["backtrack"] = "backtrack"
    step: int = Field(ge=1)
    fields = ("step",)
    in_page = False


class NewTrial(_Action):
    """Begin the task anew in a clean profile; nobody is offered this, a failed plan asks for it."""

    kind: Literal["new_trial"] = "new_trial"
    in_page = False


class AgentAct(_Action):
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
    flags: ClassVar[tuple[str, ...]] = ()
    in_page: ClassVar[bool] = True

    def __str__(self) -> str:
        return " ".join([self.name, *(f"[{escape_brackets(part)}]" for part in self.arguments)])

    @property
    def targets(self) -> tuple[Target, ...]:
        return ()


Action: TypeAlias = Annotated[
    Click
    | DoubleClick
    | Type
    | Press
    | Hover
    | Scroll
    | Select
    | Check
    | Drag
    | Upload
    | Goto
    | GoBack
    | GoForward
    | NewTab
    | TabFocus
    | CloseTab
    | Wait
    | Note
    | Stop
    | Backtrack
    | NewTrial
    | AgentAct
    | Named,
    Field(discriminator="kind"),
]
ACTIONS: dict[str, type[_Action]] = {
    cls.model_fields["kind"].default: cls
    for cls in get_args(get_args(Action)[0])
    if cls not in (Backtrack, NewTrial, AgentAct, Named)
}
"""Every kind of action that any page has, by name, in the order lists show them."""

ACTION = TypeAdapter[Action](Action)

_ALIASES = {
    "select_option": "select",
    "doubleclick": "double_click",
    "dblclick": "double_click",
    "fill": "type",
    "focus_tab": "tab_focus",
    "back": "go_back",
    "forward": "go_forward",
    "finish": "stop",
}
_FLAG_ALIASES = {"press_enter_after": "enter"}
_FLAG = re.compile(r"\s*([a-z_]+)\s*=\s*(0|1|true|false|yes|no|on|off)\s*", re.IGNORECASE)
_BARE_FLAG = re.compile(r"\s*([01])\s*")
_SCROLL = re.compile(r"\s*(scroll)[ _-]+(up|down|left|right)\s*(?=\[|$)", re.IGNORECASE)
"""How LLMs write a scroll without brackets round its direction."""
_NAME = re.compile(r"\s*([A-Za-z]+(?:[ _-]+[A-Za-z]+)*)\s*(?=\[|$)")
_CALL = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*(?=\[|$)")
_FIRST_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
_SHOWN = 200


def _shown(text: str) -> str:
    """Return `text` as an error repeats it: cut, and without what no file or terminal can hold."""
    plain = text.strip().encode("utf-8", "replace").decode()
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"


def escape_brackets(text: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def split_brackets(text: str) -> list[str]:
    """Split ``[a] [b [c]]`` into its outermost parts, unescaped."""
    parts: list[str] = []
    current: list[str] = []
    depth = 0
    index = 0
    while index < len(text):
        char = text[index]
        if depth and char == "\\" and text[index + 1 : index + 2] in ("[", "]", "\\"):
            current.append(text[index + 1])
            index += 2
            continue
        if char == "[":
            depth += 1
            if depth > 1:
                current.append(char)
        elif char == "]" and depth:
            depth -= 1
            if depth:
                current.append(char)
            else:
                parts.append("".join(current))
                current = []
        elif depth:
            current.append(char)
        elif not char.isspace():
            raise ActionSyntaxError(
                f'"{_shown(text)}" has text outside its brackets: put each argument in [ ], as in click [12].'
            )
        index += 1
    if depth:
        raise ActionSyntaxError(f'"{_shown(text)}" has a bracket that is not closed.')
    return parts


def parse_action(text: str, names: Iterable[str] = ()) -> Action:
    """Read one action from its text form.

    Beside the actions that any page has, those called by one of `names` are
    read: what the state offers, and policies. Raises ActionSyntaxError with a
    sentence that names what is wrong and, for an unknown name, the nearest one.
    """
    names = tuple(names)
    head = _head(text, names)
    if head is None:
        raise ActionSyntaxError(f'"{_shown(text)}" is not an action: begin with its name, as in click [12].')
    if head.own:
        return Named(name=head.name, arguments=_arguments(text[head.end :]))
    kind = head.name
    cls = ACTIONS.get(kind)
    if cls is None:
        raise ActionSyntaxError(f'There is no action "{_shown(kind)}"; {_nearest(_kind(kind), names)}')
    parts = [*head.arguments, *split_brackets(text[head.end :])]
    values: dict[str, Any] = {}
    fields = list(cls.fields)
    for position, part in enumerate(parts):
        flag = _FLAG.fullmatch(part)
        if flag and position >= _required(cls):
            name = _FLAG_ALIASES.get(flag[1].lower(), flag[1].lower())
            if name in cls.flags:
                values[name] = flag[2].lower() in ("1", "true", "yes", "on")
                continue
        if not fields and cls.flags and cls.flags[0] not in values and (bare := _BARE_FLAG.fullmatch(part)):
            values[cls.flags[0]] = bare[1] == "1"
            continue
        if not fields:
            raise ActionSyntaxError(f'"{_shown(text)}" has too much: {usage(kind)}.')
        name = fields.pop(0)
        values[name] = parse_target(part) if name in ("target", "to") else _value(cls, name, part)
    try:
        return ACTION.validate_python({"kind": kind, **values})
    except ValidationError as error:
        first = error.errors()[0]
        missing = first["type"] == "missing"
        problem = "lacks" if missing else "cannot use"
        where = str(first["loc"][-1]) if first["loc"] else "its arguments"
        reason = "" if missing else f" ({first['msg']})"
        raise ActionSyntaxError(f'"{_shown(text)}" {problem} {where}{reason}: {usage(kind)}.') from error


def written_name(text: str, names: Iterable[str] = ()) -> str:
    """Return the name that an action's text begins with, as `parse_action` takes it; empty where it has none."""
    head = _head(text, tuple(names))
    return head.name if head is not None else ""


class _Head(NamedTuple):
    """How an action's text begins."""

    name: str
    """The name of an action; of one that there is not, the word as it is written."""
    own: bool
    """Whether it is one of the names that not every page has."""
    end: int
    arguments: tuple[str, ...] = ()
    """Those written without brackets."""


def _head(text: str, names: Iterable[str]) -> _Head | None:
    named = _CALL.match(text)
    if named is not None and (called := _offered(named[1], names)):
        return _Head(called, True, named.end())
    if scroll := _SCROLL.match(text):
        return _Head("scroll", False, scroll.end(), (scroll[2],))
    match = _NAME.match(text) or _FIRST_WORD.match(text)
    if match is None:
        return None
    kind = _kind(match[1])
    return _Head(kind if kind in ACTIONS else match[1], False, match.end())


def _kind(word: str) -> str:
    kind = re.sub(r"[ _-]+", "_", word.lower())
    return _ALIASES.get(kind, kind)


def _value(cls: type[_Action], name: str, part: str) -> str:
    """Return a bracketed part as the field takes it: free text as it stands, a fixed word in lower case."""
    if name == "direction":
        return part.strip().lower().removeprefix("direction=").strip()
    return part if cls.model_fields[name].annotation in (str, str | None) else part.strip()


def _required(cls: type[_Action]) -> int:
    return sum(1 for name in cls.fields if cls.model_fields[name].is_required())


def usage(kind: str, only: Container[str] | None = None) -> str:
    """Return how an action is written, such as ``type [target] [text] [optional: enter=0|1]``.

    `only` names the arguments that it has here; None: all of them.
    """
    cls = ACTIONS[kind]
    parts = [
        bracketed(f"{name}=0|1" if name in cls.flags else name, cls.model_fields[name].is_required())
        for name in (*cls.fields, *cls.flags)
        if only is None or name in only
    ]
    return " ".join([kind, *parts])


def bracketed(argument: str, required: bool) -> str:
    """Return an argument as a list of actions shows it."""
    return f"[{argument}]" if required else f"[optional: {argument}]"


def _offered(word: str, names: Iterable[str]) -> str:
    """Return the one of `names` that is written there, or nothing; case counts only where it tells two apart."""
    names = tuple(names)
    if word in names:
        return word
    alike = [name for name in names if name.lower() == word.lower()]
    return alike[0] if len(alike) == 1 and word.lower() not in ACTIONS else ""


def _arguments(text: str) -> tuple[str, ...]:
    """Return the bracketed parts, without empty ones at the end: these are arguments left out."""
    parts = split_brackets(text)
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _nearest(kind: str, names: Iterable[str] = ()) -> str:
    known = [*names, *ACTIONS]
    close = get_close_matches(kind, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."


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
