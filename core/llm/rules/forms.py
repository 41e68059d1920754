"""Forms of a desk or a shop: what the objective gives goes into the fields, then on by the button that ends the form.

For objectives that give facts (a code, a route, a card) rather than name
elements. If no field takes any of them, the way leads on by the link or
button whose words are the objective's; nothing is done that it does not ask for.
"""

import re

from core.llm.rules.clicks import by_extreme
from core.llm.rules.moves import Move, Scene, described, first, stopped, target_of
from core.llm.rules.page import ALERT_ROLES, FIELD_ROLES, is_submit
from core.llm.rules.words import does_other, norm, said_done, short
from core.schema.observation import Element

_GROUPS = frozenset(("group", "radiogroup"))
_ENTERING = frozenset(("type", "select", "check"))
_PARTS = frozenset("region form group article listitem row".split())


def next_in_form(scene: Scene) -> Move | None:
    """Return the next move through the forms of the page: a stop where the page shows that all is done."""
    verbs = scene.objective.verbs
    done = stopped("The page shows that it is done.", finishes=True)
    if said_done(scene.page.elements, verbs) is not None:
        return done
    if is_elsewhere(scene) and (move := _towards(scene)) is not None:
        return move
    form = _Form(scene)
    if (move := form.entry() or form.submission()) is not None:
        return move
    return done if not verbs and not form.is_sent and _was_submitted(scene) else _towards(scene)


def is_elsewhere(scene: Scene) -> bool:
    """Return whether the objective is about a thing with a code that this page neither shows nor asks for."""
    page, facts = scene.page, scene.objective.facts
    if facts.code is None or any(
        facts.code in (*element.name.split(), element.value) for element in page.elements
    ):
        return False
    return not any(facts.value(page.label(field)) == facts.code for field in page.fields())


class _Form:
    """The fields and groups of a page, without those that are for others than the objective names."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._page, self._facts = scene, scene.page, scene.objective.facts
        others = self._parts_of_others()
        self._given: dict[Element, str] = {}
        """What the objective gives for each field and group that takes some of it, in page order."""
        for element in self._page.elements:
            is_of_other = any(other in self._page.holders(element) for other in others)
            if not is_of_other and (meant := self._meant(element)) is not None:
                self._given[element] = meant
        self.is_sent = False
        """Whether all that the form holds was sent before."""

    def _parts_of_others(self) -> list[Element]:
        """Return the parts of the page that hold like fields for others than the objective names."""
        holders = {holder.ref for field in self._page.fields() for holder in self._page.holders(field)}
        parts = [
            element
            for element in self._page.elements
            if element.ref in holders and element.name and element.role in _PARTS
        ]
        like = [part for part in parts if sum(other.role == part.role for other in parts) > 1]
        meant = self._facts.named([one.name for one in like]) if like else None
        return [one for one in like if one.name != meant] if meant is not None else []

    def _meant(self, one: Element) -> str | None:
        """Return what the objective gives for a field, a list or a group of radio buttons."""
        label = self._page.label(one)
        if one.options:
            return self._facts.choice(label, [option.label for option in one.options if not option.disabled])
        if one.role in FIELD_ROLES:
            return self._facts.value(label)
        radios = self._radios(one) if one.role in _GROUPS else []
        meant = self._facts.choice(label, [radio.name for radio in radios]) if radios else None
        if meant is None and radios and not self._facts.changes:
            best = by_extreme(self._page, self._scene.objective.text, radios)
            return best.name if best is not None else None
        return meant

    def _radios(self, group: Element) -> list[Element]:
        """Return the radio buttons whose innermost group this is."""
        radios = [
            element
            for element in self._page.elements
            if element.role == "radio" and self._page.inside(element, group)
        ]
        inner = (next(one for one in self._page.holders(radio) if one.role in _GROUPS) for radio in radios)
        return [radio for radio, its_group in zip(radios, inner, strict=True) if its_group is group]

    def _holds(self, one: Element, meant: str) -> bool:
        if one.options:
            return any(option.selected and option.label == meant for option in one.options)
        if one.role in _GROUPS:
            return any(radio.name == meant and "checked" in radio.states for radio in self._radios(one))
        shown, wanted = norm(one.value), norm(meant)
        is_same = re.sub(r"\W", "", shown) == re.sub(r"\W", "", wanted)
        return is_same or f"({wanted})" in one.value.casefold()

    def entry(self) -> Move | None:
        """Return the first move that puts something given where it belongs."""
        return first(
            self._entered(one, meant) for one, meant in self._given.items() if not self._holds(one, meant)
        )

    def _entered(self, one: Element, meant: str) -> Move | None:
        name = described(one, first=True)
        if one.options:
            return self._scene.move("select", one, f'{name} is to be "{meant}".', option=meant)
        if one.role in FIELD_ROLES:
            if self._scene.history.touched(one.ref, "type"):
                return None
            return self._scene.move("type", one, f'{name} takes "{short(meant)}".', text=meant)
        radio = next(radio for radio in self._radios(one) if radio.name == meant)
        why = f"{described(radio, first=True)} is what is asked for under {described(one)}."
        return self._scene.move("check", radio, why)

    def submission(self) -> Move | None:
        """Return a press of the button that ends the form, once for what it holds of the objective."""
        held = [one for one, meant in self._given.items() if self._holds(one, meant)]
        after = self._page.after(held[-1]) if held else ()
        buttons = (one for one in after if one.role == "button" and self._page.may("click", one))
        button = next((one for one in buttons if len(norm(one.name)) > 1), None)
        if button is None or (does_other(button.name, self._scene.objective.verbs) and not is_submit(button)):
            return None
        for action in reversed(self._scene.history.actions):
            if action.ok and action.action.name in _ENTERING:
                break
            if action.ok and action.action.name == "click" and target_of(action.action) == button.ref:
                self.is_sent = True
                return None
        move = self._scene.click([button], "{} sends what the form holds.")
        self.is_sent = move is None
        return move


def _was_submitted(scene: Scene) -> bool:
    """Return whether something was entered and then a button pressed, with no complaint in the page."""
    if any(element.role in ALERT_ROLES and element.name for element in scene.page.elements):
        return False
    done = [action for action in scene.history.actions if action.ok]
    entered = next((place for place, one in enumerate(done) if one.action.name in _ENTERING), len(done))
    return any(one.action.name == "click" and one.turn.target.startswith("button") for one in done[entered:])


def _towards(scene: Scene) -> Move | None:
    """Return a click on what leads on by its words; not one tried before, nor one that changes something else."""
    objective, tried = scene.objective, scene.history.clicked()
    leading = [
        element
        for element in scene.page.can("click")
        if element.role in ("link", "button", "tab", "menuitem")
        and "current" not in element.states
        and not scene.history.touched(element.ref, "click")
        and f'{element.role} "{element.name}"' not in tried
        and objective.share_of(element.name) >= 0.5
        and not does_other(element.name, objective.verbs)
    ]
    best = sorted(leading, key=lambda one: objective.nearness(one.name), reverse=True)
    return scene.click(best, "{} leads on, by its words.")
