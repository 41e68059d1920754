"""A page as its lines tell it: what can be used, what stands beside what, and which element words mean."""

import re
from collections.abc import Iterable

from core.llm.word_rules.words import alike, norm, stem, words
from core.schema.action_space import Permissible
from core.schema.messages import PromptView
from core.schema.observation import Element, Ref

_HINT = re.compile(r"[#.]([\w-]+)")
_LABEL_ROLES = frozenset(
    (
        "text",
        "columnheader",
        "rowheader",
        "cell",
        "paragraph",
        "heading",
        "term",
        "label",
        "strong",
        "gridcell",
    )
)
FIELD_ROLES = frozenset(("textbox", "searchbox", "spinbutton", "combobox"))
_ENDINGS = frozenset(
    ("submit", "send", "save", "done", "ok", "search", "login", "order", "finish", "confirm", "apply", "go")
)
GOOD = 0.6
"""From which likeness on an element is taken for what the words mean."""


class Page:
    """The observation, indexed for matching; texts that repeat the objective are left out."""

    def __init__(self, view: PromptView, permissible: Permissible) -> None:
        objective = norm(view.objective)
        kept: list[Element] = []
        told: set[Ref] = set()
        for one in view.observation.elements:
            repeats = (
                one.role == "text" and len(one.name) > 8 and norm(one.name) and _repeats(one.name, objective)
            )
            if repeats or one.parent in told:
                told.add(one.ref)
            else:
                kept.append(one)
        self.elements: tuple[Element, ...] = tuple(kept)
        self.url = view.observation.url
        self._at = {one.ref: index for index, one in enumerate(self.elements)}
        self.permissible = permissible
        self._allowed: dict[str, frozenset[Ref]] = {}
        for action in permissible.actions:
            target = action.parameter("target")
            if target is not None and target.choices is not None:
                self._allowed[action.name] = frozenset(int(choice.value) for choice in target.choices)

    def may(self, action: str, element: Element | None = None) -> bool:
        """Tell whether an action is permissible, on an element where one is given."""
        if element is None:
            return self.permissible.action(action) is not None
        return element.ref in self._allowed.get(action, ())

    def can(self, action: str) -> list[Element]:
        """Return the elements that an action is permissible on, in page order."""
        refs = self._allowed.get(action, frozenset())
        return [one for one in self.elements if one.ref in refs]

    def index(self, element: Element) -> int:
        return self._at.get(element.ref, -1)

    def by_ref(self, ref: Ref) -> Element | None:
        at = self._at.get(ref)
        return None if at is None else self.elements[at]

    def fields(self) -> list[Element]:
        """Return the fields that can be typed into."""
        return [one for one in self.can("type") if one.role in FIELD_ROLES or one.role == "generic"]

    def texts(self) -> list[Element]:
        """Return what is only read."""
        return [one for one in self.elements if one.name and not self.may("click", one)]

    def inside(self, element: Element, holder: Element) -> bool:
        parent = element.parent
        while parent is not None:
            if parent == holder.ref:
                return True
            above = self.by_ref(parent)
            parent = above.parent if above else None
        return False

    def children(self, element: Element) -> list[Element]:
        return [one for one in self.elements if one.parent == element.ref]

    def labels(self, element: Element) -> list[str]:
        """Return what names an element, best first: its name, the words before it, its hints."""
        found = [element.name] if element.name else []
        beside = self.beside(element)
        if beside:
            found.append(beside)
        found.extend(hints(element))
        if match := re.search(r'placeholder "([^"]*)"', element.detail):
            found.append(match[1])
        return found

    def beside(self, element: Element) -> str:
        """Return the text right before an element, in its row or paragraph, else right after a box."""
        at = self.index(element)
        if element.role in FIELD_ROLES and self._labels_follow():
            after = self.elements[at + 1] if at + 1 < len(self.elements) else None
            return after.name if after is not None else ""
        back = at - 1
        while (
            back > 0
            and self.elements[back].ref == element.parent
            and self.elements[back].role in ("cell", "gridcell", "paragraph", "listitem")
            and self.elements[back].name == element.value
        ):
            back -= 1
        if back >= 0:
            before = self.elements[back]
            if before.name and before.role in _LABEL_ROLES and not self.may("click", before):
                return before.name
        if element.role in ("checkbox", "radio") and at + 1 < len(self.elements):
            after = self.elements[at + 1]
            if after.role in _LABEL_ROLES:
                return after.name
        return ""

    def _labels_follow(self) -> bool:
        """Tell whether labels stand after their fields: each has one there, and the first has none before."""
        at = [index for index, one in enumerate(self.elements) if one.role in FIELD_ROLES]
        if len(at) < 2:
            return False

        def is_label(index: int) -> bool:
            one = self.elements[index] if 0 <= index < len(self.elements) else None
            return (
                one is not None and bool(one.name) and one.role in _LABEL_ROLES and not self.may("click", one)
            )

        return all(is_label(index + 1) for index in at) and not is_label(at[0] - 1)

    def score(self, element: Element, name: str, roles: Iterable[str] = (), role_word: str = "") -> float:
        """Return how well an element answers to a name; roles asked for count a little."""
        best = alike(name, element.name) if element.name else 0.0
        if not element.name or element.role in ("generic", "button", "link", "img"):
            best = max([best, *(0.85 * alike(name, hint) for hint in hints(element))])
        if not element.name:
            best = max(best, 0.9 * alike(name, self.beside(element)))
        if best <= 0:
            return 0.0
        wanted = tuple(roles)
        if wanted:
            best += 0.05 if element.role in wanted else -0.05 if element.role != "generic" else 0.0
        if element.role in ("text", "paragraph", "heading") and not self.may("click", element):
            best -= 0.3
        return best

    def best(
        self,
        name: str,
        among: Iterable[Element],
        roles: Iterable[str] = (),
        role_word: str = "",
        least: float = GOOD,
    ) -> Element | None:
        """Return the element that answers best to a name; the first of equals."""
        wanted = tuple(roles)
        scored = [(self.score(one, name, wanted, role_word), one) for one in among]
        top = max((score for score, _ in scored), default=0.0)
        if top < least:
            return None
        return next(one for score, one in scored if score == top)

    def after(self, element: Element) -> list[Element]:
        """Return what follows an element in the page, its own parts first."""
        return list(self.elements[self.index(element) + 1 :])

    def mentions(self, words_wanted: str) -> list[Element]:
        """Return the elements whose name holds the given words whole, in page order, innermost only."""
        wanted = norm(words_wanted)
        if not wanted:
            return []
        pattern = re.compile(rf"(?<![\w@]){re.escape(wanted)}(?!\w)", re.IGNORECASE)
        found = [one for one in self.elements if pattern.search(" ".join(one.name.casefold().split()))]
        refs = {one.ref for one in found}
        holders = {one.parent for one in found if one.parent in refs}
        return [one for one in found if one.ref not in holders]

    def nth(self, candidates: list[Element], place: int) -> Element | None:
        """Return the element at a place counted from 1, or the last for -1."""
        if place == -1:
            return candidates[-1] if candidates else None
        return candidates[place - 1] if 0 < place <= len(candidates) else None


def _repeats(text: str, objective: str) -> bool:
    name = norm(text)
    if name in objective and len(name) >= 0.5 * len(objective):
        return True
    mine = [word for word in words(text) if word[-1].isalnum()]
    asked = {word for word in words(objective) if word[-1].isalnum()}
    return len(mine) >= max(4, len(asked) / 2) and sum(1 for word in mine if word in asked) / len(mine) > 0.9


def hints(element: Element) -> list[str]:
    """Return the words that an element's id and classes hint at."""
    return [part.replace("-", " ").replace("_", " ") for part in _HINT.findall(element.detail)]


def colour_of(element: Element) -> str:
    """Return the colour an element is shown in, or an empty text."""
    first = re.match(
        r"(?:(?:light|dark) )?"
        r"(red|orange|yellow|green|cyan|blue|purple|magenta|pink|brown|black|white|grey)\b",
        element.detail,
    )
    return first[1] if first else ""


def is_next(element: Element) -> bool:
    """Tell whether an element leads on to the next page of a list."""
    name = norm(element.name)
    return element.name.strip() in (">", "»", "›", "→", "≫", ">>") or name in (
        "next",
        "next page",
        "more",
        "show more",
        "load more",
    )


def is_submit(element: Element) -> bool:
    """Tell whether an element ends a form."""
    if element.role not in ("button", "generic", "link"):
        return False
    return ends_form(element.name)


def ends_form(text: str) -> bool:
    """Tell whether a short text is what a button that ends a form says."""
    said = words(text)
    return bool(said) and len(said) <= 3 and stem(said[0].strip("!")) in _ENDINGS
