"""The words people use for kinds of elements, and the roles they stand for."""

import re

from core.llm.word_rules.words import words

_ROLES: dict[str, tuple[str, ...]] = {
    "button": ("button",),
    "link": ("link",),
    "tab": ("tab",),
    "checkbox": ("checkbox",),
    "check box": ("checkbox",),
    "radio": ("radio",),
    "radio button": ("radio",),
    "textbox": ("textbox", "searchbox", "spinbutton"),
    "text box": ("textbox", "searchbox", "spinbutton"),
    "text field": ("textbox", "searchbox", "spinbutton"),
    "text input": ("textbox", "searchbox", "spinbutton"),
    "input": ("textbox", "searchbox", "spinbutton"),
    "field": ("textbox", "searchbox", "spinbutton"),
    "text": ("textbox", "searchbox"),
    "textarea": ("textbox",),
    "text area": ("textbox",),
    "dropdown": ("combobox", "listbox"),
    "list": ("listbox", "combobox"),
    "slider": ("slider",),
    "spinner": ("spinbutton",),
    "menu": ("menu",),
    "icon": ("button", "img"),
    "image": ("img",),
    "date": ("textbox",),
}
ROLE_WORDS = frozenset(word for phrase in _ROLES for word in phrase.split()) | {
    "item", "items", "box", "dialog", "widget", "element", "option", "section", "buttons", "card",
    "checkboxes", "result", "post", "posts", "word", "number", "area", "file", "folder", "fields",
    "boxes", "links",
}  # fmt: skip


def role_of(text: str) -> tuple[tuple[str, ...], str]:
    """Return the roles that the first role word of a text stands for, and that word."""
    lowered = " ".join(singular(word) for word in words(text))
    places = [
        (match.start(), -len(phrase), phrase)
        for phrase in _ROLES
        if (match := re.search(rf"\b{phrase}\b", lowered))
    ]
    if not places:
        return (), ""
    phrase = min(places)[2]
    return _ROLES[phrase], phrase


def singular(word: str) -> str:
    """Return a role word without its plural ending; any other word as it is."""
    return {"checkboxes": "checkbox", "textboxes": "textbox", "boxes": "box"}.get(word) or (
        word[:-1] if word.endswith("s") and word[:-1] in ROLE_WORDS else word
    )
