"""Lists of exemplars by pages, and counts by value: conditions as SQL.

The exemplars of files are rows of temporary tables (`tables.BESIDE`), so one query covers files and library. If
an id is in both, the library's exemplar is used. Every function works inside the open transaction.
"""

import json
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

from core.exemplars.library.records import DESCENDING, Counts, Filter, LibraryRow, Order, RetrievalRecord
from core.exemplars.library.tables import plain, review_of
from core.schema.errors import LibraryError
from core.storage.database import DatabaseFile, damaged, match_of

_COLUMNS = (
    "id, family, task, environment, site, origin, run, step, llm, made, changed, tags, note, status, reviewed_by,"
    " reviewed_at, although, version, steps, contrasts, tokens"
)
_COUNTED = ("family", "environment", "site", "origin", "llm")
MOST_VALUES = 200
"""How many values of one kind are counted by name; the rarest are left out."""

_LIBRARY = ("exemplars", "exemplars_fts", "tags", "")
_BESIDE = (
    "temp.beside",
    "temp.beside_fts",
    "temp.beside_tags",
    " AND NOT EXISTS (SELECT 1 FROM main.exemplars o WHERE o.id = e.id)",
)
_SIDES = (_LIBRARY, _BESIDE)
_Side = tuple[str, str, str, str]


def rows(
    database: DatabaseFile,
    wanted: Filter,
    order: Order,
    offset: int,
    limit: int,
    *,
    reverse: bool = False,
) -> tuple[LibraryRow, ...]:
    parts, parameters = [], []
    # Only numbers first: an index has all that is skipped.
    for source, where, values in _sorted_parts(wanted):
        parts.append(f"SELECT e.number, e.id, e.{order} AS value FROM {source} AS e WHERE {where}")
        parameters += values
    direction, by_id = _directions(order, reverse=reverse)
    sql = f"{' UNION ALL '.join(parts)} ORDER BY value {direction}, id {by_id} LIMIT ? OFFSET ?"
    numbers = [row["number"] for row in database.rows(sql, (*parameters, limit, offset))]
    found = {
        values["number"]: values
        for source, *_ in _SIDES
        for values in database.rows(
            f"SELECT number, {_COLUMNS} FROM {source} WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
    }
    return _with_retrievals(database, [_row(database, found[number]) for number in numbers])


def place(
    database: DatabaseFile, id: str, wanted: Filter, order: Order, *, reverse: bool = False
) -> int | None:
    """Return how many rows stand before an exemplar in such a list; None if it is not in it."""
    values = None
    for source, where, parameters in _sorted_parts(wanted):
        sql = f"SELECT {order} AS value FROM {source} AS e WHERE e.id = ? AND {where}"
        values = values or database.row(sql, (plain(id), *parameters))
    if values is None:
        return None
    direction, by_id = _directions(order, reverse=reverse)
    first, then = (">" if way == "DESC" else "<" for way in (direction, by_id))
    before = 0
    for source, where, parameters in _sorted_parts(wanted):
        for condition, more in (
            (f"e.{order} {first} ?", (values["value"],)),
            (f"e.{order} = ? AND e.id {then} ?", (values["value"], plain(id))),
        ):
            sql = f"SELECT count(*) AS n FROM {source} AS e WHERE {condition} AND {where}"
            before += database.rows(sql, (*more, *parameters))[0]["n"]
            if order == "id":
                break
    return before


def _directions(order: Order, *, reverse: bool) -> tuple[str, str]:
    """Return which way the values go, and equal ones by their ids."""
    down = (order in DESCENDING) != reverse
    return "DESC" if down else "ASC", "DESC" if reverse else "ASC"


def _sorted_parts(wanted: Filter) -> list[tuple[str, str, list[Any]]]:
    """Return source, condition and values of what a list is made of; each part has an index that sorts it.

    An index holds the exemplars of each status one after the other.
    """
    return [
        (side[0], *_condition(side, wanted.replace(statuses=(status,))))
        for side in _SIDES
        for status in wanted.statuses
    ]


def kin(database: DatabaseFile, ids: list[str], texts: list[int]) -> list[int]:
    """Return the numbers of the library's own exemplars that have one of these ids or texts."""
    among = "SELECT value FROM json_each(?)"
    found = database.rows(
        f"SELECT number FROM exemplars WHERE id IN ({among}) OR text IN ({among}) ORDER BY number",
        (json.dumps(ids), json.dumps(texts)),
    )
    return [row["number"] for row in found]


def total(database: DatabaseFile, wanted: Filter) -> int:
    return sum(
        int(database.rows(f"SELECT count(*) AS n FROM {side[0]} AS e WHERE {where}", values)[0]["n"])
        for side in _SIDES
        for where, values in [_condition(side, wanted)]
    )


def counts(database: DatabaseFile, wanted: Filter, *, only: Collection[str] | None = None) -> Counts:
    kinds = [name for name in (*_COUNTED, "tag") if only is None or name in only]
    by: dict[str, dict[str, int]] = {name: {} for name in kinds}
    number = tokens = 0
    for side in _SIDES:
        where, values = _condition(side, wanted)
        source = f"{side[0]} AS e WHERE {where}"
        summed = database.rows(f"SELECT count(*) AS n, total(tokens) AS tokens FROM {source}", values)[0]
        number += summed["n"]
        tokens += int(summed["tokens"])
        for name in kinds:
            if name == "tag":
                continue
            sql = f"SELECT {name} AS value, count(*) AS n FROM {source} GROUP BY {name}"
            _add(by[name], database.rows(sql, values))
        if "tag" not in kinds:
            continue
        sql = (
            f"SELECT t.tag AS value, count(*) AS n FROM {side[2]} AS t"
            f" JOIN {side[0]} AS e ON e.number = t.exemplar WHERE {where} GROUP BY t.tag"
        )
        _add(by["tag"], database.rows(sql, values))
    return Counts(
        total=number,
        tokens=tokens,
        families=len(by.get("family", ())),
        by={name: _most(values) for name, values in by.items()},
    )


def shows(database: DatabaseFile, wanted: Filter, numbers: list[int]) -> set[int]:
    """Return those of these numbers that the filter lets through."""
    found: set[int] = set()
    among = json.dumps(numbers)
    for side in _SIDES:
        where, values = _condition(side, wanted)
        sql = f"SELECT number FROM {side[0]} AS e WHERE e.number IN (SELECT value FROM json_each(?)) AND {where}"
        found |= {row["number"] for row in database.rows(sql, (among, *values))}
    return found


def row_of(database: DatabaseFile, number: int) -> LibraryRow | None:
    """Return one exemplar by its number, which is below zero for one of a file."""
    source = "exemplars" if number > 0 else "temp.beside"
    values = database.row(f"SELECT {_COLUMNS} FROM {source} WHERE number = ?", (number,))
    return None if values is None else _with_retrievals(database, [_row(database, values)])[0]


def _condition(side: _Side, wanted: Filter) -> tuple[str, list[Any]]:
    _, words, tags, hidden = side
    parts: list[str] = []
    values: list[Any] = []
    parts.append(f"e.status IN ({', '.join('?' * len(wanted.statuses))})")
    values += wanted.statuses
    for name in ("family", "environment", "site", "origin", "llm"):
        if given := getattr(wanted, name):
            parts.append(f"e.{name} = ?")
            values.append(plain(given))
    if wanted.run is not None:
        parts.append("e.run = ?")
        values.append(wanted.run)
    for sign, moment in ((">=", wanted.made_from), ("<", wanted.made_until)):
        if moment is not None:
            parts.append(f"e.made {sign} ?")
            values.append(moment)
    for tag in wanted.tags:
        parts.append(f"e.number IN (SELECT exemplar FROM {tags} WHERE tag = ?)")
        values.append(plain(tag))
    if match := match_of(wanted.words):
        name = words.removeprefix("temp.")
        parts.append(f"e.number IN (SELECT rowid FROM {words} WHERE {name} MATCH ?)")
        values.append(match)
    return " AND ".join(parts) + hidden, values


def _row(database: DatabaseFile, values: dict[str, Any]) -> LibraryRow:
    try:
        known = {name: value for name, value in values.items() if name in LibraryRow.model_fields}
        return LibraryRow.model_validate(
            {**known, "tags": json.loads(values["tags"]), "review": review_of(values)}
        )
    except (ValidationError, ValueError, TypeError) as error:
        raise LibraryError(damaged(database.path, database.kind)) from error


def standings(database: DatabaseFile, ids: list[str]) -> dict[str, RetrievalRecord]:
    """Return how the runs ended that these exemplars were looked up for; one that never was is left out."""
    rows = database.rows(
        "SELECT r.id, count(*) AS retrieved, sum(r.used) AS used,"
        " coalesce(sum(r.used AND o.success = 1), 0) AS successes,"
        " coalesce(sum(r.used AND o.success = 0), 0) AS failures FROM retrievals r"
        " LEFT JOIN outcomes o ON o.trace = r.trace AND o.run = r.run"
        " WHERE r.id IN (SELECT value FROM json_each(?)) GROUP BY r.id",
        (json.dumps(ids),),
    )
    return {row.pop("id"): RetrievalRecord.model_validate(row) for row in rows}


def _with_retrievals(database: DatabaseFile, found: list[LibraryRow]) -> tuple[LibraryRow, ...]:
    counted = standings(database, [one.id for one in found])
    return tuple(one.replace(**dict(counted.get(one.id, RetrievalRecord()))) for one in found)


def _add(values: dict[str, int], found: list[dict[str, Any]]) -> None:
    for row in found:
        values[row["value"]] = values.get(row["value"], 0) + row["n"]


def _most(values: dict[str, int]) -> dict[str, int]:
    first = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    return dict(first)
