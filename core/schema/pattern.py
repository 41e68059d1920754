"""Patterns for elements of an observation: ``button "Buy now"``, ``link ~"^Page \\d+$"``, ``searchbox``."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from core.schema.expression import ExpressionMatch, compiled, expression_problem
from core.schema.observation import Element, Observation, Ref
from core.schema.record import Record

_FORM = re.compile(r'\s*(\*|[a-z]+(?:-[a-z]+)*)\s*(?:(~?)"((?:[^"\\]|\\.)*)")?\s*', re.DOTALL)


class Pattern(Record):
    """A role, or ``*`` for any, with an exact name or an expression that must be found in the name."""

    role: str
    name: str = ""
    how: str = "any"
    """``any`` name, ``equal`` to it, or ``found`` in it as a regular expression."""

    def fits(self, element: Element) -> ExpressionMatch | bool:
        """Return whether the element fits; for an expression what was found, whose groups hold parts of the name."""
        if self.role not in ("*", element.role):
            return False
        if self.how == "any":
            return True
        if self.how == "equal":
            return " ".join(element.name.split()) == self.name
        return compiled(self.name).search(element.name) or False

    def __str__(self) -> str:
        if self.how == "any":
            return self.role
        escaped = self.name if self.how == "found" else re.sub(r'(["\\])', r"\\\1", self.name)
        return f'{self.role} {"~" if self.how == "found" else ""}"{escaped}"'


def parse_pattern(text: str) -> Pattern:
    """Read a pattern; raises ValueError with a sentence."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not a pattern: write a role and a name, as in button "Buy now"')
    role, found, name = match[1], match[2], match[3]
    if name is None:
        return Pattern(role=role)
    if found:
        expression = name.replace('\\"', '"')
        if problem := expression_problem(expression):
            raise ValueError(f'"{text}" cannot be matched: {problem}')
        return Pattern(role=role, name=expression, how="found")
    return Pattern(role=role, name=" ".join(re.sub(r"\\(.)", r"\1", name).split()), how="equal")


def _pattern(text: str) -> str:
    if text:
        parse_pattern(text)
    return text


def _expression(text: str) -> str:
    if problem := expression_problem(text):
        raise ValueError(problem)
    return text


PatternText = Annotated[str, AfterValidator(_pattern)]
"""A pattern in a file that people edit; empty for none."""
Expression = Annotated[str, AfterValidator(_expression)]
"""A regular expression in such a file."""


def matching(
    pattern: Pattern, observation: Observation, within: Iterable[Element] | None = None
) -> list[Element]:
    """Return the elements that fit, in document order; with `within` those inside one of them."""
    found = [element for element in observation.elements if pattern.fits(element)]
    if within is None:
        return found
    holders = {element.ref for element in within}
    parents = {element.ref: element.parent for element in observation.elements}
    return [element for element in found if _inside(element.parent, holders, parents)]


def _inside(ref: Ref | None, holders: set[Ref], parents: dict[Ref, Ref | None]) -> bool:
    while ref is not None:
        if ref in holders:
            return True
        ref = parents.get(ref)
    return False
