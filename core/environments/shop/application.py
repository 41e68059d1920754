"""The shop as a site: its addresses, its pages, and what a visit changes.

Search, page and chosen options are in the address, so that going back, and
opening an address again, shows the same page. The session holds only what a
visit leaves behind: items looked at, and orders. What a page shows is filled
into the templates of resources/sites/shop/templates.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.environments.shop.catalogue import (
    Cents,
    Product,
    ProductCatalogue,
    SearchIndex,
    dollars,
    search_words,
)
from core.environments.shop.words import FOLDER
from core.environments.sites import SiteAnswer, SiteRequest
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
        """Return the parameters of an address; none if nothing was searched for."""
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


SEE_OTHER, NOT_FOUND, NOT_ALLOWED = 303, 404, 405
LONGEST_WORDS = 500
"""Signs of a search; the rest is cut off."""


class ShopState(Record):
    """What a visit leaves behind."""

    visited: tuple[str, ...] = ()
    """Ids of the items looked at, each once, the first first."""
    orders: tuple[Order, ...] = ()


class ShopApplication:
    """Answers the requests of the shop."""

    name = "shop"
    state_type = ShopState

    def __init__(self, catalogue: ProductCatalogue) -> None:
        self._catalogue = catalogue
        self._index = SearchIndex(catalogue.products)
        self._pages = Pages(catalogue)

    def answer(self, request: SiteRequest, state: ShopState) -> tuple[SiteAnswer, ShopState]:
        """Answer one request; safe to call from several threads."""
        parts = tuple(request.path.strip("/").split("/"))
        posted = parts == ("buy",)
        if posted != (request.method == "POST"):
            page = self._pages.missing("This page can be opened from a link or a button of the shop only.")
            return SiteAnswer(body=page, status=NOT_ALLOWED), state
        match parts:
            case ("",):
                return SiteAnswer(body=self._pages.search()), state
            case ("search",):
                return self._search(request.query, state), state
            case ("item", id):
                return self._item(id, "", request.query, state)
            case ("item", id, tab) if tab in TABS:
                return self._item(id, tab, request.query, state)
            case ("buy",):
                return self._buy(request.form, state)
            case ("orders",):
                return SiteAnswer(body=self._pages.orders(state.orders)), state
            case ("orders", number):
                return self._order(number, state), state
        return self._missing("There is no page at this address."), state

    def _search(self, query: Mapping[str, str], state: ShopState) -> SiteAnswer:
        words = " ".join(query.get("q", "").split())[:LONGEST_WORDS]
        typed = query.get("max_price", "").strip()
        max_price: Cents | None = None
        words_error = "" if search_words(words) else "Type at least one word to search for."
        price_error = ""
        try:
            max_price = read_price(typed)
        except ValueError:
            price_error = "Give the maximum price as a number, such as 40 or 39.99."
        if words_error or price_error:
            page = self._pages.search(
                words=words, max_price=typed, words_error=words_error, price_error=price_error
            )
            return SiteAnswer(body=page)
        terms = SearchTerms(words=words, max_price=max_price, page=read_page(query.get("page", "")))
        found = self._index.find(words, max_price)
        if terms.page > last_page_of(found):
            return SiteAnswer(status=SEE_OTHER, location=terms.turned_to(last_page_of(found)).address)
        return SiteAnswer(body=self._pages.results(terms, found, state.visited))

    def _item(
        self, id: str, tab: str, query: Mapping[str, str], state: ShopState
    ) -> tuple[SiteAnswer, ShopState]:
        product = self._catalogue.find(id)
        if product is None:
            return self._missing(f"The shop has no item {id}."), state
        if id not in state.visited:
            state = state.replace(visited=(*state.visited, id))
        page = self._pages.item(
            product, read_terms(query), _asked(product, query), tab=tab, buying="missing" in query
        )
        return SiteAnswer(body=page), state

    def _buy(self, form: Mapping[str, str], state: ShopState) -> tuple[SiteAnswer, ShopState]:
        product = self._catalogue.find(form.get("item", ""))
        if product is None:
            return self._missing("This item is not for sale."), state
        asked = _asked(product, form)
        if product.unchosen(asked):
            address = item_address(product, read_terms(form), {**asked, "missing": "options"})
            return SiteAnswer(status=SEE_OTHER, location=address), state
        options = product.chosen(asked)
        price, _ = product.price_range(options)
        order = Order(number=len(state.orders) + 1, product=product.id, options=options, price=price)
        state = state.replace(orders=(*state.orders, order))
        return SiteAnswer(status=SEE_OTHER, location=f"/orders/{order.number}"), state

    def _order(self, number: str, state: ShopState) -> SiteAnswer:
        order = next((order for order in state.orders if str(order.number) == number), None)
        if order is None:
            return self._missing("There is no such order.")
        return SiteAnswer(body=self._pages.order(order))

    def _missing(self, what: str) -> SiteAnswer:
        return SiteAnswer(body=self._pages.missing(what), status=NOT_FOUND)


def read_price(typed: str) -> Cents | None:
    """Return a typed amount in cents, None if nothing was typed; raises ValueError for what is not an amount."""
    if not typed:
        return None
    match = re.fullmatch(r"\$?\s*([0-9]{1,7})(?:\.([0-9]{1,2}))?", typed.replace(",", ""))
    if match is None:
        raise ValueError(f"{typed!r} is not an amount")
    return int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0"))


def read_page(typed: str) -> int:
    """Return the number of a page; the first for what is not a number."""
    return max(1, int(typed)) if re.fullmatch(r"[0-9]{1,6}", typed) else 1


def read_terms(query: Mapping[str, str]) -> SearchTerms:
    """Return the search that an item's address carries."""
    try:
        price = read_price(query.get("max_price", "").strip())
    except ValueError:
        price = None
    return SearchTerms(
        words=" ".join(query.get("q", "").split())[:LONGEST_WORDS],
        max_price=price,
        page=read_page(query.get("page", "")),
    )


def _asked(product: Product, query: Mapping[str, str]) -> dict[str, str]:
    """Return the values given for the product's option groups, whether they are on offer or not."""
    return {group.name: query[group.name] for group in product.groups if query.get(group.name)}
