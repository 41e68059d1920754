"""The shop's pages: what each shows, filled into the templates of resources/sites/shop/templates."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.environments.shop.catalogue import ProductCatalogue
from core.environments.shop.product import Cents, Product, dollars
from core.environments.shop.words import FOLDER
from core.schema.record import Record

PAGE_SIZE = 10
TABS = ("description", "features", "reviews")
"""The pages below an item's own."""


class SearchTerms(Record):
    """What a visitor looked for, as the addresses of results and items carry it."""

    words: str = ""
    max_price: Cents | None = None
    page: int = 1

    def query(self) -> dict[str, str]:
        """Return the parameters of an address; none where nothing was searched for."""
        if not self.words:
            return {}
        query = {"q": self.words}
        if self.max_price is not None:
            query["max_price"] = f"{self.max_price / 100:.2f}".removesuffix(".00")
        if self.page > 1:
            query["page"] = str(self.page)
        return query

    def turned_to(self, page: int) -> "SearchTerms":
        return self.replace(page=page)

    @property
    def address(self) -> str:
        """Of the page of results."""
        return f"/search?{urlencode(self.query())}" if self.words else "/"


class Order(Record):
    """Something that was bought."""

    number: int
    """From 1 in every session."""
    product: str
    """The product's id."""
    options: dict[str, str]
    """All values chosen, by option group."""
    price: Cents


class Pages:
    """Draws pages; keeps nothing of a visit."""

    def __init__(self, catalogue: ProductCatalogue) -> None:
        self._catalogue = catalogue
        self._templates = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["dollars"] = dollars
        self._templates.filters["stars"] = lambda rating: f"{rating:.1f}"

    def search(
        self, *, words: str = "", max_price: str = "", words_error: str = "", price_error: str = ""
    ) -> bytes:
        """Return the search page, with what was typed and why it cannot be searched for."""
        return self._draw(
            "search",
            words=words,
            max_price=max_price,
            words_error=words_error,
            price_error=price_error,
            departments=self._catalogue.words.departments,
        )

    def results(self, terms: SearchTerms, found: tuple[str, ...], visited: tuple[str, ...]) -> bytes:
        """Return one page of what was found."""
        first = (terms.page - 1) * PAGE_SIZE
        last_page = last_page_of(found)
        return self._draw(
            "results",
            terms=terms,
            total=len(found),
            first=first + 1,
            last_page=last_page,
            previous=terms.turned_to(terms.page - 1).address if terms.page > 1 else "",
            next=terms.turned_to(terms.page + 1).address if terms.page < last_page else "",
            rows=[
                {
                    **self._facts(product, {}),
                    "address": item_address(product, terms),
                    "visited": id in visited,
                }
                for id in found[first : first + PAGE_SIZE]
                for product in [self._catalogue.product(id)]
            ],
        )

    def item(
        self,
        product: Product,
        terms: SearchTerms,
        asked: Mapping[str, str],
        *,
        tab: str = "",
        buying: bool = False,
    ) -> bytes:
        """Return an item's page with the options chosen so far; `buying` asks for those that lack."""
        chosen = product.chosen(asked)
        query = terms.query()
        unchosen = product.unchosen(asked)
        problems = [
            f"There is no {group.title.lower()} “{asked[group.name]}”."
            for group in unchosen
            if group.name in asked
        ]
        if buying and unchosen:
            named = " and ".join(group.title.lower() for group in unchosen)
            problems.append(f"Choose {named} before you buy.")
        return self._draw(
            "item",
            **self._facts(product, chosen),
            terms=terms,
            tab=tab,
            problems=problems,
            tabs=[
                (name.capitalize() or "Overview", name, item_address(product, terms, chosen, name))
                for name in ("", *TABS)
            ],
            form=f"/item/{product.id}" + (f"/{tab}" if tab else ""),
            groups=[
                {
                    "group": group,
                    "chosen": chosen.get(group.name, ""),
                    "kept": {**query, **{name: v for name, v in chosen.items() if name != group.name}},
                }
                for group in product.groups
            ],
            kept={**query, **chosen},
            reviews=self._catalogue.reviews(product),
        )

    def order(self, order: Order) -> bytes:
        """Return the page that thanks for an order."""
        return self._draw("order", **self._order(order))

    def orders(self, orders: tuple[Order, ...]) -> bytes:
        """Return the order history, the last order first."""
        return self._draw("orders", rows=[self._order(order) for order in reversed(orders)])

    def missing(self, what: str) -> bytes:
        """Return the page for an address that leads nowhere."""
        return self._draw("missing", what=what)

    def _facts(self, product: Product, chosen: Mapping[str, str]) -> dict[str, Any]:
        low, high = product.price_range(chosen)
        stars = [review.stars for review in self._catalogue.reviews(product)]
        return {
            "product": product,
            "low": low,
            "high": high,
            "rating": sum(stars) / len(stars) if stars else None,
            "review_count": len(stars),
        }

    def _order(self, order: Order) -> dict[str, Any]:
        product = self._catalogue.product(order.product)
        return {
            "order": order,
            "product": product,
            "address": item_address(product, SearchTerms(), order.options),
            "chosen": [(group.title, order.options[group.name]) for group in product.groups],
        }

    def _draw(self, template: str, **values: Any) -> bytes:
        return self._templates.get_template(f"{template}.html.jinja").render(values).encode()


def item_address(
    product: Product, terms: SearchTerms, chosen: Mapping[str, str] | None = None, tab: str = ""
) -> str:
    """Return the address of an item: it carries the options chosen and the search one came from."""
    query = urlencode({**terms.query(), **(chosen or {})})
    return f"/item/{product.id}" + (f"/{tab}" if tab else "") + (f"?{query}" if query else "")


def last_page_of(found: tuple[str, ...]) -> int:
    return max(1, -(-len(found) // PAGE_SIZE))
