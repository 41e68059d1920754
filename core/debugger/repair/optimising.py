"""Rewrites files that the user names with GEPA, by runs of an evaluation's tasks and the causes of those that fail.

GEPA (L. Agrawal et al., Reflective Prompt Evolution Can Outperform Reinforcement Learning, 2025) is the package `gepa`:
an LLM reads what went wrong in a few runs, proposes a new text, and what is better on them is tried on all others. Its
state is kept in a folder, so that a second call goes on there.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

from core.agent.llm_calls import Answerer
from core.debugger.causes.finding import causes_of
from core.debugger.causes.report import report_of
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.local import run_of
from core.debugger.evaluations.records import Candidate, EvaluationPlan, Spot, Variant
from core.debugger.repair.candidates import change_of
from core.debugger.services import Services
from core.llm.replies import split_thinking
from core.schema.errors import BackstepError, LLMError, UsageError
from core.schema.messages import LLMRequest, Message, Sampling
from core.system.program import install_command
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import create_evaluation, evaluation_named
from core.trace.records import Case, CaseAttempt

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
    cost: float


def check_installed() -> None:
    """Raise UsageError if the package is missing."""
    if find_spec("gepa") is None:
        raise UsageError(f"GEPA is not installed. Install it with: {install_command('optimise')}")


async def optimise(
    services: Services,
    name: str,
    variant: Variant,
    spots: Sequence[Spot],
    components: Sequence[str],
    llm: Answerer,
    folder: Path,
    *,
    most_runs: int,
    max_cost: float | None = None,
) -> Optimised:
    """Let GEPA rewrite the files `components` until `most_runs` runs were made, which are kept as an evaluation.

    The runs are those of an evaluation called `name`. Raises UsageError for a file that is none of the agent, with
    fewer than two cases, or where GEPA is not installed, and the errors of the runs.
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
    seed = {one: files.read(one) for one in components}
    plan = EvaluationPlan(
        variants=(variant.replace(title="candidate", files=seed),),
        tasks=tuple(dict.fromkeys(spot.task for spot in spots)),
        seeds=tuple(sorted({spot.seed for spot in spots})),
    )
    row = evaluation_named(services.store, name)
    number = create_evaluation(services.store, name, plan.model_dump_json()) if row is None else row.number
    adapter = _Adapter(services, files, plan.variants[0], number, llm, max_cost)
    made_by, chosen_by = spots[::2], spots[1::2]

    def work() -> Any:
        from gepa.api import optimize

        return optimize(
            seed_candidate=dict(seed),
            trainset=list(made_by),
            valset=list(chosen_by),
            adapter=cast(Any, adapter),
            reflection_lm=adapter.reflect,
            reflection_prompt_template={one: _PROMPT.replace("{file}", one) for one in components},
            reflection_minibatch_size=min(_AT_A_TIME, len(made_by)),
            max_metric_calls=most_runs,
            stop_callbacks=adapter.is_over,
            logger=_Log(),
            run_dir=str(folder),
            raise_on_exception=True,
        )

    result = await asyncio.to_thread(work)
    scores = result.val_aggregate_scores
    best = dict(result.best_candidate)
    candidate = None
    if best != seed and scores[result.best_idx] > scores[0]:
        what = f"GEPA rewrote {', '.join(one for one in components if best[one] != seed[one])}."
        texts = {one: text for one, text in best.items() if text != seed[one]}
        candidate = change_of(texts, files, what=what, origin="LLM")
    return Optimised(candidate, tuple(spots), scores[0], scores[result.best_idx], adapter.runs, adapter.cost)


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
        variant: Variant,
        evaluation: int,
        llm: Answerer,
        max_cost: float | None,
    ) -> None:
        self._services = services
        self._files = files
        self._variant = variant
        self._evaluation = evaluation
        self._llm = llm
        self._max_cost = max_cost
        self._loop = asyncio.get_running_loop()
        self.runs = 0
        self.cost = 0.0
        self._before = len(evaluated_runs(services.store, evaluation))
        """Runs that an earlier call has made."""

    propose_new_texts = None

    def is_over(self, gepa_state: object) -> bool:
        """Return whether the cost limit was reached."""
        return self._max_cost is not None and self.cost >= self._max_cost

    def evaluate(
        self, batch: Sequence[Spot], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        from gepa.core.adapter import EvaluationBatch

        problem = self._problem(candidate)
        told = [
            (0.0, problem) if problem else self._wait(self._made(spot, dict(candidate))) for spot in batch
        ]
        return EvaluationBatch(
            outputs=[words for _, words in told],
            scores=[score for score, _ in told],
            trajectories=[
                {"Inputs": spot.task, "Feedback": words} for spot, (_, words) in zip(batch, told, strict=True)
            ]
            if capture_traces
            else None,
        )

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, str]]]:
        return {one: list(eval_batch.trajectories) for one in components_to_update}

    def reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        """Return the reply of the LLM that proposes texts."""
        text = (
            prompt if isinstance(prompt, str) else "\n\n".join(str(one.get("content", "")) for one in prompt)
        )
        messages = (Message(role="user", text=text),)
        reply = self._wait(
            self._llm.reply(LLMRequest(purpose="judge", messages=messages, sampling=Sampling()))
        )
        self.cost += reply.cost or 0.0
        return split_thinking(reply.text)[1]

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _problem(self, candidate: Mapping[str, str]) -> str:
        """Return why texts cannot be used, or nothing."""
        try:
            with self._files.with_drafts(candidate, self._services.resources):
                return ""
        except BackstepError as error:
            return f"The file cannot be used: {error}"

    async def _made(self, spot: Spot, texts: dict[str, str]) -> tuple[float, str]:
        """Run a case, and return its score with what happened."""
        self.runs += 1
        services, store = self._services, self._services.store
        case = Case(variant=self._variant.name, task=spot.task, seed=spot.seed, time=self._before + self.runs)
        attempt = CaseAttempt(evaluation=self._evaluation, case=case)
        try:
            report = await run_of(services, self._variant.replace(files=texts), case, attempt=attempt)
        except LLMError as error:
            return 0.0, str(error)
        self.cost += report.cost or 0.0
        score = report.reward if report.reward is not None else float(bool(report.success))
        if report.run is None:
            return 0.0, report.error
        row = store.run(report.run)
        causes = () if report.success else causes_of(store, report.run, services.resources, self._files)
        return min(max(score, 0.0), 1.0), report_of(store, row, causes)[:_LONGEST_FEEDBACK]
