"""Actions with names of their own: those of a state, and calls of policies.

Where the objective gives facts (a code, a route), an action of a state is worth
taking for the arguments that these fill; elsewhere for the objective's words
among the values that it offers. It is worth less each time it was taken before.

A policy is called where its name says what the objective asks for, or, on the
way there, where its argument is something the objective gives. The same call
is never made twice.
"""

import re
from dataclasses import dataclass

from core.llm.rules.facts import search_words
from core.llm.rules.moves import Move, Scene, act, stopped
from core.llm.rules.objective import Objective
from core.llm.rules.page import ALERT_ROLES, CHOSEN
from core.llm.rules.purchases import FILLER, Stage, stage_of
from core.llm.rules.words import content_words, does_other, related, roots, said_done, short, stems, verbs_in
from core.schema.action import Named, Stop
from core.schema.action_space import Choice, Parameter, PermissibleAction
from core.schema.messages import PromptView

_FOR_PRICES = re.compile(r"price|cost|budget|amount|max|limit", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:back|previous|as it is|as they are|return to)\b", re.IGNORECASE)
"""How a way out of a page is described."""


# Actions of a state


def state_move(scene: Scene) -> Move | None:
    """Return the best of the actions that the state offers, or a stop once all is done; None if none fits."""
    permissible = scene.page.permissible
    own = [action for action in permissible.actions if action.origin == "state"]
    by_facts = scene.objective.facts.are_given and not scene.objective.is_purchase
    if own and by_facts and _is_done(scene) and permissible.problem(act("stop")) is None:
        return stopped("The page shows that it is done.", finishes=True)
    rated: list[tuple[float, int, Move]] = []
    for place, action in enumerate(own):
        filled = [_filled(parameter, scene, by_facts) for parameter in action.parameters]
        named = Named(name=action.name, arguments=tuple(value for value, _ in filled))
        given = [value for value, share in filled if share > 0]
        lacks = any(
            one.required and not value for one, value in zip(action.parameters, named.arguments, strict=True)
        )
        if (
            lacks
            or permissible.problem(named)
            or (by_facts and not _is_asked(action, given, scene.objective))
        ):
            continue
        taken = [one for one, _ in scene.history.named if one.name == action.name]
        worth = sum(share for _, share in filled) - 4.0 * taken.count(named) - 0.4 * len(taken)
        worth += scene.objective.nearness(_plain(action.name)) if by_facts else 0.5
        if not given and _LEAVES.search(f"{_plain(action.name)} {action.description}"):
            worth -= 2.0
        takes = f"takes what the task says: {', '.join(given)}" if given else "is on offer here"
        rated.append((worth, -place, Move(named, f"{action.name} {takes}.")))
    best = max(rated, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and (best[0] > 0 or not by_facts) else None


def _is_done(scene: Scene) -> bool:
    """Return whether the page says that it is done, or shows what was only to be looked up."""
    elements = scene.page.elements
    if said_done(elements, scene.objective.verbs) is not None:
        return True
    complains = any(element.role in ALERT_ROLES and element.name for element in elements)
    was_found = any(ok and named.arguments for named, ok in scene.history.named)
    return not scene.objective.verbs and not complains and was_found


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _is_asked(action: PermissibleAction, given: list[str], objective: Objective) -> bool:
    """Return whether an action changes nothing but what the objective asks for, and takes some of what it gives."""
    if does_other(_plain(action.name), objective.verbs):
        return False
    changes = {*objective.facts.changes.values(), objective.facts.code}
    is_needed = given or any(parameter.required for parameter in action.parameters)
    is_change = not objective.facts.changes or changes & set(given)
    return not action.parameters or bool(is_needed and is_change)


def _filled(parameter: Parameter, scene: Scene, by_facts: bool) -> tuple[str, float]:
    """Return what an argument of a state's action gets, and how far the objective says so."""
    objective, facts = scene.objective, scene.objective.facts
    if by_facts:
        if (value := facts.for_parameter(parameter)) is not None:
            return value, 1.5
        # A choice that the objective leaves open stays as the page has it.
        values = [choice.value for choice in parameter.choices or ()] if parameter.required else []
        made = (
            element.name
            for element in scene.page.elements
            if CHOSEN & set(element.states) and element.name in values
        )
        return next(made, None) or facts.named(values) or "", 0.0
    if parameter.choices is not None:
        wanted = objective.stems - FILLER
        shares = [_share(choice, wanted) for choice in parameter.choices]
        share = max([0.0, *shares])
        is_taken = shares and (parameter.required or share)
        value = parameter.choices[shares.index(max(shares))].value if is_taken else ""
        return value, share * (2.0 if parameter.required else 1.0)
    if parameter.type in ("number", "integer"):
        return (_FOR_PRICES.search(parameter.name) and facts.price) or "", 0.0
    value = search_words(objective.text, FILLER) if parameter.required else ""
    return value, 1.5 if value else 0.0


def _share(choice: Choice, wanted: set[str]) -> float:
    """Return the share of a choice's words that are wanted; less for one that was looked at already."""
    common = (stems(f"{choice.value} {choice.label}") - FILLER) & wanted
    share = len(common) / max(len(stems(choice.label or choice.value)), 1)
    return share - 1.0 if "(looked at already)" in choice.label else share


# Policies


@dataclass(frozen=True)
class Role:
    """As what an answer is asked for: the policy at work, if there is one."""

    policy: str = ""
    called: bool = False
    """Whether another policy waits for its answer."""


def as_policy(view: PromptView, role: Role) -> PromptView:
    """Return the view with an objective that says what the policy is for, where its argument alone does not."""
    if not role.called or verbs_in(view.objective):
        return view
    return view.replace(objective=f"{_plain(role.policy)} {view.objective}")


def fitting_call(scene: Scene, role: Role) -> Move | None:
    """Return the call of the policy whose whole name the objective says, at the beginning or after a call."""
    turns = scene.history.turns
    names = {action.name for action in scene.page.permissible.actions if action.origin == "policy"}
    called = turns[-1].action.partition(" ")[0] if turns else ""
    if turns and called not in names:
        return None
    if turns and turns[-1].result.startswith("came back") and _covers(_plain(called), scene.objective):
        return stopped("The policy that was called has done it.", finishes=True)
    return best_call(scene, role, is_whole=True)


def call_for_stage(scene: Scene, role: Role, stage: Stage) -> Move | None:
    """Return the call of the policy that is for this stage of a purchase goal."""
    words = dict.fromkeys(content_words(scene.objective.text))
    argument = " ".join(word for word in words if word not in FILLER)
    if price := scene.objective.facts.price:
        argument = f"{argument}, at most {price} dollars"
    for action in _policies(scene, role):
        named = Named(name=action.name, arguments=tuple(argument for _ in action.parameters))
        if stage_of(action.name) == stage and _is_new(named, scene):
            return Move(named, f"{action.name} is for what comes next: {short(action.description)}")
    return None


def ending(move: Move, view: PromptView, scene: Scene, role: Role) -> Move:
    """Return how a called policy stops: with what the page says, or with what it lacked."""
    if not isinstance(move.action, Stop) or not role.called or move.action.answer:
        return move
    elements = view.observation.elements
    if move.finishes:
        telling = (
            element
            for kind in ("alert", "status", "heading")
            for element in elements
            if element.role == kind and element.name
        )
        answer = said_done(elements, scene.objective.verbs) or next(telling, None)
        return Move(act("stop", answer=short(answer.name, 120) if answer else ""), move.why, finishes=True)
    stop = scene.page.permissible.action("stop")
    if stop is None or stop.parameter("lacked") is None:
        return move
    return Move(act("stop", lacked=f'a page that offers what "{short(view.objective)}" names'), move.why)


def _policies(scene: Scene, role: Role) -> list[PermissibleAction]:
    actions = scene.page.permissible.actions
    return [action for action in actions if action.origin == "policy" and action.name != role.policy]


def _covers(name: str, objective: Objective) -> bool:
    """Return whether a call was for all that the objective asks for."""
    if not objective.verbs:
        return objective.share_of(name) == 1.0
    return all(related((verb,), roots(name)) for verb in objective.verbs - {"pay"})


def best_call(scene: Scene, role: Role, *, is_whole: bool) -> Move | None:
    """Return the best call that can be made: by the share of its name said, facts given, share of its description.

    With `is_whole` the objective says the whole name, else half of it with a fact given, as on the way there.
    """
    objective = scene.objective
    rated: list[tuple[float, int, float, Move]] = []
    for action in _policies(scene, role):
        values = [_argument(parameter, objective) for parameter in action.parameters]
        named = Named(name=action.name, arguments=tuple(value or "" for value, _ in values))
        if does_other(_plain(action.name), objective.verbs) or any(value is None for value, _ in values):
            continue
        share, given = objective.share_of(_plain(action.name)), sum(is_fact for _, is_fact in values)
        fits = share == 1.0 if is_whole else share >= 0.5 and given
        if fits and scene.page.permissible.problem(named) is None and _is_new(named, scene):
            move = Move(named, f"{action.name} is for this: {short(action.description, 80)}")
            rated.append((share, given, objective.share_of(action.description), move))
    return max(rated, key=lambda one: one[:3])[3] if rated else None


def _argument(parameter: Parameter, objective: Objective) -> tuple[str | None, bool]:
    """Return what an argument gets, and whether it is one of the facts; None if it needs one that lacks."""
    if parameter.choices is not None or objective.facts.takes(parameter.name):
        value = objective.facts.for_parameter(parameter)
        return value, value is not None
    return (None if "_" in parameter.name else objective.text), False


def _is_new(named: Named, scene: Scene) -> bool:
    return all(one != named for one, _ in scene.history.named)
