"""What a call costs, by a price list that the user can edit."""

from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from core.schema.messages import Usage
from core.schema.record import Record
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

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
    """A list of prices: the first that matches model and prompt length holds."""

    def __init__(self, prices: tuple[Price, ...] = ()) -> None:
        self.prices = prices

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return US dollars, or None for a model that is not in the list.

        Where `usage` is estimated, so is the cost.
        """
        for price in self.prices:
            if price.up_to is not None and usage.prompt_tokens > price.up_to:
                continue
            if any(fnmatchcase(model, pattern) for pattern in price.models):
                return _cost(price, usage)
        return None


def load_prices(path: Path = PRICES_FILE, own: Path | None = None) -> Prices:
    """Read the price list, with the prices of the user's `own` file, where it exists, before it.

    Raises DataError in one sentence with file and line.
    """
    shipped = read_model(path, _PriceFile).price
    mine = read_model(own, _PriceFile).price if own is not None and own.exists() else ()
    return Prices((*mine, *shipped))


def _cost(price: Price, usage: Usage) -> float:
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    for_cached = price.input if price.cached is None else price.cached
    return (
        (usage.prompt_tokens - cached) * price.input
        + cached * for_cached
        + usage.completion_tokens * price.output
    ) / _MILLION
