"""A loopback server that speaks OpenAI's chat completions and says what a test tells it to.

Real HTTP on a free port, in a thread of its own with its own loop, so that
tests of core, of the window and benchmarks can all use it::

    def test_it(llm_server):
        llm_server.say("a thought", call("click", target=3))
        ...  # an LLM at llm_server.base_url
        assert llm_server.requests[0].body["model"] == "test-model"

Replies are used up in order, one a request. When none is left, `otherwise`
answers: a reply, or a function from the request to a reply.
"""

import asyncio
import contextlib
import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

_WAIT_SECONDS = 120.0


@dataclass(frozen=True)
class Call:
    """A tool call of a reply; `arguments` is JSON text, well formed or not."""

    name: str
    arguments: str = "{}"
    id: str = ""


def call(name: str, **arguments: object) -> Call:
    """Return a tool call with these arguments."""
    return Call(name=name, arguments=json.dumps(arguments))


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | bytes | None = None
    """Sent as it is, in place of an answer made from `text` and `calls`."""
    content_type: str = "application/json"
    """Of `body`."""
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    )
    """None: the server counts nothing."""
    model: str | None = None
    """What it says it ran; None for what was asked for."""
    finish_reason: str | None = None
    piece: int = 8
    """Characters in a chunk of the stream."""
    break_after: int | None = None
    """Drop the connection after so many chunks; 0 drops it before the status line."""
    hold: bool = False
    """Send nothing and wait until the client goes away."""
    hold_after: int | None = None
    """The same, after so many chunks."""
    reasoning: str = ""
    """What it says to have thought, before the text."""
    reasoning_name: str = "reasoning_content"
    refuses: bool = False
    """Whether the text is sent as a refusal."""
    whole: bool = False
    """Answer in one JSON object, though a stream was asked for."""
    before: threading.Event | None = None
    """Wait for it before answering."""
    after: float = 0.0
    """Seconds until it answers."""
    drip: float | None = None
    """Seconds between the bytes of `body`, which is repeated for ever then."""


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    query: str = ""

    @property
    def texts(self) -> list[str]:
        """The text of each message, in order, without pictures."""
        return [_text_of(message.get("content")) for message in self.body.get("messages", ())]

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


Answer = Reply | Callable[[Request], Reply]
_NOTHING_SCRIPTED = Reply(status=500, body='{"error": {"message": "no reply is scripted"}}')


class LLMServer:
    """The server; use it as a context manager, or the fixture `llm_server`."""

    def __init__(self, models: tuple[str, ...] = ("test-model",)) -> None:
        self.models: tuple[str, ...] | None = models
        """What ``/models`` lists; None answers it with 404."""
        self.requests: list[Request] = []
        """Every chat request, in order of arrival."""
        self.otherwise: Answer = _NOTHING_SCRIPTED
        self.key: str | None = None
        """The key that is asked for; None lets everyone in."""
        self.port = 0
        self._script: deque[Answer] = deque()
        self._disconnects = 0
        self._connections = 0
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="llm-server", daemon=True)
        self._started = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def disconnects(self) -> int:
        """How many requests the client left before they were answered."""
        with self._changed:
            return self._disconnects

    @property
    def connections(self) -> int:
        """How many connections were opened in all."""
        with self._changed:
            return self._connections

    def __enter__(self) -> "LLMServer":
        self._thread.start()
        assert self._started.wait(_WAIT_SECONDS), "the LLM server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(_WAIT_SECONDS)

    def script(self, *answers: Answer) -> None:
        """Append answers to the script."""
        self._script.extend(answers)

    def say(self, text: str, *calls: Call, **more: Any) -> None:
        """Append an answer of this text and these tool calls."""
        self._script.append(Reply(text=text, calls=calls, **more))

    def fail(self, status: int, message: str = "", **more: Any) -> None:
        """Append an error in OpenAI's form."""
        body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None}})
        self._script.append(Reply(status=status, body=body, **more))

    def reset(self) -> None:
        """Forget the script and the requests, for the next test on the same server."""
        with self._changed:
            self._script.clear()
            self.requests.clear()
            self._disconnects = 0
            self.otherwise = _NOTHING_SCRIPTED

    def wait_for_requests(self, count: int) -> None:
        """Block until so many chat requests have come."""
        self._wait(lambda: len(self.requests) >= count, f"{count} requests")

    def wait_for_disconnects(self, count: int = 1) -> None:
        """Block until the client has left so many requests unanswered."""
        self._wait(lambda: self._disconnects >= count, f"{count} disconnects")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, _WAIT_SECONDS), f"waited in vain for {what}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        server.close()
        # A connection that was accepted just now is served by a task that has not begun yet: it could not end in order.
        for _ in range(5):
            self._loop.run_until_complete(asyncio.sleep(0))
        while tasks := asyncio.all_tasks(self._loop):
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(server.wait_closed())
        self._loop.close()

    def _stop(self) -> None:
        self._loop.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count("_connections")
        try:
            while (request := await _read(reader)) is not None and await self._handle(
                request, reader, writer
            ):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self._count("_disconnects")
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()

    async def _handle(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer; return whether the connection may serve another request."""
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            shown = request.headers.get("authorization", "nothing")
            await _send(writer, 401, json.dumps({"error": {"message": f"wrong key: {shown}"}}))
            return True
        if request.path.endswith("/models") and self.models is not None:
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in self.models]
            await _send(writer, 200, json.dumps({"object": "list", "data": data}))
            return True
        if not request.path.endswith("/chat/completions"):
            await _send(writer, 404, '{"error": {"message": "no such path"}}')
            return True
        with self._changed:
            self.requests.append(request)
            answer = self._script.popleft() if self._script else self.otherwise
            self._changed.notify_all()
        reply = answer if isinstance(answer, Reply) else answer(request)
        if reply.before is not None:
            await asyncio.to_thread(reply.before.wait, _WAIT_SECONDS)
        if reply.after:
            await asyncio.sleep(reply.after)
        if reply.hold:
            await self._hold(reader)
            return False
        if reply.break_after == 0:
            return False
        if reply.drip is not None:
            await self._drip(reply, writer)
            return False
        if reply.body is not None:
            await _send(writer, reply.status, reply.body, reply.headers, reply.content_type)
            return True
        if reply.whole or not request.body.get("stream"):
            await _send(writer, reply.status, json.dumps(_whole(reply, request)), reply.headers)
            return True
        return await self._stream(reply, request, reader, writer)

    async def _stream(
        self, reply: Reply, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **reply.headers}
        writer.write(_head(200, head))
        for sent, chunk in enumerate(_chunks(reply, request)):
            if reply.hold_after is not None and sent >= reply.hold_after:
                await writer.drain()
                await self._hold(reader)
                return False
            if reply.break_after is not None and sent >= reply.break_after:
                await writer.drain()
                writer.transport.abort()
                return False
            _write_piece(writer, f"data: {chunk}\n\n".encode())
            await writer.drain()
        _write_piece(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _drip(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        writer.write(_head(reply.status, {"Content-Type": reply.content_type, **reply.headers}))
        with contextlib.suppress(ConnectionError):
            for byte in itertools.cycle(body or b" "):
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(reply.drip or 0.0)
        self._count("_disconnects")

    async def _hold(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read()
        self._count("_disconnects")

    def _count(self, name: str) -> None:
        with self._changed:
            setattr(self, name, getattr(self, name) + 1)
            self._changed.notify_all()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
        if name
    }
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = path.partition("?")
    return Request(method, path, headers, json.loads(raw) if raw else {}, query)


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: str | bytes,
    headers: dict[str, str] | None = None,
    content_type: str = "application/json",
) -> None:
    data = body.encode() if isinstance(body, str) else body
    head = {"Content-Type": content_type, "Content-Length": str(len(data)), **(headers or {})}
    writer.write(_head(status, head) + data)
    await writer.drain()


def _write_piece(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _finish(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.calls else "stop")


def _whole(reply: Reply, request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, _text_field(reply): reply.text or None}
    if reply.reasoning:
        message[reply.reasoning_name] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_tool_call(number, one) for number, one in enumerate(reply.calls)]
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or request.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
        "usage": reply.usage,
    }


def _text_field(reply: Reply) -> str:
    return "refusal" if reply.refuses else "content"


def _tool_call(number: int, one: Call) -> dict[str, Any]:
    function = {"name": one.name, "arguments": one.arguments}
    return {"id": one.id or f"call_{number}", "type": "function", "function": function}


def _chunks(reply: Reply, request: Request) -> Iterator[str]:
    base = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": reply.model or request.body.get("model", ""),
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        return json.dumps({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.reasoning, reply.piece):
        yield chunk({reply.reasoning_name: piece})
    for piece in _pieces(reply.text, reply.piece):
        yield chunk({_text_field(reply): piece})
    for number, one in enumerate(reply.calls):
        start = _tool_call(number, Call(one.name, "", one.id))
        yield chunk({"tool_calls": [{"index": number, **start}]})
        for piece in _pieces(one.arguments, reply.piece):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(reply))
    if reply.usage is not None and (request.body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps({**base, "choices": [], "usage": reply.usage})


def _pieces(text: str, length: int) -> Iterator[str]:
    for start in range(0, len(text), length):
        yield text[start : start + length]


def _text_of(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if "text" in part)
    return content if isinstance(content, str) else ""
