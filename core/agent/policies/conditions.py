"""Conditions in the instruction of a policy: ``{% if permitted("note") %}``, where not all actions are permissible."""

import re
from collections.abc import Collection
from functools import cache

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
_NUMBERED = re.compile(r"^\d+(?=\.\s)", re.MULTILINE)


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
    """Return the parts of an instruction whose conditions are met, its list numbered anew; None permits all."""
    if "{%" not in instruction:
        return instruction

    def all_permitted(*names: str) -> bool:
        return permitted is None or all(name in permitted for name in names)

    text = _compiled(instruction).render(permitted=all_permitted).strip()
    numbers = iter(range(1, len(text)))
    return _NUMBERED.sub(lambda _: str(next(numbers)), text)


def without_conditions(text: str) -> str:
    """Return a text of as many lines, with all that its conditions enclose."""
    return re.sub(r"\{%[^%\n]*%\}", "", text)


@cache
def _compiled(instruction: str) -> Template:
    return _ENVIRONMENT.from_string(_ALONE.sub(r"\1", instruction))
