"""What agents are sent to buy, each goal with its instruction, and what a purchase is worth against a goal.

The reward has the parts that WebShop pays for. It is the share of attributes,
options and price limit that are met, times how near the type is to the one
asked for:

    reward = type * (attributes met + options met + price met) / (attributes + options + 1)

WebShop guesses the type from the words of titles. This catalogue knows it,
so only the very type counts in full.
"""

from collections.abc import Mapping
from functools import lru_cache

from core.environments.shop.catalogue import (
    Cents,
    Dice,
    Product,
    ProductCatalogue,
    bundled_catalogue,
    dollars,
    named_features,
)
from core.environments.shop.words import Attribute, Kind, ProductType, ShopWords, spoken, with_article
from core.schema.record import Record

SAME_TYPE, SAME_SHELF, SAME_DEPARTMENT = 1.0, 0.5, 0.1


class PurchaseGoal(Record):
    """What is to be bought."""

    product: str
    """The id of the product it was made from; others may do as well."""
    department: str
    shelf: str
    type: str
    attributes: tuple[str, ...]
    options: dict[str, str]
    """Values by option group; groups that are not asked for may have any."""
    price_limit: Cents


class Score(Record):
    """The parts of a reward."""

    type: float
    """1 for the type asked for, 0.5 and 0.1 for its shelf and its department, 0 for others."""
    bought_type: str
    attributes_met: tuple[str, ...]
    attributes_missing: tuple[str, ...]
    options_met: tuple[str, ...]
    """As ``color: teal``."""
    options_missing: tuple[str, ...]
    price: Cents
    price_limit: Cents

    @property
    def price_met(self) -> bool:
        return self.price <= self.price_limit

    @property
    def reward(self) -> float:
        """From 0 to 1; 1 only if every part is met."""
        met = len(self.attributes_met) + len(self.options_met) + self.price_met
        parts = met + len(self.attributes_missing) + len(self.options_missing) + (not self.price_met)
        return self.type * met / parts

    def reason(self) -> str:
        """Return the parts in a line."""
        price = (
            f"{dollars(self.price)} is {'within' if self.price_met else 'above'} {dollars(self.price_limit)}"
        )
        return "; ".join(
            (
                f"type {self.type:g} ({self.bought_type})",
                _counted("attributes", self.attributes_met, self.attributes_missing),
                _counted("options", self.options_met, self.options_missing),
                f"price {int(self.price_met)} of 1 ({price})",
                f"reward {self.reward:.3f}",
            )
        )


def score(goal: PurchaseGoal, product: Product, options: Mapping[str, str], price: Cents) -> Score:
    """Compare what was bought, with its options and at its price, with the goal."""
    has = set(product.attributes)
    chosen = product.chosen(options)
    asked = {f"{name}: {value}": chosen.get(name) == value for name, value in goal.options.items()}
    return Score(
        type=_type_part(goal, product),
        bought_type=product.type,
        attributes_met=tuple(name for name in goal.attributes if name in has),
        attributes_missing=tuple(name for name in goal.attributes if name not in has),
        options_met=tuple(name for name, met in asked.items() if met),
        options_missing=tuple(name for name, met in asked.items() if not met),
        price=price,
        price_limit=goal.price_limit,
    )


def _type_part(goal: PurchaseGoal, product: Product) -> float:
    if product.department != goal.department:
        return 0.0
    if product.shelf != goal.shelf:
        return SAME_DEPARTMENT
    return SAME_TYPE if product.type == goal.type else SAME_SHELF


def _counted(name: str, met: tuple[str, ...], missing: tuple[str, ...]) -> str:
    text = f"{name} {len(met)} of {len(met) + len(missing)}"
    return f"{text} (missing {', '.join(spoken(one) for one in missing)})" if missing else text


ROUNDS = 6
"""Goals for each type."""
KINDS: tuple[Kind, ...] = ("quality", "material", "feature", "use")


class GoalTask(Record):
    """One goal as an agent meets it."""

    name: str
    """Such as ``goal-007``."""
    instruction: str
    goal: PurchaseGoal
    tags: tuple[str, ...]
    """Department, type, and how much is asked: ``easy``, ``medium`` or ``hard``."""


def make_goals(catalogue: ProductCatalogue) -> tuple[GoalTask, ...]:
    """Return the goals, always the same: each round takes every type once, departments taking turns."""
    words = catalogue.words
    longest = max(len(department.types) for department in words.departments)
    turns = [
        (department, department.types[place])
        for place in range(longest)
        for department in words.departments
        if place < len(department.types)
    ]
    stock = {
        kind.name: Dice(f"goals for {kind.name}").shuffled(catalogue.of_type(kind.name)) for _, kind in turns
    }
    tasks: list[GoalTask] = []
    for turn in range(ROUNDS):
        for department, kind in turns:
            product = stock[kind.name][turn]
            dice = Dice(f"goal for {product.id}")
            goal = _goal(product, dice)
            asked = len(goal.attributes) + len(goal.options)
            tasks.append(
                GoalTask(
                    name=f"goal-{len(tasks):03}",
                    instruction=instruction(words, kind, goal, dice),
                    goal=goal,
                    tags=(
                        department.slug,
                        kind.slug,
                        "easy" if asked <= 2 else "medium" if asked == 3 else "hard",
                    ),
                )
            )
    return tuple(tasks)


@lru_cache(maxsize=1)
def bundled_goals() -> tuple[GoalTask, ...]:
    return make_goals(bundled_catalogue())


def instruction(words: ShopWords, kind: ProductType, goal: PurchaseGoal, dice: Dice) -> str:
    """Return the goal in words, its attributes and options as the product's pages have them."""
    attributes = [words.attributes[name] for name in goal.attributes]
    apart = dice.some(attributes, 1) if len(attributes) > 1 and dice.chance(0.5) else []
    inline = [attribute for attribute in attributes if attribute not in apart]
    text = dice.pick(words.instructions.patterns).format(
        thing=_thing(kind, inline),
        options=_options(words, goal, dice),
        more=_more(words, kind, apart, dice),
        **_price(words, goal.price_limit, dice),
    )
    return " ".join(text.split())


def _goal(product: Product, dice: Dice) -> PurchaseGoal:
    attributes = dice.some(product.attributes, 1 + dice.below(3))
    groups = list(product.groups)
    if len(groups) > 1 and dice.chance(0.3):
        groups = dice.some(groups, 1)
    options = {group.name: dice.pick(group.values) for group in groups}
    cheapest, _ = product.price_range(options)
    return PurchaseGoal(
        product=product.id,
        department=product.department,
        shelf=product.shelf,
        type=product.type,
        attributes=tuple(attributes),
        options=options,
        price_limit=_limit(cheapest, dice),
    )


def _limit(price: Cents, dice: Dice) -> Cents:
    """Return a round amount at or above the price."""
    step = 200 if price < 2000 else 500 if price < 10000 else 1000
    return -(-price // step) * step + step * dice.below(3)


def _thing(kind: ProductType, attributes: list[Attribute]) -> str:
    """Return such as ``a leak proof water bottle made of bamboo with a straw lid for travel``."""
    of: dict[Kind, list[Attribute]] = {
        name: [attribute for attribute in attributes if attribute.kind == name] for name in KINDS
    }
    noun = ", ".join(spoken(one.name) for one in of["quality"])
    noun = f"{noun} {kind.name}".strip()
    thing = with_article(noun) if kind.article in ("a", "an") else f"{kind.article} {noun}".strip()
    if of["material"]:
        thing += " made of " + " and ".join(spoken(one.name) for one in of["material"])
    if of["feature"]:
        thing += " with " + named_features(of["feature"])
    if of["use"]:
        thing += " for " + " and ".join(spoken(one.name) for one in of["use"])
    return thing


def _options(words: ShopWords, goal: PurchaseGoal, dice: Dice) -> str:
    said = [
        dice.pick(words.groups[name].wordings).format(value=value) for name, value in goal.options.items()
    ]
    if dice.chance(0.4):
        said.reverse()
    joined = dice.pick((" and ", ", ")).join(said)
    return f", {joined}" if joined else ""


def _more(words: ShopWords, kind: ProductType, attributes: list[Attribute], dice: Dice) -> str:
    sentences = words.instructions.more_plural if kind.plural else words.instructions.more
    said = []
    for attribute in attributes:
        name = named_features([attribute]) if attribute.kind == "feature" else spoken(attribute.name)
        pattern = dice.pick(sentences[attribute.kind])
        said.append(pattern.format(words=name[:1].upper() + name[1:] if pattern.startswith("{") else name))
    return " ".join(said)


def _price(words: ShopWords, limit: Cents, dice: Dice) -> dict[str, str]:
    """Return the limit in its three wordings, of which a pattern uses one."""
    amount = dice.pick(words.instructions.amounts).format(dollars=limit // 100)
    bound = dice.pick(words.instructions.limits).format(amount=amount)
    return {
        "amount": amount,
        "limit": bound,
        "price": dice.pick(words.instructions.prices).format(limit=bound),
    }
