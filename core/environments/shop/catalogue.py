"""The shop's products, made from its word lists: always the same ones, under the same ids."""

import hashlib
from functools import lru_cache

from core.environments.shop.dice import Dice
from core.environments.shop.product import Product, ProductOptions, Review
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
        """Return the product of that id; raises DataError where the shop never had it."""
        found = self._by_id.get(id)
        if found is None:
            raise DataError(f"The shop sells nothing under the id {id!r}.")
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
        with_article(spoken(one.name)) if one.article else spoken(one.name) for one in attributes
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
    """Return four or five attributes, of each slot one alternative at the most."""
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
