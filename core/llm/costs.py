"""The cost of a call: tokens, with a fast estimate that needs no download, and their price.

The text is cut as the byte-pair encoders of OpenAI's models cut it first
(words with the space before them, up to three digits, runs of signs, line
ends), and each piece is counted by its script and length. Nothing here knows
an encoder's vocabulary, so this is an estimate.

How good it is, measured where exact counts are published: for the six chat
messages of OpenAI's cookbook recipe on counting tokens (cl100k_base, 129
tokens) and its four sample strings, the error is what
tests/core/llm/test_costs.py asserts: under 10 % for the messages and at most
two tokens for each string. For other encoders and for prose in other scripts
expect it to be off by a fifth or more. Where a server counts, its count is
used.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from core.schema.messages import Message, Usage
from core.schema.record import Record
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

TOKENS_PER_MESSAGE = 3
"""What the chat form adds to each message, by OpenAI's recipe."""
TOKENS_PER_REPLY = 3
TOKENS_PER_IMAGE = 1000
"""A picture the size of a window; servers differ by a factor of three either way."""

_PIECE = re.compile(
    r"'(?:ll|ve|re|[sdmt])\b"
    r"| ?(?P<word>[A-Z]?[a-z]+)"
    r"| ?(?P<capitals>[A-Z]+)"
    r"|(?P<digits>[ ]?[0-9]{1,3})"
    r"| ?(?P<letters>[^\W\d_]+)"
    r"|(?P<lines>\s*[\r\n]+)"
    r"| ?(?P<signs>[^\s\w]+|_+)"
    r"|(?P<blank>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_IDEOGRAPHS = 0x2E80


def count_tokens(text: str) -> int:
    """Return about how many tokens `text` has; 0 for an empty text."""
    total = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        length = match.end() - match.start()
        if kind == "word":
            letters = length - match.group().startswith(" ")
            total += 1 if letters <= 9 else 1 + (letters - 5) // 5
        elif kind == "capitals":
            total += (length + 3) // 4
        elif kind == "digits":
            total += 2 if match.group().startswith(" ") else 1
        elif kind == "letters":
            total += _letters(match.group())
        elif kind == "signs":
            total += _signs(match.group().strip(" "))
        else:
            total += 1
    return total


def tokens_of(given: object) -> int:
    """Return the tokens of an input for vectors: texts, or numbers of tokens, or lists of them."""
    if isinstance(given, list):
        return sum(map(tokens_of, given))
    return count_tokens(given) if isinstance(given, str) else 1


def _letters(word: str) -> int:
    wide = sum(1 for char in word if ord(char) >= _IDEOGRAPHS)
    narrow = len(word.lstrip(" ")) - wide
    return wide + (narrow + 2) // 3


def _signs(run: str) -> int:
    rare = sum(2 for char in run if ord(char) >= 0x1F000)
    if run == run[0] * len(run) and not rare:
        return (len(run) + 15) // 16
    common = sum(1 for char in run if ord(char) < 0x1F000)
    return max(1, rare + (common + 1) // 2)


def estimate_usage(messages: Iterable[Message], said: str) -> Usage:
    """Return about what a call takes whose tokens nobody has counted."""
    prompt = sum(count_tokens(message.text) + TOKENS_PER_MESSAGE for message in messages)
    return Usage(prompt_tokens=prompt, completion_tokens=count_tokens(said), estimated=True)


# Prices

PRICES_FILE = RESOURCES / "llm" / "prices.toml"
_MILLION = 1_000_000


class Price(Record):
    """The price of the models that match one of the patterns, in US dollars per million tokens."""

    models: tuple[str, ...] = Field(min_length=1)
    """Patterns with ``*``, ``?`` and ``[0-9]``, compared letter by letter, case included."""
    input: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Prompt tokens the server had in its cache; as `input` where the list does not say."""
    output: float = Field(ge=0, allow_inf_nan=False)
    up_to: int | None = Field(default=None, ge=1)
    """The longest prompt, in tokens, that this price holds for."""


class _PriceFile(Record):
    price: tuple[Price, ...] = ()


class Prices:
    """A list of prices: the first that matches model and prompt length is used."""

    def __init__(self, prices: tuple[Price, ...] = (), *, own: Path | None = None) -> None:
        """The prices of the user's `own` file, where it exists, go before `prices`; raises DataError."""
        self._shipped = prices
        self._own = own
        self.read_again()

    def read_again(self) -> None:
        """Take the user's file as it is now; raises DataError and leaves the list as it was."""
        own = self._own
        mine = read_model(own, _PriceFile).price if own is not None and own.exists() else ()
        self.prices = (*mine, *self._shipped)

    def costs(self, model: str, usage: Usage, other: str = "") -> tuple[float, float] | tuple[None, None]:
        """Return US dollars, and what of them is for cached prompt tokens; None for a model that is not in the list.

        `other` is another name of the model. Where `usage` is estimated, so is the cost.
        """
        price = self._price(model, usage) or self._price(other, usage)
        if price is None:
            return None, None
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        for_cached = cached * (price.input if price.cached is None else price.cached) / _MILLION
        uncached = (usage.prompt_tokens - cached) * price.input
        return (uncached + usage.completion_tokens * price.output) / _MILLION + for_cached, for_cached

    def _price(self, model: str, usage: Usage) -> Price | None:
        for price in self.prices:
            if price.up_to is not None and usage.prompt_tokens > price.up_to:
                continue
            if any(fnmatchcase(model, pattern) for pattern in price.models):
                return price
        return None


def load_prices(path: Path = PRICES_FILE, own: Path | None = None) -> Prices:
    """Read the price list, with the prices of the user's `own` file, where it exists, before it.

    Raises DataError in one sentence with file and line.
    """
    return Prices(read_model(path, _PriceFile).price, own=own)
