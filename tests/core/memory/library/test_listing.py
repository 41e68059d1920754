import pytest

from core.memory.library.records import Filter, Provenance
from tests.core.memory.making import ALL

LAMP = ALL[0].model_copy(update={"tags": ("good", "short"), "note": "Málaga", "environment": "shop"})


@pytest.fixture
def filled(library):
    library.save(LAMP, Provenance(origin="demonstration", site="shop.example", run=4), when=100.0)
    library.save(ALL[2], Provenance(origin="agent run", llm="m", site="shop.example"), when=300.0)
    library.save(ALL[5].model_copy(update={"tags": ("good",)}), Provenance(origin="agent run"), when=200.0)
    library.save(ALL[6])
    library.archive(ALL[6].id)
    return library


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [ALL[2], ALL[5], LAMP]),
        ({"family": "book-flight"}, [ALL[5]]),
        ({"environment": "shop"}, [LAMP]),
        ({"site": "shop.example"}, [ALL[2], LAMP]),
        ({"origin": "agent run"}, [ALL[2], ALL[5]]),
        ({"tags": ("good",)}, [ALL[5], LAMP]),
        ({"tags": ("good", "short")}, [LAMP]),
        ({"llm": "m"}, [ALL[2]]),
        ({"run": 4}, [LAMP]),
        ({"made_from": 200.0}, [ALL[2], ALL[5]]),
        ({"made_until": 200.0}, [LAMP]),
        ({"archived": True}, [ALL[6]]),
        ({"words": "cheapest osl"}, [ALL[5]]),
        ({"words": "malaga"}, [LAMP]),
        ({"words": "click"}, [ALL[2], ALL[5], LAMP]),
        ({"words": '"OR AND* (('}, []),
        ({"words": "click", "family": "book-flight"}, [ALL[5]]),
    ],
)
def test_a_filter_lets_through_what_meets_all_of_it(filled, wanted, found):
    page = filled.page(Filter(**wanted))
    assert [row.id for row in page.rows] == [one.id for one in found]
    assert page.total == filled.counts(Filter(**wanted)).total == len(found)


def test_pages_follow_on_one_another(filled):
    pages = [filled.page(order="id", offset=place, limit=1) for place in range(4)]
    assert [row.id for page in pages for row in page.rows] == sorted(one.id for one in (LAMP, ALL[2], ALL[5]))
    assert {page.total for page in pages} == {3}


def test_counts_are_told_by_what_one_can_filter_by(filled):
    counts = filled.counts()
    assert counts.by["origin"] == {"agent run": 2, "demonstration": 1}
    assert counts.by["tag"] == {"good": 2, "short": 1}
    assert counts.tokens == sum(row.tokens for row in filled.page().rows)


def test_exemplars_of_files_stand_beside_and_the_library_wins(filled):
    theirs = LAMP.model_copy(update={"task": "Another task."})
    filled.set_beside([("file", theirs), ("bundled", ALL[1])])
    rows = {row.id: row for row in filled.page().rows}
    assert rows.keys() == {LAMP.id, ALL[1].id, ALL[2].id, ALL[5].id}
    assert (rows[LAMP.id].task, rows[LAMP.id].read_only) == (LAMP.task, False)
    assert (rows[ALL[1].id].origin, rows[ALL[1].id].read_only) == ("bundled", True)
    assert [row.id for row in filled.page(Filter(words="cancel button")).rows] == [ALL[1].id]
    assert filled.counts().by["origin"]["bundled"] == 1
    filled.set_beside([])
    assert filled.page().total == 3
