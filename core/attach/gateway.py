"""The LLM gateway: looks like an LLM server to an attached agent, on loopback with a token as key.

A request waits here until it is answered: with a whole reply, or piece by piece as the real server answers.
Meanwhile, bytes without meaning are sent from time to time, so that no client times out.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import Send

from core.attach.partly import Partly, format_of, refusal
from core.attach.wire_formats import FORMATS, WireFormat, error_body
from core.llm.replies import load_json
from core.schema.messages import LLMReply

LARGEST_REQUEST = 64 << 20
"""Bytes of a request: prompts with many screenshots have some."""
_AZURE = ("/openai/deployments/{deployment}", "/openai/v1", "/openai")
_BEAT = 2.0
"""Seconds after which a client that waits is sent something."""


class AgentQuestion:
    """A request of the agent's: answered once, by `answer`, `pass_on` and `end`, or `refuse`."""

    def __init__(self, format: WireFormat, body: dict[str, Any]) -> None:
        self.format = format
        self.body = body
        self.request = format.read(body)
        self.streamed = bool(body.get("stream"))
        self.left = asyncio.Event()
        """Is set when the agent's client has gone away."""
        self.over = asyncio.Event()
        """Is set once it has been answered."""
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._refusal: tuple[int, bytes] | None = None
        self._begun = False

    @property
    def begun(self) -> bool:
        """Whether a part of the answer has gone back."""
        return self._begun

    def answer(self, reply: LLMReply) -> None:
        """Answer with a whole reply."""
        if self.streamed:
            for event in self.format.events(reply, self.body):
                self.pass_on(event.encode())
        else:
            self.pass_on(json.dumps(self.format.whole(reply, self.body), ensure_ascii=False).encode())
        self.end()

    def pass_on(self, piece: bytes) -> None:
        """Send a piece of an answer that is in the agent's format already."""
        self._begun = True
        self._pieces.put_nowait(piece)

    def end(self) -> None:
        """The answer is whole."""
        if not self.over.is_set():
            self.over.set()
            self._pieces.put_nowait(None)

    def refuse(self, status: int, body: dict[str, Any]) -> None:
        """Answer with an error of the server."""
        if not self.over.is_set():
            self._refusal = (status, json.dumps(body, ensure_ascii=False).encode())
            self.end()

    # For the server

    async def response(self) -> Response:
        """Return the response, once something of it is there or it is time to show a sign of life."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_BEAT):
                first = await self._pieces.get()
                if first is None and self._refusal is not None:
                    status, data = self._refusal
                    return Response(data, status, media_type="application/json")
                if first is not None and self.over.is_set() and self._pieces.qsize() == 1:
                    return Response(first, headers=self._headers)  # Costs less than a stream of one piece.
                return _Pieces(self._rest(first), headers=self._headers)
        return _Pieces(self._rest(self._sign_of_life), headers=self._headers)

    @property
    def _headers(self) -> dict[str, str]:
        kind = "text/event-stream; charset=utf-8" if self.streamed else "application/json"
        return {"Content-Type": kind, "Cache-Control": "no-cache"}

    @property
    def _sign_of_life(self) -> bytes:
        return b": held\n\n" if self.streamed else b" "

    async def _rest(self, piece: bytes | None) -> AsyncGenerator[bytes, None]:
        while piece is not None:
            yield piece
            try:
                # A piece may end within an event, if nothing can be put in.
                async with asyncio.timeout(None if self._begun else _BEAT):
                    piece = await self._pieces.get()
            except TimeoutError:
                piece = self._sign_of_life
        if self._refusal is not None:
            # The status has gone out: a stream has an event for errors, and what is no stream is broken off.
            if not self.streamed:
                raise _BrokenOff
            yield b"data: " + self._refusal[1] + b"\n\n"


class _BrokenOff(Exception):
    """An answer is not sent to its end, which clients take for a lost connection, and ask again."""


class _Pieces(StreamingResponse):
    async def stream_response(self, send: Send) -> None:
        with contextlib.suppress(_BrokenOff):
            await super().stream_response(send)


class Gateway:
    """Answers an agent's requests below `path` of a server; `ask` is awaited for each of them."""

    def __init__(
        self,
        ask: Callable[[AgentQuestion], Awaitable[None]],
        forward: Callable[[str, Any], Awaitable[Response]],
        partly: Partly,
    ) -> None:
        """`forward` answers what is not a question: the list of models, and embeddings.

        `partly` is told of each question, and of what is not served here.
        """
        self._partly = partly
        self.key = f"backstep-{secrets.token_urlsafe(24)}"
        self._ask = ask
        self._forward = forward
        self._asking: set[asyncio.Task[None]] = set()

    def app(self) -> Starlette:
        """Return the application; it belongs below ``/v1``, where it also serves Azure's paths."""
        routes = [Route(format.path, self._questions(format), methods=["POST"]) for format in FORMATS]
        routes.append(Route("/embeddings", self._others, methods=["POST"]))
        azure = [Mount(path, routes=routes) for path in _AZURE]
        routes += [
            Route("/models", self._others, methods=["GET"]),
            Route("/models/{model:path}", self._others, methods=["GET"]),
        ]
        return Starlette(routes=[*routes, *azure], exception_handlers={HTTPException: self._refused})

    async def close(self) -> None:
        """Withdraw what is being answered."""
        for task in self._asking:
            task.cancel()
        if self._asking:
            await asyncio.wait(self._asking)

    def _questions(self, format: WireFormat) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self._check(request)
            question = AgentQuestion(format, await _body(request))
            self._partly.called()
            asking = asyncio.ensure_future(self._ask(question))
            self._asking.add(asking)
            asking.add_done_callback(lambda task: self._asked(task, question))
            watching = asyncio.ensure_future(_watch(request, question))
            asking.add_done_callback(lambda _: watching.cancel())
            return await question.response()

        return answer

    def _asked(self, task: "asyncio.Task[None]", question: AgentQuestion) -> None:
        self._asking.discard(task)
        if task.cancelled():
            question.refuse(503, error_body("Backstep has released the agent.", "withdrawn"))
        elif error := task.exception():
            question.refuse(500, error_body(f"{type(error).__name__}: {error}", "internal_error"))
            task.get_loop().call_exception_handler(
                {"message": "Answering an agent failed", "exception": error}
            )
        question.end()

    async def _others(self, request: Request) -> Response:
        self._check(request)
        body = await _body(request) if request.method == "POST" else None
        return await self._forward(request.url.path.removeprefix(request.scope.get("root_path", "")), body)

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            path = request.url.path
            return JSONResponse(refusal(format_of(path), self._partly.unserved(request.method, path)), 404)
        wrong_key = error.status_code == 401
        if wrong_key:
            self._partly.say("llm", f"The agent's LLM call was refused: {error.detail}")
        kind = "invalid_api_key" if wrong_key else "invalid_request_error"
        return JSONResponse(error_body(error.detail, kind), error.status_code)

    def _check(self, request: Request) -> None:
        """Refuse whoever has not the token."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.headers.get("api-key", "")
        if not secrets.compare_digest(given.strip().encode(), self.key.encode()):
            raise HTTPException(401, "This is not the key that Backstep gave the agent (OPENAI_API_KEY).")


async def _watch(request: Request, question: AgentQuestion) -> None:
    """Notice when the client goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    question.left.set()


async def _body(request: Request) -> dict[str, Any]:
    read = bytearray()
    async for piece in request.stream():
        read += piece
        if len(read) > LARGEST_REQUEST:
            raise HTTPException(413, f"A request can have at most {LARGEST_REQUEST >> 20} MB.")
    try:
        body = load_json(read.decode())
    except ValueError as error:
        raise HTTPException(400, "The body is not valid JSON.") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "The body is not a JSON object.")
    return body
