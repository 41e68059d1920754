"""Copies one row as text: an action as a Playwright line, a request or an LLM call as a curl command."""

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from core.schema import action as kinds
from core.schema.action import RefTarget, parse_target
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.observation import Box, Element, Observation
from core.schema.secrets import Secrets, without_forms
from core.trace.exports.playwright_script import NotExpressibleError, lines_of, literal

_HELPERS = re.compile(r"(?<![\w.])(?:one|scroll|drag|select_text|at|warn|type_into|urljoin)\(")
"""Calls of functions that a whole script defines."""
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
    """Return a request of a page as a curl command; names stand for secrets in its address."""
    secrets = Secrets()
    secrets.look_in_url(url)
    given = [] if method == "GET" else ["--head"] if method == "HEAD" else ["-X", method]
    return shlex.join(["curl", *given, secrets.text_of_places(url)])


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
    text = without_forms(json.dumps(body, indent=2, ensure_ascii=False))
    return (
        f'curl "{_ADDRESS}" \\\n  -H "Authorization: Bearer $OPENAI_API_KEY" \\\n'
        f'  -H "Content-Type: application/json" \\\n  -d {shlex.quote(text)}'
    )
