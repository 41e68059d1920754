"""Checks a clean observation that an LLM or its program made, before a prompt shows it.

It is compared with its page: its refs must exist, some usable elements must be left if the page has any, and
names of the task (quoted values, numbers, words with a capital) must be left if the page shows them. Elements
and texts of earlier actions may be missing: that part of the task is done. A line for a usable element must say what
that is, by its role or a word of it. What a program leaves must have each kind of usable element that is in view.
"""

import re
from collections.abc import Iterable, Sequence

from core.agent.general_space import describe
from core.schema.observation import CleanObservation, Element, Observation, Use

_REF = re.compile(r"\[(\d{1,9})\]")
_QUOTED = re.compile(
    r'"([^"\n]{1,200})"|“([^”\n]{1,200})”|«([^»\n]{1,200})»|(?<!\w)\'([^\'\n]{1,200})\'(?!\w)'
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:/-]\d+)*(?!\w)")
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")
_BEGINNING = re.compile(r"(?:^|[.!?;\n])[\s\"“«'(]*$")
"""What stands before the first word of a sentence, whose capital says nothing."""
_WORD = re.compile(r"\w+")
_CALLED = {
    "textbox": "field input box text area password",
    "searchbox": "field input box text",
    "spinbutton": "field input box number",
    "combobox": "field input box select dropdown drop list choice",
    "listbox": "select list choice",
    "checkbox": "box option",
    "radio": "option choice",
    "img": "image picture icon",
    "slider": "range",
    "generic": "div span area",
}
"""What else roles are called."""
_KINDS: dict[Use | str, str] = {
    "type": "field",
    "select": "list to choose from",
    "check": "box to check",
    "button": "button",
}
"""Kinds of usable elements, by what can be done with them or by their role; links often lead elsewhere."""
_REPEATED = 4
"""Words of a text, from which on it is the task itself that the page shows, and not what the task is about."""
_SHOWN = 3


def part_refs(text: str, observation: Observation) -> tuple[set[int], str]:
    """Return the refs that a clean observation names, as ``[12]``, and its text without them.

    A number in brackets is not a ref where it is words of the page: in a line,
    after the ref of an element that has it in its own words, and wherever the
    page has it in its words and no element of that number.
    """
    in_words = {element.ref: set(_numbers(_said(element))) for element in observation.elements}
    of_page = set().union(*in_words.values())
    named: set[int] = set()

    def without_refs(line: str) -> str:
        last: set[int] = set()  # The numbers in the words of the element that the line named last.

        def put(found: re.Match[str]) -> str:
            nonlocal last
            ref = int(found[1])
            if ref in last or (ref in of_page and ref not in in_words):
                return found[0]
            named.add(ref)
            last = in_words.get(ref, last)
            return " "

        return _REF.sub(put, line)

    return named, "\n".join(without_refs(line) for line in text.split("\n"))


def _numbers(text: str) -> Iterable[int]:
    return (int(number) for number in _REF.findall(text))


def problem_of(
    clean: CleanObservation, observation: Observation, task: str, *, done: Iterable[str] = ()
) -> str:
    """Return, in a sentence, why a prompt must not show this in place of the page; empty if it may.

    `done` are earlier actions with what they were on.
    """
    if not clean.text.strip():
        return "It contains nothing of the page."
    named, words = part_refs(clean.text, observation)
    if unknown := sorted(named - {element.ref for element in observation.elements}):
        return f"It names {_some(f'[{ref}]' for ref in unknown)}, which the page does not contain."
    usable = [
        element for element in observation.elements if element.usable and "disabled" not in element.states
    ]
    if usable and not any(element.usable for element in clean.elements):
        kinds = _some(describe(one) for one in usable)
        return f"It contains none of the {len(usable)} usable elements, such as {kinds}."
    need_not = [f" {_plain(text)} " for text in (words, *done)]
    page = [f" {_plain(text)} " for text in _texts(observation.elements, task)]
    gone = [
        name
        for name in named_in(task)
        if (plain := f" {_plain(name)} ").strip()
        and not any(plain in text for text in need_not)
        and any(plain in text for text in page)
    ]
    if gone:
        return (
            f"It does not contain {_some(f'“{name}”' for name in gone)}, although the task names this and "
            "the page shows it."
        )
    places = {element.ref: place for place, element in enumerate(observation.elements)}
    hidden = [
        one
        for one in usable
        if one.ref in named
        and not _is_said(
            one, observation.elements[max(places[one.ref] - 1, 0) : places[one.ref] + 2], clean.text
        )
    ]
    if hidden:
        return (
            f"Its lines do not say what these are: {_some(f'[{one.ref}] {describe(one)}' for one in hidden)}."
        )
    return ""


def _is_said(element: Element, near: Sequence[Element], text: str) -> bool:
    """Return whether a line with an element's ref shares its role, or words with it or what is `near` it in the page.

    A label stands beside an unnamed field. Words are also compared in part: for plurals, and for scripts that
    have no blanks between words.
    """
    own = f"{element.role} {element.tag} {_CALLED.get(element.role, '')} {' '.join(map(_said, near))}".casefold()
    ref = f"[{element.ref}]"
    lines = [_REF.sub(" ", line).casefold() for line in text.split("\n") if ref in line]
    signs = element.name.strip().casefold()
    return any(
        (signs and signs in line)
        or any(word in own for word in _WORD.findall(line) if len(word) > 1)
        or any(word in line for word in _WORD.findall(own) if len(word) > 2)
        for line in lines
    )


def left_out_in_view(clean: CleanObservation, observation: Observation) -> tuple[str, str]:
    """Return which usable elements in view a clean observation lacks, in words, and why it must not lack so much.

    The second is empty if some of each kind are left.
    """
    kept = {element.ref for element in clean.elements}
    shown = [
        one for one in observation.elements if one.usable and one.in_viewport and "disabled" not in one.states
    ]
    lost = [one for one in shown if one.ref not in kept]
    gone = {_kind(one) for one in lost} - {_kind(one) for one in shown if one.ref in kept} - {None}
    problem = "; ".join(
        f"no {_KINDS[kind]}, such as {_some(describe(one) for one in lost if _kind(one) == kind)}"
        for kind in _KINDS
        if kind in gone
    )
    return _some(map(describe, lost)), problem and f"Of what is in view it contains {problem}."


def _kind(element: Element) -> Use | str | None:
    return next((kind for kind in _KINDS if kind in element.uses or kind == element.role), None)


def named_in(task: str) -> tuple[str, ...]:
    """Return what a task names by name: quoted values, numbers, and words with a capital inside a sentence."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(task)]
    rest = _QUOTED.sub(lambda match: '"' * len(match[0]), task)
    numbers = _NUMBER.findall(rest)
    names = [
        match[0]
        for match in _NAME.finditer(rest)
        if match[0][0].isupper() and match[0] != "I" and not _BEGINNING.search(rest[: match.start()])
    ]
    return tuple(dict.fromkeys((*quoted, *numbers, *names)))


def _texts(elements: Sequence[Element], task: str) -> list[str]:
    """Return what the page says, without the task where the page shows it."""
    said = [_said(element) for element in elements]
    whole = f" {_plain(task)} "
    part = [
        not element.usable and bool(_plain(text)) and f" {_plain(text)} " in whole
        for element, text in zip(elements, said, strict=True)
    ]
    repeats = [
        is_part and len(_WORD.findall(text)) >= _REPEATED for is_part, text in zip(part, said, strict=True)
    ]
    for places in (range(1, len(said)), range(len(said) - 2, -1, -1)):
        step = 1 if places.step > 0 else -1
        for place in places:
            # A value that stands out in the sentence is an element of its own.
            repeats[place] = repeats[place] or (part[place] and repeats[place - step])
    return [text for text, is_repeated in zip(said, repeats, strict=True) if not is_repeated]


def _said(element: Element) -> str:
    labels = (option.label for option in element.options)
    return " ".join((element.name, element.value, element.detail, *labels))


def _plain(text: str) -> str:
    """Return the words of a text in lower case, one blank between two."""
    return " ".join(_WORD.findall(text.casefold()))


def _some(found: Iterable[str]) -> str:
    every = list(found)
    return ", ".join(every[:_SHOWN]) + (f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else "")
