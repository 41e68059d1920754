"""Copies one row as text: an action as a Playwright line, a request or an LLM call as a curl command."""

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote_plus

from core.schema import action as kinds
from core.schema.action import RefTarget, parse_target
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.hiding import Secrets
from core.schema.observation import Box, Element, Observation
from core.schema.secrets import is_placeholder, kind_of_name, without_forms
from core.trace.exports.playwright_script import NotExpressibleError, lines_of, literal

_HELPERS = re.compile(r"(?<![\w.])(?:one|scroll|drag|select_text|at|warn|type_into|urljoin)\(")
"""Calls of functions that a whole script defines."""
_MASK = "***"
_ANY = "a1" * 10
"""A value that any telling name makes secret."""
_FIELD = re.compile(r"(?<=[?&#])([^?&#=/\s]+)=([^?&#\s]+)")
_USER = re.compile(r"(\A[^/?#\s]*://)([^/?#\s]+)(?=@)|(?<=://)([^/?#&=\s]+)(?=@)")
_ADDRESS = "${OPENAI_BASE_URL:-https://api.openai.com/v1}/chat/completions"


def playwright_line(text: str, elements: Iterable[Element] = (), words: str = "") -> str:
    """Return an action, given as text, as Python that calls the page ``page``; raises NotExpressibleError.

    Refs are of `elements`. Of an action whose page is gone `words` name its
    target, such as ``button "Save"``.
    """
    try:
        action = parse_action(text)
    except ActionSyntaxError as error:
        raise NotExpressibleError(f"it cannot be read: {error}") from error
    known = {element.ref: element for element in elements}
    refs = [target.ref for target in action.targets if isinstance(target, RefTarget)]
    if refs and refs[0] not in known and (named := _named(refs[0], words)):
        known[refs[0]] = named
    if missing := [ref for ref in refs if ref not in known]:
        raise NotExpressibleError(f"element {missing[0]} is not in the page that is in view")
    seen = Observation(url="", elements=tuple(known.values()))

    def on(target: kinds.Target) -> str:
        (line,) = lines_of(kinds.Hover(target=target), seen, "", "")
        return line.removesuffix(".hover()")

    match action:
        case kinds.Type() if not action.append:
            lines_of(action, seen, "", "")  # Raises where the text is not to be told.
            lines = [f"{on(action.target)}.fill({literal(action.text)})"]
            lines += ['page.keyboard.press("Enter")'] if action.enter else []
        case kinds.Scroll():
            across, down = {"up": (0, -600), "down": (0, 600), "left": (-800, 0), "right": (800, 0)}[
                action.direction
            ]
            lines = [f"{on(action.target)}.hover()"] if action.target is not None else []
            lines += [f"page.mouse.wheel({across}, {down})"]
        case kinds.Drag() if not action.from_at and not action.to_at:
            lines = [f"{on(action.target)}.drag_to({on(action.to)})"]
        case kinds.Goto():
            lines = [f"page.goto({literal(action.url)})"]
        case _:
            lines = lines_of(action, seen, "", "")
    code = (
        "\n".join(lines)
        .replace("frame(page, name=", "page.frame(name=")
        .replace("frame(page, url=", "page.frame(url=")
    )
    if _HELPERS.search(code):
        raise NotExpressibleError("it takes more than one call of Playwright: export the run as a script")
    return code


def _named(ref: int, words: str) -> Element | None:
    try:
        target = parse_target(words)
    except ActionSyntaxError:
        return None
    if not isinstance(target, kinds.RoleTarget):
        return None
    return Element(ref=ref, role=target.role, name=target.name, box=Box(x=0, y=0, width=0, height=0))


def request_command(method: str, url: str) -> str:
    """Return a request of a page as a curl command; names, or ``***``, stand for secrets in its address."""
    secrets = Secrets()
    secrets.look_in_url(url)
    shown = _FIELD.sub(_masked, _USER.sub(_masked_user, secrets.text_of_places(url)))
    given = [] if method == "GET" else ["--head"] if method == "HEAD" else ["-X", method]
    return shlex.join(["curl", *given, shown])


def _masked(field: re.Match[str]) -> str:
    """Return a field of an address, without its value if its name tells a secret, however short that is."""
    is_open = is_placeholder(field[2]) or not kind_of_name(unquote_plus(field[1]), _ANY, in_address=True)
    return field[0] if is_open else f"{field[1]}={_MASK}"


def _masked_user(user: re.Match[str]) -> str:
    name = user[2] or user[3]
    return user[0] if is_placeholder(name) else f"{user[1] or ''}{_MASK}"


def _without_keys(value: Any) -> Any:
    """Return a value of JSON with ``[key]`` in place of the keys in its texts."""
    match value:
        case str():
            return without_forms(value)
        case dict():
            return {name: _without_keys(one) for name, one in value.items()}
        case list() | tuple():
            return [_without_keys(one) for one in value]
        case _:
            return value


def call_command(model: str, messages: Sequence[dict[str, Any]], tools: str = "", sampling: str = "") -> str:
    """Return an LLM call as a curl command, which takes the key from the environment; it has no other key.

    `tools` is JSON: a list of tools, or the schema of the whole reply.
    `sampling` is as a call shows it, such as ``temperature 0.5, seed 3``.
    """
    body: dict[str, Any] = {"model": model, "messages": list(messages)}
    for part in filter(None, sampling.split(", ")):
        name, _, value = part.partition(" ")
        try:
            body[name] = json.loads(value.lower())
        except json.JSONDecodeError:
            body[name] = value
    offered = json.loads(tools) if tools else None
    if isinstance(offered, list):
        body["tools"] = [{"type": "function", "function": tool} for tool in offered]
    elif offered:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": offered}}
    text = json.dumps(_without_keys(body), indent=2, ensure_ascii=False)
    return (
        f'curl "{_ADDRESS}" \\\n  -H "Authorization: Bearer $OPENAI_API_KEY" \\\n'
        f'  -H "Content-Type: application/json" \\\n  -d {shlex.quote(text)}'
    )
