"""Finds what an exemplar must not teach, in pure functions: the impossible, contradictions, orders, private data.

Each looks at one exemplar. `core.exemplars.checks` puts all checks together.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from core.exemplars.placeholders import names_in
from core.exemplars.problem import Problem
from core.schema.action import Action, Check, RefTarget, Select, Type
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Draft, DraftStep
from core.schema.secrets import has_key
from core.settings.toml_layout import Location

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
_UNSEEN = re.compile(
    "[\u202d\u202e]|(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4}|[\u200b\u2060-\u2064\ufeff]{8}"
)
"""What turns the order of letters round, or writes with letters that are not drawn: tags (but for those of flags), long
rows of variation selectors or of spaces without width."""
_DAMAGED = re.compile("\ufffd|\u00c3[\u0080-\u00aa\u00ac-\u00ba\u00bc-\u00bf]|\u00e2\u20ac")
_ELEMENT = re.compile(r'^\s*\[(\d+)\] [a-z]+(?: ["(]|$)', re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.([a-z]{2,})\b", re.IGNORECASE)
_RESERVED = re.compile(
    r"@(?:[\w-]+\.)*(?:example\.(?:com|net|org)|[\w-]+\.(?:example|test|invalid)|localhost)$", re.IGNORECASE
)
"""Domains that RFC 2606 keeps for examples."""


def check_content(exemplar: Draft) -> Iterator[Problem]:
    """Yield all that the functions of this module find."""
    yield from check_possible(exemplar)
    yield from check_pages(exemplar)
    yield from check_course(exemplar)
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
            return f"{'an' if role[:1] in 'aeiou' else 'a'} {role} cannot be {done}."
    if isinstance(action, Select) and (options := _OPTIONS.search(rest)):
        labels = [label.strip().strip("*").casefold() for label in options[1].split(" | ")]
        if not any(action.option.strip().casefold() in label for label in labels):
            return "its step has no such option."
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
        which = "No step has a page" if len(empty) == looks else f"{len(empty)} of {looks} steps have no page"
        text = f"{which}: prompts show only their actions."
        yield Problem(id=exemplar.id, kind="page", at=("steps", empty[0]), text=text, level="note")


def check_course(exemplar: Draft) -> Iterator[Problem]:
    """Yield looks that cannot be what they stand for, and thoughts and placeholders that their actions do not have."""
    id, known, before = exemplar.id, set(names_in(exemplar.task)), DraftStep()
    for number, step in enumerate(exemplar.steps):
        at: Location = ("steps", number)
        refs = Counter(_ELEMENT.findall(step.observation))
        if twice := next((ref for ref, times in refs.items() if times > 1), ""):
            text = f"Two elements of its page have the number {twice}."
            yield Problem(id=id, kind="page", at=(*at, "observation"), text=text)
        if step.observation.strip() and step.observation == before.observation:
            if _is_missing(before.actions[-1:], step.observation):
                text = f"Its page is that of the step before: {before.actions[-1]} cannot be seen in it."
                yield Problem(id=id, kind="page", at=(*at, "observation"), text=text, level="note")
            elif step.actions == before.actions:
                text = "It does the same as the step before, on the same page."
                yield Problem(id=id, kind="action", at=at, text=text, level="note")
        thought = [ref for ref in _NUMBER.findall(step.thought) if ref in refs]
        acted = {str(ref) for ref in map(_ref_of, step.actions) if ref is not None}
        if thought and acted and not acted & set(thought):
            text = f"Its thought names [{thought[0]}], none of its actions acts on it."
            yield Problem(id=id, kind="action", at=(*at, "thought"), text=text, level="note")
        for place, action in enumerate(step.actions if known else ()):
            if lacking := next((name for name in names_in(action) if name not in known), ""):
                text = f"{action}: the task has other placeholders, but not {{{lacking}}}, which is typed as it is."
                yield Problem(id=id, kind="action", at=(*at, "actions", place), text=text)
        before = step


def _is_missing(last: Sequence[str], observation: str) -> bool:
    """Return whether what was typed last is not in its field on the page after it; Enter may have emptied it."""
    action = next(map(_read, last), None)
    if (
        not isinstance(action, Type)
        or action.enter
        or not action.text
        or not isinstance(action.target, RefTarget)
    ):
        return False
    lines = {int(ref): rest for ref, _, rest in _LINE.findall(observation)}
    shown = lines.get(action.target.ref)
    return shown is not None and action.text not in shown and "•" not in shown


def _ref_of(text: str) -> int | None:
    target = getattr(_read(text), "target", None)
    return target.ref if isinstance(target, RefTarget) else None


def check_lessons(exemplar: Draft) -> Iterator[Problem]:
    """Yield contrasts whose mistake is what a look does first on the same page."""
    for number, contrast in enumerate(exemplar.contrasts):
        for place, step in enumerate(exemplar.steps):
            same_page = bool(contrast.observation) and step.observation == contrast.observation
            if same_page and step.actions[:1] == (contrast.tried,) and contrast.tried != contrast.right:
                text = (
                    f"It says that {contrast.tried} is wrong, but step {place + 1} does it on the same page."
                )
                yield Problem(
                    id=exemplar.id, kind="contradiction", at=("contrasts", number, "tried"), text=text
                )
                break


def check_orders(exemplar: Draft) -> Iterator[Problem]:
    """Yield texts that give orders to the LLM, such as a page that tells it to ignore its instructions.

    Characters that nobody sees can hide such a text.
    """
    for at, text in _texts(exemplar):
        if found := _UNSEEN.search(text):
            message = f"It has text that is not drawn, or turned round (U+{ord(found[0][0]):04X}). Remove it."
            yield Problem(id=exemplar.id, kind="orders", at=at, text=message)
        if _DAMAGED.search(text):
            message = "It has characters that were read in a wrong encoding, such as “Ã©” for “é”."
            yield Problem(id=exemplar.id, kind="page", at=at, text=message, level="note")
        if found := _ORDERS.search(text):
            words = " ".join(found[0].split())[:80]
            message = f"“{words}” gives orders to the LLM, or looks like a part of its prompt."
            yield Problem(id=exemplar.id, kind="orders", at=at, text=message)


def check_private(exemplar: Draft) -> Iterator[Problem]:
    """Yield keys and tokens of services, and mail addresses of real domains."""
    for at, text in _strings(exemplar.model_dump(exclude={"review"})):
        if has_key(text):
            message = "It has the key or token of a service. Remove it, and make a new key."
            yield Problem(id=exemplar.id, kind="private", at=at, text=message)
    for at, text in _texts(exemplar):
        addresses = (found[0] for found in _ADDRESS.finditer(text))
        if address := next((one for one in addresses if not _RESERVED.search(one)), ""):
            message = f"It has the mail address {address}. Prompts and exports show it."
            yield Problem(id=exemplar.id, kind="private", at=at, text=message, level="note")


def _strings(value: object, at: Location = ()) -> Iterator[tuple[Location, str]]:
    """Give all texts in a value, which exports have, with their places."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict | list | tuple):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(one, (*at, key))


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
