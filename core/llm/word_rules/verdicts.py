"""Judging a step: whether it served, whether the subtask is over, whether the task is done.

The questions are answered by asking what the rules would do next: a subtask
or task of which nothing is left to do is done.
"""

import re
from typing import Literal

from core.agent.general_space import permissible_of
from core.llm.word_rules.decide import next_move, understand
from core.llm.word_rules.deeds import deeds, said_done
from core.llm.word_rules.effects import Effect, effect_of
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.move import Move
from core.llm.word_rules.planning import LAST
from core.llm.word_rules.wishing import is_wish
from core.llm.word_rules.words import content_words, short, stem
from core.schema.action import Stop
from core.schema.messages import PromptView, Turn
from core.schema.observation import CleanObservation, Observation

Over = Literal["done", "needless", "open"]

_PART = re.compile(r"^(?:Part|Towards part) \d+ of \d+:\s*")
_VERBS = frozenset(
    "click press enter type fill select choose pick check open go see look find read into press tap set put "
    "button link field box textbox checkbox page form tab menu option list".split()
)
_LOOKS = re.compile(r"^(?:see|look|read)\b", re.IGNORECASE)


def aligned(view: PromptView) -> tuple[str, bool]:
    """Return what the action did in a sentence, and whether it served."""
    effect = effect_of(view)
    return effect.sentence, effect.serves


def subtask_over(view: PromptView) -> tuple[Over, str]:
    """Return whether the subtask is done, not needed any more, or open, with the sentence that says why."""
    text = view.subtask or view.objective
    effect = effect_of(view)
    if not effect.serves:
        return "open", "The action did not serve it."
    if text == LAST:
        is_done, why = task_done(view)
        return ("done" if is_done else "open"), why
    if _LOOKS.match(text) and not Facts(text).are_given:
        return "done", "The page was looked at and acted on."
    earlier = tuple(_unmarked(turn) for turn in view.history)
    this = Turn(number=len(earlier) + 1, action=view.action, target=view.target, result="done")
    first = _next(view, text, view.before, earlier) if view.before is not None else None
    if first is not None and first.finishes and str(first.action) == view.action:
        return "done", f"The action is what it asks for: {view.action}."
    rest = _next(view, text, view.observation, (*earlier, this))
    if rest is not None and _is_end(rest):
        if first is not None and _is_end(first):
            return "needless", "Nothing of it was left to do before this action."
        return "done", "Nothing of it is left to do on the page."
    if _accounts(text, view, effect):
        return "done", "The action and the page have all that it names."
    return "open", "Something of it is left to do."


def task_done(view: PromptView) -> tuple[bool, str]:
    """Return whether nothing of the whole task is left, with the sentence that says why."""
    told = said_done(view.observation.elements, deeds(view.objective))
    before = said_done(view.before.elements, deeds(view.objective)) if view.before is not None else None
    if told is not None and (before is None or before.name != told.name):
        return True, f'The page says: "{short(told.name, 120)}".'
    history = view.history
    if view.action and not (history and history[-1].action == view.action):
        this = Turn(
            number=len(history) + 1,
            thought=view.thought,
            action=view.action,
            target=view.target,
            result="done",
        )
        history = (*history, this)
    if view.action and not effect_of(view).serves:
        return False, "The last action did not serve it."
    move = _next(view, view.objective, view.observation, history)
    if move is not None and _is_end(move):
        return True, "Nothing of the task is left to do."
    left = move.why if move is not None else "What it asks for is not understood."
    return False, f"Something is left to do. {left}"


def _next(view: PromptView, text: str, page: CleanObservation, history: tuple[Turn, ...]) -> Move | None:
    """Return what the rules would do for a text on a page; None where they read nothing to do in it."""
    if not (understand(text).intents or Facts(text).are_given or is_wish(text)):
        return None
    asked = view.replace(objective=text, observation=page, history=history)
    permissible = permissible_of(Observation(url=page.url, elements=page.elements))
    return next_move(asked, permissible, is_whole=text == view.objective)


def _is_end(move: Move) -> bool:
    return isinstance(move.action, Stop) and move.finishes


def _unmarked(turn: Turn) -> Turn:
    """Return a turn without the part of the whole task that its thought names: a subtask counts its own."""
    return turn.replace(thought=_PART.sub("", turn.thought))


def _accounts(text: str, view: PromptView, effect: Effect) -> bool:
    """Tell whether all words of a subtask are in the action, its target, or what it brought up."""
    asked = {stem(word) for word in content_words(text)} - _VERBS
    if not asked:
        return False
    said = " ".join((view.action, view.target, effect.sentence, *effect.appeared))
    return asked <= {stem(word) for word in content_words(said)}
