"""Answers an attached agent: passes its request to the user's LLM server unchanged, or asks any other LLM."""

from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from core.agent.llm_calls import Answerer
from core.attach.dialects import answered
from core.attach.gateway import AgentQuestion
from core.attach.wire_formats import RESPONSES, error_body
from core.llm.costs import estimate_usage
from core.llm.errors import LLMFailure, RelayError
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.person import PersonLLM
from core.llm.rules.llm import RulesLLM
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, Retry

_NO_SUCH_PATH = (404, 405, 501)


class QuestionLLM:
    """Answers one question; an `Answerer` of a run.

    If the LLM is behind a server, the request goes there unchanged and the bytes of the answer are streamed
    back, unless they are held.
    """

    def __init__(
        self,
        question: AgentQuestion,
        llm: Answerer,
        *,
        holds_replies: bool,
        given: LLMReply | None = None,
    ) -> None:
        """`given` is the answer, where a person has given it before the question came."""
        self.name = llm.name if given is None else PersonLLM.name
        self._given = given
        self.takes_images = llm.takes_images
        self._question = question
        self._llm = llm
        self._holds = holds_replies
        self._came: list[bytes] = []
        self._reply: LLMReply | None = None

    @property
    def passed_on(self) -> bool:
        """Whether the agent has some of the answer already."""
        return self._question.begun

    @property
    def hidden(self) -> tuple[str, ...]:
        """What is sent to the server and is not to be stored."""
        return getattr(self._llm, "hidden", ())

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Ask, and pass on what comes; raises LLMError."""
        llm = self._llm
        if self._given is not None:
            self._reply = self._given
            return self._reply
        if isinstance(llm, OpenAICompatibleLLM):
            try:
                self._reply = await self._relayed(llm, request, on_text)
            except RelayError as error:
                # Most servers but OpenAI's have chat completions only.
                if error.status not in _NO_SUCH_PATH or self._question.format is not RESPONSES:
                    raise
                self._came.clear()
            else:
                return self._reply
        self._reply = await answer_agent(llm, request, on_text=on_text, on_retry=on_retry)
        return self._reply

    async def _relayed(
        self, llm: OpenAICompatibleLLM, request: LLMRequest, on_text: Callable[[str], None] | None
    ) -> LLMReply:
        question = self._question
        return await llm.relay(
            question.format.path,
            question.format.rewritten(question.body, question.request, request),
            request,
            question.format.assembly(),
            pass_on=self._came.append if self._holds or not question.streamed else question.pass_on,
            on_text=on_text,
        )

    def complete(self, reply: LLMReply) -> None:
        """Give the agent what has not gone back yet: the answer as it came, or `reply` if that is another one."""
        question = self._question
        if question.begun:
            question.end()
        elif reply == self._reply and self._came:
            question.pass_on(b"".join(self._came))
            question.end()
        else:
            question.answer(reply)


async def answer_agent(
    llm: Answerer,
    request: LLMRequest,
    *,
    on_text: Callable[[str], None] | None = None,
    on_retry: Callable[[Retry], None] | None = None,
) -> LLMReply:
    """Return what an LLM of ours answers an agent; raises LLMError."""
    if not isinstance(llm, RulesLLM):
        return await llm.reply(request, on_text=on_text, on_retry=on_retry)
    said = answered(request)
    spoken = said.text + "".join(call.name + call.arguments for call in said.tool_calls)
    return said.replace(usage=estimate_usage(request.messages, spoken), model=llm.name, cost=0.0)


def refuse(question: AgentQuestion, error: LLMError) -> None:
    """Tell the agent's client that its question failed, as the server would have."""
    status = error.status if isinstance(error, RelayError) else 0
    question.refuse(status or 502, error_body(str(error), "upstream_error"))


async def answer_beside(llm: Answerer, path: str, body: dict[str, Any] | None) -> Response:
    """Answer what is not a question of the agent's: the list of models, and embeddings."""
    if path == "/embeddings" and body is not None:
        return await _embeddings(llm, body)
    model = {"id": llm.name, "object": "model", "created": 0, "owned_by": "backstep"}
    listed = path == "/models"
    return JSONResponse(
        {"object": "list", "data": [model]} if listed else {**model, "id": path.split("/", 2)[2]}
    )


async def _embeddings(llm: Answerer, body: dict[str, Any]) -> Response:
    if isinstance(llm, OpenAICompatibleLLM):
        try:
            found = await llm.embeddings(body)
        except LLMError as error:
            return JSONResponse(error_body(str(error), "upstream_error"), 502)
        if isinstance(found, LLMFailure):
            return JSONResponse(
                error_body(f"{llm.server} {found.reason}.", "upstream_error"), found.status or 502
            )
        return JSONResponse(found)
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return JSONResponse(
            error_body("input must be a string or a list of strings.", "invalid_request_error"), 400
        )
    from core.llm.embedding import HashedWords  # It takes numpy.

    vectors = await HashedWords().embed(texts)
    data = [
        {"object": "embedding", "index": at, "embedding": vector.tolist()}
        for at, vector in enumerate(vectors)
    ]
    used = {"prompt_tokens": 0, "total_tokens": 0}
    return JSONResponse({"object": "list", "data": data, "model": "built-in", "usage": used})
