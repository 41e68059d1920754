"""Killed at any moment, nothing that was kept is lost, and it is found."""

import random

from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.memory import Memory
from core.schema.exemplar import RecallSettings
from tests.core.exemplars.clusters import Clusters, text_of
from tests.core.exemplars.library.writer import keep_until_killed
from tests.core.killable import Killable


def kept_by(process: Killable, lines: int) -> list[int]:
    """Return what a writer says it has kept, having killed it after so many lines."""
    heard = [process.said() for _ in range(lines)]
    return heard + process.kill()


async def test_a_killed_program_loses_no_exemplar_and_what_it_kept_is_found(tmp_path):
    chance = random.Random(0)
    kept: list[int] = []
    for round_number in range(3):
        kept += kept_by(Killable(keep_until_killed, tmp_path, round_number * 200_000), chance.randint(1, 25))
    embedding = Clusters(5, 64)
    memory = Memory(
        (), index_folder=tmp_path / "index", embedding=lambda: embedding, library=tmp_path / LIBRARY_NAME
    )
    index = await memory.refreshed()
    assert {f"family-{n % 5}/{n}" for n in kept} <= {one.exemplar.id for one in memory.library().entries()}
    assert len(index) == memory.library().page().total
    for member in kept:
        found = await memory.recall(text_of(member % 5, member), RecallSettings(by="exemplars"))
        assert f"family-{member % 5}/{member}" in [one.id for one in found.retrieved[:2]]
    memory.close()


async def test_two_programs_may_keep_and_index_at_once(tmp_path):
    both = [Killable(keep_until_killed, tmp_path, first) for first in (0, 500_000)]
    kept = [number for process in both for number in kept_by(process, 20)]
    embedding = Clusters(5, 64)
    memory = Memory(
        (), index_folder=tmp_path / "index", embedding=lambda: embedding, library=tmp_path / LIBRARY_NAME
    )
    index = await memory.refreshed()
    assert len(index) == memory.library().page().total >= len(kept)
    for member in kept:
        found = await memory.recall(text_of(member % 5, member), RecallSettings(by="exemplars"))
        assert found.retrieved[0].distance < 1e-3
    memory.close()
