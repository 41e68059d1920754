"""Plans, judgements of a step, and remedies.

Whether a subtask or the task is done is answered by asking what the rules
would do next: one of which nothing is left to do is done.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from core.llm.rules.decisions import is_irreversible, next_move, proposed, without
from core.llm.rules.moves import PART, Move, Scene, act, action_of, described, part_of, target_of
from core.llm.rules.objective import Objective
from core.llm.rules.page import ALERT_ROLES, FIELD_ROLES, RulesPage, offered_by
from core.llm.rules.policies import Role
from core.llm.rules.purchases import FILLER
from core.llm.rules.words import content_words, roles_in, said_done, short, stems, verbs_in
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
    did = _what_was_done(view)
    if view.result and not view.result.casefold().startswith(("done", "ok")):
        return Effect(f"{did} did not work: {short(view.result, _LONG)}")
    appeared, gone = _new(before.elements, after.elements), _new(after.elements, before.elements)
    parts = [f"led to {after.title or after.url}"] if before.url != after.url else []
    parts.extend(_changes(before, after)[:_TOLD])
    news = (("brought up", appeared), ("took away", gone))
    parts.extend(f"{verb} {_listed(elements)}" for verb, elements in news if elements)
    if not parts and _order(before) != _order(after):
        parts.append("changed the order of what the page shows")
    if not parts:
        return Effect(f"{did} changed nothing in the page.")
    sentence = f"{did} {_joined(parts)}."
    complaint = _complaint(before, after, appeared)
    leads_away = _leads_away(view, before) and not any(_GOOD_NEWS.search(one.name) for one in appeared)
    if complaint:
        sentence += f' The page says: "{short(complaint, _LONG)}".'
    elif leads_away:
        sentence += " Nothing that the task names is on the page any more."
    return Effect(sentence, not complaint and not leads_away, tuple(one.name for one in appeared))


def _what_was_done(view: PromptView) -> str:
    action, target = action_of(view.action), view.target or "the page"
    if action is None or isinstance(action, Named):
        return f"The action {view.action}".strip()
    form = {"click": "The click on {}", "double_click": "The click on {}", "type": 'Typing "{1}" into {0}'}
    return form.get(action.kind, f"The action {action.name} on {{}}").format(
        target, short(getattr(action, "text", None) or "")
    )


def _new(before: Iterable[Element], after: Iterable[Element]) -> list[Element]:
    """Return the named elements of `after` that `before` has not as many of, in page order."""
    left = Counter((one.role, one.name) for one in before)
    found: list[Element] = []
    for one in after:
        key = (one.role, one.name)
        left[key] -= 1
        if one.name and left[key] < 0:
            found.append(one)
    return found


def _named(one: Element) -> str:
    return f'{one.role} "{short(one.name, 40)}"' if one.name else f"{one.role} [{one.ref}]"


def _listed(elements: list[Element]) -> str:
    more = len(elements) - _TOLD
    return _joined([*map(_named, elements[:_TOLD]), *([f"{more} more"] if more > 0 else [])])


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _changes(before: CleanObservation, after: CleanObservation) -> list[str]:
    """Return what changed in elements that both pages have: values, choices, states and looks."""
    old = {(one.ref, one.role): one for one in before.elements}
    changes: list[str] = []
    for one in after.elements:
        was = old.get((one.ref, one.role), one)
        value = _value(one)
        if value != _value(was) and value != one.name:
            changes.append(f'made {_named(one)} hold "{short(value, 40)}"')
        states = [state for state in _states(one) if state not in was.states]
        states += [f"no longer {state}" for state in _states(was) if state not in one.states]
        if states:
            changes.append(f"made {_named(one)} {_joined(states)}")
        elif one.name == was.name and one.detail != was.detail:
            changes.append(f"changed how {_named(one)} looks")
    return changes


def _states(one: Element) -> list[str]:
    """Return the states that say something; a click puts the focus on nearly everything."""
    return [state for state in one.states if state != "focused" or one.role in FIELD_ROLES]


def _value(one: Element) -> str:
    return ", ".join(option.label for option in one.options if option.selected) or one.value


def _order(page: CleanObservation) -> list[tuple[str, str, bool]]:
    return [(one.role, one.name, one.in_viewport) for one in page.elements]


def _complaint(before: CleanObservation, after: CleanObservation, appeared: list[Element]) -> str:
    """Return what the page newly says is wrong."""
    for one in appeared:
        if len(one.name) > _LONG or one.role in ("link", "option", "button"):
            continue
        if _COMPLAINT.search(one.name) or (one.role in ALERT_ROLES and not _GOOD_NEWS.search(one.name)):
            return one.name
    was = {one.ref: one.states for one in before.elements}
    for one in after.elements:
        if "invalid" in one.states and "invalid" not in was.get(one.ref, ("invalid",)):
            return f"{one.name or one.role} is invalid"
    return ""


def _leads_away(view: PromptView, before: CleanObservation) -> bool:
    """Return whether a click led to an address with nothing of the objective's words, where the page had some."""
    if before.url == view.observation.url or not isinstance(action_of(view.action), Click | DoubleClick):
        return False
    asked = {word for word in stems(view.objective) if len(word) > 2}

    def has_words(page: CleanObservation) -> bool:
        return any(asked & stems(f"{one.name} {_value(one)}") for one in page.elements)

    return has_words(before) and not has_words(view.observation)


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
    if first is not None and first.finishes and str(first.action) == view.action:
        return "done", f"The action is what it asks for: {view.action}."
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
    read = (_read(text, view.observation) for text in (view.action, *view.unwanted))
    excluded = [one for one in read if one is not None]
    left = permissible
    for one in excluded:
        left = without(left, one)
    mark, part = PART.match(view.thought), part_of(view.thought)
    others: dict[Action, str] = {}
    for action, why in (*_next_best(view, left, role), *_near(view, left, excluded)):
        if part and part_of(why) not in (0, part):
            continue
        if action not in excluded and permissible.problem(action) is None:
            others.setdefault(action, mark[0] + why if mark is not None and not part_of(why) else why)
    if not others or not view.count:
        return [], "There is nothing else to try."
    return list(others)[: view.count], next(iter(others.values()))


def _next_best(view: PromptView, permissible: Permissible, role: Role) -> Iterable[tuple[Action, str]]:
    """Return what would be proposed, one after the other, with what was proposed before ruled out."""
    for _ in range(view.count):
        move = proposed(view, permissible, role)
        if move.action.name in _IDLE:
            break
        yield move.action, move.why
        less = without(permissible, move.action)
        if less == permissible:
            break
        permissible = less


def _near(view: PromptView, permissible: Permissible, excluded: list[Action]) -> list[tuple[Action, str]]:
    """Return clicks on what shares words with the task, and on what is of a kind with the chosen element.

    None if the chosen action enters something: a click is no other way to do that.
    """
    if any(isinstance(one, Type | Press) for one in excluded[:1]):
        return []
    page = RulesPage(view, permissible)
    asked = stems(f"{view.objective} {view.subtask}")
    elements = (page.by_ref(target_of(action)) for action in excluded)
    chosen = next((one for one in elements if one is not None), None)
    roles = roles_in(view.objective)

    def worth(one: Element) -> float:
        words = _words_of(one)
        likeness = 0.4 * (one.role in roles) + 2.0 * len(words & asked) / max(len(words), 1)
        if chosen is None:
            return likeness
        likeness += len(words & _words_of(chosen)) / max(len(words), 1)
        is_like = one.role == chosen.role
        return likeness + is_like * (
            0.3 + 0.2 * (one.parent == chosen.parent) + 0.2 * (one.name == chosen.name)
        )

    clickable = [one for one in page.can("click") if not is_irreversible(one, view.objective)]
    likeliest = sorted((one for one in clickable if worth(one) > 0), key=worth, reverse=True)
    return [(act("click", one), f"It may be {described(one)} that is meant.") for one in likeliest]


def _words_of(one: Element) -> set[str]:
    return stems(f"{one.name} {one.detail}")


def _read(text: str, page: CleanObservation) -> Action | None:
    """Return the action that a text writes, by the element's number or in words with its place among equals."""
    match = _WORDED.match(text)
    if match is None:
        return action_of(text)
    kind, role, name, number, rest = match.groups()
    equals = [one for one in page.elements if (one.role, one.name) == (role, name)]
    at = int(number) - 1 if number else 0
    if not 0 <= at < len(equals):
        return None
    # Values stand with their names in such a text, and yes and no as True and False.
    values = "".join(
        f" [{name}={int(value == 'True')}]" if value in ("True", "False") else f" [{value}]"
        for name, value in re.findall(r"\[(\w+)=(.*?)\](?= \[|$)", rest, re.DOTALL)
    )
    return action_of(f"{kind} [{equals[at].ref}]{values}")
