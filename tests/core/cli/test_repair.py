"""The command repair: changes that may mend a failed run, proved by runs with and without them."""

import re
from contextlib import closing

import pytest

from core.debugger.evaluations.local import MadeRuns
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.schema.task import Verdict
from core.storage.resources import RESOURCES
from core.trace.evaluations import create_evaluation
from core.trace.records import CaseAttempt, Intervention
from core.trace.store import TraceStore
from tests.core.stage import need_chromium, on
from tests.core.trace.making import start, write_step
from tests.llm_server import Reply

pytestmark = pytest.mark.browser
PROMPT = "prompts/plain/system.j2"
BUNDLED = (RESOURCES / PROMPT).read_text()
MENDED = f"Press ONE.\n{BUNDLED}"


def by_prompt(request):
    """Press the right button where the system prompt says which."""
    words = 'button "ONE"' if "Press ONE." in request.texts[0] else 'button "TWO"'
    return on(words)(request)


@pytest.fixture
def failed(inside, llm_server):
    """A run that failed, as an LLM does what its prompt says."""
    llm_server.otherwise = by_prompt
    return inside(*inside.run("--task", "miniwob/click-test-2", "--seed", 3)).json["run"]


def folder_with(inside, text):
    folder = inside.folder / "changed"
    (folder / PROMPT).parent.mkdir(parents=True, exist_ok=True)
    (folder / PROMPT).write_text(text)
    return folder


def test_a_change_is_proved_beside_unchanged_runs_and_kept_only_when_asked(inside, failed):
    words = ("repair", failed, "--change", folder_with(inside, MENDED), "--pairs", 5, "--sealed", 1)
    words = (*words, "--browser", need_chromium(), "--name", "mine")
    short = inside(*words, "--json", "--max-calls", 5)
    (candidate,) = short.json["repairs"][0]["candidates"]
    assert (short.code, candidate["outcome"]) == (1, "inconclusive")
    assert "limit of 5 LLM calls" in candidate["why"]

    done = inside(*words, "--json")  # The same name goes on.
    assert done.code == 0, done.err
    (repair,) = done.json["repairs"]
    (candidate,) = repair["candidates"]
    assert candidate["outcome"] == "proven"
    assert candidate["sentence"] == "unchanged 0 of 5, changed 5 of 5, sealed 1 of 1"
    assert "+Press ONE." in candidate["diff"]
    assert candidate["harmed"] == []
    assert (done.json["kept"], (inside.config / PROMPT).exists()) == ([], False)

    runs = inside("eval", "--report", "--name", "mine", "--json").json
    assert runs["done"] == runs["total"] == 14
    assert {run["success"] for run in runs["runs"] if run["variant"] == "unchanged"} == {False}

    told = inside(*words, "--no-runs").out
    assert "1. proven: unchanged 0 of 5, changed 5 of 5, sealed 1 of 1." in told
    assert "Nothing was written." in told

    kept = inside(*words, "--keep")  # What was proved is not run again.
    assert kept.code == 0, kept.err
    assert f"Kept: {inside.config / PROMPT}" in kept.out
    assert (inside.config / PROMPT).read_text() == MENDED
    assert inside("eval", "--report", "--name", "mine", "--json").json["done"] == 14


def test_a_change_that_mends_nothing_is_given_up_after_one_pair_and_its_name_stands_for_it(inside, failed):
    never = inside("repair", failed, "--keep", "--no-runs", "--name", "typo")
    assert (never.code, never.out) == (2, "")
    assert 'There is no proof "typo".' in never.err
    words = ("repair", failed, "--keep", "--browser", need_chromium(), "--name", "mine")
    first = BUNDLED.splitlines()[0]
    begun, other = (
        f"{PROMPT}\n<<<<<<< SEARCH\n{first}\n=======\n{said}\n{first}\n>>>>>>> REPLACE\n"
        for said in ("Press well.", "Press ONE.")
    )
    done = inside(*words, "--edits", begun)
    assert done.code == 1
    assert (
        "1. not mended: unchanged 0 of 1, changed 0 of 1. The failed run fails with it as well." in done.out
    )
    assert "Kept" not in done.out
    assert not (inside.config / PROMPT).exists()
    assert inside("eval", "--report", "--name", "mine", "--json").json["done"] == 2
    done = inside(*words, "--edits", other)
    assert (done.code, done.out) == (2, "")
    assert done.err == "The proof mine was begun with another change; choose another --name.\n"


def test_an_llm_proposes_blocks_which_are_checked_and_asked_for_once_more(inside, llm_server, failed):
    first_line = BUNDLED.splitlines()[0]
    asked = []

    def answer(request):
        text = "\n".join(request.texts)
        if "SEARCH" not in request.texts[0]:
            return by_prompt(request)
        asked.append(text)
        find = "No such line" if len(asked) == 1 else first_line
        return Reply(
            f"It has to press ONE.\n\n{PROMPT}\n<<<<<<< SEARCH\n{find}\n=======\nPress ONE.\n{first_line}\n"
            ">>>>>>> REPLACE\n"
        )

    llm_server.otherwise = answer
    words = ("--llm", "test-model", "--browser", need_chromium())
    cut = inside("repair", failed, *words, "--max-calls", 2)
    assert cut.code == 2, cut.out
    assert "It was not tried. You can make it by hand:" in cut.err
    assert "+Press ONE." in cut.err
    assert cut.err.endswith("The limit of 2 LLM calls was reached. Repeat the command with a higher one.\n")
    asked.clear()
    done = inside("repair", failed, *words, "--max-calls", 5)
    assert done.code == 1, done.err
    assert len(asked) == 2
    assert "is not there" in asked[1]
    assert f"File {PROMPT}" in asked[0]
    assert "proposed a change in 2 LLM calls" in done.err
    assert "1. inconclusive: unchanged 0 of 1, changed 1 of 1." in done.out
    assert "It has to press ONE." in done.out


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "Give the number of a failed run, or --evaluation NAME."),
        ((1, "--evaluation", "x"), "Give the number of a failed run, or --evaluation NAME."),
        ((77,), "There is no run 77"),
        (("--evaluation", "x"), "There is no evaluation x."),
        ((1,), "No cause of run 1 has a patch. Let an LLM propose a change with --llm"),
        ((2,), "Run 2 succeeded, so there is nothing to mend."),
        ((2, "--llm", "rules"), "Run 2 succeeded, so there is nothing to mend."),
        ((1, "--change", "nowhere"), "nowhere is no folder with files of an agent."),
    ],
)
def test_what_cannot_be_repaired_is_said_in_a_sentence(inside, given, why):
    store = TraceStore.open(inside.db)
    run = store.begin_run(start())
    store.end_run(run, outcome="budget", verdict=Verdict(), seconds=1.0, seconds_in_llm=0.0)
    success = store.begin_run(start())
    store.end_run(success, outcome="done", verdict=Verdict(success=True), seconds=1.0, seconds_in_llm=0.0)
    store.close()
    done = inside("repair", *given)
    assert (done.code, done.out) == (2, "")
    assert why in done.err


def test_failures_of_each_llm_are_mended_within_one_limit(inside, llm_server):
    llm_server.otherwise = by_prompt
    browser = ("--browser", need_chromium())
    of_tasks = "--tasks miniwob/click-test-2 --seeds 0 --preset plain --llm test-model,second-model".split()
    made = inside("eval", *of_tasks, "--name", "bad", *browser)
    assert made.code == 0, made.err
    words = ("repair", "--evaluation", "bad", "--change", folder_with(inside, MENDED), "--json", *browser)
    done = inside(*words, "--max-calls", 3)
    assert done.code == 1, done.err
    (repair,) = done.json["repairs"]
    assert "The limit of 3 LLM calls was reached." in repair["why"]
    assert done.err.endswith("The limit of 3 LLM calls was reached. Repeat the command with a higher one.\n")
    assert len(llm_server.requests) == 2 + 3

    first = llm_server.requests[-1].body["model"]

    def refuse(request):
        return by_prompt(request) if request.body["model"] == first else Reply(status=401, body="{}")

    llm_server.otherwise = refuse
    done = inside(*words)
    assert done.code == 3, done.err
    name = re.search(r"repeat the command that makes them, with --name '(repair of bad, .+)'\.\n", done.err)[
        1
    ]
    assert f"evaluation {name} 2:" in done.err
    llm_server.otherwise = by_prompt
    done = inside(*words, "--name", name)
    assert [each["name"] for each in done.json["repairs"]] == [name, f"{name} 2"]
    assert re.search(f"evaluation {name}: at most [0-9]+ runs, [0-9]+ of them already done", done.err)


def rewrites(request):
    """Act by the prompt, and write it anew where that is asked."""
    if "Write the file anew" in request.texts[-1]:
        assert "This is the file prompts/plain/system.j2" in request.texts[-1]
        assert "What may have caused it" in request.texts[-1]
        return Reply(text=f"It has to say which.\n```\n{MENDED}```")
    return by_prompt(request)


def test_gepa_rewrites_a_file_by_the_failures_of_an_evaluation_and_the_proof_on_others_goes_on(
    inside, llm_server, monkeypatch
):
    llm_server.otherwise = rewrites
    checked, turn = [], MadeRuns.turn
    monkeypatch.setattr(
        MadeRuns, "turn", lambda made, *attempt: (checked.append(attempt), turn(made, *attempt))[1]
    )
    browser = ("--browser", need_chromium())
    of_tasks = "--tasks miniwob/click-test-2 --seeds 0-3 --preset plain --llm test-model".split()
    made = inside("eval", *of_tasks, "--name", "bad", *browser)
    assert made.code == 0, made.err
    words = ("repair", "--evaluation", "bad", "--optimise", "--component", PROMPT, "--llm", "test-model")
    words = (*words, "--max-runs", 10, "--pairs", 5, "--sealed", 2, "--name", "by gepa", *browser)
    few = inside(*words, "--max-runs", 7)
    assert "GEPA needs --max-runs 8 at least." in few.err

    cut = inside(*words, "--max-calls", 5)
    assert "GEPA: 0.00 before, 0.00 after, on the cases to choose by; 4 runs" in cut.err
    assert "better than those in use. The limit of 5 LLM calls was reached." in cut.err
    begun = inside("eval", "--resume", "--name", "GEPA of bad", *browser, "--json").json
    made_by = [run["success"] for run in begun["runs"] if run["variant"] == "texts 2"]
    assert (begun["done"], begun["total"], made_by) == (6, 6, [True, True])

    checked.clear()
    spent = inside(*words, "--max-calls", 9)
    assert "GEPA: 0.00 before, 1.00 after, on the cases to choose by; 8 runs." in spent.err
    assert "The limit of 9 LLM calls was reached. Repeat the command with a higher one" in spent.err
    assert len(checked) == 2

    short = inside(*words, "--max-calls", 12, "--json")
    (candidate,) = short.json["repairs"][0]["candidates"]
    assert (candidate["outcome"], candidate["candidate"]["what"]) == (
        "inconclusive",
        f"GEPA rewrote {PROMPT}.",
    )
    assert "The limit of 4 LLM calls was reached." in candidate["why"]

    done = inside(*words, "--max-calls", 6, "--json")
    assert "GEPA" not in done.err  # A proof that was begun goes on.
    (candidate,) = done.json["repairs"][0]["candidates"]
    assert candidate["sentence"].startswith("unchanged 0 of 2, changed 2 of 2")
    proof = inside("eval", "--report", "--name", "by gepa", "--json").json
    own = inside("show", done.json["repairs"][0]["run"], "--json").json["seed"]
    # But for the failed run itself, no case is one that the file was made from.
    assert {run["seed"] for run in proof["runs"]} & {0, 1, 2, 3} == {own}
    assert not (inside.config / PROMPT).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--component", PROMPT),
            "Give --optimise an --evaluation, the --llm that rewrites, and a --component.",
        ),
        (("--llm", "test-model"), "Give --optimise an --evaluation"),
    ],
)
def test_what_gepa_needs_is_asked_for(inside, words, said):
    done = inside("repair", "--evaluation", "bad", "--optimise", *words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("is_touched", "said"),
    [(False, 'There is no proof "mine".'), (True, "The evaluation bad has no failures to mend.")],
)
def test_runs_that_ended_at_a_limit_are_mended_and_touched_ones_are_not(inside, is_touched, said):
    plan = EvaluationPlan(
        variants=(Variant(preset="plain", llm="gpt"),), tasks=("miniwob/click-test-2",), seeds=(0,)
    )
    with closing(TraceStore.open(inside.db)) as store:
        (case,) = (case for _, case in plan.cases())
        number = create_evaluation(store, "bad", plan.model_dump_json())
        begun = start(task="miniwob/click-test-2").replace(
            llm="gpt", attempt=CaseAttempt(evaluation=number, case=case)
        )
        run = store.begin_run(begun)
        write_step(store, run, 1)
        store.end_run(
            run,
            outcome="budget",
            verdict=Verdict(success=False if is_touched else None),
            seconds=1.0,
            seconds_in_llm=0.0,
        )
        if is_touched:
            store.save_intervention(Intervention(run=run, step=1, kind="edit", who="me", when=1.0))
    done = inside("repair", "--evaluation", "bad", "--no-runs", "--name", "mine")
    assert said in done.err
