import numpy as np
import pytest

from core.exemplars.analysis.map import project
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from tests.core.exemplars.clusters import Clusters, clustered


async def index_of(members, **more):
    index = ExemplarIndex(Clusters(5, 256), **more)
    await index.refresh(numbered(members))
    return index


MEMBERS = [clustered(family, n) for family in range(4) for n in range(8)]


async def test_the_same_exemplars_lie_in_the_same_places_whatever_order_they_came_in():
    first = await project(await index_of(MEMBERS))
    again = await project(await index_of(MEMBERS[::-1], small=8))
    assert first.placed.ids == again.placed.ids
    assert np.array_equal(first.points, again.points)
    assert first.share == again.share


async def test_the_plane_shows_the_share_that_principal_components_do():
    index = await index_of(MEMBERS)
    found = await project(index)
    rows = np.array([index.vector_of(index.number_of(id)) for id in found.placed.ids], np.float64)
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2
    assert found.share == pytest.approx(values[:2].sum() / values.sum(), abs=0.002)
    assert 0 < found.share < 1


async def test_a_task_lies_where_the_exemplar_of_the_same_text_does():
    index = await index_of(MEMBERS)
    found = await project(index)
    at = found.placed.ids.index(MEMBERS[9].id)
    vector = await index.vector(MEMBERS[9].key)
    assert found.place(vector) == pytest.approx(found.points[at].tolist(), abs=1e-3)


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_few_exemplars_are_laid_out_too(count):
    found = await project(await index_of(MEMBERS[:count]))
    if not count:
        assert found is None
        return
    assert found.points.shape == (count, 2)
    assert np.isfinite(found.points).all()
    assert 0 <= found.share <= 1.0001
