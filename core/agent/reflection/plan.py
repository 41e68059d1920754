"""The plan, and the questions about the whole task: the lesson of a failed trial, and the answer."""

import re

from core.agent.prompt_builder import Prompter
from core.agent.state import RunState
from core.llm.replies import split_thinking, why_nothing
from core.schema.messages import Message
from core.schema.progress import Plan, Subtask

LONGEST = 30
"""Subtasks that a plan holds at most; what an LLM writes beyond them is dropped and reported."""

_MARK = re.compile(
    r"^\s*(?:\*\*)?(?:(?:step|subtask)\s*)?(\d{1,3})\s*[.):\]-]\s*(?:\*\*)?\s*|^\s*[-*•]\s+", re.IGNORECASE
)


def read_plan(text: str, *, revision: int = 0) -> Plan | None:
    """Return the plan in a reply, or None if there is none.

    A numbered or dashed list counts. Continued lines belong to their item; text before the list is ignored. A
    reply of one line without a list is one subtask.
    """
    items: list[str] = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        if mark and line[mark.end() :].strip():
            items.append(line[mark.end() :].strip())
        elif items and line.strip() and line[:1].isspace():
            items[-1] += " " + line.strip()
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
    whole = prompter.whole_task(state)
    text = prompter.render(state, state.preset.prompts.plan, **whole)
    messages: tuple[Message, ...] = (Message(role="user", text=text),)
    why = ""
    for _ in range(2):
        request = prompter.request(state, "plan", messages, **whole)
        reply, number = await prompter.ask(state, request)
        said, why = split_thinking(reply.text)[1], why_nothing(reply)
        plan = None if why else read_plan(said, revision=state.trial - 1)
        if plan is not None:
            state.reflection.plan = plan
            return ""
        if not state.calls_left:
            break
        again = f"{why or 'This is no list.'} Write the subtasks as a numbered list, one line each, and nothing else."
        messages = (
            *prompter.asker.sent(request, number).messages[:1],
            Message(role="assistant", text=said or "(an empty reply)"),
            Message(role="user", text=again),
        )
    return f"{why} {NO_PLAN}".strip()


async def review_trial(state: RunState, prompter: Prompter) -> tuple[str, tuple[int, ...]]:
    """Return what the trial that failed has taught, and the call it took; nothing if the preset asks for no review.

    Raises LLMError and DataError.
    """
    if not state.preset.prompts.review:
        return "", ()
    if problem := prompter.out_of_calls(state):
        return problem, ()
    whole = prompter.whole_task(state)
    text = prompter.render(state, state.preset.prompts.review, **whole)
    request = prompter.request(state, "review", (Message(role="user", text=text),), **whole)
    reply, number = await prompter.ask(state, request)
    return split_thinking(reply.text)[1] or "Nothing was learned.", (number,)


async def final_answer(state: RunState, prompter: Prompter) -> tuple[str, tuple[int, ...]]:
    """Return the answer to the task, and the call it took; raises LLMError and DataError."""
    if prompter.out_of_calls(state):
        return "", ()
    whole = prompter.whole_task(state)
    text = prompter.render(state, state.preset.prompts.answer, **whole)
    request = prompter.request(state, "answer", (Message(role="user", text=text),), **whole)
    reply, number = await prompter.ask(state, request)
    return _answer(split_thinking(reply.text)[1]), (number,)


def _answer(text: str) -> str:
    """Return the answer without the label and the quotes that an LLM puts around it."""
    text = text.strip()
    label, colon, rest = text.partition(":")
    if colon and label.strip("#* ").lower() in ("answer", "final answer"):
        text = rest.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        text = text[1:-1]
    return "" if text.lower().rstrip(".") in ("none", "n/a", "(none)") else text
