"""Checks the conditions of a task file's judge against the page at the end and the answer."""

import json
import re
from typing import TYPE_CHECKING

from core.environments.protocol import PageDriver
from core.schema.errors import ActionError
from core.schema.task import Verdict

if TYPE_CHECKING:
    from core.environments.task_file import Judge

PAGE_TEXT = '(document.body ? document.body.innerText : "")'


async def judge_page(judge: "Judge", page: PageDriver, answer: str) -> Verdict:
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


async def _simple_failures(judge: "Judge", page: PageDriver, answer: str) -> list[str]:
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
