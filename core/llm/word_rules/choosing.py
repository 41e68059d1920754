"""Choosing: options of lists, boxes to check, dates, sliders and spinners, colours."""

import re

from core.llm.word_rules.clicking import by_colour, click, find
from core.llm.word_rules.comparing import by_extreme
from core.llm.word_rules.dates import pick_date, read_date
from core.llm.word_rules.intent import Intent
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import GOOD, Page, hints
from core.llm.word_rules.revealing import after_hover, reveal
from core.llm.word_rules.words import NUMBER, alike, content_words, norm, numbers, short
from core.schema.observation import Element, Option

_BOXES = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"))


def select(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to select, choose, check or set something."""
    page = scene.page
    day = read_date(intent.text)
    if day is not None:
        return pick_date(scene, day)
    if intent.role_word in ("slider", "spinner") or _needs_setting(intent):
        return _set_numbers(scene, intent)
    if len(intent.names) == 1 and ">" in intent.names[0]:
        return _follow(scene, [part.strip() for part in intent.names[0].split(">") if part.strip()])
    if not intent.names:
        return _clear(scene) if not intent.roles else click(scene, intent)
    if intent.place is not None and intent.roles:
        return _check_placed(scene, intent)
    if re.search(r"\bshades?\b|\ball\b", intent.text) and by_colour(intent.text, page.can("click")):
        return _all_of_colour(scene, intent)
    if by_extreme(page, scene.objective.text, page.can("click")) is not None and not _on_offer(page, intent):
        return click(scene, intent.replace(text=scene.objective.text))
    missing: list[str] = []
    names = _merged(page, intent.names)
    for name in names:
        answer = _choose(scene, name, intent)
        if isinstance(answer, Move):
            return answer
        if answer is None:
            missing.append(name)
    if not missing:
        return "done"
    whole = intent.text.split(" ", 1)[-1]
    joined = (
        _choose(scene, whole, intent) if len(intent.names) > 1 and len(missing) == len(intent.names) else None
    )
    return joined or reveal(scene, short(", ".join(missing)))


def _merged(page: Page, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, those put together again that the page shows as one (``Black and white``)."""
    known = {norm(option.label) for one in page.elements for option in one.options}
    known |= {norm(one.name) for one in page.elements if one.name}
    merged: list[str] = []
    at = 0
    while at < len(names):
        for end in range(len(names), at + 1, -1):
            whole = next(
                (
                    text
                    for joint in (" and ", ", ", ", and ")
                    if norm(text := joint.join(names[at:end])) in known
                ),
                None,
            )
            if whole is not None and end - at > 1:
                merged.append(whole)
                at = end
                break
        else:
            merged.append(names[at])
            at += 1
    return tuple(merged)


def _follow(scene: Scene, path: list[str]) -> Answer:
    """Choose the end of a path through menus (File > Save as); what comes before is pointed at."""
    page = scene.page
    for depth in range(len(path) - 1, -1, -1):
        found = page.best(path[depth], page.can("click"), ("menuitem",), least=0.9)
        if found is None:
            continue
        if depth == len(path) - 1:
            return Move(
                act("click", found), f"{said(found, first=True)} is the end of the path.", finishes=True
            )
        if scene.past.tried(found.ref):
            pause = after_hover(scene)
            opened = Move(act("click", found), f"{said(found, first=True)} did not open by pointing.")
            return pause or (opened if scene.allowed(opened) else None)
        return Move(act("hover", found), f"{said(found, first=True)} holds the next part of the path.")
    return None


def _needs_setting(intent: Intent) -> bool:
    return "slider" in intent.text or "spinner" in intent.text


def _on_offer(page: Page, intent: Intent) -> bool:
    return any(alike(name, one.name) >= 0.9 for name in intent.names for one in page.elements)


def _option(element: Element, name: str) -> Option | None:
    scored = [(alike(name, option.label), option) for option in element.options if not option.disabled]
    top = max((score for score, _ in scored), default=0.0)
    return next(option for score, option in scored if score == top) if top >= 0.8 else None


def _choose(scene: Scene, name: str, intent: Intent) -> Answer:
    """Choose one name: an option of a list, a box, else whatever answers to it."""
    page = scene.page
    for element in page.can("select"):
        option = _option(element, name)
        if option is None:
            continue
        if option.selected or _was_selected(scene, element, option):
            return "done"
        move = Move(
            act("select", element, option=option.label or option.value),
            f'{said(element, first=True)} offers "{option.label}".',
        )
        if scene.allowed(move):
            return move
    boxes = [one for one in page.can("check") if one.role in _BOXES]
    box = page.best(name, boxes, least=0.85)
    if box is None and boxes:
        box = page.best(name, boxes, least=GOOD)
    if box is not None:
        if "checked" in box.states:
            return "done"
        move = Move(act("check", box), f"{said(box, first=True)} is to be checked.")
        return move if scene.allowed(move) else None
    if boxes and (named := related(name, boxes)) is not None:
        if "checked" in named.states:
            return "done"
        return Move(act("check", named), f'{said(named, first=True)} comes nearest to "{name}".')
    element_or_none = find(scene, intent.replace(names=(name,), place=None))
    if element_or_none is None:
        return None
    if any(
        ok and action.kind == "click" and getattr(action.targets[0], "ref", None) == element_or_none.ref
        for _, action, ok in scene.past.of_part(scene.part)
    ):
        return "done"
    move = Move(
        act("click", element_or_none),
        f"{said(element_or_none, first=True)} is to be chosen.",
        finishes=len(intent.names) == 1,
    )
    return move if scene.allowed(move) else None


def related(name: str, boxes: list[Element]) -> Element | None:
    """Return the box whose words share the beginning of the name's, where one does."""
    for box in boxes:
        for word in content_words(box.name):
            for asked in content_words(name):
                if len(asked) >= 5 and len(word) >= 5 and word[:5] == asked[:5]:
                    return box
    return None


def _was_selected(scene: Scene, element: Element, option: Option) -> bool:
    return any(
        ok
        and action.kind == "select"
        and action.option in (option.label, option.value)
        and getattr(action.target, "ref", None) == element.ref
        for _, action, ok in scene.past.actions
        if action.kind == "select"
    ) and not any(one.label for one in element.options if one.selected and one.label != option.label)


def _clear(scene: Scene) -> Answer:
    """Clear what is checked, where nothing is to be selected."""
    for one in scene.page.can("check"):
        if one.role == "checkbox" and "checked" in one.states:
            move = Move(act("check", one, checked=False), f"{said(one, first=True)} is to be cleared.")
            if scene.allowed(move):
                return move
    return "done"


def _check_placed(scene: Scene, intent: Intent) -> Answer:
    page = scene.page
    candidates = [
        one
        for one in page.elements
        if one.role in intent.roles and (page.may("check", one) or page.may("click", one))
    ]
    element = page.nth(candidates, intent.place or 1)
    if element is None:
        return reveal(scene, short(intent.text))
    if "checked" in element.states:
        return "done"
    kind = "check" if page.may("check", element) else "click"
    return Move(act(kind, element), f"{said(element, first=True)} is at the place asked for.", finishes=True)


def _all_of_colour(scene: Scene, intent: Intent) -> Answer:
    for one in by_colour(intent.text, scene.page.can("click")):
        if scene.past.touched(one.ref, "click") or {"selected", "checked", "pressed"} & set(one.states):
            continue
        move = Move(act("click", one), f"{said(one, first=True)} has a colour asked for.")
        if scene.allowed(move):
            return move
    return "done"


# Sliders and spinners


def _set_numbers(scene: Scene, intent: Intent) -> Answer:
    """Set sliders or spinners, in page order, to the numbers that the part names."""
    page = scene.page
    wanted = numbers(intent.text)
    handles = [
        one
        for one in page.elements
        if one.role == "slider" or any("slider handle" in hint for hint in hints(one))
    ]
    spinners = [one for one in page.elements if one.role == "spinbutton"]
    if spinners and (intent.role_word == "spinner" or not handles):
        return _set_spinner(scene, spinners[0], wanted)
    for handle, number in zip(handles, wanted, strict=False):
        shown = _shown_value(page, handle)
        if shown is None or shown == number:
            continue
        if page.may("type", handle) and handle.role == "slider":
            return Move(act("type", handle, text=f"{number:g}"), f"{number:g} is wanted and {shown:g} shown.")
        return _nudge(scene, handle, shown, number)
    return "done" if handles else None


def _set_spinner(scene: Scene, spinner: Element, wanted: list[float]) -> Answer:
    if not wanted:
        return None
    text = f"{wanted[0]:g}"
    if spinner.value == text:
        return "done"
    move = Move(act("type", spinner, text=text), f"{text} goes into {said(spinner)}.")
    if not scene.past.touched(spinner.ref, "type") and scene.allowed(move):
        return move
    shown = numbers(spinner.value or "0")
    if not shown:
        return None
    if "focused" not in spinner.states:
        return Move(act("click", spinner), f"{said(spinner, first=True)} takes keys once it is clicked.")
    keys = "ArrowUp" if wanted[0] > shown[0] else "ArrowDown"
    return Move(
        act("press", keys=keys), f"The spinner shows {shown[0]:g}, wanted is {text}; typing did not take."
    )


def _shown_value(page: Page, handle: Element) -> float | None:
    if handle.value and NUMBER.fullmatch(handle.value.strip()):
        return float(handle.value)
    for one in page.after(handle)[:2]:
        if one.role in ("text", "status", "generic") and (found := numbers(one.name)):
            return found[0]
    return None


def _nudge(scene: Scene, handle: Element, shown: float, number: float) -> Answer:
    """Move a slider by keys; what a key does is read from the values before."""
    if "focused" not in handle.states:
        focus = Move(act("click", handle), f"{said(handle, first=True)} takes keys once it is clicked.")
        if scene.allowed(focus) and scene.past.touched(handle.ref, "click") < 2:
            return focus
    jump = _learned_jump(scene, shown)
    more = number > shown
    near = abs(number - shown) < (jump or 8)
    keys = ("ArrowRight" if more else "ArrowLeft") if near else ("PageUp" if more else "PageDown")
    return Move(act("press", keys=keys), f"The slider shows {shown:g}, wanted is {number:g}.")


def _learned_jump(scene: Scene, shown: float) -> float | None:
    """Return how far a page key moved the slider, as the thought before it and what came after tell."""
    thoughts = [turn.thought for turn in scene.past.turns]
    values = [re.search(r"slider shows (-?[\d.]+),", thought) for thought in thoughts]
    after = [float(value[1]) if value else None for value in values[1:]] + [shown]
    for turn, value, later in zip(scene.past.turns, values, after, strict=True):
        if value and later is not None and "Page" in turn.action and later != float(value[1]):
            return abs(later - float(value[1]))
    return None
