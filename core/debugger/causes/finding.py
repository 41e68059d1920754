"""The causes of a failed run, ranked. `KINDS` has the kinds; packages add theirs as entry points `backstep.causes`."""

import logging
from collections.abc import Sequence
from functools import lru_cache

from core.agent.resources import AgentResources
from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.kinds import changes, choice, limits, page, policies, replies, spaces
from core.debugger.causes.kinds.changes import FileEdited
from core.debugger.causes.kinds.kind import CauseKind
from core.debugger.causes.records import Cause
from core.debugger.causes.spectrum import suspicion_by_step
from core.debugger.editing.files import AgentFiles
from core.schema.errors import DataError, UsageError
from core.settings.toml_layout import layout
from core.setup.plugins import Plugins, expect, guarded, load_plugins
from core.trace.records import RunRow
from core.trace.store import TraceStore

log = logging.getLogger(__name__)

KINDS: tuple[CauseKind, ...] = (
    changes.FileWrong(),
    changes.PresetChanged(),
    changes.PromptDiffers(),
    changes.FileEdited(),
    spaces.StateNotRecognised(),
    spaces.WrongState(),
    spaces.StateStopped(),
    spaces.ActionNotThere(),
    spaces.MacroDiffers(),
    limits.Looped(),
    limits.BudgetSpent(),
    limits.GateRefused(),
    policies.PolicyCameBack(),
    policies.PolicyNotCalled(),
    replies.CallFailed(),
    replies.ReplyUnusable(),
    replies.PromptLacks(),
    replies.AbstractionDropped(),
    replies.ExemplarOfAnother(),
    page.ActionFailed(),
    page.NoEffect(),
    page.PageComplained(),
    page.PageTrouble(),
    page.PersonsOwn(),
    page.JudgedWrongly(),
    choice.ChoseOtherwise(),
    choice.SeedsDiffer(),
    choice.JudgesReason(),
    choice.LastStep(),
)


_SUSPICION = 0.05
"""What the suspicion of a step adds to the rank of its causes: it decides among causes that are about as likely."""
_NEAR = 3
"""Lines by which the places of two causes of the same fault differ at most."""


@lru_cache(maxsize=1)
def plugins() -> Plugins[CauseKind]:
    """Return the kinds that installed packages add, and why others were left out."""
    taken = {kind.name for kind in KINDS}
    return load_plugins("causes", taken, lambda name, thing: expect(CauseKind, name, thing, "name"))  # type: ignore[type-abstract]


def causes_of(store: TraceStore, run: int, resources: AgentResources, files: AgentFiles) -> tuple[Cause, ...]:
    """Return what may have caused a run to fail, the likeliest first; none for a success.

    `resources` and `files` are those that the run used, as they are now. Raises UsageError for a run that has not
    ended, and TraceError. In an evaluation, causes that are about as likely are ranked by the
    suspicion of their steps.
    """
    row: RunRow = store.run(run)
    if row.outcome == "running":
        raise UsageError(f"Run {run} has not ended yet. Wait for its end, or stop it.")
    if row.verdict.success:
        return ()
    facts = FailureFacts(store, row, resources, files)
    found = [cause for kind in KINDS for cause in _named(kind, facts)]
    for name, kind in plugins().things.items():
        try:
            with guarded(name):
                found += _named(kind, facts)
        except DataError as error:
            log.warning("%s", error)
    found = [_as_now(cause, facts) for cause in _with_edits(found, facts)]
    suspicious = suspicion_by_step(store, run)
    return tuple(sorted(found, key=lambda cause: -cause.rank - _SUSPICION * suspicious.get(cause.step, 0.0)))


def _with_edits(causes: Sequence[Cause], facts: FailureFacts) -> list[Cause]:
    """Return causes; one without a change gets that which takes back what the user has edited there.

    One whose place is a value of several lines gets the line in it that was edited.
    """
    edits = [each for each in causes if each.kind == FileEdited.name and each.patch]

    def edited(cause: Cause) -> Cause:
        own = [edit for edit in edits if edit.file == cause.file and cause.line and not cause.patch]
        last = _last_line(facts.texts.now(cause.file) or "", cause) if own else 0
        inside = next((edit for edit in own if cause.line <= edit.line <= last), None)
        if inside is not None:
            return cause.replace(
                line=inside.line, patch=inside.patch, evidence=(*cause.evidence, *inside.evidence)
            )
        near = [edit for edit in own if abs(edit.line - cause.line) <= _NEAR]
        nearest = min(near, key=lambda edit: abs(edit.line - cause.line), default=None)
        return cause.replace(patch=nearest.patch) if nearest is not None else cause

    return [edited(each) for each in causes]


def _last_line(text: str, cause: Cause) -> int:
    """Return the last line of the longest value that begins in a cause's line, that line if none does."""
    places = layout(text if cause.file.endswith(".toml") else "")
    ends = (span.end for span in places.values.values() if places.line(span.start) + 1 == cause.line)
    return max((places.line(end) + 1 for end in ends), default=cause.line)


def _as_now(cause: Cause, facts: FailureFacts) -> Cause:
    """Return a cause as it is to be told of the files as they are: no more than likely if its file changed since."""
    changed = facts.texts.changed_since(facts, cause.file) if cause.file else ""
    if not changed:
        return cause
    why = f"{cause.why} {changed}".strip()
    return cause.replace(certainty="possible" if cause.certainty == "possible" else "likely", why=why)


def _named(kind: CauseKind, facts: FailureFacts) -> list[Cause]:
    return [cause.replace(kind=kind.name, weight=cause.weight or kind.weight) for cause in kind.find(facts)]
