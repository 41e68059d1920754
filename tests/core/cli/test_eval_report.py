"""The report of real runs, and the stored run that it leads to."""

import csv
import shutil
import sys
from contextlib import closing

import pytest

from core.cli.app import make_app, run_app
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.trace.evaluations import take_evaluation
from core.trace.records import Case, Intervention
from core.trace.store import TraceStore
from tests.core.cli.conftest import KEY, CommandLine, needs_qt
from tests.core.stage import need_chromium, on
from tests.llm_server import LLMServer, Reply, call

TWO = on('button "TWO"', thought="TWO.")


def wrong(request):
    """Click the wrong button where there is one, else give up."""
    return TWO(request) if 'button "TWO"' in request.texts[-1] else Reply(text="No.", calls=(call("stop"),))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """The command line of a user, with an evaluation of two tasks: by the built-in LLM, and by one that is wrong."""
    with LLMServer() as server:
        server.key, server.otherwise = KEY, wrong
        desk = CommandLine(tmp_path_factory.mktemp("desk"), server.base_url)
        words = (
            *("--tasks", "miniwob/click-test-2,miniwob/click-link", "--llm", "rules,test-model"),
            *("--preset", "plain", "--max-steps", 3, "--seeds", "0-1", "--concurrency", 2),
        )
        done = desk("eval", *words, "--browser", need_chromium(), "--name", "mine", "--json")
        assert done.code == 0, done.err
        yield desk, server, done.json


@pytest.fixture
def cli(desk):
    return desk[0]


@pytest.fixture
def evaluated(desk):
    return desk[2]


def report(inside, *more):
    return inside("eval", "--report", "--name", "mine", *more)


@pytest.mark.browser
def test_every_figure_is_that_of_the_runs(inside, evaluated):
    store = TraceStore.open(inside.db, read_only=True)
    try:
        rows = {one["run"]: store.run(one["run"]) for one in evaluated["runs"]}
    finally:
        store.close()
    assert len(rows) == 8
    for one in evaluated["runs"]:
        row = rows[one["run"]]
        assert (one["task"], one["seed"], one["success"]) == (row.task, row.seed, row.verdict.success)
        taken = "steps llm_calls prompt_tokens completion_tokens seconds seconds_in_llm cost".split()
        assert {name: one[name] for name in taken} == {name: getattr(row, name) for name in taken}
    for variant, llm in zip(evaluated["variants"], ("rules", "test-model"), strict=True):
        own = [one for one in rows.values() if one.llm == llm]
        assert variant["successes"] == sum(bool(one.verdict.success) for one in own)
        for name in ("steps", "llm_calls", "prompt_tokens", "completion_tokens", "seconds", "seconds_in_llm"):
            assert variant[name] == pytest.approx(sum(getattr(one, name) for one in own) / 4), name
        beside = sum(max(one.seconds - one.seconds_in_llm, 0) for one in own) / 4
        assert variant["seconds_beside_llm"] == pytest.approx(beside)
    comparison = evaluated["comparison"]
    assert (comparison["judged"], comparison["difference"]) == (4, -1.0)
    assert [one["to_success"] for one in comparison["flips"]] == [False] * 4
    failed = {one["run"] for group in evaluated["failures"] for one in group["runs"]}
    scores = [one["score"] for one in evaluated["suspicions"]]
    assert scores == sorted(scores, reverse=True)
    assert {one["kind"] for one in evaluated["suspicions"]} >= {"state", "action"}
    assert failed == {run for run, row in rows.items() if not row.verdict.success}
    assert {(one["task"], one["agent"]) for one in evaluated["published"]} >= {
        ("", "Synapse"),
        ("miniwob/click-link", "SteP"),
    }


@pytest.mark.browser
def test_a_run_that_a_person_changed_is_listed_as_done_and_not_as_a_success(inside, evaluated, tmp_path):
    changed = tmp_path / "changed.db"
    shutil.copy(inside.db, changed)
    run = next(one["run"] for one in evaluated["runs"] if one["success"])
    with closing(TraceStore.open(changed)) as store:
        store.save_intervention(Intervention(run=run, step=1, kind="edit", who="person", when=1.0))
    (before,), (after,) = (inside("eval", "--list", "--json", "--db", db).json for db in (inside.db, changed))
    assert (before["done"], before["successes"]) == (8, 4)
    assert (after["done"], after["successes"]) == (8, 3)


@pytest.mark.browser
def test_the_report_is_made_again_in_every_form_without_a_run(inside, evaluated, desk):
    asked = len(desk[1].requests)
    assert report(inside, "--json").json == evaluated
    done = report(inside, "--csv", "runs.csv", "--html", "report.html")
    assert done.code == 0, done.err
    assert len(desk[1].requests) == asked
    with (inside.folder / "runs.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [int(one["run"]) for one in lines] == [one["run"] for one in evaluated["runs"]]
    assert [bool(int(one["success"])) for one in lines] == [one["success"] for one in evaluated["runs"]]
    page = (inside.folder / "report.html").read_text(encoding="utf-8")
    for one in evaluated["runs"]:
        assert f'id="run-{one["run"]}"' in page
        assert f"main.py --run {one['run']}<" in page
    assert "plain, test-model against plain, rules: -100.0 points" in done.out
    assert "evaluation mine: 8 of 8 runs, seeds 0, 1\nbegun " in done.out
    assert "LLM test-model (test-model at http://127.0.0.1:" in done.out
    assert "python3 main.py eval --tasks miniwob/click-test-2,miniwob/click-link" in done.out
    assert KEY not in done.out
    assert "95 % over tasks" in done.out
    assert "published: SteP with text-davinci-003" in done.out
    assert "action: click button" in done.out


@pytest.mark.browser
def test_an_llm_names_the_failures_and_one_that_fails_leaves_them_without(inside, desk):
    server = desk[1]
    server.otherwise = Reply(text='"Wrong button clicked"\nBecause of …')
    done = report(inside, "--name-failures", "test-model", "--json")
    assert done.code == 0, done.err
    assert {one["name"] for one in done.json["failures"]} == {"Wrong button clicked"}
    assert "were named in" in done.err
    assert "click" in server.requests[-1].texts[-1]
    server.otherwise = Reply(text="word " * 50)
    done = report(inside, "--name-failures", "test-model", "--json")
    assert {one["name"] for one in done.json["failures"]} == {""}
    done = report(inside, "--name-failures", "rules")
    assert done.code == 2
    assert "cannot name failures" in done.err


@pytest.mark.browser
def test_the_window_opens_at_the_step_that_decided_a_run(inside, evaluated, monkeypatch):
    opened = []

    def open_window(arguments, settings):
        opened.append((arguments.run, arguments.step, arguments.chosen))
        return 0

    (failed, *_) = (one for group in evaluated["failures"] for one in group["runs"])
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(sys, "argv", ["main.py", "--run", str(failed["run"])])
    assert run_app(make_app(open_window=open_window, with_embedded=needs_qt)) == 0
    assert opened == [(failed["run"], failed["step"], True)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("eval", "--report"), "Use --name"),
        (("eval", "--report", "--name", "mine", "--db", "none.db"), "There is no database at"),
        (("--run", "7", "--db", "none.db"), "There is no database at"),
        (("--run", "7", "--task", "miniwob/click-link"), "use one of them"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(inside, words, said):
    done = inside(*words)
    assert done.code == 2
    assert said in done.err


def test_published_figures_come_with_their_note_and_only_where_no_case_was_chosen_by_its_result(inside):
    variant = Variant(preset="laser", llm="rules")
    shop = EvaluationPlan(variants=(variant,), tasks=("shop/goal-001",), seeds=(0,))
    failed = Case(variant=variant.name, task="shop/goal-001", seed=0)
    plans = {
        "shop": shop,
        "failures": shop.again("shop", (failed,)),
        "bisection": shop.replace(kind="bisect", run=1),
    }
    with closing(TraceStore.open(inside.db)) as store:
        for name, plan in plans.items():
            take_evaluation(store, name, plan.model_dump_json())
    told = {name: inside("eval", "--report", "--name", name).out for name in plans}
    assert "50.0 % on WebShop, 500 instructions (Ma et al., " in told["shop"]
    assert "Table 1). WebShop has other goods and other goals than the bundled shop.\n" in told["shop"]
    assert "published" not in told["failures"] + told["bisection"]


def test_an_unknown_evaluation_or_run_is_named_with_the_nearest(inside):
    store = TraceStore.open(inside.db)
    take_evaluation(store, "policies", "{}")
    store.close()
    done = inside("eval", "--report", "--name", "policy")
    assert done.code == 2
    assert 'There is no evaluation "policy"; did you mean policies?' in done.err
    done = inside("--run", "77")
    assert done.code == 2
    assert "There is no run 77" in done.err
