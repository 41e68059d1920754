"""A page as its lines tell it: what can be used, what is next to what, and which element words mean."""

import re
from collections.abc import Iterable

from core.llm.rules.words import alike, norm, stem, words
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import PromptView
from core.schema.observation import CleanObservation, Element, Ref

FIELD_ROLES = frozenset(("textbox", "searchbox", "spinbutton", "combobox"))
ALERT_ROLES = frozenset(("alert", "alertdialog"))
CHOSEN = frozenset(("checked", "selected", "pressed"))
"""States of a choice that is made."""
GOOD = 0.6
"""From which likeness on an element is taken for what the words mean."""
_LABEL_ROLES = frozenset(
    "text columnheader rowheader cell paragraph heading term label strong gridcell".split()
)
_ENDINGS = frozenset("submit send save done ok search login order finish confirm apply go".split())
_ONWARD = (">", "»", "›", "→", "≫", ">>", "next", "next page", "more", "show more", "load more")
_HINT = re.compile(r"[#.]([\w-]+)")
_OFFERS = {
    **dict.fromkeys(("click", "double_click", "hover"), ("click", "target")),
    "type": ("type", "target text"),
    "select": ("select", "target option"),
    "check": ("check", "target checked"),
    "press": ("", "keys"),
    "wait": ("", "seconds"),
    "stop": ("", "answer"),
}
"""What any page offers: the use of an element that each action needs, and its arguments."""


def offered_by(page: CleanObservation) -> Permissible:
    """Return what may be done on a page of no particular kind, as far as the rules do it."""
    actions: list[PermissibleAction] = []
    for name, (use, arguments) in _OFFERS.items():
        shut = {"disabled", "readonly"} if use == "type" else {"disabled"}
        usable = (
            element for element in page.elements if use in element.uses and not shut & set(element.states)
        )
        choices = tuple(Choice(value=str(one.ref)) for one in usable)
        parameters = (
            Parameter(name=argument, choices=choices if argument == "target" else None)
            for argument in arguments.split()
        )
        if choices or not use:
            actions.append(PermissibleAction(name=name, parameters=tuple(parameters)))
    return Permissible(actions=tuple(actions))


class RulesPage:
    """The observation, indexed for matching; texts that repeat the objective are left out."""

    def __init__(self, view: PromptView, permissible: Permissible) -> None:
        objective = norm(view.objective)
        kept: list[Element] = []
        left_out: set[Ref | None] = set()
        for element in view.observation.elements:
            if element.parent in left_out or _repeats(element, objective):
                left_out.add(element.ref)
            else:
                kept.append(element)
        self.elements: tuple[Element, ...] = tuple(kept)
        self.permissible = permissible
        self._at = {one.ref: index for index, one in enumerate(self.elements)}
        self._allowed: dict[str, frozenset[Ref]] = {}
        for action in permissible.actions:
            target = action.parameter("target")
            if target is not None and target.choices is not None:
                self._allowed[action.name] = frozenset(int(choice.value) for choice in target.choices)

    def may(self, action: str, element: Element) -> bool:
        """Return whether an action is permissible on an element."""
        return element.ref in self._allowed.get(action, ())

    def can(self, action: str) -> list[Element]:
        """Return the elements that an action is permissible on, in page order."""
        return [element for element in self.elements if self.may(action, element)]

    def index(self, element: Element) -> int:
        return self._at.get(element.ref, -1)

    def by_ref(self, ref: Ref | None) -> Element | None:
        at = None if ref is None else self._at.get(ref)
        return None if at is None else self.elements[at]

    def fields(self) -> list[Element]:
        """Return the fields that can be typed into."""
        return [
            element
            for element in self.can("type")
            if element.role in FIELD_ROLES or element.role == "generic"
        ]

    def holders(self, element: Element) -> list[Element]:
        """Return what an element lies in, the innermost first."""
        found: list[Element] = []
        above = self.by_ref(element.parent)
        while above is not None:
            found.append(above)
            above = self.by_ref(above.parent)
        return found

    def inside(self, element: Element, holder: Element) -> bool:
        return holder in self.holders(element)

    def after(self, element: Element) -> tuple[Element, ...]:
        """Return what follows an element in the page, its own parts first."""
        return self.elements[self.index(element) + 1 :]

    def nth(self, candidates: list[Element], place: int) -> Element | None:
        """Return the element at a place counted from 1, or the last for -1."""
        at = place - 1 if place > 0 else len(candidates) - 1
        return candidates[at] if 0 <= at < len(candidates) else None

    def mentions(self, text: str) -> list[Element]:
        """Return the elements whose name holds the given words whole, in page order, innermost only."""
        wanted = norm(text)
        if not wanted:
            return []
        pattern = re.compile(rf"(?<![\w@]){re.escape(wanted)}(?!\w)")
        found = [
            element for element in self.elements if pattern.search(" ".join(element.name.casefold().split()))
        ]
        holders = {one.parent for one in found}
        return [one for one in found if one.ref not in holders]

    # Labels and names

    def label(self, element: Element) -> str:
        """Return what names an element best."""
        return next(iter(self.labels(element)), "")

    def labels(self, element: Element) -> list[str]:
        """Return what names an element, best first: its name, the words before it, its hints."""
        placeholder = re.search(r'placeholder "([^"]*)"', element.detail)
        found = (element.name, self.beside(element), *hints(element), placeholder[1] if placeholder else "")
        return [one for one in found if one]

    def beside(self, element: Element) -> str:
        """Return the text right before an element, in its row or paragraph, else right after a box."""
        at = self.index(element)
        after = self._label_at(at + 1) if element.role in ("checkbox", "radio") else ""
        return self._label_at(at - 1) or after

    def _label_at(self, index: int) -> str:
        one = self.elements[index] if 0 <= index < len(self.elements) else None
        return one.name if one is not None and one.role in _LABEL_ROLES and not self.may("click", one) else ""

    def score(self, element: Element, name: str, roles: Iterable[str] = ()) -> float:
        """Return how well an element answers to a name; roles asked for count a little."""
        best = alike(name, element.name) if element.name else 0.0
        if not element.name or element.role in ("generic", "button", "link", "img"):
            best = max([best, *(0.85 * alike(name, hint) for hint in hints(element))])
        if not element.name:
            best = max(best, 0.9 * alike(name, self.beside(element)))
        if best <= 0:
            return 0.0
        if wanted := tuple(roles):
            best += 0.05 if element.role in wanted else -0.05 if element.role != "generic" else 0.0
        return best

    def best(
        self, name: str, among: Iterable[Element], roles: Iterable[str] = (), least: float = GOOD
    ) -> Element | None:
        """Return the element that answers best to a name; the first of equals."""
        wanted = tuple(roles)
        scored = [(self.score(element, name, wanted), element) for element in among]
        top = max((score for score, _ in scored), default=0.0)
        return next((one for score, one in scored if score == top and top >= least), None)


def _repeats(element: Element, objective: str) -> bool:
    """Return whether an element is a text that says what the objective says."""
    name = norm(element.name)
    if element.role != "text" or len(element.name) <= 8 or not name:
        return False
    if name in objective and len(name) >= 0.5 * len(objective):
        return True
    mine = [word for word in words(name) if word[-1].isalnum()]
    asked = {word for word in words(objective) if word[-1].isalnum()}
    return len(mine) >= max(4, len(asked) / 2) and sum(word in asked for word in mine) > 0.9 * len(mine)


def hints(element: Element) -> list[str]:
    """Return the words that an element's id and classes hint at."""
    return [part.replace("-", " ").replace("_", " ") for part in _HINT.findall(element.detail)]


def is_next(element: Element) -> bool:
    """Return whether an element leads on to the next page of a list."""
    name = element.name.strip()
    return name in _ONWARD or norm(name.strip(">»›→≫ ")) in _ONWARD


def is_submit(element: Element) -> bool:
    """Return whether an element ends a form."""
    return element.role in ("button", "generic", "link") and ends_form(element.name)


def ends_form(text: str) -> bool:
    """Return whether a short text is what a button that ends a form says."""
    said = words(text)
    return 0 < len(said) <= 3 and stem(said[0].strip("!")) in _ENDINGS
