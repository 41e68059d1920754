"""Reads the TOML of an exemplar, and finds its problems, each with its place in the text."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import ValidationError

from core.exemplars.problem import Level, Problem
from core.schema.errors import DataError
from core.schema.exemplar import Draft
from core.schema.record import Record
from core.settings.toml_layout import Location, TextLayout, layout
from core.settings.user_file import UserFile

_NAME = "exemplar.toml"
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")
_OPEN = re.compile(r"""Expected ["']('{3}|"{3})["']""")
_NOT_HERE = {
    "review": "Its review is not part of its text. Review it in the library; delete the line.",
    "format": "The format is written when it is exported. Delete the line.",
}


class TextProblem(Record):
    """Something that is wrong with a text, or might be, and where."""

    line: int
    """From 1."""
    column: int
    """From 1."""
    text: str
    level: Level = "stops"


class DraftReading(Record):
    """A text as it was read."""

    draft: Draft | None = None
    """None if the text cannot be read."""
    problems: tuple[TextProblem, ...] = ()
    """In the order of the text; those that keep it from being stored have the level ``stops``."""

    @property
    def stopping(self) -> tuple[TextProblem, ...]:
        return tuple(problem for problem in self.problems if problem.level == "stops")


def read(text: str, check: Callable[[Draft], Iterable[Problem]]) -> DraftReading:
    """Return the draft that a text says, with its problems and those that `check` finds in the draft."""
    file = UserFile(Path(_NAME), text)
    try:
        content = file.content()
    except DataError as error:
        return DraftReading(problems=(_syntax(text, error),))
    places = layout(text)
    try:
        draft = Draft.model_validate(content)
    except ValidationError as error:
        return DraftReading(
            problems=_in_order(_key_problem(places, *problem) for problem in file.problems(error, Draft))
        )
    problems = (_at(places, places.offset(one.at), one.text, one.level) for one in check(draft))
    return DraftReading(draft=draft, problems=_in_order(problems))


def _in_order(problems: Iterable[TextProblem]) -> tuple[TextProblem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _syntax(text: str, error: DataError) -> TextProblem:
    reason = str(error.__cause__)
    if quotes := _OPEN.search(reason):
        return _at(layout(text), text.rfind(quotes[1]), f"This text has no end. Close it with {quotes[1]}.")
    found = _AT.search(reason)
    last = text.rstrip().count("\n") + 1 if "end of document" in reason else 1
    line, column = (int(found[1]), int(found[2])) if found else (last, 1)
    sentence = re.sub(rf"^{_NAME}(, line \d+:)? | \(at [^)]*\)", "", str(error))
    sentence = sentence if sentence.startswith("this is") else f"this {sentence}"
    sentence = sentence.replace("split it", "shorten it: the raw texts are only for people")
    return TextProblem(line=line, column=column, text=_sentence(sentence))


def _key_problem(places: TextLayout, location: Location, sentence: str) -> TextProblem:
    text = _NOT_HERE.get(str(location[0]), sentence) if len(location) == 1 else sentence
    return _at(places, places.offset(location), _sentence(text))


def _at(places: TextLayout, offset: int, text: str, level: Level = "stops") -> TextProblem:
    column = offset - places.text.rfind("\n", 0, offset)
    return TextProblem(line=places.line(offset) + 1, column=column, text=text, level=level)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
