"""What an evaluation has come to: by variant, by task, and two variants on the same cases."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Self

from core.debugger.evaluations.engine import cases_by_variant
from core.debugger.evaluations.records import EvaluationPlan
from core.debugger.experiments.measurement import cost_of, paired, wilson
from core.schema.record import Record
from core.trace.records import AttemptRow, Case


class Share(Record):
    """The successes of some cases, with what they took on the average."""

    cases: int = 0
    """Those that are done."""
    judged: int = 0
    """Those that somebody could judge; the others count neither way."""
    successes: int = 0
    low: float = 0.0
    high: float = 1.0
    """The 95 % interval of the share of successes."""
    reward: float | None = None
    """The mean; None where no run has one."""
    steps: float = 0.0
    llm_calls: float = 0.0
    seconds: float = 0.0
    cost: float | None = None
    """US dollars of all of them; None where no call had a price."""
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
    def of(cls, rows: Sequence[AttemptRow]) -> Self:
        runs = [one.run for one in rows if one.run is not None]
        judged = [one for one in runs if one.verdict.success is not None]
        successes = sum(bool(one.verdict.success) for one in judged)
        rewards = [one.verdict.reward for one in runs if one.verdict.reward is not None]
        low, high = wilson(successes, len(judged))
        return cls(
            cases=len(rows),
            judged=len(judged),
            successes=successes,
            low=low,
            high=high,
            reward=fmean(rewards) if rewards else None,
            steps=_mean(one.steps for one in runs),
            llm_calls=_mean(one.llm_calls for one in runs),
            seconds=_mean(one.seconds for one in runs),
            cost=cost_of(runs),
            failed=sum(one.run is None or one.run.outcome == "error" for one in rows),
            tried_again=sum(one.attempt.number > 1 for one in rows),
            touched=sum(one.touched for one in runs),
        )


class VariantShare(Share):
    """What a variant came to on all tasks, or on one."""

    variant: str
    task: str = ""


class Flip(Record):
    """A case that only one of two variants brought to success."""

    task: str
    seed: int
    time: int
    runs: tuple[int, int]
    """The run of the first variant and that of the second."""
    to_success: bool
    """Whether the second variant succeeds."""


class VariantComparison(Record):
    """Two variants on the cases that were judged of both."""

    first: str
    second: str
    judged: int
    difference: float | None
    """By how much the share of successes of the second is higher, from -1 to 1."""
    low: float
    high: float
    """Its 95 % interval."""
    flips: tuple[Flip, ...]

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return "No case was judged of both variants: nothing can be said of their difference."
        words = (
            f"{self.second} against {self.first}: {self.difference * 100:+.1f} points "
            f"(95 %: {self.low * 100:+.1f} to {self.high * 100:+.1f}) on {self.judged} cases; "
            f"{len(self.flips)} flipped."
        )
        return f"{words} The interval holds 0." if self.low <= 0 <= self.high else words


class EvaluationReport(Record):
    """What an evaluation has come to so far; its fields are a contract of the command line."""

    evaluation: int
    name: str
    total: int
    done: int
    why: str = ""
    """Why it ended before everything was done."""
    variants: tuple[VariantShare, ...]
    tasks: tuple[VariantShare, ...]
    comparison: VariantComparison | None = None
    """Where there are two variants."""


def report_of(
    number: int, name: str, plan: EvaluationPlan, done: Mapping[Case, AttemptRow], why: str = ""
) -> EvaluationReport:
    by_variant = cases_by_variant(done)
    names = [one.name for one in plan.variants]
    of = {name: by_variant.get(name, {}) for name in names}
    return EvaluationReport(
        evaluation=number,
        name=name,
        total=plan.total,
        done=len(done),
        why=why,
        variants=tuple(_share(variant, "", list(of[variant].values())) for variant in names),
        tasks=tuple(
            _share(variant, task, rows)
            for task in plan.tasks
            for variant in names
            if (rows := [row for (of_task, _, _), row in of[variant].items() if of_task == task])
        ),
        comparison=_compared(names[0], of[names[0]], names[1], of[names[1]]) if len(names) == 2 else None,
    )


def _share(variant: str, task: str, rows: Sequence[AttemptRow]) -> VariantShare:
    return VariantShare(variant=variant, task=task, **Share.of(rows).model_dump())


def _compared(
    first: str,
    of_first: Mapping[tuple[str, int, int], AttemptRow],
    second: str,
    of_second: Mapping[tuple[str, int, int], AttemptRow],
) -> VariantComparison:
    both = neither = 0
    flips: list[Flip] = []
    for (task, seed, time), row in sorted(of_first.items(), key=lambda item: item[0]):
        other = of_second.get((task, seed, time))
        if row.run is None or other is None or other.run is None:
            continue
        was, now = row.run.verdict.success, other.run.verdict.success
        if was is None or now is None:
            continue
        both += was and now
        neither += not was and not now
        if was != now:
            runs = (row.run.run, other.run.run)
            flips.append(Flip(task=task, seed=seed, time=time, runs=runs, to_success=now))
    up = sum(one.to_success for one in flips)
    judged = both + neither + len(flips)
    low, high = paired(both, up, len(flips) - up, neither)
    difference = (2 * up - len(flips)) / judged if judged else None
    return VariantComparison(
        first=first,
        second=second,
        judged=judged,
        difference=difference,
        low=low,
        high=high,
        flips=tuple(flips),
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0
