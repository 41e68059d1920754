"""The part of the command `repair` that lets GEPA rewrite files by the runs of an evaluation."""

from core.browser.chromium import chromium_at
from core.browser.sharing import SharedChromium
from core.cli.options import RepairOptions
from core.cli.output import say
from core.cli.runs import reading
from core.cli.surroundings import in_loop, open_unattended
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.local import lanes_of, services_of
from core.debugger.evaluations.proof_records import Spot
from core.debugger.repair.optimising import Optimised, check_installed, optimise
from core.environments.registry import Environments
from core.schema.errors import UsageError
from core.settings.settings import Settings
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named
from core.trace.records import RunRow


def optimised(asked: RepairOptions, row: RunRow, settings: Settings, environments: Environments) -> Optimised:
    """Rewrite the files that are asked for by the cases of an evaluation that the agent of a run did, and say how well.

    The runs are made in one Chromium, as those of an evaluation are. Raises UsageError, DataError, TraceError, and
    the errors of browsers and LLMs.
    """
    check_installed()
    evaluation = asked.evaluation
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
    llms = open_unattended(settings, asked.llm, variant.llm)
    browser = SharedChromium(chromium_at(settings.shared_browser), dialogs=settings.dialogs)

    async def work() -> Optimised:
        async with (
            services_of(settings, environments, llms, browser) as services,
            lanes_of(services, browser, asked.concurrency or 1, lambda asked: None) as lanes,
        ):
            return await optimise(
                services,
                lanes,
                f"GEPA of {evaluation}",
                variant,
                tuple(dict.fromkeys(spots)),
                tuple(asked.component or ()),
                services.llms.routed(asked.llm),
                settings.database.parent / "gepa",
                most_runs=asked.max_runs,
                limits=asked.limits(),
            )

    made = in_loop(work())
    cost = f", ${made.spent.cost:.4g}" if made.spent.cost else ""
    scores = f"{made.before:.2f} before, {made.after:.2f} after, on the cases to choose by"
    say(f"GEPA: {scores}; {made.runs} runs{cost}. {made.why}".rstrip())
    return made
