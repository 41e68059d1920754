"""GEPA rewrites files: which runs are made and kept, and what ends it. Runs end here by their texts alone."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.proof_records import Spot
from core.debugger.evaluations.records import RunLimits, Variant
from core.debugger.headless import report
from core.debugger.repair.optimising import optimise
from core.schema.errors import LLMError, LLMRefused, UsageError, WorldError
from core.schema.messages import LLMReply
from core.schema.task import Verdict
from core.storage.resources import RESOURCES
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named, process_doing
from core.trace.store import TraceStore
from tests.core.trace.making import start

PROMPT, OTHER = "prompts/plain/system.j2", "prompts/step/system.j2"
MENDED = f"Press ONE.\n{(RESOURCES / PROMPT).read_text()}"
TASK = "miniwob/click-test-2"
SPOTS = tuple(Spot(task=TASK, seed=seed) for seed in range(4))
VARIANT = Variant(preset="plain", llm="gpt")


@dataclass
class Stage:
    """What GEPA works with.

    `problems` are what the next runs end with, or raise, in place of a verdict; `answer` is that of the LLM that
    proposes texts, or several, one after the other.
    """

    store: TraceStore
    services: SimpleNamespace
    problems: list = field(default_factory=list)
    made: list = field(default_factory=list)
    prompts: list = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    answer: object = f"```\n{MENDED}```"
    name: str = "gpt"
    spots: tuple[Spot, ...] = SPOTS

    async def lane(self, variant, attempt):
        self.made.append(attempt.case)
        problem = self.problems.pop(0) if self.problems else ""
        if isinstance(problem, Exception):
            raise problem
        if problem == "hang":
            self.hanging.set()
            await asyncio.sleep(60)
        case = attempt.case
        begun = start("Press ONE.", task=case.task, seed=case.seed)
        run = self.store.begin_run(begun.replace(preset=variant.preset, llm=variant.llm, attempt=attempt))
        verdict = Verdict(success=any("Press ONE." in text for text in variant.files.values()))
        self.store.end_run(
            run,
            outcome="error" if problem else "done",
            verdict=Verdict() if problem else verdict,
            error=problem,
            seconds=1.0,
            seconds_in_llm=0.0,
        )
        return report(self.store.run(run))

    async def reply(self, request, **more):
        self.prompts.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        answer = self.answer.pop(0) if isinstance(self.answer, list) else self.answer
        return LLMReply(text=answer, cost=0.5)

    async def optimised(self, *, components=(PROMPT,), most_runs=10, **limits):
        return await optimise(
            self.services,
            [self.lane],
            "GEPA of bad",
            VARIANT,
            self.spots,
            components,
            self,
            self.services.config / "gepa",
            most_runs=most_runs,
            limits=RunLimits(**limits),
        )

    def plan(self, name="GEPA of bad"):
        return planned(evaluation_named(self.store, name))


@pytest.fixture
def stage(tmp_path):
    store, resources = TraceStore.open(tmp_path / "t.db"), agent_resources_of(tmp_path)
    yield Stage(store, SimpleNamespace(store=store, config=tmp_path, resources=resources))
    store.close()


async def test_each_text_is_a_variant_with_its_own_files_and_every_case_is_run_once(stage):
    made = await stage.optimised()
    assert (made.before, made.after, made.candidate.files) == (0.0, 1.0, {PROMPT: MENDED.strip()})
    plan = stage.plan()
    assert [variant.name for variant in plan.variants] == ["texts 1", "texts 2"]
    assert [("Press ONE." in variant.files[PROMPT]) for variant in plan.variants] == [False, True]
    assert plan.total == made.runs == len(stage.made) == len(set(stage.made)) == 8
    assert {case for _, case in plan.cases()} == set(stage.made)  # What resuming the evaluation would make.
    assert process_doing(stage.store, evaluation_named(stage.store, "GEPA of bad").number) is None


async def test_texts_are_made_and_chosen_by_cases_of_each_task(stage):
    """The cases of an evaluation change the task from one to the next."""
    tasks = TASK, "miniwob/click-test"
    stage.spots = tuple(Spot(task=task, seed=seed) for seed in range(4) for task in tasks)
    await stage.optimised(most_runs=20)
    chosen_by = {case.task for case in stage.plan().only[:4]}
    made_by = {case.task for case in stage.made if case not in stage.plan().only[:4]}
    assert chosen_by == {*tasks}
    assert made_by == {*tasks}


async def test_the_same_call_again_makes_no_run_and_another_one_is_an_evaluation_of_its_own(stage):
    await stage.optimised()
    made = len(stage.made)
    again = await stage.optimised()
    assert (len(stage.made), again.before, again.after) == (made, 0.0, 1.0)

    await stage.optimised(components=(OTHER, PROMPT), most_runs=8)
    assert set(stage.plan("GEPA of bad 2").variants[0].files) == {OTHER, PROMPT}
    own = stage.services.config / PROMPT
    own.parent.mkdir(parents=True)
    own.write_text(MENDED)
    edited = await stage.optimised()
    assert (edited.before, edited.candidate) == (1.0, None)
    assert stage.plan("GEPA of bad 3").variants[0].files == {PROMPT: MENDED}
    assert stage.plan().total == made


async def test_an_llm_that_cannot_propose_ends_it_with_its_error(stage):
    stage.answer = LLMError("The server answers nothing.")
    with pytest.raises(LLMError, match="answers nothing"):
        await stage.optimised(most_runs=60)
    assert (len(stage.prompts), len(stage.made)) == (1, 4)
    stage.answer = f"```\n{MENDED}```"
    assert (await stage.optimised()).after == 1.0
    assert len(set(stage.made)) == len(stage.made) == 8


async def test_a_refused_key_is_no_score(stage):
    stage.problems = [LLMRefused("The key is wrong.")]
    with pytest.raises(LLMRefused, match="key is wrong"):
        await stage.optimised()
    assert len(stage.made) == 1


async def test_a_run_that_fails_with_its_world_is_made_once_more_and_then_ends_it(stage):
    stage.problems = ["The browser went away."]
    assert (await stage.optimised()).after == 1.0
    first, second = stage.made[:2]
    assert first == second
    assert len(stage.made) == 9


@pytest.mark.parametrize("problem", ["The browser went away.", WorldError("The browser went away.")])
async def test_a_run_that_fails_with_its_world_twice_ends_it_and_is_made_anew_by_the_next_call(
    stage, problem
):
    stage.problems = [problem] * 2
    with pytest.raises(WorldError, match="browser went away"):
        await stage.optimised()
    assert len(stage.made) == 2
    assert (await stage.optimised()).after == 1.0


async def test_no_more_runs_are_made_than_asked_and_the_next_call_goes_on(stage):
    with pytest.raises(UsageError, match="--max-runs 8 at least"):
        await stage.optimised(most_runs=7)
    assert stage.made == []
    well, stage.answer = stage.answer, ["```\nPress nothing.\n```", stage.answer]
    made = await stage.optimised(most_runs=9)  # Two texts are tried on two cases; one more is left of two.
    assert (made.candidate, made.why) == (None, "The limit of 9 runs was reached.")
    assert made.runs == len(stage.made) == 9
    stage.answer = well
    assert (await stage.optimised(most_runs=12)).after == 1.0
    assert len(set(stage.made)) == len(stage.made) == 10


@pytest.mark.parametrize(
    ("limits", "runs", "why"),
    [
        ({"max_cost": 0.4}, 4, "The limit of $0.4 was reached."),
        ({"max_calls": 1}, 4, "The limit of 1 LLM calls was reached."),
    ],
)
async def test_a_limit_ends_it_between_two_runs(stage, limits, runs, why):
    made = await stage.optimised(**limits)
    assert (made.candidate, made.why, len(stage.made)) == (None, why, runs)
    assert (made.spent.calls, made.spent.cost) == (1, 0.5)
    assert (await stage.optimised()).after == 1.0
    assert len(stage.made) == 8


async def test_the_time_is_limited_within_a_run(stage):
    stage.problems = ["", "hang"]
    with pytest.raises(UsageError, match=r"minutes was reached\. The texts in use were not tried"):
        await stage.optimised(max_minutes=0.002)
    assert len(stage.made) == 2


async def test_an_interruption_breaks_the_run_off_and_lets_others_take_the_evaluation(stage):
    stage.problems = ["", "hang"]
    task = asyncio.ensure_future(stage.optimised())
    await asyncio.wait_for(stage.hanging.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    row = evaluation_named(stage.store, "GEPA of bad")
    assert process_doing(stage.store, row.number) is None
    assert len(evaluated_runs(stage.store, row.number)) == 1
    assert stage.plan().total == 2
