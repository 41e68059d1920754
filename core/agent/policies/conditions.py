"""Conditions in the instruction of a policy: ``{% if permitted("note") %}``, where not all actions are permissible."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import count

from jinja2 import Environment, Template, TemplateSyntaxError, nodes

_ENVIRONMENT = Environment(
    # Braces of other kinds are text.
    variable_start_string="{\0{",
    comment_start_string="{\0#",
    keep_trailing_newline=True,
)
_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Const,
)
_ALONE = re.compile(r"^[ \t]*(\{%[^%]*%\})[ \t]*\n", re.MULTILINE)
_OPENS, _CLOSES = re.compile(r"\{%[-+]?\s*if\b"), re.compile(r"\{%[-+]?\s*endif\b")
_NUMBERED = re.compile(r"^((?:\{%[^%\n]*%\})*)(\d{1,9})(?=\.\s)", re.MULTILINE)


def condition_problem(instruction: str) -> tuple[int, str] | None:
    """Return the line, from 1, and what is wrong with a condition there, or None if all can be used."""
    try:
        tree = _ENVIRONMENT.parse(instruction)
    except TemplateSyntaxError as error:
        return error.lineno, f"this condition cannot be read: {error.message}"
    calls = [call.node for call in tree.find_all(nodes.Call) if not (call.kwargs or call.dyn_args)]
    names = {id(node) for node in calls if isinstance(node, nodes.Name) and node.name == "permitted"}
    for node in tree.find_all(nodes.Node):
        called = isinstance(node, nodes.Call) and id(node.node) in names
        if not called and id(node) not in names and not isinstance(node, _ALLOWED):
            return node.lineno, 'a condition has the form {% if permitted("note") %} … {% endif %}.'
    return None


def instruction_where(instruction: str, permitted: Collection[str] | None) -> str:
    """Return the parts of an instruction whose conditions are met; None permits all.

    Its lists are numbered anew where items are left out.
    """
    if "{%" not in instruction:
        return instruction

    def all_permitted(*names: str) -> bool:
        return permitted is None or all(name in permitted for name in names)

    number = _Numbering(list(_items(instruction)))
    return _compiled(instruction).render(permitted=all_permitted, number=number).strip()


class _Numbering:
    """Gives the items of lists their numbers, in their order and without those left out."""

    def __init__(self, items: Sequence[tuple[int, bool]]) -> None:
        """`items` are as those of `_items`."""
        self._items = items
        self._next = 0
        """The place of the next item in `items`."""
        self._left_out: set[int] = set()
        self._last = self._given = -1
        """The number of the last item, as written and as given."""

    def __call__(self, at: int) -> int:
        """Return the number of an item by its place in `items`."""
        for written, apart in self._items[self._next : at]:
            if apart and written - 1 != self._last and written - 1 not in self._left_out:  # Another list.
                self._last = self._given = written - 1
                self._left_out.clear()
            self._left_out.add(written)
        self._next = at + 1
        first = written = self._items[at][0]
        while first - 1 != self._last and first - 1 in self._left_out:
            first -= 1
        if first - 1 == self._last:
            self._given += 1
        else:  # Another list, or the other way in which this one begins.
            self._given = first
            self._left_out = {number for number in self._left_out if number > first}
        self._last = written
        return self._given


def _items(instruction: str) -> Iterator[tuple[int, bool]]:
    """Give the number of each item of a list, and whether text that always stays parts it from the item before."""
    inside, apart = 0, False
    for line in instruction.split("\n"):
        if found := _NUMBERED.match(line):
            yield int(found[2]), apart
            apart = False
        elif inside == 0 and re.match(r"[^\s{]", line):
            apart = True
        inside += len(_OPENS.findall(line)) - len(_CLOSES.findall(line))


def without_conditions(text: str) -> str:
    """Return a text of as many lines, with all that its conditions enclose."""
    return re.sub(r"\{%[^%\n]*%\}", "", text)


@cache
def _compiled(instruction: str) -> Template:
    places = count()
    numbered = _NUMBERED.sub(lambda found: f"{found[1]}{{\0{{ number({next(places)}) }}}}", instruction)
    return _ENVIRONMENT.from_string(_ALONE.sub(r"\1", numbered))
