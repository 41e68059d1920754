"""Lists of exemplars by pages, and counts by value: conditions as SQL.

The exemplars of files are rows of temporary tables (`tables.BESIDE`), so one query covers files and library. If
an id is in both, the library's exemplar is used. Every function works inside the open transaction.
"""

import json
from collections.abc import Collection
from typing import Any, cast, get_args

from pydantic import ValidationError

from core.exemplars.library.records import (
    DESCENDING,
    NEAR_DUPLICATE,
    Counts,
    Filter,
    Finding,
    LibraryRow,
    Measure,
    Order,
    ProofKind,
    RetrievalRecord,
)
from core.exemplars.library.tables import plain, review_of
from core.schema.errors import LibraryError
from core.storage.database import DatabaseFile, damaged, match_of

_COLUMNS = (
    "id, family, task, environment, site, origin, run, step, file, llm, made, changed, tags, note, status,"
    " reviewed_by, reviewed_at, although, version, steps, contrasts, tokens, weight, pinned"
)
_COUNTED = ("family", "environment", "site", "origin", "llm", "file", "run")
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

_RUNS = (
    "SELECT r.id, max(r.used) AS used, o.success, coalesce(o.measured, 0) AS measured FROM retrievals r"
    " LEFT JOIN outcomes o ON o.trace = r.trace AND o.run = r.run WHERE {} GROUP BY r.id, r.trace, r.run"
)
"""The runs in which exemplars were retrieved, each once, however often it looked one up."""
_ITS_RUNS = f"FROM ({_RUNS.format('r.id = e.id')})"


def _last(kind: ProofKind, value: str, condition: str = "") -> str:
    """Return the SQL of a value of the last proof of a kind about ``e``."""
    return (
        f"(SELECT {value} FROM proofs p WHERE p.about = e.id AND p.kind = '{kind}' AND json_valid(p.content)"
        f"{condition} ORDER BY p.number DESC LIMIT 1)"
    )


def _of(name: str, *kinds: str) -> str:
    """Return the SQL of a value of a proof; NULL where it is of another kind: another version may have written it."""
    listed = ", ".join(f"'{kind}'" for kind in kinds or ("integer", "real"))
    value = f"json_extract(p.content, '$.{name}')"
    return f"(CASE WHEN json_type(p.content, '$.{name}') IN ({listed}) THEN {value} END)"


_OF_IT = f" AND {_of('subject.kind', 'text')} = 'exemplar'"
_TRIED = f" AND {_of('task', 'text')} <> ''"
_SHARES = " - ".join(f"1.0 * {_of(f'{which}_same')} / {_of(f'{which}_all')}" for which in ("with", "without"))
_ASKED = ", ".join(
    f"json_extract(p.content, '$.{name}')" for name in ("trace", "run", "step", "llm", "temperature")
)
"""What is the same of a step that was asked about again: the last one counts."""
_PROVEN = {
    "plays": _last("replay", _of("success", "true", "false"), _TRIED),
    "played": _last("replay", 'p."when"', _TRIED),
    "played_version": _last("replay", _of("version", "integer"), _TRIED),
    "worth": _last("worth", f"1.0 * ({_of('to_success')} - {_of('to_failure')}) / {_of('judged')}", _OF_IT),
    "worth_low": _last("worth", _of("low"), _OF_IT),
    "worth_high": _last("worth", _of("high"), _OF_IT),
    "worth_version": _last("worth", _of("version", "integer"), _OF_IT),
    "credit": f"(SELECT avg(share) FROM (SELECT {_SHARES} AS share, max(p.number) FROM proofs p WHERE p.about = e.id"
    f" AND p.kind = 'credit' AND json_valid(p.content) GROUP BY {_ASKED}))",
    "nearest": _last("neighbour", _of("nearest", "text")),
    "distance": _last("neighbour", _of("distance")),
    "taken_for": _last("neighbour", f"nullif({_of('found', 'text')}, '')"),
}
"""The fields of a row that come from proofs, as SQL over an exemplar ``e``; NULL where it is not known."""
_MEASURES: dict[Measure, str] = {
    "retrieved": f"(SELECT count(*) {_ITS_RUNS} WHERE NOT measured)",
    "used": f"(SELECT count(*) {_ITS_RUNS} WHERE used AND NOT measured)",
    "helped": f"(SELECT avg(success) {_ITS_RUNS} WHERE used AND NOT measured)",
    **{name: _PROVEN[name] for name in get_args(Measure) if name in _PROVEN},
}
_MEASURED = (
    f"({_PROVEN['worth']} IS NOT NULL AND coalesce({_PROVEN['worth_version']}, e.version) = e.version)"
)
_FINDINGS: dict[Finding, str] = {
    "never played": f"{_PROVEN['played']} IS NULL",
    "does not play": f"{_PROVEN['plays']} = 0",
    "plays": f"{_PROVEN['plays']} = 1",
    "changed since played": f"{_PROVEN['played']} IS NOT NULL AND {_PROVEN['played_version']} <> e.version",
    "never used": f"{_MEASURES['used']} = 0",
    "used": f"{_MEASURES['used']} > 0",
    "harmful": f"{_MEASURED} AND {_PROVEN['worth_high']} < 0",
    "helpful": f"{_MEASURED} AND {_PROVEN['worth_low']} > 0",
    "worth unknown": f"NOT {_MEASURED}",
    "near duplicate": f"{_PROVEN['distance']} <= {NEAR_DUPLICATE}",
    "of another family": f"{_PROVEN['taken_for']} <> e.family",
    "not compared": f"{_PROVEN['distance']} IS NULL",
}


_ROW = ", ".join((_COLUMNS, *(f"{sql} AS {name}" for name, sql in _PROVEN.items())))


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
    direction, by_id = _directions(order, reverse=reverse)
    # Only numbers first: an index has all that is skipped.
    for source, where, values in _sorted_parts(wanted):
        value = _sorted_by(order, direction)
        parts.append(f"SELECT e.number, e.id, {value} AS value FROM {source} AS e WHERE {where}")
        parameters += values
    sql = f"{' UNION ALL '.join(parts)} ORDER BY value {direction}, id {by_id} LIMIT ? OFFSET ?"
    numbers = [row["number"] for row in database.rows(sql, (*parameters, limit, offset))]
    found = {
        values["number"]: values
        for source, *_ in _SIDES
        for values in database.rows(
            f"SELECT number, {_ROW} FROM {source} AS e WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
    }
    return _with_retrievals(database, [_row(database, found[number]) for number in numbers])


def place(
    database: DatabaseFile, id: str, wanted: Filter, order: Order, *, reverse: bool = False
) -> int | None:
    """Return how many rows stand before an exemplar in such a list; None if it is not in it."""
    values = None
    direction, by_id = _directions(order, reverse=reverse)
    value = _sorted_by(order, direction)
    for source, where, parameters in _sorted_parts(wanted):
        sql = f"SELECT {value} AS value FROM {source} AS e WHERE e.id = ? AND {where}"
        values = values or database.row(sql, (plain(id), *parameters))
    if values is None:
        return None
    first, then = (">" if way == "DESC" else "<" for way in (direction, by_id))
    before = 0
    for source, where, parameters in _sorted_parts(wanted):
        for condition, more in (
            (f"{value} {first} ?", (values["value"],)),
            (f"{value} = ? AND e.id {then} ?", (values["value"], plain(id))),
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


def _sorted_by(order: Order, direction: str) -> str:
    """Return the SQL of what a list is sorted by; what is not known comes last in either direction."""
    expression = f"e.{order}" if order == "run" else _MEASURES.get(cast(Measure, order))
    if expression is None:
        return f"e.{order}"
    # To SQLite, numbers come before texts, and these before bytes.
    last = "-1e300" if direction == "DESC" else "x'ff'"
    return f"coalesce({expression}, {last})"


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
    kinds = [name for name in (*_COUNTED, "tag", "found") if only is None or name in only]
    by: dict[str, dict[str, int]] = {name: {} for name in kinds}
    number = tokens = 0
    for side in _SIDES:
        where, values = _condition(side, wanted)
        source = f"{side[0]} AS e WHERE {where}"
        summed = database.rows(f"SELECT count(*) AS n, total(tokens) AS tokens FROM {source}", values)[0]
        number += summed["n"]
        tokens += int(summed["tokens"])
        for name in _COUNTED:
            if name in kinds:
                sql = f"SELECT {name} AS value, count(*) AS n FROM {source} GROUP BY {name}"
                _add(by[name], database.rows(sql, values))
        if "found" in kinds:
            sums = ", ".join(f'total({condition}) AS "{name}"' for name, condition in _FINDINGS.items())
            for name, n in database.rows(f"SELECT {sums} FROM {source}", values)[0].items():
                by["found"][name] = by["found"].get(name, 0) + int(n)
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
    values = database.row(f"SELECT {_ROW} FROM {source} AS e WHERE number = ?", (number,))
    return None if values is None else _with_retrievals(database, [_row(database, values)])[0]


def _condition(side: _Side, wanted: Filter) -> tuple[str, list[Any]]:
    _, words, tags, hidden = side
    parts: list[str] = []
    values: list[Any] = []
    parts.append(f"e.status IN ({', '.join('?' * len(wanted.statuses))})")
    values += wanted.statuses
    for name in ("family", "environment", "site", "origin", "llm", "file"):
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
    parts += [f"({_FINDINGS[name]})" for name in wanted.found]
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
    own = "used AND NOT measured"
    rows = database.rows(
        f"SELECT id, sum(NOT measured) AS retrieved, sum({own}) AS used, sum(used AND measured) AS measured,"
        f" coalesce(sum({own} AND success = 1), 0) AS successes,"
        f" coalesce(sum({own} AND success = 0), 0) AS failures"
        f" FROM ({_RUNS.format('r.id IN (SELECT value FROM json_each(?))')}) GROUP BY id",
        (json.dumps(ids),),
    )
    return {row.pop("id"): RetrievalRecord.model_validate(row) for row in rows}


def _with_retrievals(database: DatabaseFile, found: list[LibraryRow]) -> tuple[LibraryRow, ...]:
    counted = standings(database, [one.id for one in found])
    return tuple(one.replace(standing=counted[one.id]) if one.id in counted else one for one in found)


def _add(values: dict[str, int], found: list[dict[str, Any]]) -> None:
    for row in found:
        if row["value"] is not None:
            value = str(row["value"])
            values[value] = values.get(value, 0) + row["n"]


def _most(values: dict[str, int]) -> dict[str, int]:
    first = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    return dict(first)
