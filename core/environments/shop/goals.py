"""What agents are sent to buy: goals made from the catalogue, each with its instruction."""

from functools import lru_cache

from core.environments.shop.catalogue import ProductCatalogue, bundled_catalogue, named_features
from core.environments.shop.dice import Dice
from core.environments.shop.product import Cents, Product
from core.environments.shop.reward import PurchaseGoal
from core.environments.shop.words import Attribute, Kind, ProductType, ShopWords, spoken, with_article
from core.schema.record import Record

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
