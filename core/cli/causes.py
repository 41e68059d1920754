"""The command `causes`: what may have caused a stored run to fail."""

from collections.abc import Iterable

from core.cli.output import put, put_json, put_lines, verdict_word
from core.cli.runs import reading
from core.cli.surroundings import resources_of
from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause
from core.debugger.causes.report import report_of
from core.debugger.editing.files import AgentFiles
from core.schema.errors import UsageError
from core.settings.settings import Settings, config_folder


def show_causes(settings: Settings, run: int, *, as_json: bool, as_report: bool) -> None:
    """Print the causes of a failed run, the likeliest first; raises UsageError and TraceError."""
    if as_json and as_report:
        raise UsageError("Leave out --report or --json: the report is Markdown.")
    with reading(settings) as store:
        row = store.run(run)
        resources = resources_of(settings).changed(store.changes(run))
        causes = causes_of(store, run, resources, AgentFiles(config_folder()))
        if as_json:
            put_json({"run": run, "causes": causes_json(causes)})
            return
        if as_report:
            for line in report_of(store, row, causes).splitlines():
                put(line)
            return
        put(f"run {run}: {row.task} seed {row.seed}, {row.preset}, {row.llm}: {verdict_word(row)}")
        if not causes:
            put(
                "It succeeded, so there is no cause to find."
                if row.verdict.success
                else "It has no step yet."
            )
        for number, cause in enumerate(causes, 1):
            put_lines(_lines(number, cause))


def causes_json(causes: Iterable[Cause]) -> list[dict[str, object]]:
    """Return causes as JSON, the likeliest first."""
    return [{**cause.model_dump(mode="json"), "place": cause.place} for cause in causes]


def _lines(number: int, cause: Cause) -> str:
    head = f"{number}. {cause.what} ({cause.certainty}: {cause.why})"
    evidence = [
        f"   {one.where}: " + one.text.strip().replace("\n", " ⏎ ")[:300]
        for one in cause.evidence
        if one.text.strip()
    ]
    patch = (
        [f"   patch: {cause.patch.find}", f"      to: {cause.patch.put}"] if cause.patch is not None else []
    )
    return "\n".join([head, f"   at {cause.place}, step {cause.step}", *evidence, *patch])
