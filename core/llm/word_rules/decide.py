"""The next move: the first part of the objective that is not done, and the rule for its kind."""

import re
from collections import Counter

from core.llm.word_rules.adding import add
from core.llm.word_rules.answering import counted
from core.llm.word_rules.choosing import select
from core.llm.word_rules.clicking import click
from core.llm.word_rules.comparing import by_extreme
from core.llm.word_rules.dragging import drag
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.filling import fill
from core.llm.word_rules.forms import follow
from core.llm.word_rules.intent import Intent, Objective
from core.llm.word_rules.messages import read_message_request
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.objective import read_objective
from core.llm.word_rules.page import FIELD_ROLES, Page, is_submit
from core.llm.word_rules.past import Past
from core.llm.word_rules.revealing import candidates, expand, next_page, scrolled_to_end
from core.llm.word_rules.searching import read_details, search
from core.llm.word_rules.wishing import Stage, is_wish, wish_move
from core.llm.word_rules.words import norm
from core.schema.action import Action
from core.schema.action_space import Permissible
from core.schema.messages import PromptView

ASKS = re.compile(
    r"^(?:how|what|which|who|when|where|is|are|does|do|tell|list|give me)\b|\?\s*$", re.IGNORECASE
)
LOOK_AROUND = 8
"""Steps spent on trying things where no word of the objective is understood."""
LASTING = re.compile(
    r"\b(?:delete|remove|trash|erase|buy|pay|order|book|send|sign|log\s?out|unsubscribe)\b", re.IGNORECASE
)
_DECLINES = frozenset(("cancel", "no", "dismiss", "stay", "not now", "close", "later"))


def understand(text: str) -> Objective:
    """Return the parts of an objective."""
    return read_details(text) or read_message_request(text) or read_objective(text)


def next_move(
    view: PromptView, permissible: Permissible, stage: Stage | None = None, *, is_whole: bool = True
) -> Move:
    """Return the next move; a stop where nothing is left to do or to try, which finishes where all is done.

    `stage` keeps a wish to one of its stages. Where the objective is not the
    whole task, but one part of it, no form is sent that it does not name.
    """
    objective = understand(view.objective)
    page = Page(view, permissible)
    past = Past(view.history)
    parts = objective.intents
    if (move := put_off(Scene(objective, page, past, 0))) is not None:
        return move
    if is_wish(view.objective) or stage is not None:
        return _wished(Scene(objective, page, past, 0), stage)
    if read_details(view.objective) is None and Facts(view.objective).are_given:
        answer = follow(Scene(objective, page, past, 0))
        if isinstance(answer, Move):
            return answer
        if answer == "done":
            return Move(act("stop"), "The page shows that it is done.", finishes=True)
        if not parts:
            return Move(act("stop"), "The page offers nothing that takes what the objective gives.")
    stuck: Scene | None = None
    counted_as_done: Counter[str] = Counter()
    for number, intent in enumerate(parts, start=1):
        if past.finished(number):
            continue
        scene = Scene(objective, page, past, number)
        answer = _answer(scene, intent)
        if answer == "done":
            continue
        if isinstance(answer, Move):
            text = str(answer.action)
            if answer.finishes and past.unmarked(answer.action) > counted_as_done[text]:
                counted_as_done[text] += 1
                continue
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
    is_stuck = stuck is not None or not parts
    if not is_whole and not is_stuck:
        return Move(act("stop"), "Nothing of it is left to do.", finishes=True)
    return _after_all(Scene(objective, page, past, 0), stuck=is_stuck)


def _wished(scene: Scene, stage: Stage | None) -> Move:
    found = wish_move(scene, stage)
    if found is not None:
        return found[1]
    if any(ok for _, _, ok in scene.past.actions):
        return Move(act("stop"), "Nothing more is to be done for it here.", finishes=True)
    return Move(act("stop"), "The page offers nothing that the wish names.")


def _told(scene: Scene, move: Move, count: int) -> Move:
    lead = "Part" if move.finishes else "Towards part"
    return Move(move.action, f"{lead} {scene.part} of {count}: {move.why}", move.finishes)


def _answer(scene: Scene, intent: Intent) -> Answer:
    match intent.kind:
        case "click":
            return click(scene, intent)
        case "fill":
            return fill(scene, intent)
        case "select":
            return select(scene, intent)
        case "expand":
            return _expand(scene)
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
        case "add":
            return add(scene, intent)
    return None


def _expand(scene: Scene) -> Answer:
    """Open what hides the target of the part that follows; skipped where that is to be seen."""
    following = scene.objective.intents[scene.part : scene.part + 1]
    if following and following[0].quoted:
        return "done"
    return expand(scene)


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
    return Move(act("click", element), f"{said(element, first=True)} is to have the focus.", True)


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
    steps = [action for _, action, ok in scene.past.of_part(scene.part) if ok]
    if re.search(r"\b(?:bottom|end|top)\b", intent.text) and page_key(steps) is None:
        if not scene.page.may("click", boxes[0]):
            move = Move(
                act("scroll", boxes[0], direction=direction), f"The objective asks to scroll {direction}."
            )
            return move if len(steps) < 6 and scene.allowed(move) else "done"
        if "focused" not in boxes[0].states and not any(action.kind == "click" for action in steps):
            return Move(
                act("click", boxes[0]), f"{said(boxes[0], first=True)} takes keys once it is clicked."
            )
        return Move(
            act("press", keys="Control+End" if down else "Control+Home"), f"The key goes {direction} at once."
        )
    move = Move(act("scroll", boxes[0], direction=direction), f"The objective asks to scroll {direction}.")
    return move if scene.allowed(move) else "done"


def page_key(steps: list[Action]) -> Action | None:
    """Return the step that pressed a key to go to an end, if there was one."""
    return next(
        (one for one in steps if one.kind == "press" and one.keys in ("Control+End", "Control+Home")), None
    )


def _count(scene: Scene) -> Answer:
    """Count, and click the number where the page offers it, else stop with it."""
    number = counted(scene)
    if number is None:
        return None
    for one in scene.page.can("click"):
        if norm(one.name) == str(number) and one.role in ("button", "link", "radio", "option"):
            return Move(act("click", one), f"There are {number}.", True)
    return Move(act("stop", answer=str(number)), f"There are {number}.", True)


def put_off(scene: Scene) -> Move | None:
    """Return a click that declines a question which holds up the fields of the page and was not asked for."""
    page = scene.page
    if not any(one.role in FIELD_ROLES and "disabled" in one.states for one in page.elements):
        return None
    asked = [one for one in page.elements if one.name.rstrip().endswith("?") and not page.may("click", one)]
    if not asked:
        return None
    after = page.after(asked[-1])
    for one in after:
        if page.may("click", one) and norm(one.name) in _DECLINES:
            if norm(one.name) in norm(scene.objective.text):
                return None
            move = Move(act("click", one), f'The page asks "{asked[-1].name}"; that was not asked for.')
            return move if scene.allowed(move) else None
    return None


def explore(scene: Scene) -> Move | None:
    """Return an untried way to see more of the page."""
    for one in candidates(scene):
        move = Move(act("click", one), f"{said(one, first=True)} may show more.")
        if scene.allowed(move):
            return move
    return next_page(scene, "what is asked for")


def _after_all(scene: Scene, *, stuck: bool) -> Move:
    """Return what remains: a submit still waiting, a look around where nothing was understood, or a stop.

    Where a part could not be done, or none was understood, nothing is submitted.
    """
    page, past = scene.page, scene.past
    question = bool(ASKS.search(scene.objective.text))
    changed = [
        index
        for index, (_, action, ok) in enumerate(past.actions)
        if ok and action.kind in ("type", "select", "check", "drag", "press")
    ]
    submits = [] if stuck else [one for one in page.can("click") if is_submit(one)]
    for one in submits:
        clicked = [
            index
            for index, (_, action, ok) in enumerate(past.actions)
            if ok
            and action.kind == "click"
            and any(getattr(target, "ref", None) == one.ref for target in action.targets)
        ]
        if not clicked or (changed and changed[-1] > clicked[-1]):
            move = Move(act("click", one), f"{said(one, first=True)} ends it.")
            if scene.allowed(move):
                return move
    extreme = by_extreme(page, scene.objective.text, page.can("click"))
    if extreme is not None and not past.touched(extreme.ref):
        return Move(
            act("click", extreme), f"{said(extreme, first=True)} fits the superlative of the objective."
        )
    if not scene.objective.intents and not question and len(past.actions) < LOOK_AROUND:
        for one in page.can("click"):
            if not past.tried(one.ref) and not LASTING.search(f"{one.name} {one.detail}"):
                move = Move(
                    act("click", one), f"Nothing in the objective is understood; {said(one)} was not tried."
                )
                if scene.allowed(move):
                    return move
    number = counted(scene) if question else None
    if number is not None:
        return Move(act("stop", answer=str(number)), f"The answer is {number}.", finishes=True)
    return Move(
        act("stop"), "Nothing is left to do that the words of the objective name.", finishes=not stuck
    )
