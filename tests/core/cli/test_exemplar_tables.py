"""`main.py exemplars …`: what is there, what is wrong with it, and what would be found."""

import json
from contextlib import closing

import pytest

from core.exemplars.files import write_exemplars
from core.exemplars.library.records import LIBRARY_NAME, Provenance
from core.exemplars.library.store import Library
from core.schema.exemplar import ExemplarStep
from core.storage.resources import RESOURCES
from core.trace.store import TraceStore
from tests.core.exemplars.library.test_retrievals import run_with
from tests.core.exemplars.making import ALL
from tests.core.trace.making import write_run

MINE = ALL[0].replace(id="mine/1", tags=("good",), note="zebra")


@pytest.fixture
def library(inside):
    library = Library.open(inside.folder / LIBRARY_NAME)
    library.save(MINE, Provenance(origin="demonstration", llm="m"))
    yield library
    library.close()


def ids(done) -> list[str]:
    return [row["id"] for row in done.json["rows"]]


def test_without_a_library_the_bundled_ones_are_listed_and_none_is_made(inside):
    done = inside("exemplars", "list", "--json", "--limit", "3")
    assert (done.code, len(done.json["rows"]), done.json["total"] > 60) == (0, 3, True)
    assert {row["origin"] for row in done.json["rows"]} == {"bundled"}
    assert not (inside.folder / LIBRARY_NAME).exists()


def test_filters_choose_and_counts_count(inside, library):
    assert ids(inside("exemplars", "list", "--json", "--tag", "good")) == ["mine/1"]
    assert ids(inside("exemplars", "list", "--json", "--search", "zebr")) == ["mine/1"]
    assert ids(inside("exemplars", "list", "--json", "--llm", "m", "--origin", "demonstration")) == ["mine/1"]
    counts = inside("exemplars", "list", "--counts", "--json").json
    assert counts["by"]["origin"]["demonstration"] == 1
    assert "mine/1" in inside("exemplars", "list", "--tag", "good").out


def test_files_of_the_user_are_listed_as_files(inside):
    write_exemplars(inside.folder / "exemplars" / "a.jsonl", [MINE])
    assert ids(inside("exemplars", "list", "--json", "--origin", "file")) == ["mine/1"]


def test_a_malformed_line_is_told_by_a_list_and_is_a_fault_to_the_check(inside):
    path = inside.folder / "exemplars" / "a.jsonl"
    write_exemplars(path, [MINE])
    path.write_text(path.read_text() + "nonsense\n")
    done = inside("exemplars", "list", "--json", "--origin", "file")
    assert (done.code, ids(done)) == (0, ["mine/1"])
    assert f"Left out: {path}, line 2: this is not JSON" in done.err
    done = inside("exemplars", "check", "--json", "--origin", "file")
    assert done.code == 1
    (text,) = (one["text"] for one in done.json if one["kind"] == "line")
    assert text.startswith(f"{path}, line 2: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--origin", "elsewhere"), "is not an origin; use one of agent run"),
        (("list", "--order", "size"), "is not an order"),
        (("list", "--found", "harmles"), "is not a finding; use one of never played"),
        (("list", "--from", "soon"), "--from: "),
        (("show", "no-such-one"), "There is no exemplar no-such-one"),
        (("show", "miniwob/book-flight/0", "--version", "1"), "is of a file, which keeps no versions"),
        (("show", "miniwob/book-flight/0", "--against", "1"), "is of a file, which keeps no versions"),
        (("tag", "--add", "x", "--family", "zzz"), "No exemplar matches all filters"),
        (("review", "reviewed", "--family", "zzz"), "No exemplar matches all filters"),
        (("retrieve",), "Use the text of a task, or --run"),
        (("retrieve", "--run", "3"), "There is no database at"),
        (("loo", "--texts", "none.json"), "none.json"),
    ],
)
def test_bad_usage_has_the_code_2_and_a_sentence(inside, words, said):
    done = inside("exemplars", *words)
    assert done.code == 2
    assert said in done.err


def test_one_whose_last_replay_failed_is_a_fault_of_the_check(inside, library):
    failed = {"id": MINE.id, "task": "t/x", "success": False, "version": 1}
    library.proofs.save("replay", MINE.id, 1.0, json.dumps(failed))
    done = inside("exemplars", "check", "--json", "--tag", "good")
    assert done.code == 1
    (text,) = (one["text"] for one in done.json if one["kind"] == "replay")
    assert text == "Its last replay was no success. Replay it again, or mend it."
    library.proofs.save("replay", MINE.id, 2.0, json.dumps({**failed, "success": True}))
    assert inside("exemplars", "check", "--json", "--tag", "good").json == []


def test_one_is_shown_with_its_versions_and_what_differs(inside, library):
    library.save(MINE.replace(note="two"))
    shown = inside("exemplars", "show", "mine/1", "--json").json
    assert (shown["exemplar"]["note"], [one["number"] for one in shown["versions"]]) == ("two", [1, 2])
    old = inside("exemplars", "show", "mine/1", "--version", "1", "--json").json
    assert old["exemplar"]["note"] == "zebra"
    differs = inside("exemplars", "show", "mine/1", "--against", "1", "--json").json
    assert differs == [{"part": "note", "before": "zebra", "after": "two"}]
    assert inside("exemplars", "show", "mine/1").code == 0
    assert "bundled" in inside("exemplars", "show", "miniwob/login-user/0").out


def test_faults_are_reported_with_their_place_and_have_the_code_1(inside, library):
    assert inside("exemplars", "check", "--tag", "good").code == 0
    bad = ExemplarStep(observation='[1] button "Ok"', actions=("click [2]", "clik [1]"))
    library.save(MINE.replace(steps=(bad,)))
    done = inside("exemplars", "check", "--tag", "good", "--json")
    assert done.code == 1
    assert [(one["kind"], one["where"]) for one in done.json] == [
        ("element", "step 1, action 1"),
        ("action", "step 1, action 2"),
    ]


def test_what_a_task_would_be_shown_is_listed_with_distances_and_votes(inside, library):
    done = inside("exemplars", "retrieve", MINE.task, "--json", "--by", "exemplars", "--votes", "1")
    assert done.json["used"] == ["mine/1"]
    table = inside("exemplars", "retrieve", 'Enter the username "bob" and the password "x" and press login.')
    assert (table.code, "login-user" in table.out, "Votes: login-user 3" in table.err) == (0, True, True)


def test_a_preset_says_how_and_flags_change_it(inside, library):
    (inside.config / "presets").mkdir(parents=True, exist_ok=True)
    text = (RESOURCES / "presets" / "synapse.toml").read_text()
    own = text.replace("threshold = 1.1", "threshold = 0.0001")
    assert own != text
    (inside.config / "presets" / "strict.toml").write_text(own)
    words = "Enter the username"
    strict = inside("exemplars", "retrieve", words, "--preset", "strict", "--json").json
    assert strict["used"] == []
    assert "beyond the threshold of 0.000" in strict["why"]
    wide = inside("exemplars", "retrieve", words, "--preset", "strict", "--threshold", "2", "--json").json
    assert wide["used"]
    none = inside("exemplars", "retrieve", words, "--preset", "plain")
    assert (none.code, "The preset plain recalls no exemplars" in none.err) == (2, True)


def test_a_run_is_looked_up_by_its_task_and_first_page_and_one_that_is_not_there_is_reported(inside, library):
    traces = TraceStore.open(inside.db)
    run = write_run(traces, instruction=MINE.task)
    traces.close()
    found = inside("exemplars", "retrieve", "--run", run, "--json").json
    assert found["query"].startswith(f"Task: {MINE.task}\nState:\n")
    assert found["retrieved"]
    missing = inside("exemplars", "retrieve", "--run", 99)
    assert (missing.code, "There is no run 99" in missing.err) == (2, True)


def test_what_the_trace_knows_of_retrievals_is_shown(inside, library):
    traces = TraceStore.open(inside.db)
    run_with(traces, MINE.id, success=True)
    traces.close()
    shown = inside("exemplars", "show", MINE.id, "--json").json
    assert (shown["standing"]["used"], shown["standing"]["successes"]) == (1, 1)
    assert inside("exemplars", "list", "--json", "--tag", "good").json["rows"][0]["standing"]["used"] == 1
    assert inside("exemplars", "list", "--json", "--found", "never used", "--tag", "good").json["rows"] == []


def test_leaving_one_out_of_texts_tells_families_and_confusions(inside, tmp_path):
    path = tmp_path / "texts.json"
    texts = {"flights": ["Book a flight to Oslo", "Book a flight to Rome", "Book a flight to Paris"]}
    texts["odd"] = ["Book a flight to Lyon"]
    path.write_text(json.dumps(texts), encoding="utf-8")
    found = inside("exemplars", "loo", "--texts", path, "--json").json
    assert (found["members"], found["right"], found["share"]) == (4, 3, 0.75)
    assert found["families"][1]["taken_for"] == {"flights": 1}
    assert "3 of 4 find their family (75.0%)" in inside("exemplars", "loo", "--texts", path).out


def test_the_bundled_ones_find_their_families_without_themselves(inside):
    assert inside("exemplars", "loo", "--json").json["share"] == 1.0
    rows = inside("exemplars", "list", "--json", "--order", "distance").json["rows"]
    assert rows[0]["distance"] == 0
    assert rows[0]["nearest"] != rows[0]["id"]
    assert inside("exemplars", "list", "--json", "--found", "of another family").json["rows"] == []


def test_the_index_is_made_anew(inside, library):
    inside("exemplars", "retrieve", "x")
    found = inside("exemplars", "reindex", "--json").json
    assert found["embedded"] > 60
    assert found["exemplars"] >= found["embedded"]


def test_the_index_and_those_left_out_are_of_the_library_beside_the_database_that_is_named(inside):
    folder = inside.folder / "elsewhere"
    folder.mkdir()
    with closing(Library.open(folder / LIBRARY_NAME)) as library:
        library.save(MINE)
    of = {}
    for words in ((), ("--db", folder / "traces.db")):
        indexed = inside("exemplars", "reindex", "--json", *words).json["exemplars"]
        of[words] = indexed, inside("exemplars", "loo", "--tag", "good", "--json", *words).json["members"]
    (here, none), (there, one) = of.values()
    assert (none, one, there - here) == (0, 1, 1)


def test_near_duplicates_are_listed_in_groups_and_those_kept_apart_are_not(inside, library):
    library.save(MINE.replace(id="mine/2"))
    found = inside("exemplars", "duplicates", "--json", "--within", "0").json
    pair = next(one for one in found["pairs"] if one["exemplars"] == ["mine/1", "mine/2"])
    assert (pair["distance"], pair["same"]) == (0.0, "task and steps")
    assert "mine/2" in inside("exemplars", "duplicates").out
    library.keep_apart("mine/1", "mine/2")
    assert "mine/2" not in inside("exemplars", "duplicates").out
    assert "mine/2" in inside("exemplars", "duplicates", "--kept").out


def test_the_map_tells_a_place_for_each_exemplar(inside, library):
    found = inside("exemplars", "map", "--json").json
    assert "mine/1" in [one["id"] for one in found["points"]]
    assert 0 < found["share"] < 1
    shown = inside("exemplars", "map").out
    assert all(one["id"] in shown for one in found["points"])


def test_what_holds_of_an_exemplar_is_changed_and_one_that_nothing_is_asked_of_is_refused(inside, library):
    asked = "--add new --remove good --to-family other --weight 2 --pin --never miniwob/*".split()
    done = inside("exemplars", "tag", "mine/1", *asked)
    assert (done.code, done.err) == (0, "1 of 1 exemplars were changed.\n")
    changed = library.get("mine/1").exemplar
    assert (changed.tags, changed.family, changed.weight) == (("new",), "other", 2.0)
    assert (changed.pinned, changed.never) == (True, ("miniwob/*",))
    assert inside("exemplars", "tag", "mine/1", "--unpin").code == 0
    assert not library.get("mine/1").exemplar.pinned
    done = inside("exemplars", "tag", "mine/1")
    assert (done.code, "Say what to change" in done.err) == (2, True)


def test_a_review_says_who_may_be_recalled(inside, library):
    for status in ("new", "retired", "reviewed"):
        assert inside("exemplars", "review", status, "mine/1").code == 0
        assert ids(inside("exemplars", "list", "--json", "--status", status, "--search", "zebra")) == [
            "mine/1"
        ]


@pytest.mark.parametrize(
    ("words", "is_there"),
    [
        (("--environment", MINE.environment), True),
        (("--environment", "nowhere"), False),
        (("--site", "nowhere.example"), False),
        (("--file", "/nowhere.jsonl"), False),
        (("--until", "2020-01-01"), False),
        (("--from", "2020-01-01", "--until", "2099-01-01"), True),
    ],
)
def test_each_filter_leaves_out_what_it_says(inside, library, words, is_there):
    assert ("mine/1" in ids(inside("exemplars", "list", "--json", "--limit", "100", *words))) is is_there


def test_a_list_goes_on_where_it_is_told_to(inside):
    first, second = (
        ids(inside("exemplars", "list", "--json", "--limit", "2", "--offset", at)) for at in ("0", "1")
    )
    assert first[1] == second[0]
