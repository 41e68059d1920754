"""Clicking what an objective names: by name, place, role, looks or owner, opening what hides it."""

import re

from core.llm.word_rules.comparing import by_extreme
from core.llm.word_rules.intent import Intent
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import GOOD, colour_of, ends_form, hints, is_next, is_submit
from core.llm.word_rules.revealing import reveal
from core.llm.word_rules.roles import role_of
from core.llm.word_rules.shapes import described
from core.llm.word_rules.words import NUMBER, alike, colour, norm, shades, short, words
from core.schema.observation import Element


def click(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks for a click."""
    if intent.every or (intent.count or 0) > 1 or (intent.count == 1 and intent.subject):
        return _click_several(scene, intent)
    element = find(scene, intent)
    if element is not None:
        return _clicked(scene, element, intent)
    if (only := _only_ending(scene, intent)) is not None:
        return _clicked(scene, only, intent)
    name = wanted(intent)
    return opened_subject(scene, intent) or reveal(scene, name, _near(scene, intent))


def _only_ending(scene: Scene, intent: Intent) -> Element | None:
    """Return the one button that ends the form, where the part asks to end it by another word."""
    if intent.place is not None or not any(ends_form(name) for name in intent.names):
        return None
    found = [one for one in scene.page.can("click") if is_submit(one)]
    return found[0] if len(found) == 1 else None


def _near(scene: Scene, intent: Intent) -> list[Element]:
    """Return what belongs to the subject, where what is sought would be hidden."""
    owners = scene.page.mentions(intent.subject) if intent.subject else []
    return scope(scene, owners[0]) if owners else []


def _clicked(scene: Scene, element: Element, intent: Intent) -> Answer:
    icon = intent.subject and not element.name and scene.page.may("hover", element)
    if icon and not scene.past.touched(element.ref, "hover"):
        # Icons often change under the pointer, and a click that comes with it can miss.
        return Move(act("hover", element), f"{said(element, first=True)} is pointed at first.")
    move = Move(act("click", element), f"{said(element, first=True)} is what is asked for.", finishes=True)
    if scene.allowed(move):
        return move
    hover = Move(act("double_click", element), f"A click on {said(element)} did not work.", finishes=True)
    return hover if scene.allowed(hover) else reveal(scene, wanted(intent))


def wanted(intent: Intent) -> str:
    return short(", ".join(intent.names) or intent.text)


def find(scene: Scene, intent: Intent) -> Element | None:
    """Return the element that a part means, or None where the page does not show it."""
    page = scene.page
    clickable = page.can("click")
    among = _owned(scene, intent, clickable) if intent.subject else clickable
    if not intent.names:
        return _by_role(scene, intent, among)
    if (extreme := by_extreme(scene.page, intent.text, among)) is not None:
        return extreme
    looks = described(page, intent.text, among) if not intent.quoted else []
    if looks:
        return page.nth(looks, intent.place or 1)
    painted = by_colour(intent.names[0], among) if not intent.quoted else []
    if painted:
        return page.nth(painted, intent.place or 1)
    if intent.place is not None and not intent.quoted:
        if re.search(r"\bresults?\b", intent.text):
            return _result(scene, intent, among)
        return _by_role(scene, intent, among)
    for name in intent.names:
        least = GOOD if not intent.subject else GOOD - 0.05
        found = page.best(name, among, intent.roles, intent.role_word, least)
        if found is not None:
            return found
    if (kind := _by_kind(scene, intent, among)) is not None:
        return kind
    if intent.subject and re.search(r"\b(?:address|phone|e-?mail|number|name)\b", intent.names[0]):
        return _value_of(scene, intent)
    return None


def _by_kind(scene: Scene, intent: Intent, among: list[Element]) -> Element | None:
    """Return an element of a kind that the name itself tells, as in: a "checkbox" widget."""
    roles, word = role_of(intent.names[0])
    if not roles or norm(intent.names[0]) not in (word, word + "s"):
        return None
    found = [one for one in among if one.role in roles]
    if word in ("textarea", "text area"):
        found = [one for one in found if "multiline" in one.states] or found[-1:]
    elif word == "text":
        found = [one for one in found if "multiline" not in one.states] or found
    return found[0] if found else None


def _by_role(scene: Scene, intent: Intent, among: list[Element]) -> Element | None:
    candidates = [one for one in among if not intent.roles or one.role in intent.roles]
    if intent.names and not intent.roles:
        named = [one for one in among if scene.page.score(one, intent.names[0]) >= GOOD]
        candidates = named or candidates
    if "textarea" in intent.role_word or "area" in intent.role_word:
        candidates = [one for one in candidates if "multiline" in one.states] or candidates
    return scene.page.nth(candidates, intent.place or 1)


def _result(scene: Scene, intent: Intent, among: list[Element]) -> Element | None:
    """Return the nth entry of a list that goes on over pages, counting the pages turned before."""
    entries = [
        one
        for one in among
        if one.role == "link" and not is_next(one) and not NUMBER.fullmatch(one.name.strip())
    ]
    entries = [
        one
        for one in entries
        if norm(one.name) not in ("prev", "previous", "") and one.name.strip() not in "<«‹"
    ]
    turned = sum(
        1 for turn, _, ok in scene.past.of_part(scene.part) if ok and "next one may have it" in turn.thought
    )
    place = intent.place or 1
    if place == -1:
        return None
    return scene.page.nth(entries, place - turned * len(entries)) if entries else None


def by_colour(text: str, among: list[Element]) -> list[Element]:
    """Return the painted boxes of a colour that a text names; unpainted ones count as white."""
    asked = next((found for word in words(text) if (found := colour(word))), None)
    if asked is None:
        return []
    bare = [one for one in among if not one.name]
    if "shade" in text:
        return [one for one in bare if colour_of(one) in shades(asked)]
    painted = [one for one in bare if colour_of(one) == asked]
    if painted or not any(colour_of(one) for one in bare):
        return painted
    if asked == "white":
        kin = {tuple(hints(one)) for one in bare if colour_of(one)}
        return [one for one in bare if not colour_of(one) and tuple(hints(one)) in kin]
    near = shades(asked)
    return [one for one in bare if colour_of(one) in near]


def _owned(scene: Scene, intent: Intent, among: list[Element]) -> list[Element]:
    """Return the candidates that belong to the subject, or all where it is not (or no longer) in a list."""
    page = scene.page
    owners = page.mentions(intent.subject)
    if not owners or not intent.names:
        return among
    mine = [one for owner in owners[:1] for one in scope(scene, owner) if one in among]
    if any(page.score(one, name) >= GOOD for one in mine for name in intent.names):
        return mine
    if len(owners) == 1 and not _listed_with_others(scene, owners[0]):
        return among
    return [one for one in mine if one not in owners]


def _listed_with_others(scene: Scene, owner: Element) -> bool:
    alike_ones = [
        one for one in scene.page.elements if one.role == owner.role and one.depth == owner.depth and one.name
    ]
    return (
        scene.page.may("click", owner) and len(alike_ones) > 1 and not scene.past.touched(owner.ref, "click")
    )


def scope(scene: Scene, owner: Element) -> list[Element]:
    """Return what belongs to an entry of a list: its own parts, else what follows up to the next entry."""
    page = scene.page
    inner = [one for one in page.elements if page.inside(one, owner)]
    if inner:
        return inner
    found: list[Element] = []
    seen: set[str] = set()
    start = page.index(owner)
    mark = owner.name[:1] if owner.name[:1] in "@#$" else ""
    for one in page.elements[start + 1 :]:
        if mark and one.name.startswith(mark) and one.role == owner.role:
            break
        kind = "|".join(hints(one)) or (one.name if page.may("click", one) else "")
        if page.may("click", one) and kind and kind in seen:
            break
        seen.add(kind)
        found.append(one)
        if len(found) > 40:
            break
    return found


def _click_several(scene: Scene, intent: Intent) -> Answer:
    """Click one control in each entry of the subject, as many as asked."""
    page = scene.page
    done = {
        target.ref
        for _, action, ok in scene.past.of_part(scene.part)
        if ok and action.kind == "click"
        for target in action.targets
        if target.by == "ref"
    }
    if intent.count is not None and len(done) >= intent.count:
        return "done"
    clickable = page.can("click")
    targets: list[Element] = []
    if intent.subject:
        for owner in page.mentions(intent.subject):
            mine = [one for one in scope(scene, owner) if one in clickable]
            found = page.best(intent.names[0], mine, intent.roles) if intent.names else None
            if found is not None:
                targets.append(found)
    elif intent.names:
        targets = by_colour(intent.names[0], clickable) or [
            one for one in clickable if page.score(one, intent.names[0], intent.roles) >= GOOD
        ]
    for one in targets:
        if one.ref not in done:
            move = Move(act("click", one), f"{said(one, first=True)} is one of those asked for.")
            if scene.allowed(move):
                return move
    return "done" if done else reveal(scene, wanted(intent))


def opened_subject(scene: Scene, intent: Intent) -> Move | None:
    """Return a move that opens whom or what the part is about, once."""
    if not intent.subject:
        return None
    for owner in scene.page.mentions(intent.subject):
        if scene.page.may("click", owner) and not scene.past.touched(owner.ref, "click"):
            move = Move(act("click", owner), f"{said(owner, first=True)} is the one it is about; open it.")
            if scene.allowed(move):
                return move
    return None


def _value_of(scene: Scene, intent: Intent) -> Element | None:
    """Return what stands after the label that a part names, on the page of its subject."""
    page = scene.page
    if not page.mentions(intent.subject):
        return None
    for one in page.elements:
        if alike(one.name, intent.names[0]) >= 0.9:
            after = [other for other in page.after(one)[:2] if page.may("click", other)]
            if after:
                return after[0]
    return None
