"""Policies: when one is called instead of acting on the page, with which arguments, and how a called one ends.

A policy is called where its name says what the objective asks for, or, on
the way there, where its argument is something the objective gives. The same
call is never made twice.
"""

import re
from collections.abc import Iterable

from core.llm.word_rules.arguments import taken_actions
from core.llm.word_rules.deeds import are_kin, deeds, does_other, root, roots, said_done
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.move import Move, act
from core.llm.word_rules.wishing import FILLER, Stage, told_stage
from core.llm.word_rules.words import content_words, short
from core.schema.action import Named, Stop
from core.schema.action_space import Parameter, Permissible, PermissibleAction
from core.schema.messages import Message, PromptView, Turn
from core.schema.observation import Element
from core.schema.record import Record

_POLICY = re.compile(r'^You are the policy "([\w-]+)"', re.MULTILINE)
_CALLED = re.compile(r"^You are the policy .*Another policy has called you", re.MULTILINE)
_CAME_BACK = "came back"


class Role(Record):
    """As what an answer is asked for: the policy at work, if there is one."""

    policy: str = ""
    called: bool = False
    """Whether another policy waits for its answer."""

    @property
    def words(self) -> str:
        return self.policy.replace("_", " ")


def role_in(messages: Iterable[Message]) -> Role:
    """Return the role that the first message gives."""
    for message in messages:
        if message.role == "system" and (match := _POLICY.search(message.text)):
            return Role(policy=match[1], called=_CALLED.search(message.text) is not None)
    return Role()


def as_policy(view: PromptView, role: Role) -> PromptView:
    """Return the view with an objective that says what the policy is for, where its argument alone does not."""
    if not role.called or deeds(view.objective):
        return view
    return view.replace(objective=f"{role.words} {view.objective}")


def fitting_call(view: PromptView, permissible: Permissible, role: Role) -> Move | None:
    """Return the call of the policy whose whole name the objective says, at the beginning or after a call."""
    last = _last_call(view, permissible)
    if view.history and last is None:
        return None
    if last is not None and last.result.startswith(_CAME_BACK) and _covers(last, view.objective):
        return Move(act("stop"), "The policy that was called has done it.", finishes=True)
    rated = [one for one in _calls(view, permissible, role) if one[0] == 1.0]
    return max(rated, key=lambda one: one[:3])[3] if rated else None


def helping_call(view: PromptView, permissible: Permissible, role: Role) -> Move | None:
    """Return the call of a policy that is given something on the way to what the objective asks for."""
    rated = [one for one in _calls(view, permissible, role) if one[0] >= 0.5 and one[1]]
    return max(rated, key=lambda one: one[:3])[3] if rated else None


def call_for_stage(view: PromptView, permissible: Permissible, role: Role, stage: Stage) -> Move | None:
    """Return the call of the policy that is for this stage of a wish."""
    for action in _policies(permissible, role):
        if told_stage(action.name) != stage:
            continue
        arguments = tuple(_words_for(parameter, view.objective) for parameter in action.parameters)
        named = Named(name=action.name, arguments=arguments)
        if _is_new(named, view):
            return Move(named, f"{action.name} is for what comes next: {short(action.description)}")
    return None


def ending(move: Move, view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return how a called policy stops: with what the page says, or with what it lacked."""
    if not isinstance(move.action, Stop) or not role.called or move.action.answer:
        return move
    if move.finishes:
        told = said_done(view.observation.elements, deeds(view.objective)) or _heading(
            view.observation.elements
        )
        answer = short(told.name, 120) if told is not None else ""
        return Move(act("stop", answer=answer), move.why, finishes=True)
    stop = permissible.action("stop")
    if stop is None or stop.parameter("lacked") is None:
        return move
    lacked = f'a page that offers what "{short(view.objective)}" names'
    return Move(act("stop", lacked=lacked), move.why)


def _heading(elements: tuple[Element, ...]) -> Element | None:
    for role in ("alert", "status", "heading"):
        for one in elements:
            if one.role == role and one.name:
                return one
    return None


def _policies(permissible: Permissible, role: Role) -> list[PermissibleAction]:
    return [one for one in permissible.actions if one.origin == "policy" and one.name != role.policy]


def _last_call(view: PromptView, permissible: Permissible) -> Turn | None:
    """Return the last turn where it was the call of a policy."""
    names = {action.name for action in permissible.actions if action.origin == "policy"}
    last = view.history[-1] if view.history else None
    return last if last is not None and last.action.split(" ", 1)[0] in names else None


def _covers(turn: Turn, objective: str) -> bool:
    """Tell whether a call was for all that the objective asks for."""
    asked = deeds(objective)
    name = roots(turn.action.split(" ", 1)[0].replace("_", " "))
    if not asked:
        return _said_share(turn.action.split(" ", 1)[0], objective) == 1.0
    return all(any(are_kin(deed, one) for one in name) for deed in asked - {"pay"})


def _calls(view: PromptView, permissible: Permissible, role: Role) -> list[tuple[float, int, float, Move]]:
    """Return the calls that could be made: share of the name said, facts given, share of the description."""
    facts = Facts(view.objective)
    asked = deeds(view.objective)
    found: list[tuple[float, int, float, Move]] = []
    for action in _policies(permissible, role):
        if does_other(action.name.replace("_", " "), asked):
            continue
        values = [_argument(parameter, facts, view.objective) for parameter in action.parameters]
        if any(value is None for value, _ in values):
            continue
        named = Named(name=action.name, arguments=tuple(value or "" for value, _ in values))
        if permissible.problem(named) or not _is_new(named, view):
            continue
        given = sum(1 for _, is_fact in values if is_fact)
        why = f"{action.name} is for this: {short(action.description, 80)}"
        found.append(
            (
                _said_share(action.name, view.objective),
                given,
                _said_share(action.description, view.objective),
                Move(named, why),
            )
        )
    return found


def _said_share(text: str, objective: str) -> float:
    """Return the share of a text's words that the objective says, in these words or their kin."""
    words = [root(word) for word in content_words(text.replace("_", " "))]
    wanted = roots(objective)
    return sum(1 for word in words if any(are_kin(word, one) for one in wanted)) / max(len(words), 1)


def _argument(parameter: Parameter, facts: Facts, objective: str) -> tuple[str | None, bool]:
    """Return what an argument gets, and whether it is one of the facts; None where it needs one that lacks."""
    name = parameter.name.replace("_", " ")
    if parameter.choices is not None:
        value = facts.choice(name, [choice.value for choice in parameter.choices])
        return value, value is not None
    if facts.takes(name):
        value = facts.value(name)
        return value, value is not None
    return (objective, False) if len(name.split()) == 1 else (None, False)


def _words_for(parameter: Parameter, objective: str) -> str:
    """Return the objective's words that an argument in free words takes, and its price limit for a search."""
    words = " ".join(word for word in dict.fromkeys(content_words(objective)) if word not in FILLER)
    price = Facts(objective).price
    return f"{words}, at most {price} dollars" if price else words


def _is_new(named: Named, view: PromptView) -> bool:
    return all(one != named for one, _ in taken_actions(view))
