from pathlib import Path

import pytest

from core.exemplars.files import FileMember
from core.exemplars.library.records import ANY, Filter, Provenance, Retrieval
from tests.core.exemplars.making import ALL, RETIRED

LAMP = ALL[0].replace(tags=("good", "short"), note="Málaga", environment="shop")


@pytest.fixture
def filled(library):
    library.save(LAMP, Provenance(origin="demonstration", site="shop.example", run=4), when=100.0)
    library.save(ALL[2], Provenance(origin="agent run", llm="m", site="shop.example"), when=300.0)
    library.save(ALL[5].replace(tags=("good",)), Provenance(origin="agent run"), when=200.0)
    library.save(ALL[6])
    library.review([ALL[6].id], RETIRED)
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
        ({"statuses": ("retired",)}, [ALL[6]]),
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


def test_counts_are_given_by_what_one_can_filter_by(filled):
    counts = filled.counts()
    assert counts.by["origin"] == {"agent run": 2, "demonstration": 1}
    assert counts.by["tag"] == {"good": 2, "short": 1}
    assert counts.tokens == sum(row.tokens for row in filled.page().rows)


def test_exemplars_of_files_stand_beside_and_the_library_wins(filled):
    theirs = LAMP.replace(task="Another task.")
    filled.set_beside(
        [FileMember("file", theirs, Path("a.jsonl")), FileMember("bundled", ALL[1], Path("a.jsonl"))]
    )
    rows = {row.id: row for row in filled.page().rows}
    assert rows.keys() == {LAMP.id, ALL[1].id, ALL[2].id, ALL[5].id}
    assert (rows[LAMP.id].task, rows[LAMP.id].read_only) == (LAMP.task, False)
    assert (rows[ALL[1].id].origin, rows[ALL[1].id].read_only) == ("bundled", True)
    assert [row.id for row in filled.page(Filter(words="cancel button")).rows] == [ALL[1].id]
    assert filled.counts().by["origin"]["bundled"] == 1
    filled.set_beside([])
    assert filled.page().total == 3


@pytest.mark.parametrize(
    "order", ["changed", "made", "family", "id", "tokens", "task", "site", "llm", "steps"]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_each_order_can_be_reversed_and_places_are_those_of_its_rows(filled, order, reverse):
    filled.set_beside(
        [FileMember("file", ALL[1], Path("a.jsonl")), FileMember("bundled", ALL[4], Path("a.jsonl"))]
    )
    for wanted in (Filter(), Filter(statuses=ANY), Filter(words="click")):
        rows = filled.page(wanted, order=order, reverse=reverse).rows
        straight = filled.page(wanted, order=order).rows
        assert rows == (straight[::-1] if reverse else straight)
        places = [filled.place(row.id, wanted, order=order, reverse=reverse) for row in rows]
        assert places == list(range(len(rows)))
    assert filled.place(ALL[6].id, Filter(), order=order) is None


def test_rows_tell_how_the_runs_ended_that_they_were_shown_to(filled):
    used = {1: True, 2: True, 3: False}
    filled.log(
        "t", 9, [Retrieval(id=LAMP.id, trace="t", run=run, step=1, used=on) for run, on in used.items()]
    )
    filled.settle("t", [(1, "ended", True), (2, "ended", False), (3, "ended", True)])
    row = next(row for row in filled.page().rows if row.id == LAMP.id)
    assert (row.retrieved, row.used, row.successes, row.failures) == (3, 2, 1, 1)


def test_only_the_counts_that_are_wanted_are_made(filled):
    counts = filled.counts(only=("tag",))
    assert counts.by == {"tag": {"good": 2, "short": 1}}
    assert filled.counts().families == 2


def test_kin_have_the_id_or_are_looked_up_by_the_same_text(filled):
    same_text = LAMP.replace(id="other")
    same_id = ALL[2].replace(task="Something else.")
    assert {one.id for one in filled.kin([same_text, same_id, ALL[3]])} == {LAMP.id, ALL[2].id}
