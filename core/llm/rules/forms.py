"""Forms of a desk or a shop: what the objective gives goes into the fields, then on by the button that ends the form.

For objectives that give facts (a code, a route, a card) rather than name
elements. If no field takes any of them, the way leads on by the link or
button whose words are the objective's; nothing is done that it does not ask for.
"""

import re

from core.llm.rules.clicks import by_extreme
from core.llm.rules.facts import Facts
from core.llm.rules.moves import Move, Scene, act, described, first, target_of
from core.llm.rules.page import ALERT_ROLES, FIELD_ROLES, RulesPage, is_submit
from core.llm.rules.words import (
    content_words,
    does_other,
    norm,
    related,
    root,
    roots,
    said_done,
    short,
    verbs_in,
)
from core.schema.observation import Element

_GROUPS = frozenset(("group", "radiogroup"))
_ENTERING = frozenset(("type", "select", "check"))


def next_in_form(scene: Scene) -> Move | None:
    """Return the next move through the forms of the page: a stop where the page shows that all is done."""
    facts = Facts(scene.objective.text)
    verbs = verbs_in(scene.objective.text)
    done = Move(act("stop"), "The page shows that it is done.", finishes=True)
    if said_done(scene.page.elements, verbs) is not None:
        return done
    if is_elsewhere(scene.page, facts) and (move := _towards(scene, verbs)) is not None:
        return move
    form = _Form(scene, facts)
    if (move := form.entry()) is not None:
        return move
    if (move := form.submission(verbs)) is not None:
        return move
    if not verbs and not form.is_sent and _was_submitted(scene):
        return done
    return _towards(scene, verbs)


def is_elsewhere(page: RulesPage, facts: Facts) -> bool:
    """Return whether the objective is about a thing with a code that this page neither shows nor asks for."""
    if facts.code is None or any(facts.code in (*one.name.split(), one.value) for one in page.elements):
        return False
    return not any(facts.value(page.label(one)) == facts.code for one in page.fields())


class _Form:
    """The fields and groups of a page, without those that are for others than the objective names."""

    def __init__(self, scene: Scene, facts: Facts) -> None:
        self._scene = scene
        self._page = scene.page
        self._facts = facts
        others = self._parts_of_others()
        self._elements = [
            one
            for one in self._page.elements
            if not any(other in self._page.holders(one) for other in others)
        ]
        self.is_sent = False
        """Whether all that the form holds was sent before."""

    def _parts_of_others(self) -> list[Element]:
        """Return the parts of the page that hold like fields for others than the objective names."""
        holders = {holder.ref for field in self._page.fields() for holder in self._page.holders(field)}
        roles = ("region", "form", "group", "article", "listitem", "row")
        parts = [one for one in self._page.elements if one.ref in holders and one.name and one.role in roles]
        like = [one for one in parts if sum(other.role == one.role for other in parts) > 1]
        meant = self._facts.named([one.name for one in like]) if like else None
        return [one for one in like if one.name != meant] if meant is not None else []

    def entry(self) -> Move | None:
        """Return the first move that puts something given where it belongs."""
        return first(
            self._chosen(one) if one.role in _GROUPS else self._entered(one) for one in self._elements
        )

    def _entered(self, field: Element) -> Move | None:
        page, scene = self._page, self._scene
        if field.role not in FIELD_ROLES and not field.options:
            return None
        if page.may("select", field) and field.options:
            meant = self._option(field)
            if meant is None or self._holds_given(field):
                return None
            why = f'{described(field, first=True)} is to be "{meant}".'
            return scene.move("select", field, why, option=meant)
        value = self._facts.value(page.label(field))
        if value is None or not page.may("type", field) or _holds(field, value):
            return None
        if scene.history.touched(field.ref, "type"):
            return None
        return scene.move("type", field, f'"{short(value)}" goes into {described(field)}.', text=value)

    def _option(self, field: Element) -> str | None:
        labels = [option.label for option in field.options if not option.disabled]
        return self._facts.choice(self._page.label(field), labels)

    def _chosen(self, group: Element) -> Move | None:
        """Choose the radio of a group that the objective means, by its words, its time, or a superlative."""
        radios = [one for one in self._radios(group) if self._page.may("check", one)]
        meant = self._facts.choice(self._page.label(group), [one.name for one in radios])
        radio = next((one for one in radios if one.name == meant), None)
        if radio is None and not self._facts.changes:
            radio = by_extreme(self._page, self._scene.objective.text, radios)
        if radio is None or "checked" in radio.states:
            return None
        why = f"{described(radio, first=True)} is what is asked for under {described(group)}."
        return self._scene.move("check", radio, why)

    def _radios(self, group: Element) -> list[Element]:
        return [one for one in self._page.elements if one.role == "radio" and self._group_of(one) is group]

    def _group_of(self, radio: Element) -> Element | None:
        return next((one for one in self._page.holders(radio) if one.role in _GROUPS), None)

    def _holds_given(self, one: Element) -> bool:
        """Return whether a field or radio holds what the objective gives for it."""
        if one.role in FIELD_ROLES and one.options:
            meant = self._option(one)
            return any(option.selected and option.label == meant for option in one.options)
        if one.role in FIELD_ROLES:
            value = self._facts.value(self._page.label(one))
            return value is not None and _holds(one, value)
        group = self._group_of(one) if one.role == "radio" and "checked" in one.states else None
        if group is None:
            return False
        return self._facts.choice(group.name, [other.name for other in self._radios(group)]) == one.name

    def submission(self, verbs: set[str]) -> Move | None:
        """Return a press of the button that ends the form, once for what it holds of the objective."""
        held = [one for one in self._elements if self._holds_given(one)]
        after = self._page.after(held[-1]) if held else ()
        buttons = (one for one in after if one.role == "button")
        button = next(
            (one for one in buttons if self._page.may("click", one) and len(norm(one.name)) > 1), None
        )
        if button is None or (does_other(button.name, verbs) and not is_submit(button)):
            return None
        for one in reversed(self._scene.history.actions):
            if one.ok and one.action.name in _ENTERING:
                break
            if one.ok and one.action.name == "click" and target_of(one.action) == button.ref:
                self.is_sent = True
                return None
        move = self._scene.move(
            "click", button, f"{described(button, first=True)} sends what the form holds."
        )
        self.is_sent = move is None
        return move


def _holds(field: Element, value: str) -> bool:
    shown, wanted = norm(field.value), norm(value)
    return (
        shown == wanted
        or re.sub(r"\W", "", shown) == re.sub(r"\W", "", wanted)
        or f"({wanted})" in field.value.casefold()
    )


def _was_submitted(scene: Scene) -> bool:
    """Return whether something was entered and then a button pressed, with no complaint in the page."""
    if any(one.role in ALERT_ROLES and one.name for one in scene.page.elements):
        return False
    done = [one for one in scene.history.actions if one.ok]
    entered = next((place for place, one in enumerate(done) if one.action.name in _ENTERING), len(done))
    return any(one.action.name == "click" and one.turn.target.startswith("button") for one in done[entered:])


def _towards(scene: Scene, verbs: set[str]) -> Move | None:
    """Return a click on what leads on by its words; not one tried before, nor one that changes something else."""
    wanted = roots(scene.objective.text)
    tried = {one.turn.target for one in scene.history.actions if one.ok and one.action.name == "click"}
    rated: list[tuple[float, int, int, Element]] = []
    for place, one in enumerate(scene.page.can("click")):
        if one.role not in ("link", "button", "tab", "menuitem") or not one.name or "current" in one.states:
            continue
        if scene.history.touched(one.ref, "click") or f'{one.role} "{one.name}"' in tried:
            continue
        if one.role == "button" and _ends_empty_form(scene, one):
            continue
        said = [root(word) for word in content_words(one.name)]
        found = related(said, wanted)
        if found and len(found) >= len(said) / 2 and not does_other(one.name, verbs):
            rated.append((len(found) / len(said) + len(related(said, verbs)), len(found), -place, one))
    return first(
        scene.move("click", one, f"{described(one, first=True)} leads on, by its words.")
        for _, _, _, one in sorted(rated, key=lambda entry: entry[:3], reverse=True)
    )


def _ends_empty_form(scene: Scene, button: Element) -> bool:
    """Return whether a field is empty that stands between this button and the one before."""
    if not is_submit(button):
        return False
    for one in reversed(scene.page.elements[: scene.page.index(button)]):
        if one.role == "button":
            return False
        if one.role in FIELD_ROLES and not one.value:
            return True
    return False
