"""The plan, and the questions about the whole task: the lesson of a failed trial, and the answer."""

import re
from typing import Literal

from core.agent.prompt_builder import Prompter
from core.agent.state import RunState
from core.llm.replies import split_thinking, why_nothing, why_stopped
from core.schema.errors import PromptTooLong
from core.schema.messages import LLMReply, LLMRequest, Message
from core.schema.progress import Plan, Subtask

LONGEST = 30
"""Subtasks that a plan holds at most; what an LLM writes beyond them is dropped and reported."""

_MARK = re.compile(
    r"^\s*(?:\*\*)?(?:(?:step|subtask)\s*)?(\d{1,3})\s*[.):\]-]\s*(?:\*\*)?\s*|^\s*[-*•]\s+", re.IGNORECASE
)

_LABEL = re.compile(r"(?:[#*]+\s*(?:final )?answer\b[\s*]*:?[\s*]*|(?:final )?answer\s*:)\s*", re.IGNORECASE)


def read_plan(text: str, *, revision: int = 0) -> Plan | None:
    """Return the plan in a reply, or None if there is none.

    A numbered or dashed list counts. Continued lines, and items that are further indented than the first one, belong
    to the item before them, unless they are numbered and it is the only one, with a dash. Text before the list is
    ignored. A reply of one line without a list is one subtask.
    """
    items: list[str] = []
    below: list[str] = []  # What is numbered below a first item with a dash.
    outer, dashed = 0, False
    for line in text.expandtabs(4).splitlines():
        mark = _MARK.match(line)
        indent = len(line) - len(line.lstrip())
        item = line[mark.end() :].strip() if mark else ""
        if item and (not items or indent <= outer):
            if not items:
                outer, dashed = indent, not (mark and mark[1])
            items.append(item)
        elif items and item:
            if mark and mark[1] and dashed:
                below.append(item)
            items[-1] += f"{' ' if items[-1].endswith(':') else '; '}{item}"
        elif items and line.strip() and indent:
            items[-1] += " " + line.strip()
    if len(items) == 1 and below:
        items = below
    if not items:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) != 1:
            return None
        items = lines
    cleaned = [" ".join(item.replace("**", "").split()) for item in items]
    remark = f"{len(cleaned) - LONGEST} further subtasks were left out." if len(cleaned) > LONGEST else ""
    plan = Plan(
        subtasks=tuple(Subtask(text=one) for one in cleaned[:LONGEST]), revision=revision, remark=remark
    )
    return plan.with_current(0)


# Questions

NO_PLAN = "No list of subtasks could be read from the LLM's reply, even after asking again."


async def make_plan(state: RunState, prompter: Prompter) -> str:
    """Make the run's plan from the task, the page and the lessons of earlier trials.

    Asks again once if the reply contains no list. Returns why there is no plan, or nothing; raises LLMError
    and DataError, and then makes no plan.
    """
    if problem := prompter.out_of_calls(state):
        return problem
    why = ""
    request, reply, number = await _asked(state, prompter, "plan")
    for is_first in (True, False):
        said, why = _indented(reply.text), why_nothing(reply) or why_stopped(reply)
        plan = None if why else read_plan(said, revision=state.trial - 1)
        if plan is not None:
            state.reflection.plan = plan
            return ""
        if not is_first or not state.calls_left:
            break
        again = f"{why or 'This is no list.'} Write the subtasks as a numbered list, one line each, and nothing else."
        messages = (
            *prompter.asker.sent(request, number).messages[:1],
            Message(role="assistant", text=said.strip() or "(an empty reply)"),
            Message(role="user", text=again),
        )
        request = prompter.request(state, "plan", messages, **prompter.whole_task(state))
        try:
            reply, number = await prompter.ask(state, request)
        except PromptTooLong as error:
            why = str(error)
            break
    return f"{why} {NO_PLAN}".strip()


async def review_trial(state: RunState, prompter: Prompter) -> tuple[str, tuple[int, ...]]:
    """Return what the trial that failed has taught, and the call it took; nothing if the preset asks for no review.

    Raises LLMError and DataError.
    """
    if not state.preset.prompts.review:
        return "", ()
    if problem := prompter.out_of_calls(state):
        return problem, ()
    _, reply, number = await _asked(state, prompter, "review")
    return split_thinking(reply.text)[1] or "Nothing was learned.", (number,)


async def final_answer(state: RunState, prompter: Prompter) -> tuple[str, tuple[int, ...]]:
    """Return the answer to the task, and the call it took; raises LLMError and DataError."""
    if prompter.out_of_calls(state):
        return "", ()
    _, reply, number = await _asked(state, prompter, "answer")
    return _answer(split_thinking(reply.text)[1]), (number,)


async def _asked(
    state: RunState, prompter: Prompter, purpose: Literal["plan", "review", "answer"]
) -> tuple[LLMRequest, LLMReply, int]:
    """Ask a question about the whole task."""

    def make() -> LLMRequest:
        whole = prompter.whole_task(state)
        text = prompter.render(state, getattr(state.preset.prompts, purpose), **whole)
        return prompter.request(state, purpose, (Message(role="user", text=text),), **whole)

    return await prompter.ask_shortened(state, make, exemplars=False)


def _indented(text: str) -> str:
    """Return what a reply says without its thinking, the indent of the first line kept."""
    said = split_thinking(text)[1]
    before = text[: text.find(said)].rpartition("\n")[2]
    return said if before.strip() else before + said


def _answer(text: str) -> str:
    """Return the answer without the label and the quotes that an LLM puts around all of it."""
    text = _LABEL.sub("", text.strip(), count=1).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" and text[0] not in text[1:-1]:
        text = text[1:-1]
    return "" if text.lower().rstrip(".") in ("none", "(none)") else text
