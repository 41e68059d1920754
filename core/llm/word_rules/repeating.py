"""What takes several rounds: drawing numbers until one fits, guessing by feedback, adding items one by one."""

import re

from core.llm.word_rules.clicking import scope
from core.llm.word_rules.move import Answer, Intent, Move, Scene, act, said
from core.llm.word_rules.page import is_submit
from core.llm.word_rules.words import NUMBER, alike, norm, numbers
from core.observation import Element

_MORE = frozenset(("+", "add", "add to cart", "plus", "add to order", "buy"))


def until(scene: Scene, intent: Intent) -> Answer:
    """Click the control of the verb until the number in the page fits the condition."""
    shown = next(
        (numbers(one.name)[0] for one in scene.page.texts() if NUMBER.fullmatch(one.name.strip())),
        None,
    )
    if shown is not None and _fits(intent.text, shown):
        return "done"
    control = scene.page.best(intent.verb, scene.page.can("click"))
    if control is None:
        return None
    state = "no number" if shown is None else f"{shown:g}"
    move = Move(
        act("click", control), f"The page shows {state}, which does not fit; {said(control)} gives another."
    )
    return move if scene.allowed(move) else None


def _fits(text: str, number: float) -> bool:
    bounds = numbers(text)
    if re.search(r"\beven\b", text):
        return number % 2 == 0
    if re.search(r"\bodd\b", text):
        return number % 2 == 1
    if not bounds:
        return True
    if re.search(r"\b(?:less|smaller|lower|below|under|fewer)\b", text):
        return number < bounds[0]
    if re.search(r"\b(?:greater|more|larger|higher|above|over|bigger)\b", text):
        return number > bounds[0]
    if re.search(r"\bbetween\b", text) and len(bounds) > 1:
        return min(bounds) <= number <= max(bounds)
    return number == bounds[0]


def guess(scene: Scene, intent: Intent) -> Answer:
    """Guess by halves; the page's feedback on each guess is kept in the thoughts."""
    match = re.search(r"(-?\d+)\s*(?:-|to|and)\s*(-?\d+)", intent.text)
    fields = scene.page.fields()
    if not fields:
        return None
    low, high = (int(match[1]), int(match[2])) if match else (0, 100)
    for turn in scene.past.turns:
        for least in re.findall(r"at least (-?\d+)", turn.thought):
            low = max(low, int(least))
        for most in re.findall(r"at most (-?\d+)", turn.thought):
            high = min(high, int(most))
    last = next((action for _, action, _ in reversed(scene.past.actions)), None)
    if last is not None and last.kind == "type":
        submit = next((one for one in scene.page.can("click") if is_submit(one)), None)
        if submit is not None:
            return Move(act("click", submit), "The guess is to be handed in.")
    feedback = " ".join(one.name.casefold() for one in scene.page.texts())
    guessed = next(
        (
            int(numbers(a.text)[0])
            for _, a, _ in reversed(scene.past.actions)
            if a.kind == "type" and numbers(a.text)
        ),
        None,
    )
    if guessed is not None:
        if re.search(
            r"\b(?:higher|greater|larger|bigger|more) than\b|too low|too small|\bhigher\b", feedback
        ):
            low = max(low, guessed + 1)
        elif re.search(r"\b(?:lower|less|smaller) than\b|too high|too (?:big|large)|\blower\b", feedback):
            high = min(high, guessed - 1)
    if low > high:
        return None
    middle = (low + high) // 2
    return Move(act("type", fields[0], text=str(middle)), f"The number is at least {low} and at most {high}.")


def add(scene: Scene, intent: Intent) -> Answer:
    """Add each item of a list by the control that follows its name."""
    for owner in _listed(scene, intent):
        name = owner.name
        control = _adder(scene, owner)
        if control is None or scene.past.touched(control.ref, "click"):
            continue
        move = Move(act("click", control), f"{said(control).capitalize()} adds {name}.")
        if scene.allowed(move):
            return move
    return "done"


def _listed(scene: Scene, intent: Intent) -> list[Element]:
    """Return the page's entries that the list names; names with "and" in them are not cut."""
    listed = norm(intent.text.partition(":")[2] or intent.text)
    found = [
        one
        for one in scene.page.elements
        if len(norm(one.name)) > 2 and re.search(rf"(?<!\w){re.escape(norm(one.name))}(?!\w)", listed)
    ]
    whole = [
        one
        for one in found
        if not any(norm(one.name) in norm(other.name) for other in found if other is not one)
    ]
    return whole or [
        one for one in scene.page.elements if any(alike(name, one.name) >= 0.9 for name in intent.names)
    ]


def _adder(scene: Scene, owner: Element) -> Element | None:
    if scene.page.may("click", owner) and norm(owner.name) in _MORE:
        return owner
    for one in scope(scene, owner):
        if (one.name.strip() in _MORE or norm(one.name) in _MORE) and scene.page.may("click", one):
            return one
    return None
