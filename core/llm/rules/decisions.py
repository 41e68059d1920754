"""The action to propose: of the state, of the page, or the call of a policy, whichever the words fit best."""

import re
from collections import Counter
from typing import Any

from core.llm.rules.clicks import by_extreme, click, closed, expand, next_page
from core.llm.rules.command_line import at_command_line, is_for_command_line
from core.llm.rules.corrections import corrected, in_lesson, ruled_out
from core.llm.rules.facts import Facts
from core.llm.rules.fields import counted, drag, fill, select
from core.llm.rules.forms import is_elsewhere, next_in_form
from core.llm.rules.moves import Answer, Move, Scene, act, described, first, target_of
from core.llm.rules.objective import Intent, has_labelled_details
from core.llm.rules.page import FIELD_ROLES, is_submit
from core.llm.rules.policies import (
    Role,
    as_policy,
    call_for_stage,
    ending,
    fitting_call,
    helping_call,
    state_move,
)
from core.llm.rules.purchases import Stage, is_bought, is_purchase, purchase_move, stage_of
from core.llm.rules.summaries import is_question
from core.llm.rules.words import norm
from core.schema.action import Action, Named, Stop
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.messages import PromptView

IRREVERSIBLE = re.compile(
    r"\b(?:delete|remove|trash|erase|buy|pay|order|book|send|sign|log\s?out|unsubscribe)\b", re.IGNORECASE
)
"""What names a control whose effect stays."""
_LOOK_AROUND = 8
"""Steps spent on trying things where no word of the objective is understood."""
_DECLINES = frozenset(("cancel", "no", "dismiss", "stay", "not now", "close", "later"))


def proposed(view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return a move that is permissible, or a stop if nothing is."""
    view = as_policy(view, role)
    move = _chosen(view, permissible, role)
    if view.experience:
        move = _without_mistakes(view, permissible, role, move)
    move = ending(corrected(view, permissible, move), view, permissible, role)
    problem = permissible.problem(move.action)
    if problem is None:
        return move
    row = next((one for one in permissible.rows() if one.ref is not None and one.name == "click"), None)
    if permissible.action("stop") is None and row is not None:
        return Move(act("click", row.ref), f"Nothing that the task names is permissible; {row.label} is.")
    return Move(act("stop"), f"The action that the task names is not permissible: {problem}")


def _chosen(view: PromptView, permissible: Permissible, role: Role) -> Move:
    if (offered := state_move(view, permissible)) is not None:
        return offered
    stage = stage_of(role.policy) if role.called else None
    move = next_move(view, permissible, stage)
    if not any(action.origin == "policy" for action in permissible.actions):
        return move
    if is_purchase(view.objective) and stage is None:
        found = purchase_move(Scene.of(view, permissible))
        return (found and call_for_stage(view, permissible, role, found[0])) or move
    facts = Facts(view.objective)
    if not facts.are_given:
        return move
    if (call := fitting_call(view, permissible, role)) is not None:
        return call
    is_lost = isinstance(move.action, Stop) and not move.finishes
    if is_lost or is_elsewhere(Scene.of(view, permissible).page, facts):
        return helping_call(view, permissible, role) or move
    return move


def _without_mistakes(view: PromptView, permissible: Permissible, role: Role, move: Move) -> Move:
    """Return a move that lessons of earlier trials do not rule out; the same if there is no other."""
    avoided = ruled_out(view)
    other, left = move, permissible
    for _ in avoided:
        if in_lesson(permissible, other.action) not in avoided:
            return other
        left = without(left, other.action)
        other = _chosen(view, left, role)
        if isinstance(other.action, Stop):
            return move
    return other


def without(permissible: Permissible, action: Action) -> Permissible:
    """Return what is permissible instead of an action: its element, its option or its value is off the list."""
    names = (action.name, "double_click" if action.name == "click" else "")
    kept = [_less(one, action) if one.name in names else one for one in permissible.actions]
    return permissible.replace(actions=tuple(one for one in kept if one is not None))


def _less(allowed: PermissibleAction, action: Action) -> PermissibleAction | None:
    """Return an action without one value of its first argument that has others, None if it has none."""
    ref = target_of(action)
    places = list(enumerate(allowed.parameters))
    for place, parameter in places:
        options = (parameter.choices_by_ref or {}).get(ref, ()) if ref is not None else ()
        if len(options) > 1 and parameter.choices_by_ref is not None and ref is not None:
            rest = tuple(one for one in options if one != getattr(action, parameter.name, None))
            return _with(allowed, place, {"choices_by_ref": {**parameter.choices_by_ref, ref: rest}})
    for place, parameter in places:
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


def next_move(
    view: PromptView, permissible: Permissible, stage: Stage | None = None, *, is_whole: bool = True
) -> Move:
    """Return the next move; a stop if nothing is left to do or to try, which finishes where all is done.

    `stage` keeps a purchase goal to one of its stages. Where the objective is
    not the whole task, but one part of it, no form is sent that it does not name.
    """
    scene = Scene.of(view, permissible)
    intents = scene.objective.intents
    if (move := _declined_question(scene)) is not None:
        return move
    if is_for_command_line(view.objective):
        return at_command_line(scene)
    if stage is not None or is_purchase(view.objective):
        return _towards_purchase(scene, stage)
    if Facts(view.objective).are_given and not has_labelled_details(view.objective):
        if move := next_in_form(scene):
            return move
        if not intents:
            return Move(act("stop"), "The page offers nothing that takes what the objective gives.")
    stuck: Scene | None = None
    counted_as_done: Counter[Action] = Counter()
    for number, intent in enumerate(intents, start=1):
        here = Scene(scene.objective, scene.page, scene.history, number)
        answer = "done" if here.history.finished(number) else _answer(here, intent)
        if isinstance(answer, Move):
            unmarked = here.history.unmarked(answer.action)
            if answer.finishes and unmarked > counted_as_done[answer.action]:
                counted_as_done[answer.action] += 1
            elif stuck is not None and intent.kind == "click":
                # A click that comes later would give up what could not be done yet.
                return _with_part(stuck, _explored(stuck)) or _with_part(here, answer) or answer
            else:
                return _with_part(here, answer) or answer
        elif answer is None:
            stuck = stuck or here
    if stuck is not None and (move := _with_part(stuck, _explored(stuck))) is not None:
        return move
    is_stuck = stuck is not None or not intents
    if not is_whole and not is_stuck:
        return Move(act("stop"), "Nothing is left to do.", finishes=True)
    return _after_all(scene, is_stuck=is_stuck)


def _with_part(scene: Scene, move: Move | None) -> Move | None:
    """Return a move that tells which part it serves."""
    if move is None:
        return None
    lead = "Part" if move.finishes else "Towards part"
    return Move(
        move.action, f"{lead} {scene.part} of {len(scene.objective.intents)}: {move.why}", move.finishes
    )


def _towards_purchase(scene: Scene, stage: Stage | None) -> Move:
    found = purchase_move(scene, stage)
    if found is not None:
        return found[1]
    if is_bought(scene) if stage is None else any(one.ok for one in scene.history.actions):
        return Move(act("stop"), "Nothing more has to be done here.", finishes=True)
    return Move(act("stop"), "The page offers nothing that the objective describes.")


def _answer(scene: Scene, intent: Intent) -> Answer:
    if intent.kind == "expand":
        # What the next part names by its own words is opened where it is not to be seen.
        following = scene.objective.intents[scene.part : scene.part + 1]
        return "done" if following and following[0].quoted else expand(scene)
    rule = {"click": click, "fill": fill, "select": select, "drag": drag}[intent.kind]
    return rule(scene, intent)


def _declined_question(scene: Scene) -> Move | None:
    """Return a click that declines a question which holds up the fields of the page and was not asked for."""
    page = scene.page
    if not any(one.role in FIELD_ROLES and "disabled" in one.states for one in page.elements):
        return None
    asked = [one for one in page.elements if one.name.rstrip().endswith("?") and not page.may("click", one)]
    after = page.after(asked[-1]) if asked else ()
    answer = next((one for one in after if page.may("click", one) and norm(one.name) in _DECLINES), None)
    if answer is None or norm(answer.name) in norm(scene.objective.text):
        return None
    return scene.move("click", answer, f'The page asks "{asked[-1].name}"; that was not asked for.')


def _explored(scene: Scene) -> Move | None:
    """Return an untried way to see more of the page."""
    opened = first(
        scene.move("click", one, f"{described(one, first=True)} may show more.") for one in closed(scene)
    )
    return opened or next_page(scene, "what is asked for")


def _after_all(scene: Scene, *, is_stuck: bool) -> Move:
    """Return what remains: a submit still waiting, a look around if nothing was understood, or a stop.

    Where a part could not be done, or none was understood, nothing is submitted.
    """
    page, history, text = scene.page, scene.history, scene.objective.text
    clickable = page.can("click")
    ending = first(
        scene.move("click", one, f"{described(one, first=True)} ends it.")
        for one in clickable
        if is_submit(one) and not is_stuck and not _is_submitted(scene, act("click", one))
    )
    if ending is not None:
        return ending
    extreme = by_extreme(page, text, clickable)
    if extreme is not None and not history.touched(extreme.ref):
        return Move(
            act("click", extreme), f"{described(extreme, first=True)} fits the objective's superlative."
        )
    if not scene.objective.intents and not is_question(text) and len(history.actions) < _LOOK_AROUND:
        tried = first(
            scene.move("click", one, f"The objective is not understood; {described(one)} has not been tried.")
            for one in clickable
            if not history.tried(one.ref) and not IRREVERSIBLE.search(f"{one.name} {one.detail}")
        )
        if tried is not None:
            return tried
    number = counted(scene) if is_question(text) else None
    if number is not None:
        return Move(act("stop", answer=str(number)), f"The answer is {number}.", finishes=True)
    reason = "Nothing that the objective names is left to do."
    return Move(act("stop"), reason, finishes=not is_stuck)


def _is_submitted(scene: Scene, click: Action) -> bool:
    """Return whether a button was clicked and nothing was entered since."""
    for one in reversed(scene.history.actions):
        if one.ok and one.action.name in ("type", "select", "check", "press"):
            return False
        if one.ok and one.action == click:
            return True
    return False
