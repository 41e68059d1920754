"""What was found out about exemplars by trying: replays, experiments with and without, and credits, as JSON."""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import cast

from core.exemplars.library.records import ProofKind
from core.exemplars.library.tables import plain
from core.storage.database import DatabaseFile


class Proofs:
    """Those of a library: each method is one transaction, and raises LibraryError."""

    def __init__(
        self, database: Callable[[], DatabaseFile], writing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """`writing` begins a transaction of the library, which makes its file where there is none yet."""
        self._database = database
        self._writing = writing

    def save(
        self, kind: ProofKind, about: str, when: float, content: str, *, number: int | None = None
    ) -> int:
        """Store what was found out, in place of the one of that number where it is given; returns its number."""
        with self._writing():
            values = {"when": when, "content": plain(content)}
            if number is not None:
                self._database().table("proofs").update(number, values)
                return number
            values |= {"kind": kind, "about": plain(about)}
            return cast(int, self._database().table("proofs").insert(values).last_pk)

    def save_all(self, kind: ProofKind, found: Iterable[tuple[str, str]]) -> None:
        """Store contents by what they are about, in place of all that was known of that kind about these."""
        moment, contents = time.time(), {plain(about): plain(content) for about, content in found}
        rows = (
            {"kind": kind, "about": about, "when": moment, "content": content}
            for about, content in contents.items()
        )
        with self._writing():
            self._database().execute(
                "DELETE FROM proofs WHERE kind = ? AND about IN (SELECT value FROM json_each(?))",
                (kind, json.dumps(list(contents))),
            )
            self._database().table("proofs").insert_all(rows)

    def of(
        self, kind: ProofKind, about: Iterable[str] = (), *, limit: int = 200
    ) -> tuple[tuple[int, str], ...]:
        """Return numbers and contents, the oldest first and the latest `limit` of them; all if none is named."""
        with self._database().read():
            names = [plain(name) for name in about]
            wanted = "AND about IN (SELECT value FROM json_each(?))" if names else ""
            rows = self._database().rows(
                f"SELECT number, content FROM proofs WHERE kind = ? {wanted} ORDER BY number DESC LIMIT ?",
                (kind, *([json.dumps(names)] if names else []), limit),
            )
            return tuple((row["number"], row["content"]) for row in reversed(rows))

    def since(self, kind: ProofKind, when: float) -> tuple[str, ...]:
        """Return the contents of what was found out since a moment, the oldest first."""
        with self._database().read():
            rows = self._database().rows(
                'SELECT content FROM proofs WHERE kind = ? AND "when" >= ? ORDER BY number', (kind, when)
            )
            return tuple(row["content"] for row in rows)

    def moment(self, kind: ProofKind) -> float | None:
        """Return when the last one of a kind was found out, in seconds since the epoch."""
        with self._database().read():
            row = self._database().row('SELECT max("when") AS moment FROM proofs WHERE kind = ?', (kind,))
            return None if row is None else row["moment"]
