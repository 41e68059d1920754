"""An LLM behind an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, llama.cpp and others."""

import asyncio
import json
import random
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from core.llm.costs import Prices
from core.llm.endpoints import is_loopback, origin
from core.llm.errors import LLMFailure, call_errors, clean, from_body, from_exception, nearest_model
from core.llm.openai_format import Assembly, Dialect
from core.schema.errors import LLMError
from core.schema.messages import LLM, LLMReply, LLMRequest, Retry, Sampling, ToolCall

if TYPE_CHECKING:
    from openai import AsyncOpenAI


_CONNECT_SECONDS = 10.0
_LIST_SECONDS = 10.0


class OpenAICompatibleLLM:
    """Asks one model of one server, and streams its answer.

    A failure that passes (no connection, silence, 408, 409, 429, 5xx, a
    stream that breaks off) is tried again after a wait that doubles each
    time; text given to `on_text` before a `Retry` is void then. Where the
    server refuses a part of the request's form that can be done without, that
    part is left out from then on, which is announced as a `Retry` without a
    wait and does not count as an attempt. Where `takes_images` is False,
    pictures are left out of what is sent.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        model: str = "",
        key: Callable[[], str | None] | str | None = None,
        key_name: str = "",
        why_key: Callable[[], str] | None = None,
        takes_images: bool = False,
        sampling: Sampling | None = None,
        timeout_seconds: float = 120.0,
        attempts: int = 4,
        prices: Prices | None = None,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
    ) -> None:
        """`key` may be a call, made off the loop at first use: a keyring can block.

        `why_key` tells in a sentence where the key was found or sought.
        `timeout_seconds` bounds the wait for the next piece, not the whole
        answer. `first_wait` and `longest_wait`, in seconds, bound the wait
        between attempts, a server's Retry-After included.
        """
        self.name = name
        self.base_url = base_url
        self.model = model or name
        self.takes_images = takes_images
        self.sampling = sampling or Sampling()
        self.key_name = key_name
        self._find_key = key
        self._why_key = why_key
        self._key: str | None = None
        self._headers: dict[str, Any] = {}
        self._timeout = timeout_seconds
        self._attempts = attempts
        self._prices = prices or Prices()
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._dialect = Dialect()
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"OpenAICompatibleLLM({self.name!r}, base_url={origin(self.base_url)!r}, model={self.model!r})"

    @property
    def server(self) -> str:
        """The server as messages name it."""
        return f"The LLM server at {origin(self.base_url)}"

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Answer `request`; each failed attempt is announced before the wait that follows it."""
        started = time.perf_counter()
        retries: list[Retry] = []
        failures = 0

        def announce(reason: str, wait: float) -> None:
            retry = Retry(reason=reason, waited=wait)
            retries.append(retry)
            if on_retry is not None:
                on_retry(retry)

        client = await self._open()
        while True:
            sent = self._dialect.arguments(request, self.model, self.sampling, images=self.takes_images)
            outcome = await self._attempt(client, sent, on_text)
            if isinstance(outcome, Assembly):
                return self._reply(outcome, sent, started, retries)
            if outcome.kind in ("status", "stream"):
                given_up = self._dialect.give_up(outcome.reason, outcome.parameter, sent)
                if given_up is not None:
                    announce(given_up, 0.0)
                    continue
            if not outcome.passing:
                raise LLMError(await self._sentence(client, outcome))
            failures += 1
            if failures >= self._attempts:
                raise LLMError(self._given_up(outcome, failures))
            wait = self._wait(failures, outcome)
            announce(
                f"{self.server} {outcome.reason}; attempt {failures + 1} of {self._attempts} follows.", wait
            )
            await asyncio.sleep(wait)

    async def models(self) -> tuple[str, ...]:
        """Return the names of the models the server has, sorted; raises LLMError."""
        client = await self._open()
        found = await self._list(client)
        if isinstance(found, LLMFailure):
            raise LLMError(await self._sentence(client, found, listing=True))
        return found

    async def close(self) -> None:
        """Let go of connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open(self) -> "AsyncOpenAI":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def find_key(self) -> str | None:
        """Return the key for the server, or None where it has none; asks a keyring, which may take its time."""
        key = self._find_key() if callable(self._find_key) else self._find_key
        return (key or "").strip() or None

    def _make_client(self) -> "AsyncOpenAI":
        # The import takes over half a second and a keyring may ask to be unlocked: both stay off the loop.
        import httpx2
        import openai

        key = self.find_key()
        if key is not None and not (key.isascii() and key.isprintable()):
            raise LLMError(
                f"The key {self.key_name or 'for this server'} has characters no key has; store it again."
            )
        self._key = key
        # The package would fill these from the environment, whoever the server is.
        left_out = [] if key else ["Authorization"]
        if origin(self.base_url) != "https://api.openai.com":
            left_out += ["OpenAI-Organization", "OpenAI-Project"]
        self._headers = {name: openai.Omit() for name in left_out}
        timeout = httpx2.Timeout(self._timeout, connect=min(_CONNECT_SECONDS, self._timeout))
        # A proxy from the environment cannot reach this machine's own servers.
        local = openai.DefaultAsyncHttpxClient(trust_env=False) if is_loopback(self.base_url) else None
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self.base_url,
            timeout=timeout,
            max_retries=0,
            http_client=local,
        )

    async def _attempt(
        self, client: "AsyncOpenAI", sent: dict[str, Any], on_text: Callable[[str], None] | None
    ) -> Assembly | LLMFailure:
        assembly = Assembly()
        async with AsyncExitStack() as stack:
            try:
                stream = await client.chat.completions.create(**sent, extra_headers=self._headers)
                stack.push_async_callback(stream.close)
                whole = "json" in stream.response.headers.get("content-type", "")
                body = json.loads(await stream.response.aread()) if whole else None
            except call_errors() as error:
                return from_exception(error, key=self._key, timeout=self._timeout)
            if isinstance(body, dict) and body.get("error"):
                return from_body(body, key=self._key)
            if whole:
                self._pass_on(assembly.add(body), on_text)
                assembly.finish_reason = assembly.finish_reason or ("stop" if assembly.begun else "")
            chunks = aiter(stream)
            while not whole:
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    break
                except call_errors() as error:
                    if assembly.finish_reason:
                        break
                    failure = from_exception(error, key=self._key, timeout=self._timeout)
                    return self._half_way(failure, assembly) if assembly.begun else failure
                self._pass_on(assembly.add(chunk), on_text)
        if assembly.finish_reason:
            return assembly
        broken = LLMFailure(reason="ended its answer before it was whole", passing=True, kind="broken")
        return self._half_way(broken, assembly) if assembly.begun else broken

    @staticmethod
    def _pass_on(text: str, on_text: Callable[[str], None] | None) -> None:
        if text and on_text is not None:
            on_text(text)

    @staticmethod
    def _half_way(failure: LLMFailure, assembly: Assembly) -> LLMFailure:
        came = f"{len(assembly.text)} characters" if assembly.text else "part of a tool call"
        return failure.replace(reason=f"{failure.reason}, half-way, after {came}")

    def _reply(
        self, assembly: Assembly, sent: dict[str, Any], started: float, retries: list[Retry]
    ) -> LLMReply:
        usage = assembly.usage(sent)
        cost = self._prices.cost(assembly.model, usage)
        return LLMReply(
            text=self._without_key(assembly.text),
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.name, arguments=self._without_key(call.arguments))
                for call in assembly.tool_calls
            ),
            usage=usage,
            seconds=time.perf_counter() - started,
            model=assembly.model or self.model,
            cost=self._prices.cost(self.model, usage) if cost is None else cost,
            retries=tuple(retries),
            finish_reason=assembly.finish_reason,
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text

    def _wait(self, failures: int, failure: LLMFailure) -> float:
        if failure.retry_after is not None:
            return min(failure.retry_after, self._longest_wait)
        doubled = min(self._first_wait * 2.0 ** (failures - 1), self._longest_wait)
        return doubled * random.uniform(0.5, 1.0)

    def _given_up(self, failure: LLMFailure, attempts: int) -> str:
        tried = f"{self.server} {failure.reason}, in the last of {attempts} attempts; "
        if failure.kind == "refused":
            return tried + "start the server, or correct base_url."
        if failure.kind == "host":
            return tried + "correct base_url, or check the network."
        if failure.kind == "timeout":
            return tried + "raise timeout_seconds, or choose a faster LLM."
        if failure.status == 429:
            return tried + "wait a while, or choose another LLM."
        return tried + "look at the server's own log, or try again later."

    async def _sentence(self, client: "AsyncOpenAI", failure: LLMFailure, *, listing: bool = False) -> str:
        """Return what failed for good and what to check."""
        begin = f"{self.server} {failure.reason}"
        key = self.key_name or "its key"
        if failure.status == 401:
            why = f" {await asyncio.to_thread(self._why_key)}" if self._why_key is not None else ""
            if self._key is None:
                return f"{begin}; it wants a key: set {key} in the environment or the keyring.{why}"
            return f"{begin}; check the key {key}, and that it belongs to this server.{why}"
        if failure.status == 403:
            return f"{begin}; check that the key {key} may use {self.model}."
        if failure.status == 404 and not listing:
            served = await self._list(client)
            if isinstance(served, LLMFailure):
                return f"{begin}; check base_url (most end in /v1) and the model's name, {self.model}."
            if self.model not in served:
                return f"{self.server} has no model {self.model}; {nearest_model(self.model, served)}."
            return f"{begin}; check base_url (most end in /v1)."
        if failure.status == 404:
            return f"{begin}; check base_url (most end in /v1)."
        if failure.kind == "quota":
            return f"{begin}; the account has nothing left to spend: top it up, or choose another LLM."
        if failure.kind in ("certificate", "host"):
            return f"{begin}; check base_url."
        if listing and failure.passing:
            return f"{begin}; start the server, or correct base_url."
        if "tool" in failure.reason.lower():
            return f"{begin}; choose a preset that replies in JSON or lines, or an LLM that can call tools."
        if "image" in failure.reason.lower():
            return f"{begin}; set takes_images = false for this LLM, or choose one that takes pictures."
        return f"{begin}; check the model's name, {self.model}, and its settings."

    async def _list(self, client: "AsyncOpenAI") -> tuple[str, ...] | LLMFailure:
        timeout = min(_LIST_SECONDS, self._timeout)
        try:
            page = await client.models.list(timeout=timeout, extra_headers=self._headers)
            names = [model.id for model in page.data or ()]
        except call_errors() as error:
            return from_exception(error, key=self._key, timeout=timeout)
        return tuple(sorted(clean(name, self._key) for name in names if isinstance(name, str)))


_SHOWN = 5


async def check_endpoint(llm: LLM) -> str:
    """Return one line: reachable, which models and how long, or what is wrong and what to do.

    Asks for the list of models only; no prompt is sent and nothing is spent.
    """
    if not isinstance(llm, OpenAICompatibleLLM):
        return f"{llm.name}: needs no server."
    started = time.perf_counter()
    try:
        served = await llm.models()
    except LLMError as error:
        return f"{llm.name}: {error}"
    milliseconds = (time.perf_counter() - started) * 1000
    reached = f"{llm.name}: {llm.server} answers in {milliseconds:.0f} ms"
    if served and llm.model not in served:
        return f"{reached}, but has no model {llm.model}; {nearest_model(llm.model, served)}."
    if not served:
        return f"{reached}, and lists no models."
    others = [name for name in served if name != llm.model]
    shown = ", ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
    return f"{reached} and has {llm.model}" + (f", beside {shown}." if others else ".")
