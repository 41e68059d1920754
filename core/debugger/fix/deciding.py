"""Proposes what to fix of a failed run: its causes with their patches, those that are proven first."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.agent.resources import AgentResources
from core.debugger.causes.finding import causes_of
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.bisection import bisected
from core.debugger.evaluations.proof import proofs_of
from core.debugger.evaluations.proof_records import Candidate, Proof
from core.debugger.fix.views import Clue, FixView
from core.debugger.repair.candidates import from_causes
from core.trace.records import RunRow
from core.trace.store import TraceStore

_GOES_ON = "This is the last step so far; the run has not ended."
_MORE = {
    "max_steps of the settings": " If it was on the right way, nothing has to be changed: running again from here "
    "has a budget of its own.",
    "max_llm_calls of the settings": " If it was on the right way, raise max_llm_calls in the settings.",
}
"""What lets a run go on that came to a limit which no file of the agent sets."""
_SAID_BY_END = ("budget", "last-step")
"""Kinds of causes that say less of such a step."""


def clues_of(
    store: TraceStore, row: RunRow, resources: AgentResources, files: AgentFiles
) -> tuple[Clue, ...]:
    """Return what may have decided a run; at least one for a run that has steps. Raises TraceError."""
    rows = store.steps(row.run)
    if not rows:
        return ()
    decided = [step for step in rows if step.sealed or step.action or step.outcome != "pending"]
    last = (decided or rows)[-1]
    if row.outcome == "running" and not decided:
        reason = f"Run {row.run} has not decided on an action yet: this is its first step."
        return (Clue(step=last.number, what=reason),)
    if row.verdict.success:
        reason = f"Run {row.run} succeeded, so there is nothing to fix. You can still change any step."
        return (Clue(step=last.number, what=reason),)
    causes = causes_of(store, row.run, resources, files) if row.outcome != "running" else ()
    limit = next((each for each in causes if each.kind == "budget" and not each.file), None)
    end = _GOES_ON if row.outcome == "running" else ""
    if limit is not None:
        end = f"This is the last step. {limit.what}{_MORE.get(limit.field, '')}"
    likely, possible = (
        [
            Clue(
                step=each.step,
                what=each.what,
                why=each.why,
                certainty=each.certainty,
                evidence=each.evidence,
                file=each.file,
                line=each.line,
                candidate=next(iter(from_causes((each,), files, resources)), None),
            )
            for each in causes
            if (each.certainty == "possible") == is_possible and not (end and each.kind in _SAID_BY_END)
        ]
        for is_possible in (False, True)
    )
    # How the run ended says more than what is known to cause such failures and need not have caused this one.
    at_end = [Clue(step=last.number, what=end)] if end else []
    own = {*(step.number for step in rows if step.phase != "observe"), *(each.step for each in causes)}
    found = [clue for clue in (*_bisected(store, row), *likely, *at_end, *possible) if clue.step in own]
    if not found:
        found = [
            Clue(step=last.number, what="This is the last step. Nothing else is known about the failure.")
        ]
    return with_proofs(_once(found), proofs_of(store, row.run), files)


def _once(clues: Iterable[Clue]) -> Iterator[Clue]:
    """Yield the clues, each change once."""
    seen: list[dict[str, str]] = []
    for clue in clues:
        if clue.candidate is not None and clue.candidate.files in seen:
            clue = clue.replace(candidate=None)
        elif clue.candidate is not None:
            seen.append(clue.candidate.files)
        yield clue


def with_proofs(clues: Iterable[Clue], proofs: Iterable[Proof], files: AgentFiles) -> tuple[Clue, ...]:
    """Return clues with what is known of their changes, the latest first, and one for each other change.

    Those whose change is proven go first.
    """
    found, tried = list(clues), list[dict[str, str]]()
    last = found[-1].step
    for proof in proofs:
        for each in proof.candidates:
            change = each.candidate
            if change.files in tried or each.run is None:
                continue
            tried.append(change.files)
            clue = next((one for one in found if one.has(change)), None)
            known = clue_of(change, last) if clue is None else clue
            known = known.replace(
                proof=each,
                stale=change.rest not in ("", files.digest(change.files)),
                in_use=is_in_use(change.files, files),
            )
            if clue is None:
                found.append(known)
            else:
                found[found.index(clue)] = known
    return in_order(found)


def clue_of(change: Candidate, last: int) -> Clue:
    """Return the clue for a change that no cause proposes; `last` is the step of one that is of none."""
    return Clue(
        step=change.step or last, what=change.what, file=next(iter(change.files), ""), candidate=change
    )


def in_order(clues: Iterable[Clue]) -> tuple[Clue, ...]:
    """Return clues with those first whose change is proven."""
    return tuple(sorted(clues, key=lambda clue: clue.proof is None or clue.proof.outcome != "proven"))


def with_news(view: FixView, candidate: Candidate, **known: Any) -> FixView:
    """Return a view with what is known of a change; the clue in view stays in view."""
    clues = [one.replace(**known) if one.has(candidate) else one for one in view.clues]
    chosen = clues[view.chosen] if view.clue is not None else None
    ordered = in_order(clues)
    at = next((at for at, one in enumerate(ordered) if one is chosen), -1)
    return view.replace(clues=ordered, chosen=at)


def is_in_use(texts: Mapping[str, str], files: AgentFiles) -> bool:
    """Return whether the files have these texts now."""
    names = files.names()
    return all(name in names and files.read(name) == text for name, text in texts.items())


def _bisected(store: TraceStore, row: RunRow) -> Iterator[Clue]:
    """Find the last step from which branches still succeeded, by the last bisection that found one."""
    shares = bisected(store, row.run)
    good = max((step for step, share in shares.items() if share.successes), default=None)
    if good is None:
        return
    later = any(share.judged for step, share in shares.items() if step > good)
    rest = "; from later steps none did" if later else ""
    counts = f"{shares[good].successes} of {shares[good].judged}"
    yield Clue(step=good, what=f"Bisect: from here {counts} branches still succeeded{rest}.")
