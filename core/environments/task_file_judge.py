"""The judge of a task file: conditions that the page at the end and the answer must meet."""

import json
import re
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from core.environments.protocol import PageDriver
from core.schema.errors import ActionError
from core.schema.pattern import Expression
from core.schema.record import Record
from core.schema.task import Verdict

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

PAGE_TEXT = '(document.body ? document.body.innerText : "")'


class Judge(Record):
    """What must hold at the end; all parts that are given."""

    model_config = ConfigDict(strict=True)

    url_match: Words | None = None
    """The URL at the end, whole; a slash at its end does not matter."""
    url_regex: Annotated[Expression, StringConstraints(strip_whitespace=True, min_length=1)] | None = None
    """A regular expression found somewhere in the URL at the end."""
    must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    """Texts that the page must show; case and spacing do not matter."""
    element: Words | None = None
    """CSS of an element that must be in the page."""
    answer: str | None = None
    """The whole answer; case, spacing and quotes around it do not matter."""
    answer_must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    script: Words | None = None
    """A JavaScript expression, evaluated in the page's own world, that must be true."""

    @model_validator(mode="after")
    def _asks_something(self) -> "Judge":
        if not self.model_fields_set:
            raise ValueError("it is empty: give at least one condition, or leave the judge out")
        return self


async def judge_page(judge: Judge, page: PageDriver, answer: str) -> Verdict:
    """Return a success if every condition holds; the reason names each one that does not.

    A selector or script that the browser cannot read leaves the success
    unknown, unless another condition fails anyway.
    """
    failures = await _simple_failures(judge, page, answer)
    unreadable: list[str] = []
    if judge.element is not None:
        found = await _evaluated(f"document.querySelector({json.dumps(judge.element)}) !== null", page)
        if found is None:
            unreadable.append(f"{judge.element} is not a CSS selector that the browser can read.")
        elif found is False:
            failures.append(f"No element of the page matches {judge.element}.")
    if judge.script is not None:
        held = await _evaluated(f"Boolean(\n{judge.script.rstrip(';')}\n)", page)
        if held is None:
            unreadable.append(f"The script {judge.script} is not a JavaScript expression.")
        elif held is not True:
            failures.append(f"The script {judge.script} is not true in the page{_because(held)}.")
    if failures:
        return Verdict(success=False, reward=0.0, judge="file", reason=" ".join(failures))
    if unreadable:
        return Verdict(judge="none", reason=" ".join(unreadable))
    return Verdict(success=True, reward=1.0, judge="file", reason="Every condition of the task holds.")


async def _simple_failures(judge: Judge, page: PageDriver, answer: str) -> list[str]:
    failures: list[str] = []
    url = await page.url()
    if judge.url_match is not None and url.rstrip("/") != judge.url_match.rstrip("/"):
        failures.append(f"The URL at the end is {url}, not {judge.url_match}.")
    if judge.url_regex is not None and not re.search(judge.url_regex, url):
        failures.append(f"The URL at the end, {url}, does not match {judge.url_regex}.")
    if judge.must_include:
        shown = _plain(str(await page.evaluate(PAGE_TEXT)))
        failures += [
            f'The page does not show "{text}".' for text in judge.must_include if _plain(text) not in shown
        ]
    if judge.answer is not None and _unquoted(answer) != _unquoted(judge.answer):
        failures.append(f'The answer is "{answer}", not "{judge.answer}".')
    failures += [
        f'The answer "{answer}" does not include "{text}".'
        for text in judge.answer_must_include
        if _plain(text) not in _plain(answer)
    ]
    return failures


async def _evaluated(expression: str, page: PageDriver) -> bool | str | None:
    """Return what the expression gives, the error it raised as text, or None where it cannot be read."""
    # No eval() in the page: its content security policy may forbid it, the protocol's evaluation it cannot.
    script = (
        f"(() => {{ try {{ return {expression}; }} catch (error) {{"
        ' return error instanceof DOMException && error.name === "SyntaxError" ? null : String(error); } })()'
    )
    try:
        result = await page.evaluate(script, main_world=True)
    except ActionError as error:
        if "SyntaxError" in str(error):
            return None
        raise
    return result if isinstance(result, bool | str) else None


def _because(held: bool | str) -> str:
    return f": {held}" if isinstance(held, str) else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _unquoted(text: str) -> str:
    plain = _plain(text)
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        return plain[1:-1].strip()
    return plain
