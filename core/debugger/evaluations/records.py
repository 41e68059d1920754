"""Records of an evaluation's request: tasks, seeds and variants of the agent."""

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from core.schema.changes import NONE, Changes
from core.schema.record import Record
from core.trace.records import Case

ExemplarUse = Literal["own", "none"]
"""Whether the agent is given exemplars: those of the installation and of the user, or none."""


class Variant(Record):
    """One agent that is evaluated."""

    preset: str
    llm: str
    exemplars: ExemplarUse = "own"

    @property
    def name(self) -> str:
        """What the trace and the tables call it."""
        name = f"{self.preset}, {self.llm}"
        return f"{name}, no exemplars" if self.exemplars == "none" else name

    @property
    def changes(self) -> Changes:
        """What its runs use otherwise than the installation's files."""
        return Changes(exemplars=NONE) if self.exemplars == "none" else Changes()


class EvalRequest(Record):
    """The request by flags, or by a TOML file with the same keys."""

    name: str = ""
    tasks: tuple[str, ...] = ()
    """Ids, patterns, ``tag:NAME``, ``suite:NAME`` and ``@FILE``."""
    seeds: str = "0"
    preset: tuple[str, ...] = ()
    llm: tuple[str, ...] = ()
    exemplars: tuple[ExemplarUse, ...] = ("own",)
    times: int = Field(default=1, ge=1, le=100)
    concurrency: int = Field(default=1, ge=1, le=64)
    max_cost: float | None = Field(default=None, gt=0)
    max_minutes: float | None = Field(default=None, gt=0)
    failures_of: str = ""
    """The name of an evaluation whose failures are done again, in place of tasks and seeds."""
    cluster: str = ""
    """A Ray cluster as Ray writes its address: ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; empty for none."""
    runtime_env: Path | None = None
    """What Ray installs on the nodes: a file of its own form."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line that asks for the same, without the program."""
        flags: dict[str, object] = {
            "--failures-of": self.failures_of,
            "--tasks": ",".join(self.tasks),
            "--seeds": self.seeds if self.tasks else "",
            "--preset": ",".join(self.preset),
            "--llm": ",".join(self.llm),
            "--exemplars": "" if self.exemplars == ("own",) else ",".join(self.exemplars),
            "--times": "" if self.times == 1 else self.times,
            "--concurrency": "" if self.concurrency == 1 else self.concurrency,
            "--max-cost": self.max_cost,
            "--max-minutes": self.max_minutes,
            "--cluster": self.cluster,
            "--runtime-env": self.runtime_env,
            "--name": self.name,
        }
        given = ((flag, str(value)) for flag, value in flags.items() if value not in (None, ""))
        return ("eval", *(word for pair in given for word in pair))


class EvaluationPlan(Record):
    """The plan of an evaluation; with the runs of its cases, it says what is left to do."""

    variants: tuple[Variant, ...] = Field(min_length=1)
    tasks: tuple[str, ...] = Field(min_length=1)
    """Their ids."""
    seeds: tuple[int, ...] = Field(min_length=1)
    times: int = Field(default=1, ge=1, le=100)
    """How often each task is done at each seed."""
    failures_of: str = ""
    """The name of the evaluation whose failures are done again."""
    only: tuple[Case, ...] = ()
    """The cases that are done of these; empty does all."""

    @property
    def seeds_in_words(self) -> str:
        """The seeds as they are asked for, such as ``0-19`` or ``1, 4``."""
        whole = range(self.seeds[0], self.seeds[-1] + 1)
        if len(self.seeds) > 2 and self.seeds == tuple(whole):
            return f"{whole[0]}-{whole[-1]}"
        return ", ".join(map(str, self.seeds))

    @property
    def total(self) -> int:
        if self.only:
            return len(self.only)
        return len(self.variants) * len(self.tasks) * len(self.seeds) * self.times

    def cases(self) -> Iterator[tuple[Variant, Case]]:
        """Give all runs that are to be made; those of the same task and seed follow one another."""
        only = frozenset(self.only)
        for time, seed, task in product(range(1, self.times + 1), self.seeds, self.tasks):
            for variant in self.variants:
                case = Case(variant=variant.name, task=task, seed=seed, time=time)
                if not only or case in only:
                    yield variant, case

    def again(self, name: str, failed: Iterable[Case], variants: tuple[Variant, ...] = ()) -> Self:
        """Return what does the `failed` cases of this one, which is called `name`, once more.

        Other `variants` each do every task and seed at which one of this one failed.
        """
        cases = dict.fromkeys(failed)
        if variants:
            cases = dict.fromkeys(case.replace(variant=one.name) for case in cases for one in variants)
        did = {case.variant for case in cases}
        tasks, seeds = {case.task for case in cases}, {case.seed for case in cases}
        return type(self)(
            variants=tuple(one for one in variants or self.variants if one.name in did),
            tasks=tuple(one for one in self.tasks if one in tasks),
            seeds=tuple(one for one in self.seeds if one in seeds),
            times=self.times,
            failures_of=name,
            only=tuple(cases),
        )


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
            *(one.sentence for one in self.llms),
            *purposes,
        )


def _settings(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in given.items()) or "no settings"


def variants_of(
    presets: tuple[str, ...], llms: tuple[str, ...], exemplars: tuple[ExemplarUse, ...]
) -> tuple[Variant, ...]:
    """Return each preset with each LLM, with and without exemplars as asked, each once."""
    made = (
        Variant(preset=preset, llm=llm, exemplars=use)
        for preset, llm, use in product(presets, llms, exemplars)
    )
    return tuple(dict.fromkeys(made))


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a selection as it is written in one text, parted by commas or spaces."""
    return tuple(text.replace(",", " ").split())
