"""Leave-one-out: would each exemplar's family be found, were it not there itself?"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.llm.embedding import OnProgress
from core.memory.analysis.records import FamilyFound, LeftOutExemplar, MemberFound
from core.memory.index import ExemplarIndex
from core.memory.retrieval import in_reach, voted
from core.schema.errors import DataError
from core.schema.exemplar import REACH, Exemplar, ExemplarStep
from core.settings.user_file import read_text


async def leave_one_out(
    index: ExemplarIndex,
    numbers: Sequence[int],
    *,
    votes: int = 3,
    reach: float = REACH,
    on_progress: OnProgress | None = None,
) -> LeftOutExemplar:
    """Look each of these members up without itself; the index has to be fresh. Raises Damaged."""
    found: list[MemberFound] = []
    async for one in each_left_out(index, numbers, votes=votes, reach=reach):
        found.append(one)
        if on_progress is not None:
            on_progress(len(found), len(numbers))
    return summed(found, votes=votes, embedding=index.embedding.name)


async def each_left_out(
    index: ExemplarIndex, numbers: Sequence[int], *, votes: int = 3, reach: float = REACH
) -> AsyncIterator[MemberFound]:
    """Give what is found for each of these members in turn; one that has gone meanwhile is left out."""
    for number in numbers:
        if number in index:
            near = index.nearest_others(number, votes)
            voters = near[: in_reach([far for _, far in near], reach)]
            yield MemberFound(
                number=number,
                id=index.id_of(number),
                family=index.family_of(number),
                found=voted([index.family_of(other) for other, _ in voters]) if near else "",
                distance=near[0][1] if near else 2.0,
            )
        await asyncio.sleep(0)


def summed(found: Iterable[MemberFound], *, votes: int, embedding: str) -> LeftOutExemplar:
    """Return what came of it by family, as far as it has."""
    by_family: dict[str, list[MemberFound]] = {}
    for one in found:
        by_family.setdefault(one.family, []).append(one)
    families: list[FamilyFound] = []
    for family, members in sorted(by_family.items()):
        wrong = Counter(one.found for one in members if not one.right)
        families.append(
            FamilyFound(
                family=family,
                members=len(members),
                right=len(members) - wrong.total(),
                distance=round(sum(one.distance for one in members) / len(members), 4),
                taken_for=dict(wrong.most_common()),
            )
        )
    return LeftOutExemplar(
        members=sum(one.members for one in families),
        right=sum(one.right for one in families),
        alone=sum(1 for one in families if one.members == 1),
        votes=votes,
        embedding=embedding,
        families=tuple(families),
    )


def read_texts(path: Path) -> tuple[Exemplar, ...]:
    """Read families of texts of another program's tasks as exemplars.

    Raises DataError where the file is not of that form.
    """
    try:
        families = TypeAdapter(dict[str, list[str]]).validate_python(json.loads(read_text(path)))
    except (ValueError, ValidationError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read: it is to hold JSON, each family's name with a list of texts."
        ) from error
    step = ExemplarStep(actions=("stop []",))
    return tuple(
        Exemplar(id=f"{place}/{number}", family=family, task=text[:200], metadata=text, steps=(step,))
        for place, (family, texts) in enumerate(families.items())
        if family
        for number, text in enumerate(texts)
        if text
    )
