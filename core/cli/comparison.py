"""Two runs side by side."""

from core.cli.output import put, put_json, put_table
from core.cli.runs import reading
from core.debugger.compare.alignment import compare_runs, compare_steps
from core.debugger.compare.views import AlignedPair, Compared, Part
from core.settings.settings import Settings
from core.trace.records import StepRow
from core.trace.store import TraceStore


def compare(settings: Settings, left: int, right: int, *, as_json: bool) -> None:
    """Print the steps of two runs side by side and what differs first; raises UsageError if one is not there."""
    with reading(settings) as store:
        compared = compare_runs(store, left, right)
        parts = _first(store, compared)
    if as_json:
        put_json(
            {
                **compared.model_dump(),
                "first_difference": compared.first_difference,
                "parts": [{**part.model_dump(), "same": part.same} for part in parts],
            }
        )
        return
    put_table(
        ("", f"run {left}", f"run {right}", "differs in"),
        [(_mark(pair), _words(pair.left), _words(pair.right), _differs(pair)) for pair in compared.pairs],
    )
    if compared.first_difference is None:
        put("The runs do not differ in page, action or outcome of any step.")
        return
    names = ", ".join(part.name for part in parts if not part.same)
    put(f"They first differ at line {compared.first_difference + 1}: {names}.")


def _first(store: TraceStore, compared: Compared) -> tuple[Part, ...]:
    if compared.first_difference is None:
        return ()
    pair = compared.pairs[compared.first_difference]
    left, right = ((row.run, row.number) if row is not None else None for row in (pair.left, pair.right))
    return compare_steps(store, left, right)


def _mark(pair: AlignedPair) -> str:
    return "=" if pair.same else "≠" if pair.left and pair.right else "<" if pair.left else ">"


def _words(row: StepRow | None) -> str:
    if row is None:
        return ""
    return f"{row.number}. {row.action or 'no action'} {row.target}".rstrip()


def _differs(pair: AlignedPair) -> str:
    if pair.shared:
        return "one shared step"
    if pair.left is None or pair.right is None:
        return "only here"
    return ", ".join(pair.differs)
