"""What an action did in the page: told from the page before and the page after, and whether that was of use."""

import re
from collections import Counter

from core.llm.word_rules.page import FIELD_ROLES
from core.llm.word_rules.words import content_words, norm, short, stem
from core.schema.action import ACTIONS, Action, Click, DoubleClick, parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import PromptView
from core.schema.observation import CleanObservation, Element
from core.schema.record import Record

_COMPLAINT = re.compile(
    r"\berrors?\b|\binvalid\b|\bnot found\b|\bno (?:results?|match(?:es)?|such)\b|\bnothing (?:was )?found\b"
    r"|\bdoes not exist\b|\bthere is no\b|\bincorrect\b|\bwrong\b|\btry again\b|\bfailed\b|\bnot allowed\b",
    re.IGNORECASE,
)
_GOOD_NEWS = re.compile(
    r"\b(?:success\w*|thank|welcome|saved|sent|done|booked|cancell?ed|changed|added|confirmed)\b",
    re.IGNORECASE,
)
_ALERTS = frozenset(("alert", "alertdialog"))
_TOLD = 3
"""Things that appeared or went which the sentence names."""
_LONG = 160


class Effect(Record):
    """What became of the page."""

    sentence: str
    is_changed: bool = False
    appeared: tuple[str, ...] = ()
    """Names that the page did not have before, in page order."""
    complaint: str = ""
    """What the page newly says is wrong."""
    leads_away: bool = False
    """Whether nothing of what the objective names is left in the page."""

    @property
    def serves(self) -> bool:
        return self.is_changed and not self.complaint and not self.leads_away


def effect_of(view: PromptView) -> Effect:
    """Return the effect of the view's action; one that failed has changed nothing, whatever the page."""
    before = view.before or CleanObservation(url=view.observation.url)
    after = view.observation
    did = _deed(view)
    if view.result and not view.result.casefold().startswith(("done", "ok")):
        return Effect(sentence=f"{did} did not work: {short(view.result, _LONG)}")
    appeared = _new(before.elements, after.elements)
    gone = _new(after.elements, before.elements)
    changes = _changed(before, after)
    parts: list[str] = []
    if before.url != after.url:
        parts.append(f"led to {after.title or after.url}")
    parts.extend(changes[:_TOLD])
    if appeared:
        parts.append("brought up " + _listed(appeared))
    if gone:
        parts.append("took away " + _listed(gone))
    is_changed = bool(parts) or _order(before) != _order(after)
    if is_changed and not parts:
        parts.append("changed the order of what the page shows")
    if not is_changed:
        return Effect(sentence=f"{did} changed nothing in the page.")
    complaint = _complaint(before, after)
    sentence = f"{did} {_joined(parts)}."
    leads_away = _leads_away(view, before, after) and not any(_GOOD_NEWS.search(one.name) for one in appeared)
    if complaint:
        sentence += f' The page says: "{short(complaint, _LONG)}".'
    elif leads_away:
        sentence += " Nothing that the task names is on the page any more."
    return Effect(
        sentence=sentence,
        is_changed=True,
        appeared=tuple(one.name for one in appeared),
        complaint=complaint,
        leads_away=leads_away,
    )


def action_of(text: str) -> Action | None:
    """Return the action that a text writes, of the page or with a name of its own; None for no action."""
    name = text.split(" ", 1)[0]
    try:
        return parse_action(text, () if name in ACTIONS else [name])
    except (ActionSyntaxError, ValueError):
        return None


def _deed(view: PromptView) -> str:
    action = action_of(view.action)
    target = view.target or "the page"
    match action.kind if action is not None else "":
        case "click" | "double_click":
            return f"The click on {target}"
        case "type":
            return f'Typing "{short(getattr(action, "text", ""))}" into {target}'
        case "select":
            return f'Choosing "{short(getattr(action, "option", ""))}" in {target}'
        case "check":
            return f"Checking {target}" if getattr(action, "checked", True) else f"Clearing {target}"
        case "hover":
            return f"Pointing at {target}"
        case "press":
            return f"Pressing {getattr(action, 'keys', '')}"
        case "scroll":
            return f"Scrolling {getattr(action, 'direction', '')}"
        case _:
            return f"The action {view.action}" if view.action else "The action"


def _new(before: tuple[Element, ...], after: tuple[Element, ...]) -> list[Element]:
    """Return the named elements of `after` that `before` has not as many of, in page order."""
    left = Counter((one.role, one.name) for one in before)
    found: list[Element] = []
    for one in after:
        key = (one.role, one.name)
        if left[key]:
            left[key] -= 1
        elif one.name:
            found.append(one)
    return found


def _listed(elements: list[Element]) -> str:
    told = [f'{one.role} "{short(one.name, 40)}"' for one in elements[:_TOLD]]
    more = len(elements) - len(told)
    return _joined([*told, f"{more} more"] if more else told)


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _changed(before: CleanObservation, after: CleanObservation) -> list[str]:
    """Return what changed in elements that both pages have: values, choices and states."""
    old = {one.ref: one for one in before.elements}
    told: list[str] = []
    for one in after.elements:
        was = old.get(one.ref)
        if was is None or was.role != one.role:
            continue
        name = f'{one.role} "{short(one.name, 40)}"' if one.name else f"{one.role} [{one.ref}]"
        if one.value != was.value and one.value != one.name:
            told.append(f'made {name} hold "{short(one.value, 40)}"' if one.value else f"emptied {name}")
        elif _choices(one) != _choices(was):
            told.append(f'made {name} hold "{short(", ".join(_choices(one)), 40)}"')
        gained = [state for state in one.states if state not in was.states and _counts(state, one)]
        lost = [state for state in was.states if state not in one.states and _counts(state, one)]
        if gained or lost:
            told.append(f"made {name} " + _joined([*gained, *(f"no longer {state}" for state in lost)]))
        elif one.name == was.name and one.detail != was.detail:
            told.append(f"changed how {name} looks")
    return told


def _counts(state: str, one: Element) -> bool:
    """Tell whether a state says something; a click puts the focus on nearly everything."""
    return state != "focused" or one.role in FIELD_ROLES


def _choices(one: Element) -> tuple[str, ...]:
    return tuple(option.label for option in one.options if option.selected)


def _order(page: CleanObservation) -> list[tuple[str, str, bool]]:
    return [(one.role, one.name, one.in_viewport) for one in page.elements]


def _complaint(before: CleanObservation, after: CleanObservation) -> str:
    for one in _new(before.elements, after.elements):
        if len(one.name) > _LONG or one.role in ("link", "option", "button"):
            continue
        if _COMPLAINT.search(one.name):
            return one.name
        if one.role in _ALERTS and not _GOOD_NEWS.search(one.name):
            return one.name
    was = {one.ref: one.states for one in before.elements}
    for one in after.elements:
        if "invalid" in one.states and one.ref in was and "invalid" not in was[one.ref]:
            return f"{one.name or one.role} is invalid"
    return ""


def _leads_away(view: PromptView, before: CleanObservation, after: CleanObservation) -> bool:
    """Tell whether a click led to an address with nothing of the objective's words, where the page had some."""
    if before.url == after.url or not isinstance(action_of(view.action), Click | DoubleClick):
        return False
    asked = {stem(word) for word in content_words(view.objective) if len(word) > 2}
    return bool(asked & _words_of(before)) and not asked & _words_of(after)


def _words_of(page: CleanObservation) -> set[str]:
    return {
        stem(word)
        for one in page.elements
        for word in content_words(norm(f"{one.name} {one.value} {' '.join(_choices(one))}"))
    }
