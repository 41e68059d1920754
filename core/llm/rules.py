"""The built-in LLM: no network and no weights; it answers by matching words.

It reads what any LLM reads: the objective, the lines of the page, the turns
before and the actions that are permissible. It knows no task and no site.
"""

import time
from collections.abc import Callable

from core.llm.encode import as_json, as_lines, as_tool_call
from core.llm.protocol import LLMReply, LLMRequest, Retry, Usage
from core.llm.tokens import TOKENS_PER_MESSAGE, count_tokens
from core.llm.word_rules.decide import next_move
from core.llm.word_rules.move import Move, act
from core.llm.word_rules.offered import offered_move

MODEL = "rules"


class RulesLLM:
    """Answers requests to decide; the same request always gets the same reply."""

    name = "rules"
    takes_images = False

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Reply in the form asked for: tool calls, JSON where a schema is given, or REASON and ACTION lines.

        A request for a rationale gets its text alone, one to judge a refusal.
        """
        started = time.perf_counter()
        reply = _reply(request)
        if reply.text and on_text is not None:
            on_text(reply.text)
        spoken = reply.text + "".join(call.name + call.arguments for call in reply.tool_calls)
        prompt = sum(count_tokens(message.text) + TOKENS_PER_MESSAGE for message in request.messages)
        usage = Usage(prompt_tokens=prompt, completion_tokens=count_tokens(spoken), estimated=True)
        return reply.model_copy(
            update={"usage": usage, "seconds": time.perf_counter() - started, "model": MODEL, "cost": 0.0}
        )

    async def close(self) -> None:
        """Nothing to let go of."""


def _reply(request: LLMRequest) -> LLMReply:
    if request.purpose == "judge":
        return LLMReply(text="The built-in rules match words and cannot judge this.", finish_reason="stop")
    if request.view is None or request.permissible is None:
        return LLMReply(
            text="The built-in rules choose among the permissible actions of a page, and none were given.",
            finish_reason="stop",
        )
    move = offered_move(request.view, request.permissible) or next_move(request.view, request.permissible)
    if problem := request.permissible.problem(move.action):
        move = _permissible_instead(request, problem)
    if request.tools:
        return LLMReply(
            text=move.why,
            tool_calls=(as_tool_call(move.action, request.permissible),),
            finish_reason="tool_calls",
        )
    if request.purpose == "rationale":
        return LLMReply(text=move.why, finish_reason="stop")
    if request.reply_schema is not None:
        return LLMReply(text=as_json(move.why, (move.action,), request.permissible), finish_reason="stop")
    return LLMReply(text=as_lines(move.why, (move.action,)), finish_reason="stop")


def _permissible_instead(request: LLMRequest, problem: str) -> Move:
    """Return a move that is permissible where the chosen one is not: waiting, scrolling, or the first row."""
    assert request.permissible is not None
    for action in (act("stop"), act("wait"), act("scroll", direction="down")):
        if request.permissible.problem(action) is None:
            return Move(action, f"What the words name is not permissible: {problem}")
    for row in request.permissible.rows():
        if row.ref is not None and row.name in ("click", "hover", "double_click"):
            return Move(act(row.name, row.ref), f"Nothing the words name is permissible; {row.label} is.")
    return Move(act("stop"), "Nothing is permissible.")
