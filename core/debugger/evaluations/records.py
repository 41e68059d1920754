"""Records of an evaluation's request: tasks, seeds and variants of the agent."""

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from core.debugger.evaluations.proof_records import ASKED_AGAIN, TIMES_AGAIN, Candidate, RepairPlan, Spot
from core.schema.changes import NONE, Changes
from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.settings import OnGate
from core.trace.records import Case

ExemplarUse = Literal["own", "none"]
"""Whether the agent is given exemplars: those of the installation and of the user, or none."""


MOST_RUNS = 100_000
"""Of one evaluation."""
UNCHANGED = "unchanged"
"""The variant of a repair that has the files as they were when it began."""


class Variant(Record):
    """One agent that is evaluated."""

    preset: str
    llm: str
    exemplars: ExemplarUse = "own"
    title: str = ""
    """What it is called; empty for its preset and LLM."""
    asked: Changes = Changes()
    """What its runs use otherwise than the installation's and the user's files."""
    files: dict[str, str] = {}
    """Texts that win over the user's own files, by their path in the config folder."""
    run: int = 0
    """The run whose task it does; 0 for tasks that are found by their id."""
    step: int = 0
    """The step of that run from which it goes on, on a branch; 0 for the start of the task."""

    @property
    def name(self) -> str:
        """What the trace and the tables call it."""
        name = self.title or f"{self.preset}, {self.llm}"
        return f"{name}, no exemplars" if self.exemplars == "none" else name

    @property
    def changes(self) -> Changes:
        """What its runs use otherwise than the installation's files."""
        return self.asked.replace(exemplars=NONE) if self.exemplars == "none" else self.asked


class Subject(Record):
    """What about exemplars is measured: one of them, all of a family, or a change of one."""

    kind: Literal["exemplar", "family", "change"] = "exemplar"
    name: str = Field(min_length=1)
    """The id, or the family."""
    before: int = 0
    """For a change: the version without it."""
    after: int = 0
    """For a change: the version with it."""

    @model_validator(mode="after")
    def _has_versions(self) -> "Subject":
        if self.kind == "change" and (self.before < 1 or self.after < 1 or self.before == self.after):
            raise ValueError("a change needs two different versions, such as 1 and 2")
        return self

    @property
    def words(self) -> str:
        if self.kind == "family":
            return f"the family {self.name}"
        return (
            self.name if self.kind == "exemplar" else f"{self.name}, version {self.after} for {self.before}"
        )

    @property
    def with_it(self) -> Changes:
        """What the runs with it use."""
        return Changes(versions={self.name: self.after}) if self.kind == "change" else Changes()

    @property
    def without_it(self) -> Changes:
        """What the runs without it use."""
        if self.kind == "change":
            return Changes(versions={self.name: self.before})
        return (
            Changes(without_families=(self.name,)) if self.kind == "family" else Changes(without=(self.name,))
        )


class Spent(Record):
    """What was spent of limits."""

    calls: int = 0
    """LLM calls."""
    cost: float = 0.0
    """US dollars."""
    minutes: float = 0.0


class RunLimits(Record):
    """Limits after which no further run is started; None means no limit."""

    max_calls: int | None = Field(default=None, ge=1)
    """LLM calls of all runs."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars of all runs; calls without a price do not count."""
    max_minutes: float | None = Field(default=None, gt=0)
    """From the start or the resumption; runs in progress then are broken off and started again the next time."""

    def reached(self, spent: Spent) -> str:
        """Return which of them was reached, as a sentence; empty if none was."""
        if self.max_calls is not None and spent.calls >= self.max_calls:
            return f"The limit of {self.max_calls} LLM calls was reached."
        if self.max_cost is not None and spent.cost >= self.max_cost:
            return f"The limit of ${self.max_cost:g} was reached."
        if self.max_minutes is not None and spent.minutes >= self.max_minutes:
            return f"The limit of {self.max_minutes:g} minutes was reached."
        return ""

    def after(self, spent: Spent) -> "RunLimits":
        """Return what is left of them; none may have been reached."""
        return RunLimits(
            max_calls=None if self.max_calls is None else self.max_calls - spent.calls,
            max_cost=None if self.max_cost is None else self.max_cost - spent.cost,
            max_minutes=None if self.max_minutes is None else self.max_minutes - spent.minutes,
        )


class Request(RunLimits):
    """What every evaluation is asked; the keys are flags of the command line."""

    name: str = ""
    times: int = Field(default=1, ge=1, le=1000)
    """How often each case is done."""
    concurrency: int = Field(default=1, ge=1, le=64)
    """Runs at once."""
    on_gate: OnGate | Literal[""] = ""
    """What is done where a person would be asked; empty for the rule of the settings."""

    @property
    def about(self) -> str:
        """What it is about, in the name that it gets if it was given none."""
        return ""

    def changed(self, *names: str) -> str:
        """Return the flags among these fields whose values are not the usual ones; empty if there are none."""
        usual = type(self).model_fields
        return ", ".join(f"--{name}" for name in names if getattr(self, name) != usual[name].default)

    def arguments(self) -> Iterator[str]:
        """Give the words of the command line that asks for the same, without the program."""
        for flag, value in self.flags().items():
            for word in value if isinstance(value, tuple) else (value,):
                if word not in (None, "", False):
                    yield from (flag,) if word is True else (flag, str(word))

    def flags(self) -> dict[str, object]:
        """Return the flags with their values; a tuple repeats its flag, and what is empty is left out."""
        return {
            "--times": "" if self.times == 1 else self.times,
            "--concurrency": "" if self.concurrency == 1 else self.concurrency,
            "--max-calls": self.max_calls,
            "--max-cost": self.max_cost,
            "--max-minutes": self.max_minutes,
            "--on-gate": self.on_gate,
            "--name": self.name,
        }


class EvalRequest(Request):
    """The request of the command ``eval`` by flags, or by a TOML file with the same keys."""

    tasks: tuple[str, ...] = ()
    """Ids, patterns, ``tag:NAME``, ``suite:NAME`` and ``@FILE``."""
    seeds: str = "0"
    preset: tuple[str, ...] = ()
    llm: tuple[str, ...] = ()
    exemplars: tuple[ExemplarUse, ...] = ("own",)
    failures_of: str = ""
    """The name of an evaluation whose failures are done again, in place of tasks and seeds."""
    cluster: str = ""
    """A Ray cluster as Ray writes its address: ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; empty for none."""
    runtime_env: Path | None = None
    """What Ray installs on the nodes: a file of its own form."""

    def arguments(self) -> Iterator[str]:
        yield "eval"
        yield from super().arguments()

    def flags(self) -> dict[str, object]:
        return {
            "--failures-of": self.failures_of,
            "--tasks": ",".join(self.tasks),
            "--seeds": self.seeds if self.tasks else "",
            "--preset": ",".join(self.preset),
            "--llm": ",".join(self.llm),
            "--exemplars": "" if self.exemplars == ("own",) else ",".join(self.exemplars),
            **super().flags(),
            "--cluster": self.cluster,
            "--runtime-env": self.runtime_env,
        }


class BisectRequest(Request):
    """Go on from several steps of a run; preset and LLM are by default those of the run."""

    run: int = Field(ge=1)
    times: int = Field(default=3, ge=1, le=1000)
    """How many branches are made from each step."""
    steps: tuple[int, ...] = ()
    """The steps to go on from; empty for every `every`-th."""
    every: int = Field(default=0, ge=0)
    """0 for at most eight of the whole run."""
    preset: str = ""
    llm: str = ""

    @property
    def about(self) -> str:
        return f"bisect run {self.run}"

    def arguments(self) -> Iterator[str]:
        yield from ("bisect", str(self.run))
        yield from super().arguments()

    def flags(self) -> dict[str, object]:
        return {
            "--at": self.steps,
            "--every": self.every or "",
            "--preset": self.preset,
            "--llm": self.llm,
            **super().flags(),
            "--times": "" if self.times == 3 else self.times,
        }


LEAST_PAIRS, MOST_PAIRS = 5, 100
"""Pairs of runs by which a change is chosen at most."""
_SEALED, _OTHERS = 4, 12
_MOST_AGAIN = 2 * ASKED_AGAIN * TIMES_AGAIN
"""Runs of what is done again since it fails with a change and not without it."""


def most_runs(pairs: int) -> int:
    """Return how many runs the proof of one change makes at most."""
    again = 2  # From a step, and from the start.
    return 2 * (again + pairs + _SEALED + _OTHERS) + _MOST_AGAIN


class RepairRequest(Request):
    """Prove that a change mends a failed run, and harms nothing that passed."""

    run: int = Field(ge=1)
    candidates: tuple[Candidate, ...] = Field(min_length=1)
    """The likeliest first; the first that holds is the last that is tried."""
    evaluation: str = ""
    """The name of the evaluation whose runs say what failed alike and what passed; empty for all stored runs."""
    alike: tuple[int, ...] = ()
    """Failed runs with the same cause."""
    used: tuple[Spot, ...] = ()
    """Cases that the candidates were made from, or chosen by before; they say nothing more of them."""
    pairs: int = Field(default=8, ge=LEAST_PAIRS, le=MOST_PAIRS)
    """With and without the change, at most, to choose it by."""
    sealed: int = Field(default=_SEALED, ge=0, le=100)
    """Pairs that are looked at once, at the end."""
    others: int = Field(default=_OTHERS, ge=0, le=1000)
    """Cases that passed, at most, which must not fail by the change."""

    @property
    def about(self) -> str:
        return f"repair of run {self.run}"


class WorthRequest(Request):
    """Do tasks with and without an exemplar; preset and LLM are by default those of the settings."""

    subject: Subject
    tasks: tuple[str, ...] = ()
    """Ids, or patterns such as ``miniwob/click-*``; empty for the tasks of the subject."""
    seeds: str = "0-4"
    preset: str = ""
    llm: str = ""

    @property
    def about(self) -> str:
        return f"worth of {self.subject.words}"

    def arguments(self) -> Iterator[str]:
        yield from ("exemplars", "worth")
        yield from super().arguments()
        yield from ("--", self.subject.name)

    def flags(self) -> dict[str, object]:
        subject = self.subject
        return {
            "--family": subject.kind == "family",
            "--change": f"{subject.before}:{subject.after}" if subject.kind == "change" else "",
            "--task": self.tasks,
            "--seeds": self.seeds,
            "--preset": self.preset,
            "--llm": self.llm,
            **super().flags(),
        }


class EvaluationPlan(Record):
    """The plan of an evaluation; with the runs of its cases, it says what is left to do."""

    kind: Literal["tasks", "bisect", "worth", "repair"] = "tasks"
    run: int = 0
    """The run that is bisected or repaired."""
    subject: Subject | None = None
    """What is measured of exemplars."""
    variants: tuple[Variant, ...] = Field(min_length=1)
    tasks: tuple[str, ...] = Field(min_length=1)
    """Their ids."""
    seeds: tuple[int, ...] = Field(min_length=1)
    times: int = Field(default=1, ge=1, le=1000)
    """How often each task is done at each seed."""
    failures_of: str = ""
    """The name of the evaluation whose failures are done again."""
    only: tuple[Case, ...] = ()
    """The cases that are done of these; empty does all. A repair has those that it came to, once it has ended, and
    what GEPA makes those that it has come to so far."""
    repair: RepairPlan | None = None
    """What a repair is proved by."""

    @property
    def seeds_in_words(self) -> str:
        """The seeds as they are asked for, such as ``0-19`` or ``1, 4``."""
        whole = range(self.seeds[0], self.seeds[-1] + 1)
        if len(self.seeds) > 2 and self.seeds == tuple(whole):
            return f"{whole[0]}-{whole[-1]}"
        return ", ".join(map(str, self.seeds))

    @property
    def is_chosen(self) -> bool:
        """Whether its cases depend on what runs came to: a difference of variants would be one of the choice."""
        return self.kind == "repair" or bool(self.kind == "tasks" and self.only)

    @property
    def total(self) -> int:
        if self.only:
            return len(self.only)
        if self.repair is not None:
            each = len(self.variants) * (len(self.repair.choosing) + 2 + len(self.repair.others))
            return each + 2 * len(self.repair.sealed) + (len(self.variants) - 1) * _MOST_AGAIN
        return len(self.variants) * len(self.tasks) * len(self.seeds) * self.times

    def cases(self) -> Iterator[tuple[Variant, Case]]:
        """Give all runs that are to be made; those of the same task and seed follow one another.

        Their order alternates, so that what changes with the time, such as a server's load, affects all variants.
        """
        only = frozenset(self.only)
        for number, (time, seed, task) in enumerate(
            product(range(1, self.times + 1), self.seeds, self.tasks)
        ):
            for variant in reversed(self.variants) if number % 2 else self.variants:
                case = Case(variant=variant.name, task=task, seed=seed, time=time)
                if not only or case in only:
                    yield variant, case

    def again(self, name: str, failed: Iterable[Case], variants: tuple[Variant, ...] = ()) -> Self:
        """Return what does the `failed` cases of this one, which is called `name`, once more.

        Other `variants` each do every task and seed at which one of this one failed.
        """
        cases = dict.fromkeys(failed)
        if variants:
            cases = dict.fromkeys(
                case.replace(variant=variant.name) for case in cases for variant in variants
            )
        did = {case.variant for case in cases}
        tasks, seeds = {case.task for case in cases}, {case.seed for case in cases}
        return self.replace(
            variants=tuple(variant for variant in variants or self.variants if variant.name in did),
            tasks=tuple(task for task in self.tasks if task in tasks),
            seeds=tuple(seed for seed in self.seeds if seed in seeds),
            failures_of=name,
            only=tuple(cases),
        )


class WorthResult(Record):
    """The result of an evaluation with and without a subject, as the library keeps it."""

    subject: Subject
    trace: str
    """The database of traces that has the runs."""
    evaluation: int
    """The evaluation's number there."""
    name: str = ""
    when: float
    """When it was begun, in seconds since the epoch."""
    preset: str
    llm: str
    cases: int = 0
    """Pairs of runs that are done."""
    judged: int = 0
    """Those of which both runs were judged; the others count neither way."""
    used: int = 0
    """Pairs in which the LLM was shown the subject."""
    to_success: int = 0
    """Judged pairs that were a success only with it."""
    to_failure: int = 0
    """Judged pairs that were a success only without it."""
    low: float = -1.0
    high: float = 1.0
    """The 95 % interval of the difference of the shares of successes."""
    first: float = 0.0
    """When the first of the runs with it was begun, in seconds since the epoch; 0 if there is none."""
    version: int | None = None
    """The exemplar's version that was measured, 0 if it was changed meanwhile; None if that is not known."""

    @property
    def difference(self) -> float | None:
        """By how much the share of successes is higher with it, from -1 to 1."""
        return (self.to_success - self.to_failure) / self.judged if self.judged else None

    @property
    def sentence(self) -> str:
        """What is to be known of it besides the comparison."""
        return f"{self.subject.words} was in the prompts of {self.used} of {self.cases} runs with it."


class LLMUsed(Record):
    """How an LLM was asked, without its key."""

    name: str
    model: str = ""
    server: str = ""
    """Scheme, host and port; empty for one without a server."""
    sampling: dict[str, Any] = {}
    body: dict[str, Any] = {}
    """What is added to each request."""

    @property
    def sentence(self) -> str:
        at = f" ({self.model} at {self.server})" if self.server else ""
        return f"LLM {self.name}{at}: {_settings(self.sampling | self.body)}"


class Making(Record):
    """With what an evaluation was made, from one start to its end or the next start."""

    version: str
    """Of Backstep."""
    command: str
    browser: str = ""
    max_steps: int = 0
    max_llm_calls: int = 0
    on_gate: str = ""
    llms: tuple[LLMUsed, ...] = ()
    purposes: dict[str, dict[str, Any]] = {}
    """What the settings have for single purposes: another LLM, or another sampling."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it says, one line each."""
        limits = f"{self.max_steps} steps, {self.max_llm_calls} LLM calls, gates: {self.on_gate}"
        purposes = (f"{name}: {_settings(given)}" for name, given in self.purposes.items())
        return (
            f"Backstep {self.version}: {self.command}",
            f"browser {self.browser}, at most {limits}",
            *(llm.sentence for llm in self.llms),
            *purposes,
        )


def _settings(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in given.items()) or "no settings"


def checked(plan: EvaluationPlan) -> EvaluationPlan:
    """Return the plan; raises UsageError if it has more runs than anyone makes."""
    if plan.total > MOST_RUNS:
        raise UsageError(
            f"These are {plan.total} runs, and an evaluation has at most {MOST_RUNS}: choose fewer tasks or seeds."
        )
    return plan


def variants_of(
    presets: tuple[str, ...], llms: tuple[str, ...], exemplars: tuple[ExemplarUse, ...]
) -> tuple[Variant, ...]:
    """Return each preset with each LLM, with and without exemplars as asked, each once."""
    made = (
        Variant(preset=preset, llm=llm, exemplars=use)
        for preset, llm, use in product(presets, llms, exemplars)
    )
    return tuple({one.name: one for one in made}.values())


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a selection as it is written in one text, parted by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def names_of(text: str) -> tuple[str, ...]:
    """Return the names in a text, parted by commas: that of a local LLM is its path, which may have spaces."""
    return tuple(name for name in map(str.strip, text.split(",")) if name)
