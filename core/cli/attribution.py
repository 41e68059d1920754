"""What the command does that asks steps again without each of their exemplars."""

from collections.abc import Callable
from typing import Any

from core.cli.exemplar_tables import memory_of
from core.cli.output import put_json, put_table, say
from core.debugger.ask_again.attribution import attribute_step, kept_attributions
from core.debugger.ask_again.views import Attribution
from core.debugger.experiments.attribution import sums_of
from core.llm.registry import open_llms
from core.schema.errors import NotInTraceError, UsageError
from core.schema.record import Record
from core.schema.step import Decided
from core.settings.settings import Settings, config_folder
from core.trace.replay_llm import ReplayLLM
from core.trace.store import TraceStore


class AttributionArguments(Record):
    """What the command `exemplars credit` was given."""

    run: int | None = None
    """None to show what is known."""
    steps: tuple[int, ...] = ()
    """Empty for all that had exemplars in their prompts."""
    times: int = 5
    temperature: float | None = None
    llm: str = ""
    """Empty for the run's own."""
    as_json: bool = False


def attribute_run(
    arguments: AttributionArguments, settings: Settings, *, with_loop: Callable[..., Any]
) -> None:
    """Print the credits of a run's exemplars, or of all that are known; raises BackstepError."""
    memory = memory_of(settings)
    try:
        if arguments.run is None:
            _put_sums(kept_attributions(memory.library()), as_json=arguments.as_json)
            return
        found = _asked(arguments, settings, arguments.run, with_loop)
        library = memory.library()
        for one in found:
            library.save_proof("credit", one.id, one.when, one.model_dump_json())
    finally:
        memory.close()
    if arguments.as_json:
        put_json([{**one.model_dump(), "share": one.share} for one in found])
        return
    put_table(
        ("step", "action", "exemplar", "with", "without", "credit"),
        [
            (
                str(one.step),
                one.action,
                one.id,
                f"{one.with_same} of {one.with_all}",
                f"{one.without_same} of {one.without_all}",
                "" if one.share is None else f"{one.share:+.2f}",
            )
            for one in found
        ],
    )


def _asked(
    arguments: AttributionArguments, settings: Settings, run: int, with_loop: Callable[..., Any]
) -> list[Attribution]:
    store = TraceStore.open(settings.database)
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)

    async def work() -> list[Attribution]:
        try:
            row = store.run(run)
            llm = llms.routed(arguments.llm or row.llm)
            steps = arguments.steps or _with_exemplars(store, run)
            if not steps:
                raise UsageError(f"No prompt of run {run} had exemplars: none can have a credit.")
            found: list[Attribution] = []
            for step in steps:
                say(f"step {step}: asked {arguments.times} times with all, and without each")
                found += await attribute_step(
                    store, llm, run, step, times=arguments.times, temperature=arguments.temperature
                )
            return found
        finally:
            await llms.close()

    try:
        found: list[Attribution] = with_loop(work())
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()
    return found


def _with_exemplars(store: TraceStore, run: int) -> tuple[int, ...]:
    """Return the steps that asked an LLM for their action with exemplars in the prompt."""
    found = []
    for row in store.steps(run):
        detail = store.step(run, row.number)
        asked = any(isinstance(one, Decided) for one in detail.records)
        calls = [call for call in detail.calls if call.purpose in ("decide", "function")]
        if asked and calls and any(part.kind == "exemplar" for part in store.prompt(calls[0]).parts):
            found.append(row.number)
    return tuple(found)


def _put_sums(attributions: tuple[Attribution, ...], *, as_json: bool) -> None:
    sums = sums_of(attributions)
    if as_json:
        put_json([one.model_dump() for one in sums])
        return
    put_table(
        ("exemplar", "family", "steps", "credit", "each"),
        [(one.id, one.family, str(one.steps), f"{one.total:+.2f}", f"{one.mean:+.2f}") for one in sums],
    )
    say(f"{len(attributions)} credits of {len(sums)} exemplars.")
