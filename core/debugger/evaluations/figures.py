"""The figures of an evaluation: successes with their interval, and costs."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Self

from core.debugger.evaluations.intervals import over_groups, wilson
from core.schema.record import Record
from core.schema.restore import Grade
from core.trace.records import EvaluatedRun, RunOutcome

MOST_ATTEMPTS = 2
"""Tries at a case: a second one where the first failed through no fault of the agent."""
_NOT_ENDED = ("running", "interrupted")


def counts(outcome: RunOutcome | None, attempt: int) -> bool:
    """Return whether a try is the one of its case; the outcome of a run that could not begin is None."""
    return outcome not in _NOT_ENDED and not is_tried_again(outcome, attempt)


def is_tried_again(outcome: RunOutcome | None, attempt: int) -> bool:
    """Return whether a case is tried once more after a try with this outcome."""
    return outcome in (None, "error") and attempt < MOST_ATTEMPTS


def success_word(success: bool | None) -> str:
    return {True: "success", False: "no success", None: "not judged"}[success]


class Share(Record):
    """The successes of some cases, with their average costs.

    Runs that a person changed are counted separately and in nothing else but the cost.
    """

    cases: int = 0
    """Those that are done."""
    judged: int = 0
    """Those that somebody could judge; the others count neither way."""
    successes: int = 0
    failures: int = 0
    """Cases that were no success, the failed ones among them."""
    low: float = 0.0
    high: float = 1.0
    """The 95 % interval of the share of successes, as if all cases were independent (Wilson)."""
    over_tasks: tuple[float, float] | None = None
    """The 95 % interval over tasks, whose runs are not independent (cluster bootstrap); None for one task."""
    reward: float | None = None
    """The mean; None if no run has one."""
    steps: float = 0.0
    llm_calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    seconds: float = 0.0
    seconds_in_llm: float = 0.0
    seconds_beside_llm: float = 0.0
    cost: float | None = None
    """US dollars of all tries, those that do not count among them; None if no call had a price."""
    plan_revisions: float = 0.0
    remedies: int = 0
    """Steps of all of them that tried a remedy."""
    remedies_right: int = 0
    """Those of them that were judged right after they were done."""
    remedies_in_successes: int = 0
    """Those of them in runs that came to a success."""
    gone_back: dict[Grade, int] = {}
    """How often they went back, by how well the page was brought back."""
    failed: int = 0
    """Cases that ended with a failure of browser, LLM or database, or could not begin."""
    tried_again: int = 0
    """Cases whose first run failed that way."""
    touched: int = 0
    """Cases whose run a person has had a hand in since."""

    @property
    def share(self) -> float | None:
        return self.successes / self.judged if self.judged else None

    @classmethod
    def of(cls, tries: Sequence[EvaluatedRun], **named: str) -> Self:
        """Count the tries that count for their cases; `named` are the fields of a subclass."""
        rows = done_of(tries)
        touched = [row for row in rows if row.touched]
        own = [row for row in rows if not row.touched]
        runs = [one for one in own if one.run is not None]
        judged = [one for one in runs if one.success is not None]
        successes = sum(bool(one.success) for one in judged)
        rewards = [one.reward for one in runs if one.reward is not None]
        low, high = wilson(successes, len(judged))
        by_task: dict[str, tuple[int, int]] = {}
        for one in judged:
            good, of = by_task.get(one.task, (0, 0))
            by_task[one.task] = (good + bool(one.success), of + 1)
        gone_back: dict[Grade, int] = {}
        for run in runs:
            for grade, times in run.gone_back.items():
                gone_back[grade] = gone_back.get(grade, 0) + times
        return cls(
            cases=len(rows),
            judged=len(judged),
            successes=successes,
            failures=sum(one.is_failure for one in own),
            low=low,
            high=high,
            over_tasks=over_groups(by_task.values(), (low, high)),
            reward=fmean(rewards) if rewards else None,
            steps=_mean(one.steps for one in runs),
            llm_calls=_mean(one.llm_calls for one in runs),
            prompt_tokens=_mean(one.prompt_tokens for one in runs),
            completion_tokens=_mean(one.completion_tokens for one in runs),
            seconds=_mean(one.seconds for one in runs),
            seconds_in_llm=_mean(one.seconds_in_llm for one in runs),
            seconds_beside_llm=_mean(one.seconds_beside_llm for one in runs),
            cost=cost_of(tries),
            plan_revisions=_mean(one.plan_revisions for one in runs),
            remedies=sum(one.remedies for one in runs),
            remedies_right=sum(one.remedies_right for one in runs),
            remedies_in_successes=sum(one.remedies for one in runs if one.success),
            gone_back=gone_back,
            failed=sum(one.run is None or one.outcome == "error" for one in own),
            tried_again=sum(one.attempt > 1 for one in own),
            touched=len(touched),
            **named,
        )


class GroupShare(Share):
    """The figures of the cases with the same variant, task, family, preset or LLM; empty means any."""

    variant: str = ""
    task: str = ""
    family: str = ""
    preset: str = ""
    llm: str = ""


def cost_of(tries: Iterable[EvaluatedRun]) -> float | None:
    """Return the US dollars of tries; None if no call had a price."""
    costs = [one.cost for one in tries if one.cost is not None]
    return sum(costs) if costs else None


def done_of(tries: Iterable[EvaluatedRun]) -> tuple[EvaluatedRun, ...]:
    """Return the try that counts for each case that is done, in order."""
    found = {
        (one.variant, one.task, one.seed, one.time): one for one in tries if counts(one.outcome, one.attempt)
    }
    return tuple(found.values())


def grouped(
    tries: Iterable[EvaluatedRun],
    key: Callable[[EvaluatedRun], tuple[str, ...]],
    names: Sequence[str],
    order: Iterable[tuple[str, ...]] = (),
) -> tuple[GroupShare, ...]:
    """Return the figures of the tries with the same key, whose parts are the fields `names`; first those of `order`.

    Without a result yet, only those of `order` are among them.
    """
    always = tuple(order)
    groups: dict[tuple[str, ...], list[EvaluatedRun]] = {one: [] for one in always}
    for run in tries:
        groups.setdefault(key(run), []).append(run)
    shares = ((of, GroupShare.of(rows, **dict(zip(names, of, strict=True)))) for of, rows in groups.items())
    return tuple(share for of, share in shares if share.cases or of in always)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0
