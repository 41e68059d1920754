"""Trial lookups: with a change to an exemplar or the settings, and for each exemplar without itself."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.exemplars.analysis.records import (
    FamilyFound,
    LeftOutExemplar,
    LookupTrial,
    MapPlace,
    MemberFound,
    Move,
    TrialRow,
)
from core.exemplars.index import Among, ExemplarIndex, Near
from core.exemplars.library.store import Library
from core.exemplars.nearest import distances
from core.exemplars.retrieval import nearest_voters, recall, voted
from core.exemplars.vectors import as_stored
from core.llm.embedding import Embedding, Vectors
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar, ExemplarStep, Recall, RecallSettings, Retrieved, metadata_of
from core.settings.user_file import MOST_LINES_BYTES, read_text


class Without:
    """An index without one of its members."""

    def __init__(self, index: ExemplarIndex, number: int) -> None:
        self._index = index
        self._number = number

    @property
    def embedding(self) -> Embedding:
        return self._index.embedding

    def __len__(self) -> int:
        return len(self._index) - 1

    async def vector(self, text: str) -> Vectors:
        return await self._index.vector(text)

    def nearest(self, query: Vectors, count: int, among: Among) -> tuple[Near, ...]:
        """Return what `ExemplarIndex.nearest` would."""
        return self._index.nearest(query, count, among, without=self._number)


async def each_left_out(
    index: ExemplarIndex, numbers: Sequence[int], *, votes: int
) -> AsyncIterator[MemberFound]:
    """Give what a run would find for each of these members in turn without it; one that has gone is left out.

    The nearest may be one that runs do not recall. Raises Damaged, LibraryError and LLMError.
    """
    settings, vectors = RecallSettings(votes=votes, most=1), dict[str, Vectors]()
    for number in numbers:
        if number in index and (exemplar := index.exemplars([number]).get(number)) is not None:
            near = index.nearest_others(number, 1)
            _, _, voters = await nearest_voters(
                metadata_of(exemplar.task, ""),
                index.vector_of(number),
                Without(index, number),
                settings,
                Among(status="reviewed"),
                vectors,
            )
            yield MemberFound(
                number=number,
                id=index.id_of(number),
                family=index.family_of(number),
                found=voted([one.exemplar.family for one in voters]) if voters else "",
                distance=near[0][1] if near else 2.0,
                nearest=index.id_of(near[0][0]) if near else "",
            )
        await asyncio.sleep(0)


def keep_neighbours(library: Library, found: Iterable[MemberFound]) -> None:
    """Store what was found for each, in place of what was known of it; raises LibraryError."""
    library.proofs.save_all("neighbour", ((one.id, one.model_dump_json()) for one in found))


def summed(index: ExemplarIndex, found: Iterable[MemberFound], *, votes: int) -> LeftOutExemplar:
    """Return the result by family, as far as it has."""
    all_of = Counter(map(index.family_of, index.numbers()))
    by_family: dict[str, list[MemberFound]] = {}
    for one in found:
        by_family.setdefault(one.family, []).append(one)
    families: list[FamilyFound] = []
    for family, members in sorted(by_family.items()):
        wrong = Counter(member.found for member in members if not member.right)
        families.append(
            FamilyFound(
                family=family,
                members=len(members),
                right=len(members) - wrong.total(),
                distance=round(sum(member.distance for member in members) / len(members), 4),
                taken_for=dict(wrong.most_common()),
            )
        )
    return LeftOutExemplar(
        members=sum(one.members for one in families),
        right=sum(one.right for one in families),
        alone=sum(all_of[one.family] == 1 for one in families),
        votes=votes,
        embedding=index.embedding.name,
        families=tuple(families),
    )


def read_texts(path: Path) -> tuple[Exemplar, ...]:
    """Read families of texts of another program's tasks as exemplars.

    Raises DataError if the file is not of that form.
    """
    try:
        families = TypeAdapter(dict[str, list[str]]).validate_python(
            json.loads(read_text(path, most=MOST_LINES_BYTES))
        )
    except (ValueError, ValidationError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read: it must be a JSON object with a list of texts for each family."
        ) from error
    step = ExemplarStep(actions=("stop []",))
    return tuple(
        Exemplar(id=f"{place}/{number}", family=family, task=text[:200], metadata=text, steps=(step,))
        for place, (family, texts) in enumerate(families.items())
        if family
        for number, text in enumerate(texts)
        if text
    )


class WithDraft(Without):
    """An index with one exemplar changed or added; nothing is stored."""

    def __init__(self, index: ExemplarIndex, draft: Exemplar, vector: Vectors) -> None:
        super().__init__(index, index.number_of(draft.id) or 0)
        self._draft = draft
        self._vector = as_stored(vector)

    def __len__(self) -> int:
        return len(self._index) + (not self._number) - (self._draft.review.status == "retired")

    def nearest(self, query: Vectors, count: int, among: Among) -> tuple[Near, ...]:
        """Return what `ExemplarIndex.nearest` would."""
        found = super().nearest(query, count, among)
        if not among.has(self._draft):
            return found
        (far,) = distances(self._vector[None], query).tolist()
        both = [*found, Near(exemplar=self._draft, distance=round(far / self._draft.weight, 6))]
        both.sort(key=lambda one: (one.distance, one.exemplar.family, one.exemplar.id))
        return tuple(one for place, one in enumerate(both) if place < count or one.exemplar.pinned)


async def try_lookup(
    index: ExemplarIndex,
    query: str,
    settings: RecallSettings,
    *,
    environment: str = "",
    other: RecallSettings | None = None,
    draft: Exemplar | None = None,
) -> LookupTrial:
    """Look `query` up as a run would, and again with the draft and the other settings if there are any.

    The index has to be fresh. Raises as `recall` does.
    """
    before = await recall(query, index, settings, environment=environment)
    if other is None and draft is None:
        return LookupTrial(before=before, rows=compared(before, None, settings, settings, draft))
    changed = settings if other is None else other
    if draft is None:
        after = await recall(query, index, changed, environment=environment)
    else:
        with_draft = WithDraft(index, draft, await index.vector(draft.key))
        after = await recall(query, with_draft, changed, environment=environment)
    return LookupTrial(before=before, after=after, rows=compared(before, after, settings, changed, draft))


def compared(
    before: Recall,
    after: Recall | None,
    settings: RecallSettings,
    changed: RecallSettings,
    draft: Exemplar | None = None,
) -> tuple[TrialRow, ...]:
    """Return a row for each exemplar that one of the two tells of, with what moved."""
    olds = places(before, settings)
    news = olds if after is None else places(after, changed)
    known = {one.id: one for one in (*before.retrieved, *(after.retrieved if after else ()))}
    ids = sorted(news, key=lambda id: news[id].rank)
    ids += sorted((id for id in olds if id not in news), key=lambda id: olds[id].rank)
    return tuple(
        TrialRow(
            id=id,
            family=known[id].family,
            task=known[id].task,
            draft=draft is not None and id == draft.id,
            now=news.get(id),
            before=None if after is None else olds.get(id),
            move="" if after is None else _move(olds.get(id), news.get(id)),
        )
        for id in ids
    )


def _move(before: MapPlace | None, now: MapPlace | None) -> Move:
    if now is None:
        return "used no more" if before is not None and before.used else "gone"
    if before is None:
        return "used now" if now.used else "new"
    if now.used != before.used:
        return "used now" if now.used else "used no more"
    if now.rank != before.rank:
        return "up" if now.rank < before.rank else "down"
    return ""


def places(found: Recall, settings: RecallSettings) -> dict[str, MapPlace]:
    """Return how each exemplar of a lookup came out, with a reason in words, by its id."""
    ordered = sorted(found.retrieved, key=lambda one: (one.distance, one.family, one.id))
    return {
        one.id: MapPlace(
            rank=rank,
            distance=one.distance,
            voted=one.voted,
            used=one.used,
            why=_why(one, found, settings) + _preferred(one),
        )
        for rank, one in enumerate(ordered, start=1)
    }


def _preferred(one: Retrieved) -> str:
    """Return how a person prefers one."""
    weight = f" Its distance is divided by its weight, {one.weight:g}." if one.weight != 1 else ""
    return weight + (" It is pinned." if one.pinned else "")


def _why(one: Retrieved, found: Recall, settings: RecallSettings) -> str:
    if one.problem:
        return one.problem
    if not found.used:
        votes = "It votes, but the" if one.voted else "The"
        return f"{votes} nearest is beyond the threshold, so none are used."
    if one.used and one.pinned:
        return f"{one.family} wins, so it comes before nearer ones."
    is_behind = any(other.used and other.pinned for other in found.retrieved)
    if settings.by == "exemplars":
        if one.used:
            return "It is among the nearest."
        if one.voted and is_behind:
            return f"At most {min(settings.votes, settings.most)} are used, pinned ones first."
        if one.voted:
            limit = len(found.used) >= settings.most
            return f"At most {settings.most} are used." if limit else "A nearer one has the same trajectory."
        return f"{settings.votes} are nearer, and no more are used."
    if one.used:
        return (
            f"It votes for {one.family}, which wins." if one.voted else f"It is in {one.family}, which wins."
        )
    if one.family == found.family:
        full = len(found.used) >= settings.most
        if full and is_behind:
            return f"At most {settings.most} of its family are used, pinned ones first."
        return (
            f"{settings.most} of its family are nearer." if full else "A nearer one has the same trajectory."
        )
    if one.voted:
        return f"It votes for {one.family}, which loses to {found.family}."
    return f"It is in {one.family}; the votes go to {found.family}."
