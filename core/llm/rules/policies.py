"""Actions with names of their own: those of a state, and calls of policies.

Where the objective gives facts (a code, a route), an action of a state is worth
taking for the arguments that these fill; elsewhere for the objective's words
among the values that it offers. It is worth less each time it was taken before.

A policy is called where its name says what the objective asks for, or, on the
way there, where its argument is something the objective gives. The same call
is never made twice.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.llm.rules.facts import Facts, search_words
from core.llm.rules.moves import Move, act, action_of, went_well
from core.llm.rules.page import ALERT_ROLES, CHOSEN
from core.llm.rules.purchases import FILLER, Stage, is_purchase, stage_of
from core.llm.rules.words import (
    content_words,
    does_other,
    related,
    root,
    roots,
    said_done,
    short,
    stems,
    verbs_in,
)
from core.schema.action import Named, Stop
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import Message, PromptView, Turn
from core.schema.observation import Element

_FOR_PRICES = re.compile(r"price|cost|budget|amount|max|limit", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:back|previous|leave|return|cancel)\b", re.IGNORECASE)
_LEAVES_AS_IT_IS = re.compile(
    r"\b(?:go back|back to|previous|as it is|as they are|return to)\b", re.IGNORECASE
)
"""How a way out of a page is described."""
_POLICY = re.compile(r'^You are the policy "([\w-]+)".*$', re.MULTILINE)

Filled = tuple[tuple[str, ...], float, str]
"""The arguments of an action, what it is worth with them, and why."""


def taken_actions(view: PromptView) -> list[tuple[Named, bool]]:
    """Return the earlier actions with names of their own, each with whether it was carried out."""
    found = ((action_of(turn.action), turn) for turn in view.history)
    return [(action, went_well(turn)) for action, turn in found if isinstance(action, Named)]


def state_move(view: PromptView, permissible: Permissible) -> Move | None:
    """Return the best of the actions that the state offers, or a stop once all is done; None if none fits."""
    own = [action for action in permissible.actions if action.origin == "state"]
    if not own:
        return None
    facts = Facts(view.objective)
    by_facts = facts.are_given and not is_purchase(view.objective)
    taken = taken_actions(view)
    if by_facts and _is_done(view, taken):
        stop = Move(act("stop"), "The page shows that it is done.", finishes=True)
        if permissible.problem(stop.action) is None:
            return stop
    rated: list[tuple[float, int, Move]] = []
    for place, action in enumerate(own):
        filled = _by_facts(action, view, facts) if by_facts else _by_words(action, view.objective)
        if filled is None:
            continue
        arguments, worth, why = filled
        named = Named(name=action.name, arguments=arguments)
        same = sum(one == named for one, _ in taken)
        like = 0 if by_facts else sum(one.name == action.name for one, _ in taken)
        if permissible.problem(named) is None:
            rated.append((worth - 4.0 * same - 0.4 * like, -place, Move(named, why)))
    best = max(rated, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and (best[0] > 0 or not by_facts) else None


def _wording(action: PermissibleAction) -> str:
    return f"{action.name.replace('_', ' ')} {action.description}"


# By facts


def _is_done(view: PromptView, taken: list[tuple[Named, bool]]) -> bool:
    """Return whether the page says that it is done, or shows what was only to be looked up."""
    verbs = verbs_in(view.objective)
    if said_done(view.observation.elements, verbs) is not None:
        return True
    complains = any(one.role in ALERT_ROLES and one.name for one in view.observation.elements)
    return not verbs and not complains and any(ok and one.arguments for one, ok in taken)


def _by_facts(action: PermissibleAction, view: PromptView, facts: Facts) -> Filled | None:
    """Return an action with the facts that it takes; None if one is missing, or it changes something else."""
    verbs = verbs_in(view.objective)
    if does_other(action.name.replace("_", " "), verbs):
        return None
    arguments: list[str] = []
    given: list[str] = []
    for parameter in action.parameters:
        value = facts.for_parameter(parameter)
        if value is not None:
            given.append(value)
        elif parameter.required:
            values = [choice.value for choice in parameter.choices or ()]
            shown = (
                one.name
                for one in view.observation.elements
                if CHOSEN & set(one.states) and one.name in values
            )
            value = next(shown, None) or facts.named(values)
            if value is None:
                return None
        arguments.append(value or "")
    if action.parameters and not given and not any(parameter.required for parameter in action.parameters):
        return None
    if facts.changes and action.parameters and not {*facts.changes.values(), facts.code} & set(given):
        return None
    words = [root(word) for word in content_words(action.name.replace("_", " "))]
    nearness = len(related(words, roots(view.objective))) / max(len(words), 1) + len(related(words, verbs))
    away = 2.0 if not given and _LEAVES_AS_IT_IS.search(_wording(action)) else 0.0
    takes = f"takes what the task says: {', '.join(given)}" if given else "leads on, by its words"
    return tuple(arguments), 1.5 * len(given) + nearness - away, f"{action.name} {takes}."


# By words


def _by_words(action: PermissibleAction, objective: str) -> Filled | None:
    """Return an action with the choices that share most words with the objective; None if one is missing."""
    wanted = stems(objective) - FILLER
    arguments: list[str] = []
    worth, matched = 0.5, []
    for parameter in action.parameters:
        if parameter.choices is None:
            value = _text(parameter, objective)
            share = 0.75 if value and parameter.required else 0.0
        else:
            best = max(parameter.choices, key=lambda choice: _share(choice, wanted), default=None)
            if best is None:
                return None
            share = max(_share(best, wanted), 0.0)
            value = best.value if parameter.required or share else ""
        if parameter.required and not value:
            return None
        arguments.append(value)
        worth += share * (2.0 if parameter.required else 1.0)
        if share:
            matched.append(value)
    takes = f"takes what the task says: {', '.join(matched)}" if matched else "is on offer here"
    away = 0.8 if _LEAVES.search(_wording(action)) else 0.0
    return tuple(arguments), worth - away, f"{action.name} {takes}."


def _share(choice: Choice, wanted: set[str]) -> float:
    """Return the share of a choice's words that are wanted; less for one that was looked at already."""
    words = stems(f"{choice.value} {choice.label}") - FILLER
    share = len(words & wanted) / max(len(stems(choice.label or choice.value)), 1)
    return share - 1.0 if "(looked at already)" in choice.label else share


def _text(parameter: Parameter, objective: str) -> str:
    if parameter.type in ("number", "integer"):
        return (_FOR_PRICES.search(parameter.name) and Facts(objective).price) or ""
    return search_words(objective, FILLER) if parameter.required else ""


# Policies


@dataclass(frozen=True)
class Role:
    """As what an answer is asked for: the policy at work, if there is one."""

    policy: str = ""
    called: bool = False
    """Whether another policy waits for its answer."""


def role_in(messages: Iterable[Message]) -> Role:
    """Return the role that the first message gives."""
    for message in messages:
        if message.role == "system" and (match := _POLICY.search(message.text)):
            return Role(match[1], "Another policy has called you" in match[0])
    return Role()


def as_policy(view: PromptView, role: Role) -> PromptView:
    """Return the view with an objective that says what the policy is for, where its argument alone does not."""
    if not role.called or verbs_in(view.objective):
        return view
    return view.replace(objective=f"{role.policy.replace('_', ' ')} {view.objective}")


def fitting_call(view: PromptView, permissible: Permissible, role: Role) -> Move | None:
    """Return the call of the policy whose whole name the objective says, at the beginning or after a call."""
    last = _last_call(view, permissible)
    if view.history and last is None:
        return None
    if last is not None and last.result.startswith("came back") and _covers(last, view.objective):
        return Move(act("stop"), "The policy that was called has done it.", finishes=True)
    return _best_call(view, permissible, role, is_whole=True)


def helping_call(view: PromptView, permissible: Permissible, role: Role) -> Move | None:
    """Return the call of a policy that is given something on the way to what the objective asks for."""
    return _best_call(view, permissible, role, is_whole=False)


def call_for_stage(view: PromptView, permissible: Permissible, role: Role, stage: Stage) -> Move | None:
    """Return the call of the policy that is for this stage of a purchase goal."""
    words = " ".join(word for word in dict.fromkeys(content_words(view.objective)) if word not in FILLER)
    price = Facts(view.objective).price
    argument = f"{words}, at most {price} dollars" if price else words
    for action in _policies(permissible, role):
        named = Named(name=action.name, arguments=tuple(argument for _ in action.parameters))
        if stage_of(action.name) == stage and _is_new(named, view):
            return Move(named, f"{action.name} is for what comes next: {short(action.description)}")
    return None


def ending(move: Move, view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return how a called policy stops: with what the page says, or with what it lacked."""
    if not isinstance(move.action, Stop) or not role.called or move.action.answer:
        return move
    elements = view.observation.elements
    if move.finishes:
        found = said_done(elements, verbs_in(view.objective)) or _heading(elements)
        return Move(act("stop", answer=short(found.name, 120) if found else ""), move.why, finishes=True)
    stop = permissible.action("stop")
    if stop is None or stop.parameter("lacked") is None:
        return move
    return Move(act("stop", lacked=f'a page that offers what "{short(view.objective)}" names'), move.why)


def _heading(elements: tuple[Element, ...]) -> Element | None:
    roles = ("alert", "status", "heading")
    return next((one for role in roles for one in elements if one.role == role and one.name), None)


def _policies(permissible: Permissible, role: Role) -> list[PermissibleAction]:
    return [one for one in permissible.actions if one.origin == "policy" and one.name != role.policy]


def _last_call(view: PromptView, permissible: Permissible) -> Turn | None:
    """Return the last turn where it was the call of a policy."""
    names = {action.name for action in permissible.actions if action.origin == "policy"}
    last = view.history[-1] if view.history else None
    return last if last is not None and last.action.split(" ", 1)[0] in names else None


def _covers(turn: Turn, objective: str) -> bool:
    """Return whether a call was for all that the objective asks for."""
    name = turn.action.split(" ", 1)[0].replace("_", " ")
    verbs = verbs_in(objective)
    if not verbs:
        return _share_said(name, objective) == 1.0
    return all(related((verb,), roots(name)) for verb in verbs - {"pay"})


def _best_call(view: PromptView, permissible: Permissible, role: Role, *, is_whole: bool) -> Move | None:
    """Return the best call that can be made: by the share of its name said, facts given, share of its description.

    With `is_whole` the objective says the whole name, else half of it with a fact given.
    """
    facts = Facts(view.objective)
    verbs = verbs_in(view.objective)
    rated: list[tuple[float, int, float, Move]] = []
    for action in _policies(permissible, role):
        name = action.name.replace("_", " ")
        values = [_argument(parameter, facts, view.objective) for parameter in action.parameters]
        named = Named(name=action.name, arguments=tuple(value or "" for value, _ in values))
        if does_other(name, verbs) or any(value is None for value, _ in values):
            continue
        share, given = _share_said(name, view.objective), sum(is_fact for _, is_fact in values)
        if (share < 1.0) if is_whole else (share < 0.5 or not given):
            continue
        if permissible.problem(named) is None and _is_new(named, view):
            why = f"{action.name} is for this: {short(action.description, 80)}"
            rated.append((share, given, _share_said(action.description, view.objective), Move(named, why)))
    return max(rated, key=lambda one: one[:3])[3] if rated else None


def _share_said(text: str, objective: str) -> float:
    """Return the share of a text's words that the objective says, in these words or related ones."""
    words = [root(word) for word in content_words(text.replace("_", " "))]
    return len(related(words, roots(objective))) / max(len(words), 1)


def _argument(parameter: Parameter, facts: Facts, objective: str) -> tuple[str | None, bool]:
    """Return what an argument gets, and whether it is one of the facts; None if it needs one that lacks."""
    if parameter.choices is not None or facts.takes(parameter.name):
        value = facts.for_parameter(parameter)
        return value, value is not None
    return (None if "_" in parameter.name else objective), False


def _is_new(named: Named, view: PromptView) -> bool:
    return all(one != named for one, _ in taken_actions(view))
