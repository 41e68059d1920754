"""An LLM behind an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, llama.cpp and others."""

import asyncio
import functools
import random
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from core.llm.advice import FailedRequest, after_attempts, refused_for_good
from core.llm.costs import Prices, tokens_of
from core.llm.endpoints import header_keys, is_loopback, origin
from core.llm.errors import (
    LLMFailure,
    RelayError,
    call_errors,
    clean,
    from_body,
    from_exception,
)
from core.llm.honoured import Honoured, HonouredFile
from core.llm.limits import Limits, Meter
from core.llm.openai_format import (
    Assembly,
    Dialect,
    counted_tokens,
    estimate_prompt,
    own_limit,
    roomy_limit,
    sent_limit,
)
from core.llm.repair import ReplyFormat
from core.llm.replies import part_thinking
from core.schema.errors import LLMError, LLMRefused, PromptTooLong
from core.schema.messages import LLMReply, LLMRequest, Retry, Sampling, Usage
from core.schema.secrets import is_key

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI


_CONNECT_SECONDS = 10.0
_TELLING = 200
"""Tokens of a prompt from which on its count tells how far the estimate is off."""
_LIST_SECONDS = 10.0
_MOST_MODELS = 5000


@dataclass(eq=False)
class OpenAICompatibleLLM:
    """Asks one model of one server, and streams its answer.

    A failure that passes (no connection, silence, 408, 409, 429, 5xx, a
    stream that breaks off) is tried again after a wait that doubles each
    time; text given to `on_text` before a `Retry` is void then. Where the
    server refuses a part of the request's form that can be done without, that
    part is left out from then on, which is announced as a `Retry` without a
    wait and does not count as an attempt. Without `images`, pictures are
    left out of what is sent.
    """

    name: str
    _: KW_ONLY
    base_url: str
    """What stands for the server in settings, and in what is kept of it."""
    model: str = ""
    """Empty if it is called as the LLM is."""
    key: Callable[[], str | None] | str | None = None
    """A call is made off the loop at first use: a keyring can block."""
    key_name: str = ""
    used_key: Callable[[], str] | None = None
    """The name of the key that is really sent, where another may take the place of `key_name`."""
    why_key: Callable[[str], str] | None = None
    """Tells in a sentence where a key of a name was found or sought."""
    images: bool = False
    """Whether the user says that it takes pictures."""
    sampling: Sampling = field(default_factory=Sampling)
    timeout_seconds: float = 120.0
    """For the next piece of an answer."""
    total_timeout_seconds: float = 1800.0
    """For the whole answer."""
    attempts: int = 4
    patient: bool = False
    """Whether to ask for as long as the server does not answer at all."""
    prices: Prices = field(default_factory=Prices)
    first_wait: float = 1.0
    """Seconds between attempts, at first and at most, a server's Retry-After included."""
    longest_wait: float = 60.0
    headers: Mapping[str, str] = field(default_factory=dict)
    """Added to each request; a value ``$NAME`` is what `find_secret` returns for that name."""
    find_secret: Callable[[str], str | None] = lambda name: None
    body: Mapping[str, Any] = field(default_factory=dict)
    """Fields that are added to each request."""
    api_version: str = ""
    """That of Azure, which the server is then."""
    limits: Limits = field(default_factory=Limits)
    meter: Meter = field(default_factory=Meter)
    kept: HonouredFile = field(default_factory=HonouredFile)
    """Keeps what the server was seen to honour."""

    def __post_init__(self) -> None:
        self.address = self.base_url
        """Where requests are sent."""
        self.model = self.model or self.name
        self._key: str | None = None
        self._secrets: tuple[str, ...] = ()
        self._left_out: dict[str, Any] = {}
        """Headers that the openai package would send of its own accord."""
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"OpenAICompatibleLLM({self.name!r}, base_url={origin(self.base_url)!r}, model={self.model!r})"

    @property
    def server(self) -> str:
        """The server as messages name it."""
        return f"The LLM server at {origin(self.base_url)}"

    @property
    def takes_images(self) -> bool:
        """Whether pictures are sent: where the user says so, until the server refuses one."""
        return self.images and "images" not in self.honoured.given_up

    @property
    def honoured(self) -> Honoured:
        """What is known of what the server honours for this model."""
        return self.kept.of(self.base_url, self.model)

    @property
    def lists_models(self) -> bool:
        """Whether the server tells which models it has; Azure's deployments do not."""
        return not self.api_version

    def use_honoured(self, honoured: Honoured) -> None:
        """Go by this from now on, and keep it: a test has found it."""
        self.kept.keep(self.base_url, self.model, honoured)

    def _add_honoured(self, honoured: Honoured) -> None:
        self.kept.add(self.base_url, self.model, honoured)

    def _note_schema(self, outcome: Assembly, sent: dict[str, Any]) -> str:
        """Return a note on a reply that does not keep to its schema; from several in a row on it is asked otherwise."""
        dialect = Dialect(self.honoured)
        kept = dialect.keeps(outcome, sent)
        if kept is None:
            return ""
        missed = self.kept.missed(self.base_url, self.model, kept=kept)
        if kept:
            return ""
        note = dialect.not_kept(sent, step_down=missed)
        if missed:
            self.kept.lower(self.base_url, self.model, dialect.honoured.schema_level)
        return note

    @property
    def reply_format(self) -> ReplyFormat:
        """The form in which it answers best, by what was seen in a test."""
        return self.honoured.reply_format

    @property
    def follows_schema(self) -> bool | None:
        """Whether the server follows a JSON schema; None if that was not tested, and it has not refused one."""
        return self.honoured.follows_schema

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

        def announce(reason: str, wait: float, *, attempt: bool = False) -> None:
            retry = Retry(reason=reason, waited=wait, attempt=attempt)
            retries.append(retry)
            if on_retry is not None:
                on_retry(retry)

        limited = True
        discarded = LLMReply(cost=0.0, cached_cost=0.0)
        while True:
            # A local LLM may have been started again since.
            client = await self._open()
            sent = Dialect(self.honoured).arguments(
                request, self.model, self.sampling, images=self.images, limited=limited
            )
            await self._await_turn(functools.partial(self._estimate, sent), announce)
            asked = client.chat.completions.with_streaming_response.create(
                **sent, extra_headers=self._left_out, extra_body=self.body or None
            )
            outcome = await self._attempt(asked, on_text)
            if isinstance(outcome, Assembly):
                if self._ran_out_reasoning(outcome, request):
                    self._add_honoured(self.honoured.replace(reasons=True))
                    if not outcome.said_anything:
                        discarded = self._reply(outcome, sent, started, [], "").counting(discarded)
                        more = roomy_limit(request, self.sampling, reasons=True)
                        announce(
                            f"Reasoning used up max_tokens; asked again with up to {more}.", 0.0, attempt=True
                        )
                        continue
                note = outcome.cut or _unread(outcome.unread) or self._note_schema(outcome, sent)
                return self._reply(outcome, sent, started, retries, note).counting(discarded)
            # What is known may have changed while the call was out.
            dialect = Dialect(self.honoured)
            if (given_up := dialect.give_up(outcome, request, self.sampling, sent)) is not None:
                self._add_honoured(dialect.honoured)
                announce(given_up, 0.0)
                continue
            own = own_limit(request, self.sampling)
            if outcome.kind == "context" and limited and sent_limit(sent) != own:
                limited = False
                announce(f"{self.server} {outcome.reason}; asked again without a limit on the reply.", 0.0)
                continue
            if outcome.kind == "unreadable" and request.permissible is not None:
                # The model's mistake, not the server's: the caller has it repaired, or tells it as a failed step.
                unread = Assembly()
                unread.finish_reason = "error"
                note = _unread(outcome.words)
                return self._reply(unread, sent, started, retries, note).counting(discarded)
            if not outcome.passing:
                refused = LLMRefused if outcome.is_for_all else LLMError
                refused = PromptTooLong if outcome.kind == "context" else refused
                raise refused(await self._sentence(client, outcome, tokens=self._estimate(sent)))
            failures += 1
            waits = self.patient and outcome.is_away
            if failures >= self.attempts and not waits:
                raise LLMError(after_attempts(self.server, outcome, failures))
            wait = self._wait(failures, outcome)
            which = "another attempt" if waits else f"attempt {failures + 1} of {self.attempts}"
            announce(f"{self.server} {outcome.reason}; {which} follows.", wait, attempt=True)
            await asyncio.sleep(wait)

    async def _await_turn(
        self, estimate: Callable[[], int], announce: Callable[[str, float], None] = lambda reason, wait: None
    ) -> None:
        """Wait until the user's limits allow a call of so many tokens; raises LLMError if they allow none any more."""
        # To count takes a long prompt some milliseconds.
        tokens = 0 if self.limits.tokens_per_minute is None else estimate()
        self.meter.check_cost(self.name, self.limits, self.model, self.prices)
        while True:
            wait, limit = self.meter.wait(self.limits, tokens)
            if not wait:
                return
            announce(f"{limit} of the LLM {self.name} is reached; the call waits {wait:.1f} s.", wait)
            await asyncio.sleep(wait)

    def _estimate(self, sent: dict[str, Any]) -> int:
        return round(estimate_prompt(sent) * self.meter.ratios.get("tools" in sent, 1.0))

    async def relay(
        self,
        path: str,
        body: dict[str, Any],
        request: LLMRequest,
        assembly: Assembly,
        *,
        pass_on: Callable[[bytes], None],
        on_text: Callable[[str], None] | None = None,
    ) -> LLMReply:
        """Send the request of another program in its own words, and pass on the bytes of the answer as they come.

        `path` is ``/chat/completions`` or ``/responses``, `request` what the
        body asks, `assembly` reads the answer. The model is this one's. Nothing
        is tried again: that is the other program's to do. Raises RelayError.
        """
        started = time.perf_counter()
        client = await self._open()
        sent = Dialect().arguments(request, self.model, self.sampling, images=True)
        await self._await_turn(functools.partial(self._estimate, sent))
        resource = client.responses if path == "/responses" else client.chat.completions
        asked = resource.with_streaming_response.create(  # type: ignore[call-overload]
            **({"input": []} if path == "/responses" else {"messages": []}),
            model=self.model,
            stream=bool(body.get("stream")),
            extra_headers=self._left_out,
            extra_body={**body, "model": self.model, **self.body},
        )
        outcome = await self._attempt(asked, on_text, assembly, pass_on)
        if isinstance(outcome, LLMFailure):
            raise RelayError(f"{self.server} {outcome.reason}.", outcome.status)
        return self._reply(outcome, sent, started, [], outcome.cut)

    def _ran_out_reasoning(self, outcome: Assembly, request: LLMRequest) -> bool:
        """Return whether reasoning took all of a limit that is meant for what is said."""
        spent = not outcome.said_anything if outcome.reasoning else part_thinking(outcome.text).is_open
        limits = (roomy_limit(request, self.sampling, reasons=reasons) for reasons in (False, True))
        may_be_longer = not self.honoured.reasons and len(set(limits)) > 1
        return outcome.finish_reason == "length" and spent and may_be_longer

    async def models(self) -> tuple[str, ...]:
        """Return the names of the models the server has, sorted; raises LLMError."""
        client = await self._open()
        found = await self._list(client)
        if isinstance(found, LLMFailure):
            raise LLMError(await self._sentence(client, found, listing=True))
        return found

    async def embeddings(self, body: Mapping[str, Any]) -> Any:
        """Return what the server answers to a request for vectors, as plain JSON, or an LLMFailure.

        The model is this one's unless the request names one. The user's limits hold as for a reply. Raises LLMError.
        """
        from core.llm import wire

        client = (await self._open()).with_options(max_retries=self.attempts - 1)

        def estimate() -> int:
            return tokens_of(body.get("input"))

        await self._await_turn(estimate)
        model = str(body.get("model") or self.model)
        asked = client.embeddings.with_streaming_response.create(
            model=model,
            input=[],
            encoding_format="float",
            extra_headers=self._left_out,
            extra_body={**body, "model": model, **self.body},
        )
        answer = await self._whole(
            asked, wire.LARGEST_VECTORS, self.timeout_seconds, self.total_timeout_seconds
        )
        if not isinstance(answer, LLMFailure):
            told = answer.get("usage") if isinstance(answer, dict) else None
            tokens = counted_tokens(told, "prompt_tokens")
            usage = Usage(prompt_tokens=estimate() if tokens is None else tokens, estimated=tokens is None)
            self.meter.count(usage, self.prices.costs("", usage, model)[0], model, "")
        return answer

    async def _whole(
        self,
        asked: "AbstractAsyncContextManager[AsyncAPIResponse[Any]]",
        largest: int,
        silence: float,
        seconds: float,
    ) -> Any:
        """Return an answer of one piece as plain JSON, or an LLMFailure; it has so many seconds in all."""
        from core.llm import wire

        try:
            async with asyncio.timeout(seconds), asked as response:
                return await wire.read_whole(response.http_response, largest)
        except TimeoutError:
            return LLMFailure(reason=f"did not end its answer within {seconds:g} seconds", kind="slow")
        except call_errors() as error:
            return self._failure(error, silence)

    def _failure(self, error: Exception, silence: float) -> LLMFailure:
        return from_exception(error, name=self.name, secrets=self._secrets, timeout=silence)

    async def close(self) -> None:
        """Release connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open(self) -> "AsyncOpenAI":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    @property
    def hidden(self) -> tuple[str, ...]:
        """What is sent to the server and is not to be stored: its key and secret headers, once they are known."""
        return self._secrets

    def secrets(self) -> dict[str, str]:
        """Return the key and what headers stand for, by their names, for the same LLM in another process."""
        own = {name: self.find_secret(name) for name in header_keys(self.headers)}
        return {name: value for name, value in {self.key_name: self.find_key(), **own}.items() if value}

    def find_key(self) -> str | None:
        """Return the key for the server, or None if it has none; asks a keyring, which may take its time."""
        key = self.key() if callable(self.key) else self.key
        return (key or "").strip() or None

    def _make_client(self) -> "AsyncOpenAI":
        # The import takes over half a second and a keyring may ask to be unlocked: both stay off the loop.
        import httpx2
        import openai

        from core.llm import wire

        key = self.find_key()
        if key is not None and not (key.isascii() and key.isprintable()):
            raise LLMRefused(
                f"The key {self.key_name or 'for this server'} contains invalid characters; store it again."
            )
        self._key = key
        headers = {name: self._value(name, text) for name, text in self.headers.items()}
        # A header such as the program's name is no secret, and may stand in any text.
        own = (text for name, text in headers.items() if text != self.headers[name] or len(text) >= 20)
        self._secrets = tuple(filter(is_key, (key or "", *own)))
        if self.api_version and key:
            headers["api-key"] = key
        # The package would fill these from the environment, whoever the server is.
        left_out = [] if key and not self.api_version else ["Authorization"]
        left_out = [] if "authorization" in map(str.lower, headers) else left_out
        if origin(self.base_url) != "https://api.openai.com":
            left_out += ["OpenAI-Organization", "OpenAI-Project"]
        self._left_out = {name: openai.Omit() for name in left_out}
        timeout = httpx2.Timeout(self.timeout_seconds, connect=min(_CONNECT_SECONDS, self.timeout_seconds))
        try:
            httpx2.URL(self.address)
        except httpx2.InvalidURL as error:
            raise LLMRefused(
                f"The address {self.base_url} of the LLM {self.name} cannot be used ({clean(str(error))}); "
                "correct base_url."
            ) from None
        http = openai.DefaultAsyncHttpxClient(
            verify=_certificates(),
            # A proxy from the environment cannot reach this machine's own servers.
            trust_env=not is_loopback(self.address),
            follow_redirects=False,
            event_hooks={"response": [wire.check_response]},
        )
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self.address,
            timeout=timeout,
            max_retries=0,
            http_client=http,
            # As the client's own: the package logs those of a request.
            default_headers={**wire.HEADERS, **headers},
            default_query={"api-version": self.api_version} if self.api_version else None,
        )

    def _value(self, header: str, text: str) -> str:
        if not text.startswith("$"):
            return text
        found = (self.find_secret(text[1:]) or "").strip()
        if not found or not (found.isascii() and found.isprintable()):
            raise LLMRefused(
                f'The header "{header}" of the LLM {self.name} needs the key {text[1:]}, which is neither in the '
                "environment nor in the system keyring; set it there."
            )
        return found

    async def _attempt(
        self,
        asked: "AbstractAsyncContextManager[AsyncAPIResponse[Any]]",
        on_text: Callable[[str], None] | None,
        assembly: Assembly | None = None,
        pass_on: Callable[[bytes], None] | None = None,
    ) -> Assembly | LLMFailure:
        assembly = assembly or Assembly()
        failure: LLMFailure | None = None
        limit = asyncio.timeout(self.total_timeout_seconds)
        try:
            async with limit:
                failure = await self._read(asked, assembly, on_text, pass_on)
        except TimeoutError:
            if not limit.expired():
                raise  # A listener's own.
            if not assembly.finish_reason:  # Else all has come, and only the end of the stream is missing.
                failure = LLMFailure(
                    reason=f"did not end its answer within {self.total_timeout_seconds:g} seconds",
                    kind="slow",
                )
        if failure is None and not assembly.finish_reason:
            failure = LLMFailure(reason="ended its answer too early", passing=True, kind="broken")
        if failure is None:
            return assembly
        return self._half_way(failure, assembly) if assembly.begun else failure

    async def _read(
        self,
        asked: "AbstractAsyncContextManager[AsyncAPIResponse[Any]]",
        assembly: Assembly,
        on_text: Callable[[str], None] | None,
        pass_on: Callable[[bytes], None] | None,
    ) -> LLMFailure | None:
        """Read one answer into `assembly`; return what went wrong on the way."""
        from core.llm import wire

        async with AsyncExitStack() as stack:
            try:
                response = (await stack.enter_async_context(asked)).http_response
                if pass_on is not None:
                    wire.copy_to(response, pass_on)
                whole = wire.is_whole(response)
                chunks = wire.read_answer(response)
                stack.push_async_callback(chunks.aclose)
            except call_errors() as error:
                return self._failure(error, self.timeout_seconds)
            while not assembly.cut:
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    break
                except call_errors() as error:
                    failure = self._failure(error, self.timeout_seconds)
                else:
                    if not (isinstance(chunk, dict) and chunk.get("error")):
                        self._pass_on(assembly.add(chunk), on_text)
                        continue
                    failure = from_body(chunk, secrets=self._secrets)
                if assembly.finish_reason:
                    break
                if failure.kind == "unreadable" and assembly.begun:
                    # What the model wrote has come, and may be read better here.
                    assembly.finish_reason, assembly.unread = "error", failure.words
                    break
                return failure
            if whole and assembly.begun:
                assembly.finish_reason = assembly.finish_reason or "stop"
        return None

    @staticmethod
    def _pass_on(text: str, on_text: Callable[[str], None] | None) -> None:
        if text and on_text is not None:
            on_text(text)

    @staticmethod
    def _half_way(failure: LLMFailure, assembly: Assembly) -> LLMFailure:
        text = assembly.text or assembly.reasoning
        came = f"{len(text)} characters" if text else "part of a tool call"
        return failure.replace(reason=f"{failure.reason}, half-way, after {came}")

    def _reply(
        self, assembly: Assembly, sent: dict[str, Any], started: float, retries: list[Retry], note: str
    ) -> LLMReply:
        """Return what was answered, and count what it took."""
        usage = assembly.usage(sent)
        cost, cached_cost = self.prices.costs(assembly.model, usage, self.model)
        pictures = any(isinstance(one.get("content"), list) for one in sent["messages"])
        if not usage.estimated and not pictures and (estimated := estimate_prompt(sent)) >= _TELLING:
            # Some servers leave cached tokens out of their count.
            self.meter.ratios["tools" in sent] = min(max(usage.prompt_tokens / estimated, 0.5), 2.0)
        self.meter.count(usage, cost, self.model, assembly.model)
        return LLMReply(
            text=assembly.text,
            tool_calls=assembly.tool_calls,
            usage=usage,
            seconds=time.perf_counter() - started,
            model=assembly.model or self.model,
            cost=cost,
            cached_cost=cached_cost,
            retries=tuple(retries),
            finish_reason=assembly.finish_reason,
            refused=assembly.refused,
            reasoning=assembly.reasoning,
            reasoning_tokens=assembly.reasoning_tokens,
            note=note,
        )

    def _wait(self, failures: int, failure: LLMFailure) -> float:
        if failure.retry_after is not None:
            return min(failure.retry_after, self.longest_wait)
        doubled = min(self.first_wait * 2.0 ** min(failures - 1, 30), self.longest_wait)
        return doubled * random.uniform(0.5, 1.0)

    async def _sentence(
        self, client: "AsyncOpenAI", failure: LLMFailure, *, listing: bool = False, tokens: int = 0
    ) -> str:
        """Return what failed for good and what to check; `tokens` is about how many the prompt has."""
        key = (await asyncio.to_thread(self.used_key) if self.used_key else self.key_name) or ""
        sought = key if self._key is not None else self.key_name
        why, served = "", None
        if failure.status == 401 and self.why_key is not None:
            why = await asyncio.to_thread(self.why_key, sought)
        if failure.status == 404 and not self.api_version and not listing:
            found = await self._list(client)
            served = found if not isinstance(found, LLMFailure) else None
        request = FailedRequest(
            server=self.server,
            model=self.model,
            key=key,
            sought_key=sought,
            has_key=self._key is not None,
            why_key=why,
            api_version=self.api_version,
            served=served,
            listing=listing,
            tokens=tokens,
        )
        return await asyncio.to_thread(refused_for_good, failure, request)

    async def _list(self, client: "AsyncOpenAI") -> tuple[str, ...] | LLMFailure:
        import httpx2

        from core.llm import wire

        timeout = min(_LIST_SECONDS, self.timeout_seconds)
        asked = client.models.with_streaming_response.list(
            timeout=httpx2.Timeout(timeout, connect=timeout / 2), extra_headers=self._left_out
        )
        body = await self._whole(asked, wire.LARGEST_LIST, timeout, _LIST_SECONDS)
        if isinstance(body, LLMFailure):
            return body
        models = body.get("data") if isinstance(body, dict) else body
        if not isinstance(models, list):
            return LLMFailure(reason="sent something that is not a list of models", kind="broken")
        if len(models) > _MOST_MODELS:
            return LLMFailure(reason=f"lists more than {_MOST_MODELS} models", kind="large")
        names = [model.get("id") for model in models if isinstance(model, dict)]
        return tuple(sorted(clean(name, self._secrets) for name in names if isinstance(name, str)))


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates of this machine; reading them takes a tenth of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def _unread(words: str) -> str:
    return f"The server could not read what its model wrote: {words}" if words else ""
