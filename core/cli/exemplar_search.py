"""The commands that look up exemplars: retrieve, loo and reindex."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.cli.exemplar_tables import listing_of, memory_of
from core.cli.output import put, put_json, put_table, say
from core.cli.runs import reading
from core.cli.surroundings import embedding_of, in_loop, resources_of
from core.debugger.exemplars.analyses.retrieval import query_of, recall_settings
from core.debugger.exemplars.analyses.views import BenchQuery
from core.exemplars.analysis.lookups import each_left_out, keep_neighbours, read_texts, summed
from core.exemplars.analysis.records import LeftOutExemplar
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.library.records import Filter
from core.schema.errors import UsageError
from core.schema.exemplar import RecallSettings
from core.settings.settings import Settings


def retrieve(
    settings: Settings,
    text: str,
    run: int | None,
    preset: str,
    changes: Mapping[str, Any],
    environment: str,
    *,
    as_json: bool,
) -> None:
    """Print what a task would be shown: distances, votes, and what is used.

    `changes` are settings in place of those of the preset, which is that of
    the run where none is named. Raises UsageError for an unknown preset, and
    one without exemplars.
    """
    memory = memory_of(settings)
    presets = resources_of(settings).presets
    if preset and presets.get(preset).memory is None:
        raise UsageError(f"The preset {preset} recalls no exemplars; choose one that has [memory].")
    query = BenchQuery(task=text)
    if run is not None:
        with reading(settings) as store:
            query = query_of(store, run, 1)
    recall = recall_settings(presets, preset or query.preset).replace(**changes)
    found = asyncio.run(memory.recall(query.text, recall, environment=environment or query.environment))
    if as_json:
        put_json({**found.model_dump(exclude={"used"}), "used": [one.id for one in found.used]})
        return
    put_table(
        ("distance", "family", "vote", "used", "exemplar", "task", "left out"),
        [
            (
                f"{one.distance:.3f}",
                one.family,
                "yes" if one.voted else "",
                "yes" if one.used else "",
                one.id,
                one.task,
                one.problem,
            )
            for one in found.retrieved
        ],
    )
    votes = ", ".join(f"{family} {count}" for family, count in found.votes.items())
    say(f"Votes: {votes}. {found.why}" if votes else found.why)


def leave_one_out_of(
    settings: Settings, texts: Path | None, wanted: Filter, votes: int, *, as_json: bool
) -> None:
    """Print, by family, whether each exemplar's family would be found without itself.

    With `texts`, the texts of a file are the exemplars: JSON, a family with a
    list of texts each.
    """
    memory = memory_of(settings)

    async def work() -> LeftOutExemplar:
        if texts is not None:
            index = ExemplarIndex(embedding_of(settings))
            await index.refresh(numbered(read_texts(texts)), memory.on_progress)
            left_out = [one async for one in each_left_out(index, index.numbers(), votes=votes)]
            return summed(index, left_out, votes=votes)
        library = listing_of(settings, memory)

        async def look(index: ExemplarIndex) -> LeftOutExemplar:
            numbers = sorted(library.shows(wanted, index.numbers()))
            found = [one async for one in each_left_out(index, numbers, votes=votes)]
            if wanted == Filter() and votes == RecallSettings().votes:
                keep_neighbours(library, found)  # All were compared, as the window does.
            return summed(index, found, votes=votes)

        return await memory.looked_up(look)

    found = asyncio.run(work())
    if as_json:
        put_json({**found.model_dump(), "share": round(found.share, 4)})
        return
    put_table(
        ("family", "exemplars", "right", "nearest other", "taken for"),
        [
            (
                family.family,
                str(family.members),
                f"{family.right / family.members:.0%}",
                f"{family.distance:.3f}",
                ", ".join(f"{name or 'nothing'} ({count})" for name, count in family.taken_for.items()),
            )
            for family in found.families
        ],
    )
    if not found.members:
        say("There are no exemplars to leave out.")
        return
    alone = f" {found.alone} are alone in their family, so they cannot be found." if found.alone else ""
    put(
        f"{found.right} of {found.members} find their family ({found.share:.1%}) by {found.embedding}.{alone}"
    )


def reindex(settings: Settings, *, as_json: bool) -> None:
    """Throw the index away and make it again; what was made is kept where it is interrupted."""
    memory = memory_of(settings)

    async def work() -> None:
        index, count = await memory.indexed(again=True)
        if as_json:
            put_json(
                {
                    "embedded": count,
                    "exemplars": len(index),
                    "embedding": index.embedding.name,
                    "search": index.way,
                }
            )
        else:
            say(
                f"{len(index)} exemplars are indexed with {index.embedding.name}; {count} texts were embedded."
            )

    in_loop(work())
