"""The action to propose: of the state, of the page, or the call of a policy, whichever the words fit best."""

import re
from collections import Counter
from typing import Any

from core.llm.rules.clicks import click, closed, expand, next_page
from core.llm.rules.command_line import at_command_line, is_for_command_line
from core.llm.rules.corrections import corrected, in_lesson, ruled_out
from core.llm.rules.fields import fill, select
from core.llm.rules.forms import is_elsewhere, next_in_form
from core.llm.rules.moves import Answer, Move, Scene, act, stopped, target_of
from core.llm.rules.objective import Intent
from core.llm.rules.page import is_submit
from core.llm.rules.policies import (
    Role,
    as_policy,
    best_call,
    call_for_stage,
    ending,
    fitting_call,
    state_move,
)
from core.llm.rules.purchases import Stage, is_bought, purchase_move, stage_of
from core.schema.action import Action, Click, Named, Stop
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.messages import PromptView
from core.schema.observation import Element

_IRREVERSIBLE = re.compile(
    r"\b(?:delete|remove|trash|erase|buy|pay|order|book|send|sign|log\s?out|unsubscribe)\b", re.IGNORECASE
)
_ENTRIES = frozenset(("type", "select", "check"))
_LOOK_AROUND = 8
"""Steps spent on trying things where no word of the objective is understood."""


def is_irreversible(element: Element, objective: str = "") -> bool:
    """Return whether an element's name is of what stays done, and the objective has no such word."""
    names = f"{element.name} {element.detail}"
    return _IRREVERSIBLE.search(names) is not None and not _IRREVERSIBLE.search(objective)


def proposed(view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return a move that is permissible, or a stop if nothing is."""
    move = best_move(view, permissible, role)
    problem = permissible.problem(move.action)
    if problem is None:
        return move
    row = next((row for row in permissible.rows() if row.ref is not None and row.name == "click"), None)
    if permissible.action("stop") is None and row is not None:
        return Move(act("click", row.ref), f"Nothing that the task names is permissible; {row.label} is.")
    return stopped(f"The action that the task names is not permissible: {problem}")


def best_move(view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return the move that the words fit best, a stop if they fit none; it may not be permissible."""
    view = as_policy(view, role)
    scene = Scene.of(view, permissible)
    move = _without_mistakes(view, scene, role)
    return ending(corrected(view, scene, move), view, scene, role)


def _chosen(scene: Scene, role: Role) -> Move:
    if (offered := state_move(scene)) is not None:
        return offered
    stage = stage_of(role.policy) if role.called else None
    move = next_move(scene, stage)
    if not any(action.origin == "policy" for action in scene.page.permissible.actions):
        return move
    if scene.objective.is_purchase and stage is None:
        bought = purchase_move(scene)
        return (bought and call_for_stage(scene, role, bought[0])) or move
    if not scene.objective.facts.are_given:
        return move
    is_lost = isinstance(move.action, Stop) and not move.finishes
    helps = best_call(scene, role, is_whole=False) if is_lost or is_elsewhere(scene) else None
    return fitting_call(scene, role) or helps or move


def _without_mistakes(view: PromptView, scene: Scene, role: Role) -> Move:
    """Return a move that lessons of earlier trials do not rule out; the first choice if there is no other."""
    first = move = _chosen(scene, role)
    permissible = scene.page.permissible
    avoided = ruled_out(view)
    for _ in avoided:
        if in_lesson(scene.page.permissible, move.action) not in avoided:
            return move
        permissible = without(permissible, move.action)
        move = _chosen(Scene.of(view, permissible), role)
        if isinstance(move.action, Stop):
            return first
    return move


def without(permissible: Permissible, action: Action) -> Permissible:
    """Return what is permissible instead of an action: its element, its option or its value is off the list."""
    names = (action.name, "double_click" if action.name == "click" else "")
    kept = [_less(one, action) if one.name in names else one for one in permissible.actions]
    return permissible.replace(actions=tuple(one for one in kept if one is not None))


def _less(allowed: PermissibleAction, action: Action) -> PermissibleAction | None:
    """Return an action without one value of its first argument that has others, None if it has none."""
    ref = target_of(action)
    for place, parameter in enumerate(allowed.parameters):
        options = (parameter.choices_by_ref or {}).get(ref, ()) if ref is not None else ()
        if len(options) > 1 and parameter.choices_by_ref is not None and ref is not None:
            rest = tuple(option for option in options if option != getattr(action, parameter.name, None))
            return _with(allowed, place, {"choices_by_ref": {**parameter.choices_by_ref, ref: rest}})
    for place, parameter in enumerate(allowed.parameters):
        if isinstance(action, Named):
            value = action.arguments[place] if parameter.required and place < len(action.arguments) else None
        else:
            value = str(ref) if parameter.name == "target" and ref is not None else None
        left = tuple(choice for choice in parameter.choices or () if choice.value != value)
        if parameter.choices is not None and len(left) < len(parameter.choices):
            return _with(allowed, place, {"choices": left}) if left else None
    return None


def _with(allowed: PermissibleAction, place: int, changes: dict[str, Any]) -> PermissibleAction:
    parameters = list(allowed.parameters)
    parameters[place] = parameters[place].replace(**changes)
    return allowed.replace(parameters=tuple(parameters))


# The next move on a page


def next_move(scene: Scene, stage: Stage | None = None, *, is_whole: bool = True) -> Move:
    """Return the next move; a stop if nothing is left to do or to try, which finishes where all is done.

    `stage` keeps a purchase goal to one of its stages. Where the objective is
    not the whole task, but one part of it, no form is sent that it does not name.
    """
    objective = scene.objective
    if is_for_command_line(objective):
        return at_command_line(scene)
    if stage is not None or objective.is_purchase:
        return _towards_purchase(scene, stage)
    if objective.is_for_forms:
        move = next_in_form(scene)
        if move is None or isinstance(move.action, Click):  # A form is sent last.
            move = _entry_of_part(scene) or move
        if move is not None:
            return move
        if not objective.intents:
            return stopped("The page offers nothing that takes what the objective gives.")
    move, is_stuck = _next_part(scene)
    if move is not None:
        return move
    if not is_whole and not is_stuck:
        return stopped("Nothing is left to do.", finishes=True)
    return _after_all(scene, is_stuck=is_stuck)


def _entry_of_part(scene: Scene) -> Move | None:
    """Return what the first part that is not done enters or chooses; None if no part has anything to."""
    for number, intent in enumerate(scene.objective.intents, start=1):
        here = Scene(scene.objective, scene.page, scene.history, number)
        if intent.kind not in ("fill", "select") or here.history.finished(number):
            continue
        move = _answer(here, intent)
        if not isinstance(move, Move) or move.action in [
            one.action for one in here.history.actions if one.ok
        ]:
            continue
        element = here.page.by_ref(target_of(move.action))
        if move.action.name in _ENTRIES or (element is not None and element.name in intent.names):
            return _with_part(here, move)
    return None


def _next_part(scene: Scene) -> tuple[Move | None, bool]:
    """Return the move of the first part that is not done, and whether a part could not be done or none was read."""
    stuck: Scene | None = None
    counted: Counter[Action] = Counter()
    for number, intent in enumerate(scene.objective.intents, start=1):
        here = Scene(scene.objective, scene.page, scene.history, number)
        answer = "done" if here.history.finished(number) else _answer(here, intent)
        if isinstance(answer, Move):
            if answer.finishes and here.history.unmarked(answer.action) > counted[answer.action]:
                counted[answer.action] += 1
                continue
            # A click that comes later would give up what could not be done yet.
            before = _explored(stuck) if stuck is not None and intent.kind == "click" else None
            return before or _with_part(here, answer), stuck is not None
        if answer is None:
            stuck = stuck or here
    return _explored(stuck) if stuck is not None else None, stuck is not None or not scene.objective.intents


def _with_part(scene: Scene, move: Move) -> Move:
    """Return a move that tells which part it serves."""
    lead = "Part" if move.finishes else "Towards part"
    why = f"{lead} {scene.part} of {len(scene.objective.intents)}: {move.why}"
    return Move(move.action, why, move.finishes)


def _towards_purchase(scene: Scene, stage: Stage | None) -> Move:
    purchase = purchase_move(scene, stage)
    if purchase is not None:
        return purchase[1]
    if is_bought(scene) if stage is None else any(action.ok for action in scene.history.actions):
        return stopped("Nothing more has to be done here.", finishes=True)
    return stopped("The page offers nothing that the objective describes.")


def _answer(scene: Scene, intent: Intent) -> Answer:
    if intent.kind == "expand":
        # What the next part names by its own words is opened where it is not to be seen.
        following = scene.objective.intents[scene.part : scene.part + 1]
        return "done" if following and following[0].quoted else expand(scene)
    return {"click": click, "fill": fill, "select": select}[intent.kind](scene, intent)


def _explored(scene: Scene) -> Move | None:
    """Return an untried way to see more of the page, for the part in hand."""
    move = scene.click(closed(scene), "{} may show more.") or next_page(scene, "what is asked for")
    return _with_part(scene, move) if move is not None else None


def _after_all(scene: Scene, *, is_stuck: bool) -> Move:
    """Return what remains: a submit still waiting, a look around if nothing was understood, or a stop.

    Where a part could not be done, or none was understood, nothing is submitted.
    """
    history, objective = scene.history, scene.objective
    clickable = scene.page.can("click")
    waiting = [one for one in clickable if is_submit(one) and not is_stuck and not _is_submitted(scene, one)]
    if ending := scene.click(waiting, "{} ends it."):
        return ending
    if not objective.intents and not objective.is_question and len(history.actions) < _LOOK_AROUND:
        tried = {target_of(action.action) for action in history.actions}
        untried = [one for one in clickable if one.ref not in tried and not is_irreversible(one)]
        if move := scene.click(untried, "The objective is not understood; {} has not been tried."):
            return move
    return stopped("Nothing that the objective names is left to do.", finishes=not is_stuck)


def _is_submitted(scene: Scene, button: Element) -> bool:
    """Return whether a button was clicked and nothing was entered since."""
    for action in reversed(scene.history.actions):
        if action.ok and action.action.name in ("type", "select", "check", "press"):
            return False
        if action.ok and action.action == act("click", button):
            return True
    return False
