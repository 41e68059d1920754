"""The commands that list exemplars: each prints a table or JSON."""

import asyncio
import sys
from datetime import datetime
from functools import partial
from typing import Any

from core.agent.policies.catalogue import POLICIES, Policies
from core.cli.output import put, put_json, put_lines, put_table, say, say_lines
from core.cli.runs import open_for_reading, reading
from core.cli.surroundings import resources_of
from core.exemplars.analysis.duplicates import near_pairs
from core.exemplars.analysis.families import misplaced
from core.exemplars.analysis.map import project
from core.exemplars.analysis.records import PairsFound, grouped
from core.exemplars.checks import Checker, unplayed
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.records import Counts, Filter, Order, differences
from core.exemplars.library.store import Library
from core.exemplars.library.trace_sync import note_retrievals, success_of
from core.exemplars.memory import Memory
from core.exemplars.problem import Problem
from core.schema.errors import UsageError
from core.schema.formats import count
from core.settings.settings import Settings, config_folder


def memory_of(settings: Settings) -> Memory:
    """Return the memory of the user: the same exemplars, index and embedding as a run's."""
    resources = resources_of(settings)
    resources.memory.on_progress = _Progress("embedding")
    for problem in resources.memory.files.problems():
        say_lines(f"Left out: {problem}")
    return resources.memory


def list_exemplars(
    settings: Settings, wanted: Filter, order: Order, limit: int, offset: int, *, counts: bool, as_json: bool
) -> None:
    """Print rows of the library and of files, or how many have which value."""
    library = listing_of(settings, memory_of(settings))
    if counts:
        _put_counts(library.counts(wanted), as_json=as_json)
        return
    page = library.page(wanted, order=order, offset=offset, limit=limit)
    if as_json:
        put_json(
            {
                "total": page.total,
                "offset": page.offset,
                "rows": [{**row.model_dump(), "read_only": row.read_only} for row in page.rows],
            }
        )
        return
    put_table(
        (
            "exemplar",
            "family",
            "status",
            "origin",
            "steps",
            "plays",
            "used",
            "helped",
            "worth",
            "changed",
            "task",
        ),
        [
            (
                row.id,
                row.family,
                row.review.status,
                row.origin,
                str(row.steps),
                {True: "yes", False: "no", None: ""}[row.plays],
                str(row.standing.used),
                str(row.standing.successes),
                "" if row.worth is None else f"{row.worth * 100:+.0f}{', old' if row.is_worth_old else ''}",
                _day(row.changed),
                row.task,
            )
            for row in page.rows
        ],
    )
    if not page.rows:
        say("No exemplars match." if page.total == 0 else "There are no more.")
    elif page.total > offset + len(page.rows):
        say(f"{offset + 1} to {offset + len(page.rows)} of {page.total}. For more, use --offset.")


def show_exemplar(
    settings: Settings, id: str, version: int | None, against: int | None, *, as_json: bool
) -> None:
    """Print one exemplar whole, an older version of it, or how two versions differ.

    Raises NotInLibraryError if it is not there, and UsageError for a version of one of a file.
    """
    memory = memory_of(settings)
    library = listing_of(settings, memory)
    entry = library.get(id)
    exemplar = entry.exemplar
    if version is not None or against is not None:
        if not library.has([id]):
            raise UsageError(
                f"{id} is of a file, which keeps no versions: leave out --version and --against."
            )
        exemplar = library.at(id, version or entry.version)
    other = None if against is None else library.at(id, against)
    if other is not None:
        found = differences(other, exemplar)
        if as_json:
            put_json([one.model_dump() for one in found])
        elif found:
            put_table(
                ("part", f"version {against}", f"version {version or entry.version}"),
                [(one.part, one.before, one.after) for one in found],
            )
        else:
            say("The two versions are the same.")
        return
    versions = library.versions(id) if library.has([id]) else ()
    retrievals, standing = library.retrievals(id), library.standing(id)
    if as_json:
        put_json(
            {
                **entry.replace(exemplar=exemplar).model_dump(),
                "versions": [one.model_dump() for one in versions],
                "retrievals": [retrieval.model_dump() for retrieval in retrievals],
                "standing": standing.model_dump(),
            }
        )
        return
    put(f"{exemplar.id} of the family {exemplar.family}, {entry.provenance.origin}, {entry.tokens} tokens")
    review = exemplar.review
    by, at = f", by {review.by}" if review.by else "", f", {_day(review.at)}" if review.at else ""
    put(f"{review.status}{by}{at}")
    put(f"task: {exemplar.task}")
    for number, step in enumerate(exemplar.steps, start=1):
        put("")
        put_lines("\n".join((f"step {number}", step.observation, step.thought, *step.actions)))
    for contrast in exemplar.contrasts:
        put("")
        put(f"tried {contrast.tried}, right is {contrast.right}: {contrast.why}")
    for one in versions:
        put(
            f"version {one.number} of {_day(one.saved)}{', current' if one.current else ''} {one.why}".rstrip()
        )
    put(
        f"retrieved in {standing.retrieved} runs, used in {standing.used}: {standing.successes} successes, "
        f"{standing.failures} failures; used in {standing.measured} runs of evaluations"
    )


def check_exemplars(settings: Settings, wanted: Filter, most_tokens: int, *, as_json: bool) -> bool:
    """Print all that is wrong with the exemplars, and return whether there is no fault."""
    memory = memory_of(settings)
    library = listing_of(settings, memory)
    store = open_for_reading(settings) if settings.database.exists() else None
    is_success = None if store is None else partial(success_of, store)
    policies = Policies((POLICIES, config_folder() / "policies")).callable_names()

    async def work() -> list[Problem]:
        found = [Problem(id="", kind="line", text=text) for text in memory.files.problems()]
        checker = Checker(is_success, policies, most_tokens, unplayed=unplayed(library))
        ids = []
        for entry in library.entries(wanted):
            found += await checker.problems(entry)
            ids.append(entry.exemplar.id)
        return [*found, *(await memory.looked_up(lambda index: misplaced(index, ids)))]

    problems = asyncio.run(work())
    faults = sum(1 for problem in problems if problem.level == "fault")
    if as_json:
        put_json([{**problem.model_dump(exclude={"at"}), "where": problem.where} for problem in problems])
    elif problems:
        put_table(
            ("exemplar", "", "where", "what"),
            [(problem.id, problem.level, problem.where, problem.text) for problem in problems],
        )
    say(f"{faults} faults, {len(problems) - faults} notes in {library.total(wanted)} exemplars.")
    return not faults


def listing_of(settings: Settings, memory: Memory) -> Library:
    """Return the library with the files next to it, brought up to what the trace knows by now."""
    library = memory.library()
    if settings.database.exists():
        with reading(settings) as traces:
            note_retrievals(library, traces)
    return library


def _put_counts(counts: Counts, *, as_json: bool) -> None:
    if as_json:
        put_json(counts.model_dump())
        return
    put_table(
        ("", "value", "exemplars"),
        [
            (name, value or "(none)", str(n))
            for name, values in counts.by.items()
            for value, n in values.items()
        ],
    )
    say(f"{counts.total} exemplars, about {counts.tokens} tokens in all.")


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment):%Y-%m-%d %H:%M}" if moment else ""


class _Progress:
    """Shows the progress on a terminal if it takes long."""

    def __init__(self, what: str) -> None:
        """`what` is being done, such as embedding."""
        self._what = what
        self._shown = 0

    def __call__(self, done: int, of: int) -> None:
        is_more = done == of or done - self._shown >= of // 100
        if of >= 1000 and sys.stderr.isatty() and is_more:
            self._shown = done
            print(
                f"\r{self._what} {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True
            )


def print_duplicates(settings: Settings, within: float, *, with_kept: bool, as_json: bool) -> None:
    """Print the pairs no further apart than `within`, in groups, the nearest first."""
    memory = memory_of(settings)
    library = memory.library()
    apart = frozenset() if with_kept else library.apart()

    async def look(index: ExemplarIndex) -> PairsFound:
        found, tell = PairsFound(within=within), _Progress("comparing")
        async for found in near_pairs(index, within, apart=apart):
            tell(found.done, found.members)
        return found

    found = asyncio.run(memory.looked_up(look))
    rows: list[dict[str, Any]] = [
        {
            "group": number,
            "distance": pair.distance,
            "same": pair.same,
            "exemplars": pair.ids,
            "families": pair.families,
            "tasks": pair.tasks,
        }
        for number, group in enumerate(grouped(found.pairs), start=1)
        for pair in group
    ]
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
    more = " These are the nearest. There may be more." if found.more else ""
    say(f"{len(rows)} pairs of {found.members} exemplars lie within {within:g}.{more}")


def print_map(settings: Settings, *, as_json: bool) -> None:
    """Print where each exemplar lies in the plane."""
    found = asyncio.run(memory_of(settings).looked_up(project))
    columns = ("id", "family", "across", "up")
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
    if as_json:
        share = 0.0 if found is None else round(found.share, 4)
        put_json({"share": share, "points": [dict(zip(columns, point, strict=True)) for point in points]})
        return
    put_table(columns, [tuple(map(str, point)) for point in points])
    if found is None:
        say("There are no exemplars yet.")
    else:
        say(f"The plane shows {found.share:.0%} of what distinguishes {count(len(points), 'exemplar')}.")
