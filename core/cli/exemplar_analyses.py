"""What the commands print that look at all exemplars at once: duplicates and map."""

import asyncio
import csv
import io
import sys
from typing import Any

from core.cli.exemplars import memory_of
from core.cli.output import put, put_json, put_table, say
from core.memory.analysis.duplicates import near_pairs
from core.memory.analysis.map import Projection, alone, loneliest, project
from core.memory.analysis.pairs import grouped, sameness
from core.memory.analysis.records import Lonely, PairsFound
from core.memory.index import ExemplarIndex
from core.settings import Settings

_LONELY = 12


def print_duplicates(settings: Settings, within: float, *, with_kept: bool, as_json: bool) -> None:
    """Print the pairs no further apart than `within`, in groups, the nearest first."""
    memory = memory_of(settings)
    library = memory.open_library()
    apart = library.apart() if library is not None and not with_kept else frozenset()

    async def look(index: ExemplarIndex) -> PairsFound:
        found = PairsFound(within=within)
        async for found in near_pairs(index, within, apart=apart):
            _tell("compared", found.done, found.members)
        return found

    found = asyncio.run(memory.looked_up(look))
    files = tuple(one for _, one in memory.file_members())
    rows: list[dict[str, Any]] = []
    for number, group in enumerate(grouped(found.pairs), start=1):
        for pair in group:
            own = [one for one in (pair.number, pair.other) if one > 0]
            read = library.exemplars(own) if library is not None and own else {}
            both = [files[-one - 1] if one < 0 else read.get(one) for one in (pair.number, pair.other)]
            if both[0] is None or both[1] is None:
                continue  # Somebody has archived it meanwhile.
            rows.append(
                {
                    "group": number,
                    "distance": pair.distance,
                    "same": sameness(both[0], both[1]),
                    "exemplars": [one.id for one in both if one is not None],
                    "families": [one.family for one in both if one is not None],
                    "tasks": [one.task for one in both if one is not None],
                }
            )
    if as_json:
        put_json({"within": within, "members": found.members, "more": found.more, "pairs": rows})
        return
    put_table(
        ("group", "distance", "same", "exemplar", "and", "task"),
        [
            (str(row["group"]), f"{row['distance']:.3f}", row["same"], *row["exemplars"], row["tasks"][0])
            for row in rows
        ],
    )
    more = " These are the nearest; there may be more." if found.more else ""
    say(f"{len(rows)} pairs of {found.members} exemplars lie within {within:g}.{more}")


def print_map(settings: Settings, *, as_csv: bool, as_json: bool) -> None:
    """Print where each exemplar lies in the plane, and where it is thin."""
    memory = memory_of(settings)

    async def look(index: ExemplarIndex) -> tuple[Projection | None, tuple[Lonely, ...]]:
        projection = await project(index)
        far = await loneliest(index, _LONELY, lambda done, of: _tell("compared", done, of))
        return projection, far

    found, lonely = asyncio.run(memory.looked_up(look))
    points = (
        []
        if found is None
        else [
            (id, found.placed.names[family], round(across, 5), round(up, 5))
            for id, family, (across, up) in zip(
                found.placed.ids, found.placed.families.tolist(), found.points.tolist(), strict=True
            )
        ]
    )
    if as_csv:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("exemplar", "family", "across", "up"))
        writer.writerows(points)
        put(out.getvalue().rstrip("\n"))
        return
    single = () if found is None else alone(found.placed)
    if as_json:
        put_json(
            {
                "share": 0.0 if found is None else round(found.share, 4),
                "points": [dict(zip(("id", "family", "across", "up"), one, strict=True)) for one in points],
                "alone": [{"family": family, "id": id} for family, id in single],
                "furthest": [one.model_dump() for one in lonely],
            }
        )
        return
    put_table(
        ("furthest from all others", "family", "distance", "nearest"),
        [(one.id, one.family, f"{one.distance:.3f}", one.nearest) for one in lonely],
    )
    if found is None:
        say("There are no exemplars yet.")
        return
    put(
        f"The plane shows {found.share:.0%} of what tells {len(points)} exemplars apart; "
        f"{len(single)} families have one. The places are told with --csv or --json."
    )


def _tell(what: str, done: int, of: int) -> None:
    if of >= 5000 and sys.stderr.isatty():
        print(f"\r{what} {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
