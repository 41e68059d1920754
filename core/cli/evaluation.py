"""The command `exemplars worth`: tasks done with exemplars and without them."""

import time
from collections.abc import AsyncIterator

from pydantic import ValidationError

from core.agent.resources import agent_resources_of
from core.agent.state import Budget
from core.cli.browsers import WithEmbedded, WithLoop
from core.cli.exemplar_tables import memory_of
from core.cli.measurement import measure, open_unattended
from core.cli.output import put, put_json, put_table, say
from core.debugger.experiments.evaluation import (
    evaluate,
    library_key,
    members_of,
    sources_of,
    tasks_of,
    used_in,
)
from core.debugger.experiments.evaluation_records import Evaluation, EvaluationRequest, Pair, Subject
from core.debugger.experiments.measurement import success_word
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import Services, check_preset
from core.environments.registry import Environments
from core.schema.changes import Changes
from core.schema.errors import UsageError
from core.settings.settings import Settings, config_folder


class EvaluationArguments(EvaluationRequest):
    """What the command was given."""

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


def evaluate_exemplars(
    arguments: EvaluationArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[Evaluation],
    with_loop: WithLoop[Evaluation],
) -> Evaluation:
    """Run the tasks with and without and print what came of it; raises BackstepError where it cannot begin."""
    name = arguments.llm or settings.llm
    llms = open_unattended(settings, name)
    memory = memory_of(settings)

    def work(services: Services, evaluation: Evaluation) -> AsyncIterator[Evaluation]:
        async def play(task: str, seed: int, changes: Changes) -> RunReport:
            return await run_headless(
                services,
                environments.find(task),
                seed,
                preset=evaluation.preset,
                llm=llms.routed(name),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=changes,
            )

        def was_used(run: int) -> bool:
            return used_in(services.store, run, evaluation.subject)

        say(f"{evaluation.subject.words}: {evaluation.total} pairs, preset {evaluation.preset}, LLM {name}")
        return _saying(evaluate(evaluation, play, was_used))

    def save(_services: Services, one: Evaluation) -> int:
        key, content = library_key(one.subject), one.model_dump_json()
        return memory.library().save_proof("worth", key, one.when, content, number=one.number or None)

    try:
        sources = sources_of(members_of(memory, arguments.subject))
        tasks = tasks_of(arguments.tasks, environments.tasks(), sources)
        began = Evaluation(
            subject=arguments.subject,
            tasks=tasks,
            unseeded=tuple(one.id for one in environments.tasks() if one.id in tasks and not one.seeded),
            seeds=arguments.seeds,
            preset=_preset(arguments.preset, settings),
            llm=name,
            browser=settings.browser,
            on_gate=settings.on_gate,
            left_out=tuple(one for one in sources if one[1] in arguments.seeds),
            trace=str(settings.database.absolute()),
            when=time.time(),
            **arguments.common,
        )
        if not began.cases:
            raise UsageError("It was recorded at these very seeds, which would tell nothing: choose others.")
        found = measure(
            began,
            work,
            save,
            settings,
            environments,
            llms,
            as_lines=arguments.as_lines,
            with_embedded=with_embedded,
            with_loop=with_loop,
        )
    finally:
        memory.close()
    if arguments.as_json:
        put_json({**found.model_dump(), "worth": found.summary.model_dump(), "sentence": found.sentence})
    elif not arguments.as_lines:
        _print(found)
    return found


async def _saying(evaluations: AsyncIterator[Evaluation]) -> AsyncIterator[Evaluation]:
    """Yield them, and say of each what its last pair came to."""
    async for one in evaluations:
        pair = one.pairs[-1]
        say(
            f"{pair.task}, seed {pair.seed}: with {success_word(pair.with_it.success)}, "
            f"without {success_word(pair.without_it.success)}"
        )
        yield one


def _preset(name: str, settings: Settings) -> str:
    """Return the preset that is meant, which has to have memory; raises UsageError and DataError."""
    presets = agent_resources_of(config_folder()).presets
    check_preset(config_folder(), name or settings.preset)
    if presets.get(name or settings.preset).memory is not None:
        return name or settings.preset
    if name:
        raise UsageError(f"The preset {name} recalls no exemplars: choose one with memory, such as synapse.")
    return "synapse"


def _print(found: Evaluation) -> None:
    put_table(("task", "seed", "with", "without", "used", "flip", "runs"), [_row(one) for one in found.pairs])
    for error in sorted({error for one in found.pairs for error in one.errors}):
        say(error)
    put(found.sentence)


def _row(pair: Pair) -> tuple[str, ...]:
    return (
        pair.task,
        str(pair.seed),
        success_word(pair.with_it.success),
        success_word(pair.without_it.success),
        "yes" if pair.with_it.used else "",
        pair.flip,
        f"{pair.with_it.run}, {pair.without_it.run}",
    )
