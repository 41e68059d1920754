"""The shop as a site: addresses, and what a visit changes.

Search, page and chosen options are in the address, so that going back, and
opening an address again, shows the same page. The session holds only what a
visit leaves behind: items looked at, and orders.
"""

import re
from collections.abc import Mapping

from core.environments.shop.catalogue import ProductCatalogue
from core.environments.shop.pages import TABS, Order, Pages, SearchTerms, item_address, last_page_of
from core.environments.shop.product import Cents, Product
from core.environments.shop.search import SearchIndex, search_words
from core.environments.sites.application import SiteAnswer, SiteRequest
from core.schema.record import Record

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

    def fresh(self) -> ShopState:
        return ShopState()

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
    """Return a typed amount in cents, None where nothing was typed; raises ValueError for what is no amount."""
    if not typed:
        return None
    match = re.fullmatch(r"\$?\s*([0-9]{1,7})(?:\.([0-9]{1,2}))?", typed.replace(",", ""))
    if match is None:
        raise ValueError(f"{typed!r} is not an amount")
    return int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0"))


def read_page(typed: str) -> int:
    """Return the number of a page; the first for what is no number."""
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
