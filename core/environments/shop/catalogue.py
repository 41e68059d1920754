"""The shop's products, made from its word lists, and the search in them.

They are always the same ones, under the same ids.
"""

import hashlib
import random
import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from core.environments.shop.words import (
    Attribute,
    Department,
    ProductType,
    ShopWords,
    headline,
    read_words,
    spoken,
    with_article,
)
from core.schema.errors import DataError
from core.schema.record import Record

Cents = int


class ProductOptions(Record):
    """One choice that a buyer of the product makes."""

    name: str
    title: str
    values: tuple[str, ...]
    factors: tuple[float, ...] = ()
    """Of the price, one for each value; empty if all cost the same."""


class Product(Record):
    """One thing for sale."""

    id: str
    type: str
    department: str
    shelf: str
    icon: str
    brand: str
    series: str
    title: str
    base_price: Cents
    attributes: tuple[str, ...]
    """What it is, as the judge knows it; no page lists them."""
    groups: tuple[ProductOptions, ...] = ()
    features: tuple[str, ...] = ()
    description: str = ""

    @property
    def category(self) -> tuple[str, str, str]:
        """Department, shelf and type, the widest first."""
        return self.department, self.shelf, self.type

    def chosen(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return those of the options that the product offers, in the order of its groups."""
        return {
            group.name: options[group.name]
            for group in self.groups
            if options.get(group.name) in group.values
        }

    def unchosen(self, options: Mapping[str, str]) -> tuple[ProductOptions, ...]:
        """Return the groups that still lack a value."""
        chosen = self.chosen(options)
        return tuple(group for group in self.groups if group.name not in chosen)

    def price_range(self, options: Mapping[str, str] | None = None) -> tuple[Cents, Cents]:
        """Return the lowest and the highest price, given the options chosen so far."""
        chosen = self.chosen(options or {})
        low = high = 1.0
        for group in self.groups:
            if not group.factors:
                continue
            if group.name in chosen:
                factor = group.factors[group.values.index(chosen[group.name])]
                low, high = low * factor, high * factor
            else:
                low, high = low * min(group.factors), high * max(group.factors)
        return _rounded(self.base_price * low), _rounded(self.base_price * high)


class Review(Record):
    author: str
    stars: int
    """From 1 to 5."""
    title: str
    text: str


def dollars(cents: Cents) -> str:
    """Return an amount as the shop shows it: ``$1,249.00``."""
    return f"${cents / 100:,.2f}"


def _rounded(cents: float) -> Cents:
    """Return a price that ends in 9."""
    return int(cents / 10 + 0.5) * 10 - 1


# Chance

Item = TypeVar("Item")


class Dice:
    """A stream of choices that depends on the words it is seeded with and on nothing else.

    Only `Random.random` is promised to stay as it is from one Python to the
    next, so every choice is made from that.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"))

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to `limit` - 1."""
        return int(self._random.random() * limit)

    def chance(self, share: float) -> bool:
        """Return true in `share` of all cases, from 0 to 1."""
        return self._random.random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` of the items, in the order they have in `items`."""
        chosen = sorted(self.shuffled(range(len(items)))[:count])
        return [items[index] for index in chosen]

    def run(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` neighbours from `items`."""
        start = self.below(len(items) - count + 1)
        return list(items[start : start + count])


# The catalogue

PRODUCTS_OF_A_TYPE = 30
ID_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MOST_IN_TITLE = 2
"""Attributes that a title names; the others are in the texts alone."""
MOST_VALUES = 8
STARS = (5, 5, 5, 5, 4, 4, 4, 3, 3, 2, 1)
"""How reviews are spread."""


class ProductCatalogue:
    """All products of the shop, by department and type."""

    def __init__(self, words: ShopWords) -> None:
        self.words = words
        self.products = tuple(
            product
            for department in words.departments
            for kind in department.types
            for product in _products(words, department, kind)
        )
        self._by_id = {product.id: product for product in self.products}

    def find(self, id: str) -> Product | None:
        return self._by_id.get(id)

    def product(self, id: str) -> Product:
        """Return the product of that id; raises DataError if the shop never had it."""
        found = self._by_id.get(id)
        if found is None:
            raise DataError(f"The shop has no product with the id {id!r}.")
        return found

    def of_type(self, name: str) -> tuple[Product, ...]:
        return tuple(product for product in self.products if product.type == name)

    def reviews(self, product: Product) -> tuple[Review, ...]:
        """Return what buyers wrote, the same at each call; some products have no reviews yet."""
        words = self.words.texts.reviews
        dice = Dice(f"reviews of {product.id}")
        if dice.chance(0.06):
            return ()
        luck = dice.below(3)
        reviews: list[Review] = []
        said: set[str] = set()
        for author in dice.shuffled(words.authors)[: 2 + dice.below(6)]:
            stars = max(dice.pick(STARS) for _ in range(luck + 1))
            unsaid = [text for text in words.texts[str(stars)] if text not in said]
            if not unsaid:
                continue
            text = dice.pick(unsaid)
            said.add(text)
            if stars >= 3 and dice.chance(0.5):
                attribute = self.words.attributes[dice.pick(product.attributes)]
                remark = dice.pick(words.remarks[attribute.kind])
                text += " " + remark.format(attribute=spoken(attribute.name))
            title = dice.pick(words.titles[str(stars)])
            reviews.append(Review(author=author, stars=stars, title=title, text=text))
        return tuple(reviews)


@lru_cache(maxsize=1)
def bundled_catalogue() -> ProductCatalogue:
    """Return the catalogue of the bundled shop, made at the first call."""
    return ProductCatalogue(read_words())


def named_features(attributes: list[Attribute]) -> str:
    """Return features as one says them after "with": ``a straw lid and arch support``."""
    return " and ".join(
        with_article(spoken(attribute.name)) if attribute.article else spoken(attribute.name)
        for attribute in attributes
    )


def _products(words: ShopWords, department: Department, kind: ProductType) -> list[Product]:
    products: list[Product] = []
    taken: set[tuple[str, str]] = set()
    for index in range(PRODUCTS_OF_A_TYPE):
        seed = f"{kind.name} {index}"
        dice = Dice(seed)
        brand, series = dice.pick(words.texts.brands), dice.pick(words.texts.series)
        while (brand, series) in taken:
            series = dice.pick(words.texts.series)
        taken.add((brand, series))
        attributes = _attributes(words, kind, dice)
        in_title = dice.some(attributes, min(len(attributes), dice.below(MOST_IN_TITLE + 1)))
        features, description = _texts(words, kind, dice, attributes, in_title)
        low, high = kind.price
        products.append(
            Product(
                id=_id(seed),
                type=kind.name,
                department=department.title,
                shelf=kind.shelf,
                icon=department.icon,
                brand=brand,
                series=series,
                title=_title(kind, brand, series, in_title),
                base_price=(low + dice.below(high - low + 1)) * 100 - (1 if dice.chance(0.6) else 51),
                attributes=tuple(sorted(attribute.name for attribute in attributes)),
                groups=_groups(words, kind, dice),
                features=tuple(text.format(brand=brand, series=series) for text in features),
                description=description.format(brand=brand, series=series),
            )
        )
    return products


def _attributes(words: ShopWords, kind: ProductType, dice: Dice) -> list[Attribute]:
    """Return four or five attributes, of each slot one alternative at most."""
    slots = dice.some(kind.slots, 4 + dice.below(2))
    return [words.attributes[dice.pick(slot)] for slot in slots]


def _texts(
    words: ShopWords, kind: ProductType, dice: Dice, attributes: list[Attribute], in_title: list[Attribute]
) -> tuple[list[str], str]:
    """Return features and description: each attribute is in one of them, unless the title has it."""
    features: list[str] = []
    described: list[str] = []
    for attribute in attributes:
        as_feature, as_description = dice.chance(0.55), dice.chance(0.45)
        if not as_feature and not as_description and attribute not in in_title:
            as_feature = dice.chance(0.5)
            as_description = not as_feature
        if as_feature:
            features.append(attribute.texts[0])
        if as_description:
            described.append(attribute.texts[1])
    features += dice.some(words.texts.features, 1 + dice.below(2))
    about = dice.some(kind.about, 1 + dice.below(len(kind.about)))
    sentences = [*about, *dice.shuffled(described), dice.pick(words.texts.closings)]
    return dice.shuffled(features), " ".join(sentences)


def _title(kind: ProductType, brand: str, series: str, named: list[Attribute]) -> str:
    """Return a title such as ``Varlow Tide Leak Proof Water Bottle with Straw Lid``."""

    def of(sort: str) -> list[str]:
        return [headline(attribute.name) for attribute in named if attribute.kind == sort]

    title = " ".join([brand, series, *of("quality"), *of("material"), headline(kind.name)])
    if features := of("feature"):
        title += " with " + " and ".join(features)
    if uses := of("use"):
        title += " for " + " and ".join(uses)
    return title


def _groups(words: ShopWords, kind: ProductType, dice: Dice) -> tuple[ProductOptions, ...]:
    """Return the option groups; one product in seven comes in a single color."""
    groups = []
    one_color = dice.chance(1 / 7)
    for name, values in kind.options:
        if name == "color" and one_color:
            continue
        offer = words.lists[values]
        most = min(len(offer.values), MOST_VALUES)
        count = min(3, most) + dice.below(most - min(3, most) + 1)
        indexes = range(len(offer.values))
        chosen = dice.run(indexes, count) if offer.run else dice.some(indexes, count)
        groups.append(
            ProductOptions(
                name=name,
                title=words.groups[name].title,
                values=tuple(offer.values[index] for index in chosen),
                factors=tuple(offer.factors[index] for index in chosen) if offer.factors else (),
            )
        )
    return tuple(groups)


def _id(seed: str) -> str:
    """Return an id such as ``BK7Q2M9T4X``, which stays with its product when others come and go."""
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:5], "big")
    signs = "".join(ID_SIGNS[number >> 5 * place & 31] for place in range(8))
    return f"BK{signs}"


# Search

WEIGHTS = (4.0, 3.0, 1.5, 1.0)
"""What a word counts in title, category, features and description."""
MOST_WORDS = 32
STOP_WORDS = frozenset(
    "a an and are as at be buy by can find for from get have i in is it less like looking me my need no of on "
    "one or please some that the them these they this to under want wants which with would you".split()
)


class SearchIndex:
    """Finds products by words; safe to use from any thread.

    A product is found if it has any of the words, whole or in another form
    of the same stem. The best match comes first, and equal matches come in
    the order of their ids.
    """

    def __init__(self, products: Sequence[Product]) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5("
            "title, category, features, description, id UNINDEXED, price UNINDEXED,"
            " tokenize = 'porter unicode61')"
        )
        self._database.executemany(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    product.title,
                    " ".join(product.category),
                    " ".join(product.features),
                    product.description,
                    product.id,
                    product.price_range()[0],
                )
                for product in products
            ),
        )

    def find(self, words: str, max_price: Cents | None = None) -> tuple[str, ...]:
        """Return the ids of all products that match, of those that can be had for `max_price`.

        Words too common to tell products apart are passed over, unless there
        are no others. Without any word nothing is found.
        """
        wanted = search_words(words)
        if not wanted:
            return ()
        match = " OR ".join(f'"{word}"' for word in wanted)
        # Rounded: two machines may differ in the last digit, and ties must be ties on both.
        weights = ", ".join(str(weight) for weight in WEIGHTS)
        query = (
            "SELECT id FROM texts WHERE texts MATCH ? AND price <= ?"
            f" ORDER BY round(bm25(texts, {weights}), 6), id"
        )
        limit = max_price if max_price is not None else 2**53
        with self._lock:
            return tuple(id for (id,) in self._database.execute(query, (match, limit)))

    def close(self) -> None:
        self._database.close()


def search_words(text: str) -> list[str]:
    """Return the words that are searched for, each once."""
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", text.lower())))
    telling = [word for word in words if word not in STOP_WORDS]
    return (telling or words)[:MOST_WORDS]
