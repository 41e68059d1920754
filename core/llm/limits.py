"""The user's limits for the cost and rate of an LLM, and what it has used so far."""

import time
from collections import deque

from core.llm.costs import Prices
from core.schema.errors import DataError, LLMRefused
from core.schema.messages import Usage
from core.schema.record import Record

_MINUTE = 60.0


class Limits(Record):
    """Limits of one LLM; None means no limit."""

    max_cost: float | None = None
    """US dollars since the program started."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    """Of prompts and replies together."""


class Meter:
    """What one LLM has used: calls of the last minute, and US dollars since the program started."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.ratios: dict[bool, float] = {}
        """Tokens of the last prompt with tools, and without, by those of our estimate: some servers leave tools out."""
        self._unpriced: dict[str, list[tuple[str, Usage]]] = {}
        """Calls without a known price, by the model that was asked: as which it answered, and what it took."""
        self._calls: deque[float] = deque()
        """When the calls of the last minute began."""
        self._tokens: deque[tuple[float, int]] = deque()
        """When, and how many; of the last minute."""

    def check_cost(self, name: str, limits: Limits, model: str, prices: Prices) -> None:
        """Raise LLMRefused if nothing more may be spent on `model`, or if that cannot be known.

        Calls whose price was not known are counted once `prices`, read again, have one.
        """
        if limits.max_cost is None:
            return
        cannot = f"max_cost of the LLM {name} cannot be enforced"
        if self._unpriced:
            try:
                prices.read_again()
            except DataError as error:
                raise LLMRefused(f"{cannot}: {error}") from error
            self._count_priced(prices)
        if calls := self._unpriced.get(model):
            raise LLMRefused(
                f"{cannot}: no price is known for {calls[-1][0] or model}; add one to prices.toml in the config "
                "folder, choose a model with a price, or remove max_cost."
            )
        if self.spent >= limits.max_cost:
            others = (
                f", not counting calls of {', '.join(self._unpriced)}, which have no price"
                if self._unpriced
                else ""
            )
            raise LLMRefused(
                f"The LLM {name} has cost ${self.spent:.4g} since the program started{others}, and its max_cost is "
                f"${limits.max_cost:g}; raise max_cost, or choose another LLM."
            )

    def _count_priced(self, prices: Prices) -> None:
        for model, calls in [*self._unpriced.items()]:
            left = []
            for answered, usage in calls:
                cost = prices.costs(answered, usage, model)[0]
                if cost is None:
                    left.append((answered, usage))
                else:
                    self.spent += cost
            self._unpriced[model] = left
            if not left:
                del self._unpriced[model]

    def wait(self, limits: Limits, tokens: int) -> tuple[float, str]:
        """Return how many seconds a call with this prompt has to wait, and by which limit; 0 counts it as begun.

        A prompt beyond the limit of a minute is let through if nothing else was asked in that minute.
        """
        now = time.monotonic()
        while self._calls and self._calls[0] <= now - _MINUTE:
            self._calls.popleft()
        while self._tokens and self._tokens[0][0] <= now - _MINUTE:
            self._tokens.popleft()
        calls = limits.requests_per_minute
        if calls is not None and len(self._calls) >= calls:
            return self._calls[-calls] + _MINUTE - now, f"requests_per_minute = {calls}"
        most = limits.tokens_per_minute
        over = 0 if most is None else sum(some for _, some in self._tokens) + tokens - most
        for when, some in self._tokens if over > 0 else ():
            over -= some
            if over <= 0 or when == self._tokens[-1][0]:
                return when + _MINUTE - now, f"tokens_per_minute = {most}"
        self._calls.append(now)
        self._tokens.append((now, tokens))
        return 0.0, ""

    def count(self, usage: Usage, cost: float | None, model: str, answered: str) -> None:
        """Count a reply: its tokens, besides those of its prompt, and what the call cost.

        `answered` is what the server calls the `model` that was asked.
        """
        self._tokens.append((time.monotonic(), usage.completion_tokens))
        if cost is None:
            self._unpriced.setdefault(model, []).append((answered, usage))
        else:
            self.spent += cost
