"""What the shop sells, as records: products, their options and prices, and reviews."""

from collections.abc import Mapping

from core.schema.record import Record

Cents = int


class ProductOptions(Record):
    """One choice that a buyer of the product makes."""

    name: str
    title: str
    values: tuple[str, ...]
    factors: tuple[float, ...] = ()
    """Of the price, one for each value; empty where all cost the same."""


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

    def group(self, name: str) -> ProductOptions | None:
        return next((group for group in self.groups if group.name == name), None)

    def offers(self, name: str, value: str) -> bool:
        group = self.group(name)
        return group is not None and value in group.values

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
