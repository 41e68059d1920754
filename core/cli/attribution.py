"""What the command does that asks steps again without each of their exemplars."""

from collections.abc import Callable
from typing import Any

from core.cli.exemplar_tables import memory_of
from core.cli.output import put_json, put_table, say
from core.debugger.experiments.attribution import credits_of, kept_credits
from core.debugger.experiments.records import Credit, summed
from core.llm.registry import open_llms
from core.schema.errors import NotInTraceError, UsageError
from core.schema.record import Record
from core.schema.step import Decided
from core.settings.settings import Settings, config_folder
from core.trace.replay_llm import ReplayLLM
from core.trace.store import TraceStore


class CreditArguments(Record):
    """What the credit command was given."""

    run: int | None = None
    """None to show what is known."""
    steps: tuple[int, ...] = ()
    """Empty for all that had exemplars in their prompts."""
    times: int = 5
    temperature: float | None = None
    llm: str = ""
    """Empty for the run's own."""
    as_json: bool = False


def credit_run(arguments: CreditArguments, settings: Settings, *, with_loop: Callable[..., Any]) -> None:
    """Print the credits of a run's exemplars, or of all that are known; raises BackstepError."""
    memory = memory_of(settings)
    try:
        if arguments.run is None:
            _put_sums(kept_credits(memory.library()), as_json=arguments.as_json)
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
    arguments: CreditArguments, settings: Settings, run: int, with_loop: Callable[..., Any]
) -> list[Credit]:
    store = TraceStore.open(settings.database)
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)

    async def work() -> list[Credit]:
        try:
            row = store.run(run)
            llm = llms.routed(arguments.llm or row.llm)
            steps = arguments.steps or _with_exemplars(store, run)
            if not steps:
                raise UsageError(f"No prompt of run {run} had exemplars: none can have a credit.")
            found: list[Credit] = []
            for step in steps:
                say(f"step {step}: asked {arguments.times} times with all, and without each")
                found += await credits_of(
                    store, llm, run, step, times=arguments.times, temperature=arguments.temperature
                )
            return found
        finally:
            await llms.close()

    try:
        found: list[Credit] = with_loop(work())
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


def _put_sums(credits: tuple[Credit, ...], *, as_json: bool) -> None:
    sums = summed(credits)
    if as_json:
        put_json([one.model_dump() for one in sums])
        return
    put_table(
        ("exemplar", "family", "steps", "credit", "each"),
        [(one.id, one.family, str(one.steps), f"{one.total:+.2f}", f"{one.mean:+.2f}") for one in sums],
    )
    say(f"{len(credits)} credits of {len(sums)} exemplars.")
