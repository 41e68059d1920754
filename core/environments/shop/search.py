"""Ranked full-text search in the catalogue: BM25 over title, category, features and description."""

import re
import sqlite3
import threading
from collections.abc import Sequence

from core.environments.shop.product import Cents, Product

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
