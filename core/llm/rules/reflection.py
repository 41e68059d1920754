"""Plans, judgements of a step, and remedies.

Whether a subtask or the task is done is answered by asking what the rules
would do next: one of which nothing is left to do is done.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from core.llm.rules.decisions import best_move, is_irreversible, next_move, without
from core.llm.rules.moves import PART, Move, Scene, act, action_of, described, part_of
from core.llm.rules.objective import Objective
from core.llm.rules.page import ALERT_ROLES, FIELD_ROLES, offered_by
from core.llm.rules.policies import Role
from core.llm.rules.purchases import FILLER
from core.llm.rules.words import content_words, said_done, short, stems, verbs_in
from core.schema.action import Action, Click, DoubleClick, Named, Press, Stop, Type
from core.schema.action_space import Permissible
from core.schema.messages import PromptView, Turn
from core.schema.observation import CleanObservation, Element

# Plans

LAST = "See that nothing of the task is left to do"
"""The last subtask of every plan: it is over when the task is."""
_LONGEST = 12
_LOOKS = (
    "See what the page has of these before acting: {}",
    "See what tabs, menus and further pages may hide it",
    "See what the messages of the page say after each action",
)


def subtasks(view: PromptView) -> list[str]:
    """Return the subtasks of the objective in order, at least one.

    Each trial that failed puts one more look before them, a different one
    each time, so that no plan is the one that failed.
    """
    names = [word for word in dict.fromkeys(content_words(view.objective)) if word not in FILLER][:3]
    count = len(view.experience)
    looks = [look.format(", ".join(names) or "the task") for look in _LOOKS[:count]]
    if count > len(_LOOKS):
        looks[-1] = f"See, for the {count}th time, what was not tried yet"
    planned = _parts(Objective(view.objective)) or [f"Do what the task says: {short(view.objective, 160)}"]
    return [*looks, *planned[:_LONGEST], LAST]


def _parts(objective: Objective) -> list[str]:
    if objective.is_purchase:
        return [
            "Search for what is described",
            "Open the result that fits best",
            "Choose the options that are asked for",
            "Buy it",
        ]
    if objective.facts.are_given:
        return _parts_from_facts(objective)
    parts: list[str] = []
    for intent in objective.intents:
        text = intent.text.strip(" .,;")
        if intent.kind == "fill" and intent.value and intent.field:
            text = f'Enter "{intent.value}" into the {re.sub("^(?:the|a|an|your) ", "", intent.field)}'
        parts.append(text[:1].upper() + text[1:])
    return list(dict.fromkeys(parts))


def _parts_from_facts(objective: Objective) -> list[str]:
    """Return the usual way through a desk: find, enter, choose, confirm, as far as the objective gives it."""
    facts = objective.facts
    days = " and ".join(day for day, _ in facts.days)
    parts = [f"Bring up {facts.code}"] if facts.code else []
    if facts.route:
        parts.append(f"Search from {facts.route[0]} to {facts.route[1]}" + (f" on {days}" if days else ""))
    elif days:
        parts.append(f"Search for {days}")
    parts.extend(f"Choose what is at {time}" for time, _ in facts.times)
    parts.extend(f"Change the {label} to {value}" for label, value in facts.changes.items())
    if facts.person:
        parts.append(f"Enter the details of {facts.person[0]}")
    if facts.card:
        parts.append(f"Pay with the card {facts.card}")
    if "cancel" in objective.verbs:
        parts.append("Cancel it and confirm that")
    return parts


# What an action did

_COMPLAINT = re.compile(
    r"\berrors?\b|\binvalid\b|\bnot found\b|\bno (?:results?|match(?:es)?|such)\b|\bnothing (?:was )?found\b"
    r"|\bdoes not exist\b|\bthere is no\b|\bincorrect\b|\bwrong\b|\btry again\b|\bfailed\b|\bnot allowed\b",
    re.IGNORECASE,
)
_GOOD_NEWS = re.compile(
    r"\b(?:success\w*|thank|welcome|saved|sent|done|booked|cancell?ed|changed|added|confirmed)\b",
    re.IGNORECASE,
)
_TOLD = 3
"""Things that appeared or went which the sentence names."""
_LONG = 160


class Effect(NamedTuple):
    """The outcome of the page."""

    sentence: str
    serves: bool = False
    """Whether the page changed, and for the better."""
    appeared: tuple[str, ...] = ()
    """Names that the page did not have before, in page order."""


def effect_of(view: PromptView) -> Effect:
    """Return the effect of the view's action; one that failed has changed nothing, whatever the page."""
    before = view.before or CleanObservation(url=view.observation.url)
    after = view.observation
    is_named = isinstance(action_of(view.action), Named)
    did = f"The action {view.action}" + (f" on {view.target}" if view.target and not is_named else "")
    if view.result and not view.result.casefold().startswith(("done", "ok")):
        return Effect(f"{did} did not work: {short(view.result, _LONG)}")
    appeared, gone = _new(before.elements, after.elements), _new(after.elements, before.elements)
    changed = _changed(before, after)
    parts = [f"led to {after.title or after.url}"] if before.url != after.url else []
    parts.extend(f'made {_named(one)} hold "{short(_content(one), 40)}"' for one in changed[:_TOLD])
    for verb, elements in (("brought up", appeared), ("took away", gone)):
        if elements:
            more = f" and {len(elements) - _TOLD} more" if len(elements) > _TOLD else ""
            parts.append(f"{verb} {', '.join(map(_named, elements[:_TOLD]))}{more}")
    if not parts:
        return Effect(f"{did} changed nothing in the page.")
    sentence = f"{did} {'; '.join(parts)}."
    complaint = next((f"{_named(one)} is invalid" for one in changed if "invalid" in one.states), "")
    complaint = next((one.name for one in appeared if _complains(one)), complaint)
    if complaint:
        sentence += f' The page says: "{short(complaint, _LONG)}".'
    leads_away = not complaint and _leads_away(view, before, appeared)
    if leads_away:
        sentence += " Nothing that the task names is on the page any more."
    return Effect(sentence, not complaint and not leads_away, tuple(one.name for one in appeared))


def _new(before: Iterable[Element], after: Iterable[Element]) -> list[Element]:
    """Return the named elements of `after` that `before` has not as many of, in page order."""
    left = Counter((element.role, element.name) for element in before)
    left.subtract((element.role, element.name) for element in after)
    return [element for element in after if element.name and left[element.role, element.name] < 0]


def _changed(before: CleanObservation, after: CleanObservation) -> list[Element]:
    """Return the elements that both pages have and whose content is another now."""
    old = {(element.ref, element.role): _content(element) for element in before.elements}
    # What lost the focus was not changed.
    news = ((element, _content(element)) for element in after.elements if (element.ref, element.role) in old)
    return [one for one, new in news if old[one.ref, one.role] not in (new, f"{new} focused".strip())]


def _content(one: Element) -> str:
    """Return value, choices and states; a click puts the focus on nearly everything."""
    value = ", ".join(option.label for option in one.options if option.selected) or one.value
    states = (state for state in one.states if state != "focused" or one.role in FIELD_ROLES)
    return " ".join((value if value != one.name else "", *states)).strip()


def _named(one: Element) -> str:
    return f'{one.role} "{short(one.name, 40)}"' if one.name else f"{one.role} [{one.ref}]"


def _complains(one: Element) -> bool:
    if len(one.name) > _LONG or one.role in ("link", "option", "button"):
        return False
    is_alert = one.role in ALERT_ROLES and not _GOOD_NEWS.search(one.name)
    return is_alert or _COMPLAINT.search(one.name) is not None


def _leads_away(view: PromptView, before: CleanObservation, appeared: list[Element]) -> bool:
    """Return whether a click led to an address with nothing of the objective's words, where the page had some."""
    if before.url == view.observation.url or not isinstance(action_of(view.action), Click | DoubleClick):
        return False
    asked = {word for word in stems(view.objective) if len(word) > 2}
    had, has = (
        asked & stems(" ".join(f"{element.name} {_content(element)}" for element in page.elements))
        for page in (before, view.observation)
    )
    return bool(had and not has) and not any(_GOOD_NEWS.search(element.name) for element in appeared)


# Judgements

Over = Literal["done", "needless", "open"]
_LOOKS_ONLY = re.compile(r"^(?:see|look|read)\b", re.IGNORECASE)
_NOT_NAMING = frozenset(
    "click press enter type fill select choose pick check open go see look find read into tap set put "
    "button link field box textbox checkbox page form tab menu option list".split()
)


def subtask_over(view: PromptView) -> tuple[Over, str]:
    """Return whether the subtask is done, not needed any more, or open, with the sentence that says why."""
    text = view.subtask or view.objective
    effect = effect_of(view)
    if not effect.serves:
        return "open", "The action did not serve it."
    if text == LAST:
        is_done, why = task_done(view)
        return ("done" if is_done else "open"), why
    if _LOOKS_ONLY.match(text) and not Objective(text).facts.are_given:
        return "done", "The page was looked at and acted on."
    # A subtask counts its own parts, not those that the thoughts name.
    earlier = tuple(turn.replace(thought=PART.sub("", turn.thought)) for turn in view.history)
    this = Turn(number=len(earlier) + 1, action=view.action, target=view.target, result="done")
    first = _next(view, text, view.before, earlier) if view.before is not None else None
    if _is_end(_next(view, text, view.observation, (*earlier, this))):
        if _is_end(first):
            return "needless", "Nothing was left to do before this action."
        return "done", "Nothing is left to do on the page."
    named = stems(text) - _NOT_NAMING
    mentioned = " ".join((view.action, view.target, effect.sentence, *effect.appeared))
    if named and named <= stems(mentioned):
        return "done", "The action and the page contain everything that it names."
    return "open", "Something is left to do."


def task_done(view: PromptView) -> tuple[bool, str]:
    """Return whether nothing of the whole task is left, with the sentence that says why."""
    verbs = verbs_in(view.objective)
    confirmation = said_done(view.observation.elements, verbs)
    before = said_done(view.before.elements, verbs) if view.before is not None else None
    if confirmation is not None and (before is None or before.name != confirmation.name):
        return True, f'The page says: "{short(confirmation.name, 120)}".'
    history = view.history
    if view.action:
        if not effect_of(view).serves:
            return False, "The last action did not serve it."
        if not history or history[-1].action != view.action:
            given = {name: getattr(view, name) for name in ("thought", "action", "target")}
            history = (*history, Turn(number=len(history) + 1, result="done", **given))
    move = _next(view, view.objective, view.observation, history)
    if _is_end(move):
        return True, "Nothing of the task is left to do."
    left = move.why if move is not None else "The task is not understood."
    return False, f"Something is left to do. {left}"


def _next(view: PromptView, text: str, page: CleanObservation, history: tuple[Turn, ...]) -> Move | None:
    """Return what the rules would do for a text on a page; None if they read nothing to do in it."""
    scene = Scene.of(view.replace(objective=text, observation=page, history=history), offered_by(page))
    if not (scene.objective.intents or scene.objective.facts.are_given or scene.objective.is_purchase):
        return None
    return next_move(scene, is_whole=text == view.objective)


def _is_end(move: Move | None) -> bool:
    return move is not None and isinstance(move.action, Stop) and move.finishes


# Remedies

_WORDED = re.compile(r'^(\w+) \[([a-z]+(?:-[a-z]+)*) "(.*?)"(?: (\d+))?\](.*)$', re.DOTALL)
"""An action with its element in words, as in ``click [button "Save" 2]``."""
_IDLE = frozenset(("stop", "wait", "note", "scroll", "go_back", "go_forward", "new_tab", "close_tab"))


def other_actions(view: PromptView, permissible: Permissible, role: Role) -> tuple[list[Action], str]:
    """Return up to `view.count` actions that are neither chosen nor unwanted, the best first, and a sentence.

    There are fewer, or none, if nothing else in the page is near to what
    the objective names.
    """
    # What was typed belongs into another field; the next step of a form is no remedy.
    chosen = _read(view.action, view.observation)
    entered = chosen.text if isinstance(chosen, Type) else None
    unwanted = (_read(text, view.observation) for text in view.unwanted)
    excluded = [one for one in (chosen, *unwanted) if one is not None]
    left = permissible
    for one in excluded:
        left = without(left, one)
    mark, part = PART.match(view.thought), part_of(view.thought)
    others: dict[Action, str] = {}
    for action, why in (*_next_best(view, left, role), *_near(view, left, chosen)):
        is_other = action not in excluded and entered in (None, getattr(action, "text", None))
        if is_other and part_of(why) in (0, part):
            others.setdefault(action, mark[0] + why if mark is not None and not part_of(why) else why)
    if not others or not view.count:
        return [], "There is nothing else to try."
    return list(others)[: view.count], next(iter(others.values()))


def _next_best(view: PromptView, permissible: Permissible, role: Role) -> Iterable[tuple[Action, str]]:
    """Return what would be proposed, one after the other, with what was proposed before ruled out."""
    for _ in range(view.count):
        move = best_move(view, permissible, role)
        if move.action.name in _IDLE or permissible.problem(move.action):
            break
        yield move.action, move.why
        less = without(permissible, move.action)
        if less == permissible:
            break
        permissible = less


def _near(view: PromptView, permissible: Permissible, chosen: Action | None) -> list[tuple[Action, str]]:
    """Return clicks on what shares words with the task; none if something was to be entered."""
    if isinstance(chosen, Type | Press):
        return []
    scene = Scene.of(view, permissible)
    clickable = [
        element for element in scene.page.can("click") if not is_irreversible(element, view.objective)
    ]
    shares = {one: stems(one.name) & scene.objective.stems for one in clickable}
    named = sorted(filter(shares.get, clickable), key=lambda one: -len(shares[one]) / len(stems(one.name)))
    return [(act("click", one), f"It may be {described(one)} that is meant.") for one in named]


def _read(text: str, page: CleanObservation) -> Action | None:
    """Return the action that a text writes, by the element's number or in words with its place among equals."""
    match = _WORDED.match(text)
    if match is None:
        return action_of(text)
    kind, role, name, number, rest = match.groups()
    equals = [element for element in page.elements if (element.role, element.name) == (role, name)]
    at = int(number) - 1 if number else 0
    if not 0 <= at < len(equals):
        return None
    # Values stand with their names in such a text, and yes and no as True and False.
    values = "".join(
        f" [{name}={int(value == 'True')}]" if value in ("True", "False") else f" [{value}]"
        for name, value in re.findall(r"\[(\w+)=(.*?)\](?= \[|$)", rest, re.DOTALL)
    )
    return action_of(f"{kind} [{equals[at].ref}]{values}")
