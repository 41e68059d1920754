"""Causes in the page: actions that failed, requests that failed, dialogs, errors, and what a person did."""

import re
from collections.abc import Iterator
from textwrap import shorten

from core.browser.log.records import DialogEntry, ErrorEntry, RequestEntry
from core.debugger.causes.facts import FailureFacts, read_of
from core.debugger.causes.kinds.kind import CauseKind, told
from core.debugger.causes.records import Cause, Evidence
from core.schema.observation import Observation, Ref
from core.schema.step import Acted, Aligned, Judgement
from core.trace.records import StepRow

_COMPLAINT = re.compile(r"(?:error|invalid)\b", re.IGNORECASE)
_LONGEST = 200
"""Characters that are quoted of a page."""


class ActionFailed(CauseKind):
    """The actions at the end of the run failed: the element was gone, covered, disabled, or took another value."""

    name = "action-failed"
    weight = 0.5

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        failed: StepRow | None = None
        count = 0
        for step in reversed(facts.steps):
            if step.outcome != "failed" or not step.action:
                break
            failed, count = step, count + 1
        if failed is None:
            return
        others = f", as did the {count - 1} after it" if count > 1 else ""
        yield told(
            failed.number,
            f"{failed.in_words} failed{others}: {failed.message}",
            Evidence(step=failed.number, part="action", text=failed.message),
            field="action",
            why="Nothing that the run did after it succeeded.",
        )


class NoEffect(CauseKind):
    """An action changed nothing in the page, and in the success it did."""

    name = "no-effect"
    weight = 0.3

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step, after in zip(facts.steps, facts.steps[1:], strict=False):
            acted = facts.part(step.number, Acted)
            if acted is None or acted.effect != "page action" or acted.outcome != "done" or not acted.target:
                continue
            before, then = facts.page(step.number), facts.page(after.number)
            if before is None or then is None or before.url != then.url:
                continue
            if read_of(before) == read_of(then):
                yield told(
                    step.number,
                    f"{step.in_words} changed nothing that can be read of the page.",
                    Evidence(step=step.number, part="action", text=step.action),
                    field="action",
                    certainty="possible",
                    why="The page was the same before and after it.",
                )
                return


class PageComplained(CauseKind):
    """A page shows an alert or an error after an action."""

    name = "page-says"
    weight = 0.52

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        success = facts.success
        pages = [success.page(one.number) for one in success.steps] if success is not None else []
        known = {text for page in pages if page is not None for _, text in _complaints(page)}
        for step, after in zip(facts.steps, facts.steps[1:], strict=False):
            before, then = facts.page(step.number), facts.page(after.number)
            if before is None or then is None or step.effect != "page action":
                continue
            known |= {text for _, text in _complaints(before)}
            new = [(ref, text) for ref, text in _complaints(then) if text not in known]
            if not new:
                continue
            place = facts.space_action(step.state, step.action.partition(" ")[0])
            ref, text = new[0]
            yield told(
                step.number,
                f"After {step.in_words}, the page says: {shorten(text, _LONGEST)}",
                Evidence(step=after.number, part="page", text=text, ref=ref),
                at=(facts.space_file, facts.line_in_space(*place[0], "does"))
                if place is not None
                else ("", 0),
                field="" if place is not None else "action",
                why="It did not say so before" + (", nor in the success." if success is not None else "."),
            )
            return


def _complaints(page: Observation) -> Iterator[tuple[Ref, str]]:
    """Yield the alerts and errors that a page shows."""
    for element in page.elements:
        within = " ".join(one.name for one in page.elements if one.parent == element.ref and one.name)
        text = element.name or within
        if text and (element.role == "alert" or _COMPLAINT.match(text)):
            yield element.ref, text


class PageTrouble(CauseKind):
    """A request failed, a page reported an error, or a dialog was answered by rule."""

    name = "page-trouble"
    weight = 0.3

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step in facts.steps:
            for part in facts.store.pages.log(facts.row.run, step.number) or ():
                for entry in part.log.entries:
                    said = _trouble(entry)
                    if not said:
                        continue
                    yield told(
                        step.number,
                        f"In step {step.number} {said}.",
                        Evidence(step=step.number, part="log", text=said),
                        field="page log",
                        certainty="likely" if facts.row.outcome == "error" else "possible",
                        why="Whether the task needed it is not known.",
                    )
                    return


def _trouble(entry: object) -> str:
    if isinstance(entry, RequestEntry) and (entry.failed or (entry.status or 0) >= 400):
        is_wanted = entry.type in ("Document", "XHR", "Fetch")
        return f"{entry.method} {entry.url} failed ({entry.status or entry.text})" if is_wanted else ""
    if isinstance(entry, ErrorEntry):
        return f"the page reported an error: {entry.text[:200]}"
    if isinstance(entry, DialogEntry) and entry.dialog in ("confirm", "prompt"):
        return f"the page asked “{entry.text[:120]}”, and it was answered: {entry.answer}"
    return ""


class PersonsOwn(CauseKind):
    """A person chose the action at the deciding step."""

    name = "person"
    weight = 0.6

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step = next((step for step in facts.steps if step.number == facts.at), None)
        if step is None or step.origin != "person":
            return
        yield told(
            step.number,
            f"A person chose {step.in_words}.",
            Evidence(step=step.number, part="action", text=step.action),
            field="action",
            why="It is the first step that a success did otherwise, or the last one.",
        )


class JudgedWrongly(CauseKind):
    """A step was judged to have failed, or the task to be done, where a success was judged otherwise."""

    name = "judged-wrongly"
    weight = 0.6

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        success = facts.success
        if success is None:
            return
        theirs: dict[str, Judgement] = {}
        for other in success.steps:
            if (judged := success.part(other.number, Aligned)) is not None and judged.judged:
                theirs.setdefault(success.did(other), judged)
        for step in facts.steps:
            mine = facts.part(step.number, Aligned)
            their = theirs.get(facts.did(step))
            if mine is None or not mine.judged or their is None or mine.aligned == their.aligned:
                continue
            yield told(
                step.number,
                f"{step.in_words} was judged {_in_words(mine)}; in {facts.success_in_words}, it was judged "
                f"{_in_words(their)}.",
                Evidence(step=step.number, part="judge", text=mine.sentence),
                *facts.by_success(their.sentence),
                at=(f"prompts/{facts.preset.prompts.aligned}" if facts.preset is not None else "", 1),
                field="judgement",
                why="The same action did the same in both runs.",
            )
            return


def _in_words(judged: Judgement) -> str:
    return {True: "right", False: "wrong", None: "neither"}[judged.aligned]
