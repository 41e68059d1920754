"""The action to propose: of the state, of the page, or the call of a policy, whichever the words fit best."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from core.llm.rules.clicks import click, expand
from core.llm.rules.command_line import at_command_line, is_for_command_line
from core.llm.rules.corrections import corrected, in_lesson, lessons
from core.llm.rules.fields import fill, select
from core.llm.rules.forms import is_elsewhere, next_in_form
from core.llm.rules.moves import Answer, Move, Scene, act, stopped, target_of
from core.llm.rules.objective import Intent, Kind
from core.llm.rules.page import is_submit
from core.llm.rules.policies import (
    as_policy,
    best_call,
    call_for_stage,
    ending,
    fitting_call,
    state_move,
)
from core.llm.rules.purchases import Stage, is_bought, purchase_move, stage_of
from core.llm.rules.words import does_other
from core.schema.action import Action, Stop
from core.schema.action_space import Permissible
from core.schema.messages import PromptView

_LOOK_AROUND = 8
"""Steps spent on trying things where no word of the objective is understood."""


def proposed(view: PromptView, permissible: Permissible) -> Move:
    """Return a move that is permissible, or a stop if nothing is.

    What lessons of earlier trials rule out is left, if there is something else.
    """
    view = as_policy(view)
    avoided = lessons(view)
    moves = list(islice(ranked(view, permissible), len(avoided) + 1))
    fresh = (one for one in moves if in_lesson(permissible, one.action) not in avoided)
    move = next(fresh, moves[-1])
    if isinstance(move.action, Stop):
        move = moves[0]
    scene = Scene.of(view, permissible)
    move = ending(corrected(view, scene, move), scene)
    problem = permissible.problem(move.action)
    if problem is None:
        return move
    row = next((row for row in permissible.rows() if row.ref is not None and row.name == "click"), None)
    if permissible.action("stop") is None and row is not None:
        return Move(act("click", row.ref), f"Nothing that the task names is permissible; {row.label} is.")
    return stopped(f"The action that the task names is not permissible: {problem}")


def ranked(view: PromptView, permissible: Permissible, ruled_out: Iterable[Action] = ()) -> Iterator[Move]:
    """Yield moves, the best first, each with those before it ruled out; the last is a stop, or one that came before."""
    out = set(ruled_out)
    while True:
        move = _chosen(Scene.of(view, permissible, out))
        yield move
        if isinstance(move.action, Stop) or move.action in out:
            return
        out.add(move.action)


def _chosen(scene: Scene) -> Move:
    if (offered := state_move(scene)) is not None:
        return offered
    stage = stage_of(scene.policy) if scene.called else None
    move = next_move(scene, stage)
    if not any(action.origin == "policy" for action in scene.page.permissible.actions):
        return move
    if scene.objective.facts.is_purchase and stage is None:
        bought = purchase_move(scene)
        return (bought and call_for_stage(scene, bought[0])) or move
    if not scene.objective.facts.are_given:
        return move
    is_lost = isinstance(move.action, Stop) and not move.finishes
    helps = best_call(scene, is_whole=False) if is_lost or is_elsewhere(scene) else None
    return fitting_call(scene) or helps or move


# The next move on a page


def next_move(scene: Scene, stage: Stage | None = None, *, is_whole: bool = True) -> Move:
    """Return the next move; a stop if nothing is left to do or to try, which finishes where all is done.

    `stage` keeps a purchase goal to one of its stages. Where the objective is
    not the whole task, but one part of it, no form is sent that it does not name.
    """
    objective = scene.objective
    if is_for_command_line(objective):
        return at_command_line(scene)
    if stage is not None or objective.facts.is_purchase:
        return _towards_purchase(scene, stage)
    if objective.is_for_forms:
        if move := next_in_form(scene):
            return move
        if not objective.intents:
            return stopped("The page offers nothing that takes what the objective gives.")
    move, is_stuck = _next_part(scene)
    if move is not None:
        return move
    if not is_whole and not is_stuck:
        return stopped("Nothing is left to do.", finishes=True)
    return _after_all(scene, is_stuck=is_stuck)


def _next_part(scene: Scene) -> tuple[Move | None, bool]:
    """Return the move of the first part that is not done, and whether a part could not be done or none was read."""
    is_stuck = not scene.objective.intents
    counted: Counter[Action] = Counter()
    for number, intent in enumerate(scene.objective.intents, start=1):
        here = replace(scene, part=number)
        answer = "done" if here.history.finished(number) else _ANSWERS[intent.kind](here, intent)
        if isinstance(answer, Move):
            if answer.finishes and here.history.unmarked(answer.action) > counted[answer.action]:
                counted[answer.action] += 1
                continue
            return _with_part(here, answer), is_stuck
        is_stuck = is_stuck or answer is None
    return None, is_stuck


_ANSWERS: dict[Kind, Callable[[Scene, Intent], Answer]] = {
    "click": click,
    "fill": fill,
    "select": select,
    "expand": expand,
}


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


def _after_all(scene: Scene, *, is_stuck: bool) -> Move:
    """Return what remains: a submit still waiting, a look around if nothing was understood, or a stop.

    Where a part could not be done, or none was understood, nothing is submitted.
    """
    history, objective = scene.history, scene.objective
    clickable = scene.page.can("click")
    waiting = [one for one in clickable if is_submit(one) and not is_stuck and not history.is_sent(one.ref)]
    if ending := scene.click(waiting, "{} ends it."):
        return ending
    if not objective.intents and not objective.is_question and len(history.actions) < _LOOK_AROUND:
        tried = {target_of(action.action) for action in history.actions}
        untried = [one for one in clickable if one.ref not in tried and not does_other(one, set())]
        if move := scene.click(untried, "The objective is not understood; {} has not been tried."):
            return move
    return stopped("Nothing that the objective names is left to do.", finishes=not is_stuck)
