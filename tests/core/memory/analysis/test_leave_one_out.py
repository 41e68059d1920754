from core.memory.analysis.leave_one_out import leave_one_out
from core.memory.index import ExemplarIndex
from tests.core.memory.clusters import Clusters, clustered


async def test_each_member_is_looked_up_without_itself():
    index = ExemplarIndex(Clusters(3, 256))
    one_alone = clustered(2, 0)
    strange = clustered(0, 99).replace(family="family-1")
    await index.refresh([*(clustered(family, n) for family in (0, 1) for n in range(5)), one_alone, strange])
    found = await leave_one_out(index, index.numbers())
    assert (found.members, found.right, found.alone) == (12, 10, 1)
    families = {one.family: one for one in found.families}
    assert families["family-0"].taken_for == {}
    assert families["family-1"].taken_for == {"family-0": 1}
    assert (families["family-2"].members, families["family-2"].right) == (1, 0)


async def test_a_library_of_one_finds_nothing_and_is_no_error():
    index = ExemplarIndex(Clusters(1, 64))
    await index.refresh([clustered(0, 0)])
    found = await leave_one_out(index, index.numbers())
    assert (found.share, found.families[0].taken_for) == (0.0, {"": 1})
