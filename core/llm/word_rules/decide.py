"""The next move: the first part of the objective that is not done, and the rule for its kind."""

import re

from core.llm.protocol import PromptView
from core.llm.word_rules.answering import counted
from core.llm.word_rules.choosing import select
from core.llm.word_rules.clicking import click
from core.llm.word_rules.comparing import by_extreme
from core.llm.word_rules.dragging import drag
from core.llm.word_rules.filling import fill, picked_suggestion, suggestions
from core.llm.word_rules.messages import read_message_request
from core.llm.word_rules.move import Answer, Intent, Move, Scene, act, said
from core.llm.word_rules.objective import Objective, read_objective
from core.llm.word_rules.page import Page, is_submit
from core.llm.word_rules.past import Past
from core.llm.word_rules.repeating import add, guess, until
from core.llm.word_rules.revealing import candidates, expand, next_page, scrolled_to_end
from core.llm.word_rules.searching import read_details, search
from core.llm.word_rules.shapes import kind_names
from core.llm.word_rules.words import norm
from core.permissible import Permissible

ASKS = re.compile(
    r"^(?:how|what|which|who|when|where|is|are|does|do|tell|list|give me)\b|\?\s*$", re.IGNORECASE
)


def understand(text: str) -> Objective:
    """Return the parts of an objective."""
    return read_details(text) or read_message_request(text) or read_objective(text)


def next_move(view: PromptView, permissible: Permissible) -> Move:
    """Return the next move; a stop where nothing is left to do or to try."""
    objective = understand(view.objective)
    page = Page(view, permissible)
    past = Past(view.history)
    parts = objective.intents
    stuck: Scene | None = None
    for number, intent in enumerate(parts, start=1):
        if past.finished(number):
            continue
        scene = Scene(objective, page, past, number)
        answer = _answer(scene, intent)
        if answer == "done":
            continue
        if isinstance(answer, Move):
            if stuck is not None and intent.kind == "click":
                break
            return _told(scene, answer, len(parts))
        stuck = stuck or scene
    if stuck is not None:
        move = explore(stuck)
        if move is not None:
            return _told(stuck, move, len(parts))
        rest = next((i for n, i in enumerate(parts, start=1) if n > stuck.part and i.kind == "click"), None)
        if rest is not None:
            later = Scene(objective, page, past, parts.index(rest) + 1)
            answer = click(later, rest)
            if isinstance(answer, Move) and not past.finished(later.part):
                return _told(later, answer, len(parts))
    return _after_all(Scene(objective, page, past, 0), bool(parts))


def _told(scene: Scene, move: Move, count: int) -> Move:
    lead = "Part" if move.finishes else "Towards part"
    return Move(move.action, f"{lead} {scene.part} of {count}: {move.why}", move.finishes)


def _answer(scene: Scene, intent: Intent) -> Answer:
    match intent.kind:
        case "click":
            return _best_description(scene, intent) or click(scene, intent)
        case "fill":
            return fill(scene, intent)
        case "select":
            return select(scene, intent)
        case "expand":
            return _expand(scene, intent)
        case "focus":
            return _focus(scene, intent)
        case "wait":
            return Move(
                act("wait", seconds=min(float(intent.value or 1), 30.0)), "The objective asks to wait.", True
            )
        case "scroll":
            return _scroll(scene, intent)
        case "look":
            return search(scene, intent)
        case "count":
            return _count(scene)
        case "drag":
            return drag(scene, intent)
        case "until":
            return until(scene, intent)
        case "guess":
            return guess(scene, intent)
        case "add":
            return add(scene, intent)
    return None


def _expand(scene: Scene, intent: Intent) -> Answer:
    """Open what hides the target of the part that follows; skipped where that is to be seen."""
    following = scene.objective.intents[scene.part : scene.part + 1]
    if following and following[0].quoted:
        return "done"
    del intent
    answer = expand(scene, "it")
    return "done" if isinstance(answer, str) else answer


def _focus(scene: Scene, intent: Intent) -> Answer:
    page = scene.page
    fields = [
        one
        for one in page.elements
        if one.role in ("textbox", "searchbox", "spinbutton") and page.may("click", one)
    ]
    element = page.nth(fields, intent.place or 1)
    if element is None:
        return None
    return Move(act("click", element), f"{said(element).capitalize()} is to have the focus.", True)


def _scroll(scene: Scene, intent: Intent) -> Answer:
    down = not re.search(r"\b(?:top|up|beginning|start)\b", intent.text, re.IGNORECASE)
    boxes = [one for one in scene.page.elements if one.role == "textbox" and "multiline" in one.states]
    boxes = boxes or [one for one in scene.page.elements if one.role == "textbox"]
    direction = "down" if down else "up"
    if not boxes:
        move = Move(act("scroll", direction=direction), f"The objective asks to scroll {direction}.")
        return move if scene.allowed(move) else "done"
    if scrolled_to_end(scene, boxes[0], down):
        return "done"
    move = Move(act("scroll", boxes[0], direction=direction), f"The objective asks to scroll {direction}.")
    return move if scene.allowed(move) else "done"


def _count(scene: Scene) -> Answer:
    """Count, and click the number where the page offers it, else stop with it."""
    number = counted(scene)
    if number is None:
        return None
    for one in scene.page.can("click"):
        if norm(one.name) == str(number) and one.role in ("button", "link", "radio", "option"):
            return Move(act("click", one), f"There are {number}.", True)
    return Move(act("stop", answer=str(number)), f"There are {number}.", True)


def _best_description(scene: Scene, intent: Intent) -> Answer:
    """Click the button that names what is drawn, where the part asks for what describes it."""
    if not re.search(r"\b(?:describes?|identif|matches|corresponds)\b", intent.text, re.IGNORECASE):
        return None
    kinds = kind_names(scene.page)
    for kind in kinds:
        for one in scene.page.can("click"):
            if one.role == "button" and norm(one.name) == kind:
                return Move(act("click", one), f"The drawn thing is a {kind}.", True)
    return None


def explore(scene: Scene) -> Move | None:
    """Return an untried way to see more of the page."""
    for one in candidates(scene):
        move = Move(act("click", one), f"{said(one).capitalize()} may show more.")
        if scene.allowed(move):
            return move
    return next_page(scene, "what is asked for")


def _after_all(scene: Scene, had_parts: bool) -> Move:
    """Return what remains once every part is done: a submit that is still waiting, else a stop."""
    page, past = scene.page, scene.past
    question = bool(ASKS.search(scene.objective.text))
    last = past.actions[-1][1].kind if past.actions else ""
    changed = [
        index
        for index, (_, action, ok) in enumerate(past.actions)
        if ok and action.kind in ("type", "select", "check", "drag", "press")
    ]
    submits = [one for one in page.can("click") if is_submit(one)]
    for one in submits:
        clicked = [
            index
            for index, (_, action, ok) in enumerate(past.actions)
            if ok
            and action.kind == "click"
            and any(getattr(target, "ref", None) == one.ref for target in action.targets)
        ]
        if not clicked or (changed and changed[-1] > clicked[-1]):
            move = Move(act("click", one), f"{said(one).capitalize()} ends it.")
            if scene.allowed(move):
                return move
    extreme = by_extreme(page, scene.objective.text, page.can("click"))
    if extreme is not None and not past.touched(extreme.ref):
        return Move(
            act("click", extreme), f"{said(extreme).capitalize()} fits the superlative of the objective."
        )
    if not had_parts and not question:
        for one in page.can("click"):
            if not past.tried(one.ref) and len(past.actions) < 8:
                move = Move(
                    act("click", one), f"Nothing in the objective is understood; {said(one)} was not tried."
                )
                if scene.allowed(move):
                    return move
    del last
    number = counted(scene) if question else None
    if number is not None:
        return Move(act("stop", answer=str(number)), f"The answer is {number}.")
    return Move(act("stop"), "Nothing is left to do that the words of the objective name.")


__all__ = ["explore", "next_move", "picked_suggestion", "suggestions", "understand"]
