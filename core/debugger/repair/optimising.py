"""Rewrites files that the user names with GEPA, by runs of an evaluation's tasks and the causes of those that fail.

GEPA (L. Agrawal et al., Reflective Prompt Evolution Can Outperform Reinforcement Learning, 2025) is the package `gepa`:
an LLM reads what went wrong in a few runs, proposes a new text, and what is better on them is tried on all others. Its
runs are an evaluation with a variant for each text, and its state is kept in a folder: a second call with the same
files, texts, cases and agent goes on there, and makes no run twice.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

from core.agent.llm_calls import Answerer
from core.debugger.causes.finding import causes_of
from core.debugger.causes.report import report_of
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.engine import Evaluator, Lane, failure, opened, planned, results
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.proof import case_at
from core.debugger.evaluations.proof_records import Candidate, Spot
from core.debugger.evaluations.records import EvaluationPlan, RunLimits, Spent, Variant
from core.debugger.repair.candidates import change_of
from core.debugger.services import Services
from core.llm.replies import split_thinking
from core.schema.errors import BackstepError, UsageError, WorldError
from core.schema.messages import LLMRequest, Message, Sampling
from core.setup.project import install_command
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import attempts_of, evaluation_named, note_plan
from core.trace.records import AttemptRow, Case, EvaluationRow, RunRow
from core.trace.store import TraceStore

log = logging.getLogger(__name__)
_LONGEST_FEEDBACK = 6000
_AT_A_TIME = 3
"""Runs whose causes the LLM reads before it proposes a text."""
_PROMPT = """\
This is the file {file} of a web agent:
```
<curr_param>
```

These are tasks that the agent did with it, with what it did and what may have caused a failure:
```
<side_info>
```

Write the file anew so that such failures do not happen again. Keep its format, and every tag in braces and key that the
program needs. Change as little as possible, and write nothing that helps in one task alone, such as its answer. Give
the whole new file within ``` blocks."""


class Optimised(NamedTuple):
    """What came of it."""

    candidate: Candidate | None
    """The best texts; None if none is better than those in use."""
    spots: tuple[Spot, ...]
    """What the texts were made and chosen by."""
    before: float
    """The mean score of the texts in use, from 0 to 1, on the cases to choose by."""
    after: float
    runs: int
    """All that were made of these cases, by earlier calls too."""
    spent: Spent
    """For these runs, and for LLM calls and time of this call."""
    why: str
    """Why it ended; empty for the number of runs."""


class _OverError(Exception):
    """A limit was reached, or it was interrupted."""


def check_installed() -> None:
    """Raise UsageError if the package is missing."""
    if find_spec("gepa") is None:
        raise UsageError(f"GEPA is not installed. Install it with: {install_command('optimise')}")


async def optimise(
    services: Services,
    lanes: Sequence[Lane],
    name: str,
    variant: Variant,
    spots: Sequence[Spot],
    components: Sequence[str],
    llm: Answerer,
    folder: Path,
    *,
    most_runs: int,
    limits: RunLimits = RunLimits(),  # noqa: B008 - it is frozen
) -> Optimised:
    """Let GEPA rewrite the files `components` until `most_runs` runs were made or a limit is reached.

    The runs are those of an evaluation called `name`, with a number if that is taken. Raises UsageError for a file
    that is none of the agent, where cases or runs are too few, and where GEPA is not installed, WorldError for a run
    that fails with its world twice, and the errors of the LLMs.
    """
    check_installed()
    files = AgentFiles(services.config)
    known = files.names()
    if missing := [one for one in components if one not in known]:
        raise UsageError(f"{missing[0]} is no file of an agent; the command files lists them.")
    if len(spots) < 2:
        raise UsageError(
            "The evaluation has fewer than two cases, so texts cannot be made by one and chosen by another."
        )
    # Both halves have cases of each task that has more than one.
    by_task = sorted(spots, key=lambda spot: spot.task)
    made_by, chosen_by = by_task[::2], by_task[1::2]
    at_a_time = min(_AT_A_TIME, len(made_by))
    # The texts in use and a new one are each tried on a few cases, and on all to choose by.
    if most_runs < (needed := 2 * (at_a_time + len(chosen_by))):
        raise UsageError(f"To try one new text on these cases, GEPA needs --max-runs {needed} at least.")
    seed = {one: files.read(one) for one in sorted(components)}
    first = variant.replace(title="texts 1", files=seed)
    plan = EvaluationPlan(
        variants=(first,),
        tasks=tuple(dict.fromkeys(spot.task for spot in spots)),
        seeds=tuple(sorted({spot.seed for spot in spots})),
        only=tuple(case_at(first.name, spot) for spot in chosen_by),
    )
    asked = json.dumps(
        [str(services.store.path), name, plan.model_dump_json(), [str(one) for one in made_by]]
    )
    state = folder / sha256(asked.encode()).hexdigest()[:16]

    def work(adapter: _Adapter) -> Any:
        from gepa.api import optimize
        from gepa.core.result import GEPAResult
        from gepa.core.state import GEPAState

        try:
            return optimize(
                seed_candidate=dict(seed),
                trainset=list(made_by),
                valset=list(chosen_by),
                adapter=cast(Any, adapter),
                reflection_lm=adapter.reflect,
                reflection_prompt_template={one: _PROMPT.replace("{file}", one) for one in components},
                reflection_minibatch_size=at_a_time,
                max_metric_calls=most_runs,
                stop_callbacks=adapter.is_over,
                logger=_Log(),
                run_dir=str(state),
                raise_on_exception=True,
            )
        except _OverError:
            stored = (state / "gepa_state.bin").is_file()
            return GEPAResult.from_state(GEPAState.load(str(state))) if stored else None

    with opened(services.store, *_begun(services.store, name, plan)) as row:
        adapter = _Adapter(services, files, row, lanes, llm, most_runs, limits)
        result = await _in_thread(adapter, work)
    if adapter.error is not None:
        raise adapter.error
    if result is None:
        raise UsageError(f"{adapter.why} The texts in use were not tried on all cases to choose by.")
    scores = result.val_aggregate_scores
    best = dict(result.best_candidate)
    candidate = None
    if best != seed and scores[result.best_idx] > scores[0]:
        what = f"GEPA rewrote {', '.join(one for one in seed if best[one] != seed[one])}."
        texts = {one: text for one, text in best.items() if text != seed[one]}
        candidate = change_of(texts, files, what=what, origin="LLM")
    return Optimised(
        candidate,
        tuple(spots),
        scores[0],
        scores[result.best_idx],
        adapter.runs,
        adapter.spent,
        adapter.why,
    )


def _begun(store: TraceStore, name: str, plan: EvaluationPlan) -> tuple[str, EvaluationPlan]:
    """Return the name and the plan of the evaluation that has begun so, or of a new one."""
    number, called = 1, name
    while (row := evaluation_named(store, called)) is not None:
        stored = planned(row)
        if plan == stored.replace(variants=stored.variants[:1], only=stored.only[: len(plan.only)]):
            return called, stored
        number += 1
        called = f"{name} {number}"
    return called, plan


async def _in_thread(adapter: "_Adapter", work: Callable[["_Adapter"], Any]) -> Any:
    """Return what the work comes to; it ends first where this is cancelled."""
    thread = asyncio.ensure_future(asyncio.to_thread(work, adapter))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        adapter.end()
        await asyncio.wait([thread])
        raise


class _Log:
    """Takes what GEPA says of its progress."""

    def log(self, message: str) -> None:
        log.info("%s", message)


class _Adapter:
    """What GEPA asks: to run texts on cases, and what went wrong there. It calls from a thread of its own."""

    def __init__(
        self,
        services: Services,
        files: AgentFiles,
        row: EvaluationRow,
        lanes: Sequence[Lane],
        llm: Answerer,
        most_runs: int,
        limits: RunLimits,
    ) -> None:
        self._services = services
        self._files = files
        self._row = row
        self._lanes = lanes
        self._llm = llm
        self._most_runs = most_runs
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._begun = time.monotonic()
        self._task: asyncio.Task[Any] | None = None
        """What GEPA waits for."""
        self._calls, self._cost = 0, 0.0
        """Of the LLM that proposes texts."""
        self._count()
        self.why = ""
        """Why it ends early."""
        self.error: BackstepError | None = None
        """That of the LLM that proposes texts, which GEPA takes for a text that was not proposed."""

    propose_new_texts = None

    @property
    def spent(self) -> Spent:
        minutes = (time.monotonic() - self._begun) / 60
        return Spent(calls=self._calls + self._run_calls, cost=self._cost + self._run_cost, minutes=minutes)

    def is_over(self, gepa_state: object = None) -> bool:
        """Return whether no further run is to be made."""
        self.why = self.why or self._limits.reached(self.spent)
        return bool(self.why) or self.error is not None

    def end(self) -> None:
        """Break off what GEPA waits for."""
        self.why = "It was interrupted."
        if self._task is not None:
            self._task.cancel()

    def evaluate(
        self, batch: Sequence[Spot], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        from gepa.core.adapter import EvaluationBatch

        problem = self._problem(candidate)
        rows = () if problem else self._wait(self._made(batch, dict(candidate)))
        words = [problem] * len(batch)
        if capture_traces and not problem:
            words = self._wait(self._told(rows))
        return EvaluationBatch(
            outputs=[problem] * len(batch) if problem else [row.run for row in rows],
            scores=[0.0] * len(batch) if problem else [_score(row) for row in rows],
            trajectories=[
                {"Inputs": spot.task, "Feedback": text} for spot, text in zip(batch, words, strict=True)
            ]
            if capture_traces
            else None,
        )

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, str]]]:
        return {one: list(eval_batch.trajectories) for one in components_to_update}

    def reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        """Return the reply of the LLM that proposes texts; it is not asked again after an error."""
        if self.is_over():
            raise _OverError
        text = (
            prompt if isinstance(prompt, str) else "\n\n".join(str(one.get("content", "")) for one in prompt)
        )
        messages = (Message(role="user", text=text),)
        try:
            reply = self._wait(
                self._llm.reply(LLMRequest(purpose="judge", messages=messages, sampling=Sampling()))
            )
        except BackstepError as error:
            self.error = error
            raise
        self._calls += 1
        self._cost += reply.cost or 0.0
        return split_thinking(reply.text)[1]

    def _wait(self, work: Any) -> Any:
        async def awaited() -> Any:
            self._task = asyncio.current_task()
            return await work

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()

    def _problem(self, candidate: Mapping[str, str]) -> str:
        """Return why texts cannot be used, or nothing."""
        try:
            with self._files.with_drafts(candidate, self._services.resources):
                return ""
        except BackstepError as error:
            return f"The file cannot be used: {error}"

    def _count(self) -> None:
        """Read what the evaluation has come to."""
        tries = evaluated_runs(self._services.store, self._row.number)
        self.runs = len(done_of(tries))
        self._run_calls = sum(one.llm_calls for one in tries)
        self._run_cost = sum(one.cost or 0.0 for one in tries)

    def _planned(self, spots: Sequence[Spot], texts: dict[str, str]) -> tuple[Variant, list[Case]]:
        """Store that texts are to do cases, and return their variant with these."""
        plan = planned(self._row)
        variant = next((one for one in plan.variants if one.files == texts), None)
        if variant is None:
            title = f"texts {len(plan.variants) + 1}"
            variant = plan.variants[0].replace(title=title, files=texts)
            plan = plan.replace(variants=(*plan.variants, variant))
        cases = [case_at(variant.name, spot) for spot in spots]
        words = plan.replace(only=tuple(dict.fromkeys((*plan.only, *cases)))).model_dump_json()
        if words != self._row.plan:
            note_plan(self._services.store, self._row.number, words)
            self._row = self._row.replace(plan=words)
        return variant, cases

    async def _made(self, spots: Sequence[Spot], texts: dict[str, str]) -> list[RunRow]:
        """Return the runs of texts on cases; only those are made that there are not yet."""
        store = self._services.store
        variant, cases = self._planned(spots, texts)
        done = {
            case: row
            for case, row in results(attempts_of(store, self._row.number)).items()
            if not failure(row)
        }
        left = [case for case in cases if case not in done]
        if left:
            if self.is_over():
                raise _OverError
            done |= await self._carried_out(variant, left[: max(self._most_runs - len(done), 0)])
        if any(case not in done for case in cases):
            self.why = self.why or f"The limit of {self._most_runs} runs was reached."
            raise _OverError
        return [run for case in cases if (run := done[case].run) is not None]

    async def _carried_out(self, variant: Variant, cases: Sequence[Case]) -> dict[Case, AttemptRow]:
        """Make the runs of cases, each of which is tried once more where its world fails; raises WorldError then."""

        def check() -> None:
            for case in cases:
                if case in ended and (why := failure(ended[case])):
                    raise WorldError(why)

        own = Spent(calls=self._calls, cost=self._cost, minutes=self.spent.minutes)
        evaluator = Evaluator(
            self._services.store,
            self._row,
            self._limits.after(own),
            check,
            lambda plan, done: ((variant, case) for case in cases),
        )
        ended = evaluator.done
        for case in cases:
            ended.pop(case, None)  # It failed the last time.
        try:
            await evaluator.work(self._lanes)
        finally:
            self._count()
        if any(case not in ended for case in cases):
            self.why = self._limits.reached(self.spent) or evaluator.why or "It was interrupted."
        return {case: ended[case] for case in cases if case in ended}

    async def _told(self, runs: Sequence[RunRow]) -> list[str]:
        """Return what happened in runs, for the LLM that proposes texts."""
        services, store = self._services, self._services.store
        return [
            report_of(
                store,
                row,
                () if row.verdict.success else causes_of(store, row.run, services.resources, self._files),
            )[:_LONGEST_FEEDBACK]
            for row in runs
        ]


def _score(row: RunRow) -> float:
    verdict = row.verdict
    score = verdict.reward if verdict.reward is not None else float(bool(verdict.success))
    return min(max(score, 0.0), 1.0)
