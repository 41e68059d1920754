import json
import time
from pathlib import Path
from typing import get_args

import pytest

from core.debugger.ask_again.repeat import kept_attributions
from core.debugger.ask_again.views import Attribution
from core.debugger.evaluations.records import Subject, WorthResult
from core.debugger.exemplars.trying.views import ReplayResult, sums_of
from core.exemplars.analysis.records import MemberFound
from core.exemplars.files import FileMember
from core.exemplars.library.records import (
    ANY,
    DESCENDING,
    Filter,
    Finding,
    Measure,
    ProofKind,
    Provenance,
    Retrieval,
    RetrievalRecord,
)
from core.trace.records import RunEnd
from tests.core.exemplars.making import ALL, RETIRED

LAMP = ALL[0].replace(tags=("good", "short"), note="Málaga", environment="shop")


@pytest.fixture
def filled(library, monkeypatch):
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", iter([100.0, 300.0, 200.0]).__next__)
        library.save(LAMP, Provenance(origin="demonstration", site="shop.example", run=4))
        library.save(ALL[2], Provenance(origin="agent run", llm="m", site="shop.example"))
        library.save(ALL[5].replace(tags=("good",)), Provenance(origin="agent run"))
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
    "order", ["changed", "made", "family", "id", "tokens", "task", "site", "llm", "steps", "status", "file"]
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
    filled.settle("t", [RunEnd(1, "ended", True), RunEnd(2, "ended", False), RunEnd(3, "ended", True)])
    row = next(row for row in filled.page().rows if row.id == LAMP.id)
    assert row.standing == RetrievalRecord(retrieved=3, used=2, successes=1, failures=1)


MINE = (LAMP, ALL[2], ALL[5])


@pytest.fixture
def proven(filled):
    """LAMP was played and is helpful; ALL[2] no longer plays, is harmful and was used; ALL[5] has nothing."""
    worth = {"name": "w", "trace": "t", "evaluation": 1, "preset": "synapse", "llm": "rules", "judged": 10}
    for one, success, ups, low, high in ((LAMP, True, 6, 0.2, 0.8), (ALL[2], False, 0, -0.9, -0.1)):
        replayed = ReplayResult(id=one.id, task="t/x", success=success, looks=2, when=50.0)
        filled.proofs.save("replay", one.id, replayed.when, replayed.model_dump_json())
        for kind in ("exemplar", "change"):  # What a change of it is worth says nothing of itself.
            about = Subject(
                name=one.id, **({} if kind == "exemplar" else {"kind": kind, "before": 1, "after": 2})
            )
            found = WorthResult(
                subject=about, when=60.0, to_success=ups, to_failure=6 - ups, low=low, high=high, **worth
            )
            filled.proofs.save("worth", one.id, found.when, found.model_dump_json())
    credit = Attribution(
        id=LAMP.id, run=1, step=1, llm="m", action="x", with_same=4, with_all=4, without_same=1, without_all=4
    )
    filled.proofs.save("credit", LAMP.id, 70.0, credit.model_dump_json())
    near = MemberFound(
        number=1, id=LAMP.id, family=LAMP.family, found="other", distance=0.1, nearest=ALL[2].id
    )
    filled.proofs.save_all("neighbour", [(LAMP.id, near.model_dump_json())])
    filled.proofs.save("replay", ALL[5].id, 1.0, "no JSON")
    filled.log("t", 9, [Retrieval(id=ALL[2].id, trace="t", run=1, step=1, used=True)])
    return filled


def test_rows_have_what_was_found_out_of_them(proven):
    rows = {row.id: row for row in proven.page().rows}
    lamp, other, bare = (rows[one.id] for one in MINE)
    assert (lamp.plays, lamp.played, lamp.is_played_old) == (True, 50.0, False)
    assert (lamp.worth, lamp.worth_low, lamp.worth_high, lamp.credit) == (0.6, 0.2, 0.8, 0.75)
    assert (lamp.nearest, lamp.distance, lamp.taken_for) == (ALL[2].id, 0.1, "other")
    assert (other.plays, other.worth, other.credit, other.nearest) == (False, -0.6, None, None)
    assert (bare.plays, bare.played, bare.worth) == (None, None, None)


@pytest.mark.parametrize(
    ("finding", "found"),
    {
        "never played": [ALL[5]],
        "does not play": [ALL[2]],
        "plays": [LAMP],
        "changed since played": [],
        "never used": [LAMP, ALL[5]],
        "used": [ALL[2]],
        "harmful": [ALL[2]],
        "helpful": [LAMP],
        "worth unknown": [ALL[5]],
        "near duplicate": [LAMP],
        "of another family": [LAMP],
        "not compared": [ALL[2], ALL[5]],
    }.items(),
)
def test_lists_are_narrowed_to_what_was_found_out(proven, finding, found):
    page = proven.page(Filter(found=(finding,)))
    assert {row.id for row in page.rows} == {one.id for one in found}
    assert proven.counts().by["found"].get(finding, 0) == page.total == len(found)


def test_every_finding_has_a_test():
    [mark] = test_lists_are_narrowed_to_what_was_found_out.pytestmark
    assert {finding for finding, _ in mark.args[1]} == set(get_args(Finding))


@pytest.mark.parametrize("order", get_args(Measure))
@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_not_known_comes_last_in_each_order_of_a_measure(proven, order, reverse):
    proven.set_beside([FileMember("file", ALL[1], Path("a.jsonl"))])
    rows = proven.page(order=order, reverse=reverse).rows
    known = [_value(row, order) for row in rows if _value(row, order) is not None]
    assert known == sorted(known, reverse=(order in DESCENDING) != reverse)
    assert [_value(row, order) for row in rows[len(known) :]] == [None] * (len(rows) - len(known))
    places = [proven.place(row.id, Filter(), order=order, reverse=reverse) for row in rows]
    assert places == list(range(len(rows)))


def _value(row, order):
    if order == "helped":
        judged = row.standing.successes + row.standing.failures
        return row.standing.successes / judged if judged else None
    return getattr(row.standing if order in ("retrieved", "used") else row, order)


def test_a_change_makes_a_replay_old(proven):
    proven.save(LAMP.replace(note="Other."))
    assert [row.id for row in proven.page(Filter(found=("changed since played",))).rows] == [LAMP.id]


def test_only_the_counts_that_are_wanted_are_made(filled):
    counts = filled.counts(only=("tag",))
    assert counts.by == {"tag": {"good": 2, "short": 1}}
    assert filled.counts().families == 2


def test_kin_have_the_id_or_are_looked_up_by_the_same_text(filled):
    same_text = LAMP.replace(id="other")
    same_id = ALL[2].replace(task="Something else.")
    assert {one.id for one in filled.kin([same_text, same_id, ALL[3]])} == {LAMP.id, ALL[2].id}


@pytest.mark.parametrize(
    "content",
    [
        {"success": "perhaps"}, {"success": 2}, {"version": 1.5}, {"task": 5, "success": True}, [], "x", 3,
        {"distance": "far", "nearest": 5}, {"low": "bad", "judged": 0},
        {"subject": {"kind": "exemplar"}, "judged": "n"},
    ],
)  # fmt: skip
def test_what_another_version_wrote_is_not_known_and_spoils_no_list(filled, content):
    for kind in get_args(ProofKind):
        filled.proofs.save(kind, LAMP.id, 1.0, json.dumps(content))
    row = next(row for row in filled.page().rows if row.id == LAMP.id)
    assert (row.plays, row.worth, row.nearest, row.distance) == (None, None, None, None)
    for finding in get_args(Finding):
        filled.page(Filter(found=(finding,)))
    for measure in get_args(Measure):
        assert len(filled.page(order=measure).rows) == 3


def test_one_that_could_not_be_tried_again_keeps_the_result_of_its_last_replay(filled):
    failed = ReplayResult(id=LAMP.id, task="t/x", success=False, when=5.0)
    filled.proofs.save("replay", LAMP.id, 5.0, failed.model_dump_json())
    untried = ReplayResult(id=LAMP.id, version=2, problem="Its source names no task.", when=6.0)
    filled.proofs.save("replay", LAMP.id, 6.0, untried.model_dump_json())
    (row,) = filled.page(Filter(found=("does not play",))).rows
    assert (row.plays, row.played, row.played_version) == (False, 5.0, 1)


def test_the_only_one_is_of_no_other_family(filled):
    alone = MemberFound(number=1, id=LAMP.id, family=LAMP.family, found="", distance=2.0)
    filled.proofs.save_all("neighbour", [(LAMP.id, alone.model_dump_json())])
    assert filled.page(Filter(found=("of another family",))).rows == ()


def test_the_worth_of_an_earlier_version_is_old_and_neither_helps_nor_harms(proven):
    assert [row.id for row in proven.page(Filter(found=("helpful",))).rows] == [LAMP.id]
    result = WorthResult(
        subject=Subject(name=LAMP.id), trace="t", evaluation=1, when=80.0, preset="p", llm="l", judged=1, low=0.2,
        to_success=1, version=1,
    )  # fmt: skip
    proven.proofs.save("worth", LAMP.id, result.when, result.model_dump_json())
    (row,) = proven.page(Filter(found=("helpful",))).rows
    assert not row.is_worth_old
    proven.save(LAMP.replace(task="Another."))
    row = next(row for row in proven.page(Filter(found=("worth unknown",))).rows if row.id == LAMP.id)
    assert (row.is_worth_old, row.worth) == (True, 1.0)
    assert not proven.page(Filter(found=("helpful",))).rows


def test_of_a_step_that_was_asked_about_twice_the_last_credit_counts(filled):
    for same, step in ((4, 1), (0, 1), (2, 2)):
        credit = Attribution(
            id=LAMP.id, run=1, step=step, llm="m", action="x", with_same=same, with_all=4, without_same=0, without_all=4
        )  # fmt: skip
        filled.proofs.save("credit", LAMP.id, 70.0, credit.model_dump_json())
    (row,) = (row for row in filled.page().rows if row.id == LAMP.id)
    assert row.credit == 0.25 == sums_of(kept_attributions(filled, (LAMP.id,)))[0].mean
