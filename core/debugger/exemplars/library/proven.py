"""What was found out about one exemplar by replays, evaluations and credits, as the window lists it."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.debugger.ask_again.repeat import kept_attributions
from core.debugger.evaluations.records import WorthResult
from core.debugger.evaluations.worth import kept_results
from core.debugger.exemplars.library.views import ProofLine
from core.debugger.exemplars.trying.views import ReplayResult
from core.exemplars.library.records import Entry, about_family

if TYPE_CHECKING:
    from core.exemplars.library.store import Library


def proofs_about(library: "Library", entry: Entry, trace: str) -> tuple[ProofLine, ...]:
    """Return replays, worths and credits, also those of its family, the latest first; raises LibraryError.

    `trace` is the database whose runs and evaluations can be opened.
    """
    found = (*_replays(library, entry), *_worths(library, entry, trace), *_credits(library, entry, trace))
    return tuple(sorted(found, key=lambda line: line.when, reverse=True))


def _replays(library: "Library", entry: Entry) -> Iterator[ProofLine]:
    for _, content in library.proofs.of("replay", (entry.exemplar.id,)):
        with suppress(ValidationError):  # Another version of the program has written it.
            result = ReplayResult.model_validate_json(content)
            old = "" if result.version == entry.version else f" Version {result.version} was replayed."
            yield ProofLine(
                when=result.when,
                what="Replay",
                result=result.outcome,
                good=result.success,
                why=f"{result.sentence}{old}",
            )


def _worths(library: "Library", entry: Entry, trace: str) -> Iterator[ProofLine]:
    for _, one in kept_results(library, (entry.exemplar.id, about_family(entry.exemplar.family))):
        is_certain = one.difference is not None and not one.low <= 0 <= one.high
        old = " It was changed since." if one.version not in (None, entry.version) else ""
        words = {"exemplar": "Worth", "family": "Worth of its family", "change": "Worth of a change"}
        yield ProofLine(
            when=one.when,
            what=words[one.subject.kind],
            result=_points(one),
            good=(one.difference or 0) > 0 if is_certain else None,
            why=f"{one.name}: {one.judged} judged pairs, {one.to_success} to success and {one.to_failure} to "
            f"failure, with {one.preset} and {one.llm}. {one.sentence}{old}",
            evaluation=one.evaluation if one.trace == trace else None,
        )


def _points(one: WorthResult) -> str:
    if one.difference is None:
        return "not judged"
    return f"{one.difference * 100:+.0f} points ({one.low * 100:+.0f} to {one.high * 100:+.0f})"


def _credits(library: "Library", entry: Entry, trace: str) -> Iterator[ProofLine]:
    for one in kept_attributions(library, (entry.exemplar.id,)):
        yield ProofLine(
            when=one.when,
            what="Credit",
            result="no answers" if one.share is None else f"{one.share:+.2f}",
            why=f"{one.action} at run {one.run}, step {one.step}: {one.with_same} of {one.with_all} answers with it, "
            f"{one.without_same} of {one.without_all} without it, by {one.llm}.",
            run=one.run if one.trace == trace else None,
            step=one.step,
        )
