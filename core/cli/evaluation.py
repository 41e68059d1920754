"""What the command does that asks what exemplars are worth: tasks done with them and without."""

import contextlib
import time

from pydantic import ValidationError

from core.agent.resources import knowledge_of
from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.exemplar_tables import memory_of
from core.cli.output import LineTeller, put, put_json, put_table, say
from core.debugger.experiments.evaluation import about, members_of, sources_of, tasks_of, try_out, used_in
from core.debugger.experiments.records import Experiment, Pair, Subject, WorthWanted
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import check_preset, open_workshop
from core.environments.registry import Environments
from core.llm.registry import open_llms
from core.memory.memory import Memory
from core.schema.changes import Changes
from core.schema.errors import BackstepError, Interrupted, LibraryError, UsageError
from core.settings.settings import Settings, config_folder
from core.trace.replay_llm import ReplayLLM


class WorthArguments(WorthWanted):
    """What the worth command was given."""

    as_json: bool = False
    as_lines: bool = False


def read_subject(name: str, *, is_family: bool, change: str) -> Subject:
    """Raises UsageError."""
    if not change:
        return Subject(kind="family" if is_family else "exemplar", name=name)
    before, _, after = change.partition(":")
    if is_family or not (before.isdigit() and after.isdigit()):
        raise UsageError("--change takes two versions of one exemplar, such as --change 1:2.")
    try:
        return Subject(kind="change", name=name, before=int(before), after=int(after))
    except ValidationError as error:
        raise UsageError(
            "--change takes two different versions of one exemplar, such as --change 1:2."
        ) from error


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of such as ``0-4`` or ``1,4,7``; raises UsageError."""
    found: dict[int, None] = {}
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdigit() or (last and not last.isdigit()) or part.strip().endswith("-"):
            raise UsageError(f'"{text}" are no seeds: write them as 0-9, or as 1,4,7.')
        numbers = range(int(first), int(last or first) + 1)
        if len(numbers) > 10_000:
            raise UsageError(f'"{text}" are more than 10000 seeds.')
        found.update(dict.fromkeys(numbers))
    if not found:
        raise UsageError(f'"{text}" are no seeds: write them as 0-9, or as 1,4,7.')
    return tuple(found)


def measure_worth(
    arguments: WorthArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[Experiment],
    with_loop: WithLoop[Experiment],
) -> Experiment:
    """Run the tasks with and without and print what came of it; raises BackstepError where it cannot begin."""
    name = arguments.llm or settings.llm
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    llms.routed(name)
    if name == "person":
        raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    memory = memory_of(settings)
    try:
        members = members_of(memory, arguments.subject)
        sources = sources_of(members)
        tasks = tasks_of(arguments.tasks, environments.tasks(), sources)
        experiment = Experiment(
            subject=arguments.subject,
            tasks=tasks,
            unseeded=tuple(one.id for one in environments.tasks() if one.id in tasks and not one.seeded),
            seeds=arguments.seeds,
            times=arguments.times,
            preset=_preset(arguments.preset, settings),
            llm=name,
            browser=settings.browser,
            on_gate=settings.on_gate,
            left_out=tuple(one for one in sources if one[1] in arguments.seeds),
            trace=str(settings.database.absolute()),
            most_calls=arguments.most_calls,
            most_cost=arguments.most_cost,
            when=time.time(),
        )
        if not experiment.cases:
            raise UsageError("It was recorded at these very seeds, which would tell nothing: choose others.")
        return _experiment(
            experiment,
            memory,
            arguments,
            settings,
            environments,
            with_embedded=with_embedded,
            with_loop=with_loop,
        )
    finally:
        memory.close()


def _experiment(
    began: Experiment,
    memory: Memory,
    arguments: WorthArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[Experiment],
    with_loop: WithLoop[Experiment],
) -> Experiment:
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)

    async def work(host: BrowserHost) -> Experiment:
        workshop = await open_workshop(
            settings, host, llms=llms, environments=environments, config=config_folder()
        )
        keeper = _Keeper(memory, began, as_lines=arguments.as_lines)

        async def play(task: str, seed: int, changes: Changes) -> RunReport:
            return await run_headless(
                workshop,
                environments.find(task),
                seed,
                preset=began.preset,
                llm=llms.routed(began.llm),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=changes,
            )

        try:
            say(f"{began.subject.words}: {len(began.cases)} pairs, preset {began.preset}, LLM {began.llm}")
            used = lambda run: used_in(workshop.store, run, began.subject)  # noqa: E731
            async for so_far in try_out(began, play, used, enough=lambda _: keeper.experiment.enough()):
                keeper.keep(so_far.pairs[-1])
            keeper.end()
        except BaseException as error:
            keeper.fail(error)
            raise
        finally:
            await workshop.close()
        if keeper.experiment.state == "cancelled":
            raise Interrupted("Interrupted.")
        return keeper.experiment

    found = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    if arguments.as_json:
        put_json({**found.model_dump(), "worth": found.worth.model_dump(), "sentence": found.sentence})
    elif not arguments.as_lines:
        put_table(
            ("task", "seed", "with", "without", "used", "flip", "runs"), [_row(one) for one in found.pairs]
        )
        for one in sorted({run.error for run in found.runs if run.error}):
            say(one)
        put(found.sentence)
    return found


class _Keeper:
    """Keeps an experiment in the library as it goes on, and tells it by lines where that is asked for."""

    def __init__(self, memory: Memory, experiment: Experiment, *, as_lines: bool) -> None:
        self._library = memory.library()
        self._teller = LineTeller(as_lines=as_lines)
        self.experiment = experiment
        number = self._save(None)
        self.experiment = experiment.replace(number=number)
        self._teller.tell(self.experiment)

    def keep(self, pair: Pair) -> None:
        told = {True: "success", False: "no success", None: "not judged"}
        say(
            f"{pair.task}, seed {pair.seed}: with {told[pair.with_it.success]}, "
            f"without {told[pair.without_it.success]}"
        )
        self._change(self.experiment.replace(pairs=(*self.experiment.pairs, pair)))

    def end(self) -> None:
        done = len(self.experiment.pairs) >= len(self.experiment.cases)
        why = "" if done else self.experiment.enough()
        self._change(
            self.experiment.replace(
                state="done" if done else "limit" if why else "cancelled",
                why=why or ("" if done else "It was cancelled."),
            )
        )

    def fail(self, error: BaseException) -> None:
        is_cancel = not isinstance(error, Exception)
        told = str(error) if isinstance(error, BackstepError) else repr(error)
        why = "It was cancelled." if is_cancel else told
        with contextlib.suppress(LibraryError):
            self._change(self.experiment.replace(state="cancelled" if is_cancel else "failed", why=why))

    def _change(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._save(self.experiment.number)
        self._teller.tell(self.experiment)

    def _save(self, number: int | None) -> int:
        one = self.experiment
        return self._library.save_proof(
            "worth", about(one.subject), one.when, one.model_dump_json(), number=number
        )


def _preset(name: str, settings: Settings) -> str:
    """Return the preset that is meant, which has to have memory; raises UsageError and DataError."""
    presets = knowledge_of(config_folder()).presets
    check_preset(config_folder(), name or settings.preset)
    if presets.get(name or settings.preset).memory is not None:
        return name or settings.preset
    if name:
        raise UsageError(f"The preset {name} recalls no exemplars: choose one with memory, such as synapse.")
    return "synapse"


def _row(pair: Pair) -> tuple[str, ...]:
    told = {True: "success", False: "no success", None: "not judged"}
    return (
        pair.task,
        str(pair.seed),
        told[pair.with_it.success],
        told[pair.without_it.success],
        "yes" if pair.with_it.used else "",
        pair.flip,
        f"{pair.with_it.run}, {pair.without_it.run}",
    )
