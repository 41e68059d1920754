"""The built-in LLM: no network and no weights; it answers by matching words.

It reads what any LLM reads: the objective, the lines of the page, the turns
before and the actions that are permissible. It knows no task and no site.
"""

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from core.llm.costs import estimate_usage
from core.llm.replies import as_json, as_lines, as_tool_call
from core.llm.rules.corrections import lesson
from core.llm.rules.decisions import proposed
from core.llm.rules.policies import Role
from core.llm.rules.reflection import effect_of, other_actions, subtask_over, subtasks, task_done
from core.llm.rules.summaries import answer, chosen, parser_program, shortened
from core.schema.action import Action
from core.schema.messages import LLMReply, LLMRequest, PromptView, Purpose, Retry

MODEL = "rules"

_NOTHING_GIVEN = "The built-in LLM needs a page and its permissible actions, and the request has none."

_JSON_FORM = re.compile(r'"actions"\s*:')
_LINES_FORM = re.compile(r"^ACTION:", re.MULTILINE)


class RulesLLM:
    """Answers every purpose but ``judge``; the same request always gets the same reply."""

    name = "rules"
    takes_images = False

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Reply in the form asked for.

        Actions come as tool calls, as JSON, or as REASON and ACTION lines;
        a rationale, a plan, a review and the like as text; a judgement as
        JSON. One to judge for an environment gets a refusal.
        """
        started = time.perf_counter()
        reply = _reply(request)
        if reply.text and on_text is not None:
            on_text(reply.text)
        spoken = reply.text + "".join(call.name + call.arguments for call in reply.tool_calls)
        usage = estimate_usage(request.messages, spoken)
        return reply.replace(usage=usage, seconds=time.perf_counter() - started, model=MODEL, cost=0.0)

    async def close(self) -> None:
        """Nothing to release."""


def _reply(request: LLMRequest) -> LLMReply:
    if request.purpose == "judge":
        return _text("The built-in LLM matches words and cannot judge this.")
    if request.view is None:
        return _text(_NOTHING_GIVEN)
    say = _SAYS.get(request.purpose)
    if say is not None:
        return _text(say(request.view))
    if request.permissible is None:
        return _text(
            "The built-in LLM chooses among the permissible actions of a page, and the request has none."
        )
    role = Role(request.view.policy, request.view.called)
    if request.purpose == "remedies":
        actions, why = other_actions(request.view, request.permissible, role)
        return _actions(request, why, actions) if actions else _text(why)
    move = proposed(request.view, request.permissible, role)
    if request.purpose == "rationale":
        return _text(move.why)
    return _actions(request, move.why, (move.action,))


def _text(text: str) -> LLMReply:
    return LLMReply(text=text, finish_reason="stop")


def _actions(request: LLMRequest, why: str, actions: Sequence[Action]) -> LLMReply:
    """Return actions in the form that the request asks for: tools, a schema, or what its messages show."""
    if request.tools:
        calls = tuple(
            as_tool_call(action, request.permissible, id=f"call_{number}")
            for number, action in enumerate(actions, start=1)
        )
        return LLMReply(text=why, tool_calls=calls, finish_reason="tool_calls")
    if request.reply_schema is not None or _asks_for_json(request):
        return _text(as_json(why, actions, request.permissible))
    return _text(as_lines(why, actions, request.permissible))


def _asks_for_json(request: LLMRequest) -> bool:
    """Return whether the last message that shows a form shows JSON."""
    for message in reversed(request.messages):
        if message.role != "assistant":
            lines, shown = (
                max((match.start() for match in form.finditer(message.text)), default=-1)
                for form in (_LINES_FORM, _JSON_FORM)
            )
            if shown != lines:
                return shown > lines
    return False


def _answers(view: PromptView) -> dict[str, Any]:
    """Return the judgement of a step, by the names of its parts."""
    effect = effect_of(view)
    return {
        "effect": effect.sentence,
        "aligned": effect.serves,
        "subtask": subtask_over(view)[0],
        "task_done": task_done(view)[0],
    }


def _verdict(word: str | bool, why: str, *, first: bool = True) -> str:
    """Return a word and a sentence on two lines; yes and no for a truth."""
    word = {True: "YES", False: "NO"}[word] if isinstance(word, bool) else word.upper()
    return f"{word}\n{why}" if first else f"{why}\n{word}"


_SAYS: dict[Purpose, Callable[[PromptView], str]] = {
    "plan": lambda view: "\n".join(f"{place}. {one}" for place, one in enumerate(subtasks(view), start=1)),
    "aligned": lambda view: _verdict(effect_of(view).serves, effect_of(view).sentence, first=False),
    "subtask": lambda view: _verdict(*subtask_over(view)),
    "task": lambda view: _verdict(*task_done(view)),
    "judgement": lambda view: json.dumps(_answers(view), ensure_ascii=False),
    "review": lesson,
    "summarise": lambda view: shortened(view, refs=False),
    "abstract": lambda view: shortened(view, refs=True),
    "parser": parser_program,
    "choose": lambda view: "{}\n{}".format(*chosen(view)),
    "answer": answer,
}
"""What is answered with words, by purpose."""
