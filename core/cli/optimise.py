"""The part of the command `repair` that lets GEPA rewrite files by the runs of an evaluation."""

from hashlib import sha256

from core.browser.host import BrowserHost
from core.cli.output import say
from core.cli.runs import reading
from core.cli.surroundings import WithEmbedded, in_browser, open_unattended, services_in
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.records import Spot
from core.debugger.repair.optimising import Optimised, check_installed, optimise
from core.environments.registry import Environments
from core.schema.errors import UsageError
from core.settings.settings import Settings
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named
from core.trace.records import RunRow


def optimised(
    evaluation: str,
    row: RunRow,
    components: tuple[str, ...],
    llm: str,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    most_runs: int,
    max_cost: float | None,
) -> Optimised:
    """Rewrite the files `components` by the cases of an evaluation that the agent of a run did, and say how well.

    Raises UsageError, DataError, TraceError, and the errors of browsers and LLMs.
    """
    check_installed()
    with reading(settings) as store:
        stored = evaluation_named(store, evaluation)
        if stored is None:
            raise UsageError(f"There is no evaluation {evaluation}.")
        variants = [one for one in planned(stored).variants if (one.preset, one.llm) == (row.preset, row.llm)]
        done = done_of(evaluated_runs(store, stored.number))
    if not variants:
        raise UsageError(f"The evaluation {evaluation} has no agent {row.preset} with {row.llm}.")
    variant = variants[0]
    spots = [Spot(task=one.task, seed=one.seed) for one in done if one.variant == variant.name]
    llms = open_unattended(settings, llm, variant.llm)
    name = f"GEPA of {evaluation}"
    folder = settings.database.parent / "gepa" / sha256(name.encode()).hexdigest()[:16]

    async def work(host: BrowserHost) -> Optimised:
        async with services_in(host, settings, llms, environments) as services:
            asked = services.llms.routed(llm)
            return await optimise(
                services,
                name,
                variant,
                tuple(dict.fromkeys(spots)),
                components,
                asked,
                folder,
                most_runs=most_runs,
                max_cost=max_cost,
            )

    made = in_browser(work, settings, with_embedded)
    cost = f", ${made.cost:.4g}" if made.cost else ""
    scores = f"{made.before:.2f} before, {made.after:.2f} after, on the cases to choose by"
    say(f"GEPA: {scores}; {made.runs} runs{cost}.")
    return made
