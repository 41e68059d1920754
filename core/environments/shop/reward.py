"""What a purchase is worth against a goal, in the parts that WebShop pays for.

The reward is the share of attributes, options and price limit that are met,
times how near the type is to the one asked for:

    reward = type * (attributes met + options met + price met) / (attributes + options + 1)

WebShop guesses the type from the words of titles. This catalogue knows it,
so only the very type counts in full.
"""

from collections.abc import Mapping

from core.environments.shop.product import Cents, Product, dollars
from core.environments.shop.words import spoken
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
