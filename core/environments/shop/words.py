"""The words the shop is made from: resources/sites/shop/words, read into records."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from core.schema.errors import DataError
from core.schema.record import Record
from core.storage.resources import RESOURCES

FOLDER = RESOURCES / "sites" / "shop"
"""Templates, style and words of the shop."""

Kind = Literal["quality", "feature", "material", "use"]
"""How an attribute is said: a leak proof bottle, with a straw lid, made of bamboo, for travel."""

SMALL = ("to", "the")
CAPITALS = {"bpa": "BPA", "usb": "USB", "led": "LED", "gmo": "GMO", "c": "C", "v": "V"}


class Attribute(Record):
    """Something a product can be besides its type."""

    name: str
    """Lower case, as in ``leak proof``; every text names it word for word."""
    kind: Kind
    texts: tuple[str, str]
    """One for a list of features, one for a description."""
    article: bool = False
    """Whether it is said with "a" or "an", as in ``with a straw lid``."""


class Group(Record):
    """A choice that a buyer makes, such as the color."""

    name: str
    title: str
    wordings: tuple[str, ...]
    """How an instruction says a ``{value}``."""


class ValueList(Record):
    """Values that an option group can have."""

    values: tuple[str, ...]
    factors: tuple[float, ...] = ()
    """Of the price, one for each value; empty if all cost the same."""
    run: bool = False
    """Whether a product offers neighbours only."""


class ProductType(Record):
    """A kind of thing the shop sells."""

    name: str
    shelf: str
    price: tuple[int, int]
    """The cheapest and the dearest base price, in dollars."""
    attributes: tuple[str, ...]
    """What its products may be; alternatives of which a product has one are parted by a bar."""
    options: tuple[tuple[str, str], ...]
    """Option groups, each with its list of values."""
    about: tuple[str, ...]
    article: str = "a"
    plural: bool = False

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")

    @property
    def slots(self) -> tuple[tuple[str, ...], ...]:
        """The attributes with their alternatives taken apart."""
        return tuple(tuple(part.strip() for part in slot.split("|")) for slot in self.attributes)


class Department(Record):
    title: str
    icon: str
    types: tuple[ProductType, ...]

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "-")


class ReviewWords(Record):
    authors: tuple[str, ...]
    titles: dict[str, tuple[str, ...]]
    """By the number of stars, 1 to 5."""
    texts: dict[str, tuple[str, ...]]
    remarks: dict[Kind, tuple[str, ...]]


class Texts(Record):
    """Names and sentences for products of every type."""

    brands: tuple[str, ...]
    series: tuple[str, ...]
    features: tuple[str, ...]
    closings: tuple[str, ...]
    reviews: ReviewWords


class Instructions(Record):
    """How goals are put into words."""

    patterns: tuple[str, ...]
    prices: tuple[str, ...]
    limits: tuple[str, ...]
    amounts: tuple[str, ...]
    more: dict[Kind, tuple[str, ...]]
    more_plural: dict[Kind, tuple[str, ...]]


class ShopWords(Record):
    """Everything the catalogue and its goals are made from."""

    attributes: dict[str, Attribute]
    groups: dict[str, Group]
    lists: dict[str, ValueList]
    departments: tuple[Department, ...]
    texts: Texts
    instructions: Instructions


@lru_cache(maxsize=1)
def read_words() -> ShopWords:
    """Return the words of the bundled shop; raises DataError for a file that is missing or damaged."""
    folder = FOLDER / "words"
    attributes = _table(folder / "attributes.toml")
    options = _table(folder / "options.toml")
    mass = attributes.pop("mass", [])
    try:
        return ShopWords.model_validate(
            {
                "attributes": {
                    name: {"name": name, "kind": kind, "texts": texts, "article": _countable(name, mass)}
                    for kind, entries in attributes.items()
                    for name, texts in entries.items()
                },
                "groups": {name: {"name": name, **group} for name, group in options["groups"].items()},
                "lists": options["lists"],
                "departments": [_table(path) for path in sorted((folder / "departments").glob("*.toml"))],
                "texts": _table(folder / "texts.toml"),
                "instructions": _table(folder / "instructions.toml"),
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"The words of the shop in {folder} are wrong at {place}: {first['msg']}.") from error


def spoken(name: str) -> str:
    """Return an attribute as one writes it: ``BPA free``."""
    return " ".join(CAPITALS.get(word, word) for word in name.split())


def headline(name: str) -> str:
    """Return a name as titles have it: ``BPA Free``."""
    return " ".join(
        word if word in SMALL else CAPITALS.get(word, word[:1].upper() + word[1:]) for word in name.split()
    )


def with_article(words: str) -> str:
    """Return the words after "a" or "an"."""
    vowel = words[:1].lower() in tuple("aeiou")
    # By the sound of the first letter's name: a U sounds like "you", an L like "ell".
    if words.startswith("USB"):
        vowel = False
    elif words.startswith("LED"):
        vowel = True
    return f"{'an' if vowel else 'a'} {words}"


def _countable(name: str, mass: list[str]) -> bool:
    return name not in mass and not name.endswith("s")


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}; install Backstep again.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {error}; install Backstep again.") from error
