"""Reports of evaluations whose runs are written as the loop writes them."""

import csv
import io
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from core.debugger.evaluations.comparison import NOT_COMPARED
from core.debugger.evaluations.failures import deciding_step
from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, LLMUsed, Making, Variant
from core.debugger.evaluations.report import csv_of, report_of, with_failures
from core.debugger.evaluations.report_html import distributions, html_of
from core.debugger.evaluations.request import plan_of_failures
from core.schema.action import Click, RoleTarget
from core.schema.restore import Comparison, Restored
from core.schema.step import Acted, Aligned, Reviewed
from core.schema.task import Verdict, family_of
from core.trace.evaluations import evaluation_named, note_made, note_plan, save_unbegun, take_evaluation
from core.trace.records import Case, CaseAttempt, Intervention
from core.trace.store import TraceStore
from tests.core.trace.making import start, write_step

PLAIN = Variant(preset="plain", llm="rules")
LASER = Variant(preset="laser", llm="rules")
HOSTILE = "own/<script>alert(1)</script>\"'>{{7*7}}"


@pytest.fixture
def store(tmp_path) -> Iterator[TraceStore]:
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


class Written:
    """An evaluation under way, whose runs are written one by one."""

    def __init__(self, store: TraceStore, *tasks: str, variants: tuple[Variant, ...] = (PLAIN,)) -> None:
        self.store = store
        self.plan = EvaluationPlan(variants=variants, tasks=tasks, seeds=tuple(range(6)))
        self.number = take_evaluation(store, "mine", self.plan.model_dump_json()).number

    def run(
        self,
        task: str,
        seed: int = 0,
        *clicked: str,
        success: bool | None = True,
        variant: Variant = PLAIN,
        outcome: str = "done",
        error: str = "",
        attempt: int = 1,
    ) -> int:
        """Write a run that clicks buttons of these names, one a step."""
        tried = CaseAttempt(evaluation=self.number, case=self.case(task, seed, variant), number=attempt)
        run = self.store.begin_run(start(task=task, seed=seed).replace(attempt=tried))
        for number, name in enumerate(clicked, start=1):
            write_step(self.store, run, number, action=Click(target=RoleTarget(role="button", name=name)))
            self.save(run, number, Acted(effect="page action", outcome="done", target=f'button "{name}"'))
        reward = None if success is None else float(success)
        self.store.end_run(
            run,
            outcome=outcome,
            verdict=Verdict(success=success, reward=reward, judge="page"),
            error=error,
            seconds=3.0,
            seconds_in_llm=1.0,
        )
        return run

    def case(self, task: str, seed: int, variant: Variant = PLAIN) -> Case:
        return Case(variant=variant.name, task=task, seed=seed)

    def save(self, run: int, number: int, record: Acted | Aligned | Reviewed) -> None:
        self.store.save_phase(run, number, record)

    @property
    def report(self):
        row = evaluation_named(self.store, "mine")
        return with_failures(self.store, report_of(self.store, row))


def test_remedies_and_going_back_are_counted_by_what_came_of_them(store):
    made = Written(store, "own/a")
    for seed, (right, success, grade) in enumerate(
        [(True, True, "exact"), (False, True, "exact"), (None, False, "lost")]
    ):
        run = made.run("own/a", seed, "Wrong", "Back", "Save", success=success)
        restored = Restored(step=1, grade=grade, comparison=Comparison(grade=grade))
        made.save(run, 2, Acted(effect="go back", outcome="done", restored=restored))
        action = Click(target=RoleTarget(role="button", name="Save"))
        made.save(run, 3, Reviewed(origin="remedy", action=action))
        made.save(run, 3, Aligned(aligned=right, judged=right is not None))
    (variant,) = made.report.variants
    assert (variant.remedies, variant.remedies_right, variant.remedies_in_successes) == (3, 1, 2)
    assert variant.gone_back == {"exact": 2, "lost": 1}


def test_what_nobody_could_judge_is_a_failure_where_it_did_not_end_by_itself(store):
    made = Written(store, "own/a", "own/b")
    made.run("own/a", 0, "Save", success=None)
    run = made.run("own/b", 0, "Save", success=None, outcome="budget")
    report = made.report
    assert [(one.task, one.failures, one.judged) for one in report.tasks] == [
        ("own/a", 0, 0),
        ("own/b", 1, 0),
    ]
    assert [one.run for group in report.failures for one in group.runs] == [run]
    again = plan_of_failures(EvalRequest(failures_of="mine"), store)
    assert [case for _, case in again.cases()] == [made.case("own/b", 0)]


def test_a_new_trial_counts_as_a_revised_plan(store):
    made = Written(store, "own/a")
    made.run("own/a", 0, "Save")
    run = made.run("own/a", 1, "Save")
    write_step(store, run, 2)
    store.begin_step(run, 3, trial=3)
    assert [one.plan_revisions for one in made.report.runs] == [0, 2]
    assert made.report.variants[0].plan_revisions == 1.0


def test_runs_that_a_person_touched_count_apart(store):
    made = Written(store, "own/a", variants=(PLAIN, LASER))
    made.run("own/a", 0, "Save")
    touched = made.run("own/a", 1, "Cancel", success=False)
    made.run("own/a", 1, "Save", variant=LASER)
    store.save_intervention(Intervention(run=touched, step=1, kind="edit", who="me", when=1.0))
    report = made.report
    (variant, _) = report.variants
    assert (variant.cases, variant.judged, variant.successes) == (2, 1, 1)
    assert (variant.touched, variant.steps) == (1, 1.0)
    assert report.failures == ()
    assert report.comparison.judged == 0


def test_what_is_broken_off_or_made_once_more_counts_once(store):
    made = Written(store, "own/a")
    made.run("own/a", 0, success=None, outcome="interrupted")
    made.run("own/a", 1, success=None, outcome="error", error="The browser has ended.")
    assert made.report.done == 0
    made.run("own/a", 1, "Save", attempt=2)
    save_unbegun(store, CaseAttempt(evaluation=made.number, case=made.case("own/a", 2), number=2), "No page.")
    report = made.report
    assert report.done == 2
    assert (report.variants[0].tried_again, report.variants[0].failed) == (2, 1)
    (group,) = report.failures
    assert (group.outcome, group.error, group.runs[0].run) == ("could not begin", "No page.", None)


@pytest.mark.parametrize(
    ("task", "family"),
    [
        ("miniwob/click-tab-2", "click-tab"),
        ("miniwob/click-tab-2-hard", "click-tab-2-hard"),
        ("shop/goal-017", "goal"),
        ("webarena/12", "webarena"),
        ("own/mine", "mine"),
    ],
)
def test_a_family_is_the_task_without_environment_and_number(task, family):
    assert family_of(task) == family


def test_figures_are_told_by_family_preset_and_llm(store):
    tasks = ("own/tab", "own/tab-2", "own/other")
    made = Written(store, *tasks, variants=(PLAIN, LASER))
    for task in tasks:
        made.run(task, 0, "Save")
        made.run(task, 0, "Save", variant=LASER, success=task == "own/tab")
    report = made.report
    assert [(one.family, one.variant, one.successes, one.judged) for one in report.families] == [
        ("other", PLAIN.name, 1, 1),
        ("other", LASER.name, 0, 1),
        ("tab", PLAIN.name, 2, 2),
        ("tab", LASER.name, 1, 2),
    ]
    assert [(one.preset, one.successes) for one in report.presets] == [("plain", 3), ("laser", 1)]
    assert [(one.llm, one.successes) for one in report.llms] == [("rules", 4)]


def test_failures_are_grouped_by_the_first_step_that_no_success_did(store):
    made = Written(store, "own/a", variants=(PLAIN, LASER))
    made.run("own/a", 0, "Open", "Save", "Send", variant=LASER)
    wrong = made.run("own/a", 0, "Open", "Delete", "Send", success=False)
    early = made.run("own/a", 1, "Open", success=False)
    again = made.run("own/a", 2, "Open", success=False)
    groups = made.report.failures
    assert [[one.run for one in group.runs] for group in groups] == [[early, again], [wrong]]
    assert (groups[1].did, groups[1].successes_did) == (
        "click button in form",
        "the same action on another element",
    )
    assert groups[1].runs[0].step == deciding_step(store, store.run(wrong)) == 2
    # They went the way of the success, and ended too early.
    assert (groups[0].did, groups[0].runs[0].step) == ("", 1)


def test_errors_that_differ_in_names_and_numbers_are_one_group(store):
    made = Written(store, "own/a")
    for seed in range(2):
        error = f'The page "Save {seed}" at http://x/{seed} went away after {seed} ms.'
        made.run("own/a", seed, success=None, outcome="error", error=error, attempt=2)
    (group,) = made.report.failures
    assert (len(group.runs), group.outcome) == (2, "error")
    assert group.error == "The page … at … went away after … ms."


def test_the_deciding_step_of_a_success_is_its_last_and_others_go_by_their_family(store):
    made = Written(store, "own/tab", "own/tab-2")
    good = made.run("own/tab", 0, "Save", "Send")
    assert deciding_step(store, store.run(good)) == 2
    bad = made.run("own/tab-2", 3, "Save", "Send", "Send", success=False)
    assert deciding_step(store, store.run(bad)) == 3
    alone = store.begin_run(start(task="own/tab-9"))
    assert deciding_step(store, store.run(alone)) == 0


def test_the_lines_of_a_csv_are_the_runs_and_no_text_is_a_formula(store):
    made = Written(store, "own/a", "own/=1+1")
    run = made.run("own/a", 0, "Save", success=False, outcome="budget", error='=cmd|"x",\nnext line')
    made.run("own/a", 1, "Save")
    lines = list(csv.DictReader(io.StringIO(csv_of(made.report))))
    assert [(one["run"], one["task"], one["success"], one["steps"]) for one in lines] == [
        (str(run), "own/a", "0", "1"),
        (str(run + 1), "own/a", "1", "1"),
    ]
    assert lines[0]["error"] == '\'=cmd|"x",\nnext line'
    assert (lines[0]["seconds_in_llm"], lines[0]["seconds_beside_llm"]) == ("1.0", "2.0")
    assert lines[0]["deciding_step"] == "1"


class Page(HTMLParser):
    """What a page is made of; fails where its elements do not close in order."""

    VOID = frozenset(("meta", "input", "line", "circle", "rect"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.said += data


def test_the_page_is_well_formed_asks_for_nothing_outside_and_keeps_hostile_text_as_text(store):
    made = Written(store, HOSTILE, "miniwob/click-link", variants=(PLAIN, LASER))
    error = '<img src="http://evil.example/x" onerror="alert(2)">'
    for seed in range(3):
        made.run(HOSTILE, seed, "<b>Save</b>", success=False, outcome="error", error=error, attempt=2)
        made.run(HOSTILE, seed, "Save", variant=LASER)
        made.run("miniwob/click-link", seed, "Save")
    text = html_of(made.report)
    page = Page(text)
    assert page.open == []
    assert [tag for tag, _ in page.found].count("script") == 1
    assert not {tag for tag, _ in page.found} & {"img", "iframe", "object", "link", "base", "form"}
    for tag, attributes in page.found:
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("href", "src", "action", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "url(" not in text
    assert "@import" not in text
    assert error in page.said
    assert HOSTILE in page.said
    assert "{{7*7}}" in page.said
    policy = next(one["content"] for _, one in page.found if "http-equiv" in one)
    assert policy.startswith("default-src 'none'")


def test_the_median_of_an_even_number_of_runs_lies_between_the_two_in_the_middle(store):
    made = Written(store, "own/tab")
    for seed, steps in enumerate((1, 2, 5, 9)):
        made.run("own/tab", seed, *["Save"] * steps)
    (one,) = distributions(made.report.runs, "steps", [(run, run.steps) for run in made.report.runs])
    assert one.median == 3.5


MAKING = Making(
    version="1.2.3",
    command="python3 main.py eval --tasks own/a",
    browser="chromium",
    max_steps=7,
    max_llm_calls=9,
    on_gate="end",
    llms=(LLMUsed(name="fast", model="m", server="http://h:1", sampling={"temperature": 0.5}),),
    purposes={"judge": {"llm": "rules"}},
)


def test_the_report_has_seeds_end_and_with_what_it_was_made_once_for_each_change(store):
    made = Written(store, "own/<b>", variants=(PLAIN,))
    for one in (MAKING, MAKING, MAKING.replace(command="python3 main.py eval --resume <i>")):
        note_made(store, made.number, one.model_dump_json())
    assert made.report.ended is None
    for seed in range(6):
        made.run("own/<b>", seed, "Save")
    report = made.report
    assert (report.plan.seeds_in_words, report.ended) == ("0-5", store.run(6).ended)
    assert [one.command for one in report.made] == [MAKING.command, "python3 main.py eval --resume <i>"]
    page = html_of(report)
    for sentence in MAKING.sentences:
        assert sentence in page
    assert "--resume &lt;i&gt;" in page
    assert MAKING.sentences == (
        "Backstep 1.2.3: python3 main.py eval --tasks own/a",
        "browser chromium, at most 7 steps, 9 LLM calls, gates: end",
        "LLM fast (m at http://h:1): temperature 0.5",
        "judge: llm rules",
    )


def test_the_interval_over_tasks_is_wider_where_tasks_are_all_or_nothing_and_one_task_has_none(store):
    made = Written(store, "own/a", "own/b", variants=(PLAIN, LASER))
    for seed in range(6):
        for task in ("own/a", "own/b"):
            made.run(task, seed, "Save", success=task == "own/a")
            made.run(task, seed, "Save", variant=LASER)
    report = made.report
    plain, laser = report.variants
    assert (plain.over_tasks, laser.over_tasks) == (
        (0.0, 1.0),
        (laser.low, 1.0),
    )  # Never narrower than the other.
    assert plain.low > 0
    assert [one.over_tasks for one in report.tasks] == [None] * 4
    assert report.comparison.over_tasks == (0.0, 1.0)
    assert "(95 % over tasks: +0.0 to +100.0)" in report.comparison.sentence
    assert report.comparison.sentence.endswith("The interval contains 0.")


def test_an_evaluation_without_a_run_has_a_report(store):
    made = Written(store, "own/a")
    report = made.report
    assert (report.done, report.total) == (0, 6)
    assert "No run is done yet." in Page(html_of(report)).said
    assert csv_of(report).strip() == ""


def test_variants_are_not_compared_where_their_cases_were_chosen_by_what_runs_came_to(store):
    made = Written(store, "own/a", variants=(PLAIN, LASER))
    made.run("own/a")
    made.run("own/a", variant=LASER, success=False)
    assert made.report.comparison is not None
    failures = made.plan.again("first", [case for _, case in made.plan.cases()])
    note_plan(store, made.number, failures.model_dump_json())
    report = made.report
    assert report.comparison is None
    assert NOT_COMPARED in html_of(report)
