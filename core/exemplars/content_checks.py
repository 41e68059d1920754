"""Finds what an exemplar must not teach, in pure functions: the impossible, contradictions, orders, private data.

Each looks at one exemplar. `core.exemplars.checks` puts all checks together.
"""

import re
from collections.abc import Iterator

from core.exemplars.editing.layout import Location
from core.exemplars.problem import Problem
from core.schema.action import Action, Check, RefTarget, Select, Type
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Draft
from core.schema.secrets import has_key

_LINE = re.compile(r"^\s*\[(\d+)\] (\S+)(.*)$", re.MULTILINE)
_OPTIONS = re.compile(r"\boptions: (.*)$")
_NOT_STATES = re.compile(r'"(?:[^"\\]|\\.)*"|\([^)]*\)|options:.*')
_NO_FIELDS = frozenset(
    "button link checkbox radio switch tab heading text img image listitem option menuitem slider separator".split()
)
_NO_BOXES = frozenset("textbox searchbox link heading text img image combobox listbox slider tab".split())
_NO_LISTS = frozenset("button link checkbox radio switch heading text img image tab".split())
_IMPOSSIBLE: tuple[tuple[type[Action], frozenset[str], str], ...] = (
    (Type, _NO_FIELDS, "typed into"),
    (Check, _NO_BOXES, "checked"),
    (Select, _NO_LISTS, "chosen from"),
)
"""Roles of elements with which an action is never possible."""
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|directions)\b"
    r"|\byou are now (?:an?|in|the)\b"
    r"|\b(?:reveal|print|repeat|show|send)\b[^.\n]{0,30}\b(?:system prompt|your (?:instructions|prompt|rules))\b"
    r"|\bdo not (?:tell|inform|warn) the (?:user|person)\b"
    r"|<\|(?:im_start|im_end|system|user|assistant|eot_id|start_header_id|endoftext)\|?>"
    r"|\[/?INST\]|<</?SYS>>|</?(?:system|instructions?)>"
    r"|#{2,}\s*(?:system|instruction|human|assistant)s?\s*:",
    re.IGNORECASE,
)
"""What gives orders to whoever reads a prompt, or looks like parts of one."""
_ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.([a-z]{2,})\b", re.IGNORECASE)
_RESERVED = re.compile(
    r"@(?:[\w-]+\.)*(?:example\.(?:com|net|org)|[\w-]+\.(?:example|test|invalid)|localhost)$", re.IGNORECASE
)
"""Domains that RFC 2606 keeps for examples."""


def check_content(exemplar: Draft) -> Iterator[Problem]:
    """Yield all that the functions of this module find."""
    yield from check_possible(exemplar)
    yield from check_pages(exemplar)
    yield from check_lessons(exemplar)
    yield from check_orders(exemplar)
    yield from check_private(exemplar)


def check_possible(exemplar: Draft) -> Iterator[Problem]:
    """Yield the actions that cannot be done with the element as its look shows it."""
    for number, step in enumerate(exemplar.steps):
        lines = {int(ref): (role.casefold(), rest) for ref, role, rest in _LINE.findall(step.observation)}
        for place, text in enumerate(step.actions):
            action = _read(text)
            target = getattr(action, "target", None)
            if action is None or not isinstance(target, RefTarget) or target.ref not in lines:
                continue
            if why := _why_impossible(action, *lines[target.ref]):
                at: Location = ("steps", number, "actions", place)
                yield Problem(id=exemplar.id, kind="action", at=at, text=f"{text}: {why}")


def _why_impossible(action: Action, role: str, rest: str) -> str:
    states = set(_NOT_STATES.sub("", rest).split())
    if "disabled" in states:
        return f"the {role} is disabled."
    if isinstance(action, Type) and "readonly" in states:
        return f"the {role} is read-only."
    for kind, roles, done in _IMPOSSIBLE:
        if isinstance(action, kind) and role in roles:
            return f"a {role} cannot be {done}."
    if isinstance(action, Select) and (options := _OPTIONS.search(rest)):
        labels = [label.strip().strip("*").casefold() for label in options[1].split(" | ")]
        if not any(action.option.strip().casefold() in label for label in labels):
            return "its look has no such option."
    return ""


def check_pages(exemplar: Draft) -> Iterator[Problem]:
    """Yield looks without a page: where an action has a number, it means nothing."""
    empty = [number for number, step in enumerate(exemplar.steps) if not step.observation.strip()]
    for number in empty:
        actions = (_read(text) for text in exemplar.steps[number].actions)
        if any(isinstance(getattr(action, "target", None), RefTarget) for action in actions):
            text = "It has no page, so the number in its action means nothing."
            yield Problem(id=exemplar.id, kind="page", at=("steps", number), text=text)
            return
    if empty:
        looks = len(exemplar.steps)
        which = "No look has a page" if len(empty) == looks else f"{len(empty)} of {looks} looks have no page"
        text = f"{which}: prompts show only their actions."
        yield Problem(id=exemplar.id, kind="page", at=("steps", empty[0]), text=text, level="note")


def check_lessons(exemplar: Draft) -> Iterator[Problem]:
    """Yield contrasts whose mistake is what a look does first on the same page."""
    for number, contrast in enumerate(exemplar.contrasts):
        for place, step in enumerate(exemplar.steps):
            same_page = bool(contrast.observation) and step.observation == contrast.observation
            if same_page and step.actions[:1] == (contrast.tried,) and contrast.tried != contrast.right:
                text = (
                    f"It says that {contrast.tried} is wrong, but look {place + 1} does it on the same page."
                )
                yield Problem(
                    id=exemplar.id, kind="contradiction", at=("contrasts", number, "tried"), text=text
                )
                break


def check_orders(exemplar: Draft) -> Iterator[Problem]:
    """Yield texts that give orders to the LLM, such as a page that tells it to ignore its instructions."""
    for at, text in _texts(exemplar):
        if found := _ORDERS.search(text):
            words = " ".join(found[0].split())[:80]
            message = f"“{words}” gives orders to the LLM, or looks like a part of its prompt."
            yield Problem(id=exemplar.id, kind="orders", at=at, text=message)


def check_private(exemplar: Draft) -> Iterator[Problem]:
    """Yield keys and tokens of services, and mail addresses of real domains."""
    for at, text in _texts(exemplar):
        if has_key(text):
            message = "It has the key or token of a service. Remove it, and make a new key."
            yield Problem(id=exemplar.id, kind="private", at=at, text=message)
        addresses = (found[0] for found in _ADDRESS.finditer(text))
        if address := next((one for one in addresses if not _RESERVED.search(one)), ""):
            message = f"It has the mail address {address}. Prompts and exports show it."
            yield Problem(id=exemplar.id, kind="private", at=at, text=message, level="note")


def _texts(exemplar: Draft) -> Iterator[tuple[Location, str]]:
    """Give what prompts show of an exemplar, with its place."""
    yield ("task",), exemplar.task
    for number, step in enumerate(exemplar.steps):
        yield ("steps", number, "observation"), step.observation
        yield ("steps", number, "thought"), step.thought
        for place, action in enumerate(step.actions):
            yield ("steps", number, "actions", place), action
    for number, contrast in enumerate(exemplar.contrasts):
        for name in ("observation", "tried", "right", "why"):
            yield ("contrasts", number, name), getattr(contrast, name)
    for number, pair in enumerate(exemplar.abstraction):
        for name in ("state", "observation"):
            yield ("abstraction", number, name), getattr(pair, name)


def _read(text: str) -> Action | None:
    try:
        return parse_action(text)
    except ActionSyntaxError:
        return None  # Told by another check.
