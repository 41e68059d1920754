"""Causes in what the LLM was asked and answered: calls that failed, replies, prompts, exemplars, the abstraction."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.debugger.causes.facts import FailureFacts, RunFacts
from core.debugger.causes.kinds.changes import (
    OF_PAGE,
    SHOWS_PAGE,
    SHOWS_TASK,
    edit_that_hid,
    files_of,
    line_that,
)
from core.debugger.causes.kinds.kind import CauseKind, told
from core.debugger.causes.records import Cause, Evidence
from core.debugger.compare.views import comparable
from core.llm.replies import why_nothing, why_stopped
from core.schema.messages import LLMReply
from core.schema.secrets import placeholders_in
from core.schema.step import Abstracted, Acted, CallRecord, Decided

_ASKS_FOR_ACTION = ("decide", "rationale", "function", "repair")
_WRONG_TARGET = re.compile(r"not permissible|names no element|is not on offer")
"""What is said of a reply whose form was right."""
_LEAST_LINES = 3
"""Lines of an observation from which a prompt that has none of them lacks it."""

_TASK = "the task"
_OF_TURNS = re.compile(r"\{[{%][^}]*\b(?:notes|history|objective)\b")
"""What a template of a turn has, and one of the system prompt does not."""
_WORDS = 2
"""Words in a row by which a text is found again whose parts may be hidden."""


class CallFailed(CauseKind):
    """An LLM call failed."""

    name = "llm-call-failed"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step, calls in facts.calls.items():
            for call in calls:
                if call.error:
                    ended = facts.row.outcome == "error"
                    yield told(
                        step,
                        f"The call for {call.purpose} to {call.llm} failed: {call.error}",
                        Evidence(step=step, part="reply", text=call.error),
                        field="LLM call",
                        certainty="sure" if ended else "possible",
                        why="The run ended by it." if ended else "The run went on after it.",
                        weight=self.weight if ended else 0.1,
                    )
                    return


class ReplyUnusable(CauseKind):
    """A reply had no usable action: its format, a refusal, or cut."""

    name = "reply-unusable"
    weight = 0.7

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        asked = [
            step
            for step in facts.steps
            if any(call.purpose in _ASKS_FOR_ACTION for call in facts.calls.get(step.number, ()))
        ]
        bad = [
            (step, decided)
            for step in asked
            if (decided := facts.part(step.number, Decided)) is not None
            and decided.proposal.problem
            and decided.proposal.action is None
        ]
        if not bad:
            return
        step, decided = bad[0]
        ended = facts.row.outcome == "stuck" or bad[-1][0] is facts.steps[-1]
        replies = [
            (call.purpose, found)
            for call in facts.calls.get(step.number, ())
            if call.purpose in _ASKS_FOR_ACTION and (found := facts.reply(call)) is not None
        ]
        purpose, reply = replies[-1] if replies else ("decide", LLMReply())
        location = ("sampling", purpose, "max_tokens")
        is_cut = "max_tokens" in why_stopped(reply)
        place = ("", 0)  # The LLM itself, or what it was told.
        if is_cut and facts.preset_has(*location):
            place = facts.preset_place(*location)
        elif not is_cut and not why_nothing(reply) and not _WRONG_TARGET.search(decided.proposal.problem):
            place = facts.preset_place("reply_format")
        yield told(
            step.number,
            f"At {len(bad)} of {len(asked)} steps no reply could be used; at first: {decided.proposal.problem}",
            Evidence(step=step.number, part="reply", text=reply.text[:400]),
            Evidence(step=step.number, part="reply", text=decided.proposal.problem),
            at=place,
            field="max_tokens of the settings" if is_cut and not place[0] else "reply",
            certainty="likely" if ended else "possible",
            why="The run ended with it." if ended else "Later replies could be used.",
        )


class PromptLacks(CauseKind):
    """The prompt does not show what was read of the page, or the task."""

    name = "prompt-lacks"
    weight = 0.85

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        lack = next(filter(None, (_lack_at(facts, step.number) for step in facts.steps)), None)
        if facts.preset is None or lack is None:
            return
        success = facts.success
        if success is not None and any(
            _is_same(lack, _lack_at(success, step.number)) for step in success.steps
        ):
            return  # The success did without it, too.
        names = files_of(facts, lack.step, lack.call, is_system=False)
        shows = SHOWS_TASK if lack.what == _TASK else SHOWS_PAGE
        edit = edit_that_hid(shows, facts, names)
        edited = (
            " Your own copy of the file differs there from the bundled one, which shows it." if edit else ""
        )
        yield told(
            lack.step,
            f"The prompt does not show {lack.what}.",
            *(Evidence(step=lack.step, part="page", text=line) for line in lack.lines),
            Evidence(step=lack.step, part="prompt", text=facts.prompt(lack.call)[-400:]),
            at=edit[:2] if edit else _place_of(shows, names, facts, f"prompts/{facts.preset.prompts.user}"),
            field="prompt",
            why=f"The prompt was searched for it.{edited}",
            patch=edit[2] if edit else None,
        )


class _Lack(NamedTuple):
    """What the prompt of a step does not show."""

    step: int
    what: str
    lines: tuple[str, ...]
    """The first lines of the page that are missing; none if it is the task."""
    call: CallRecord


def _lack_at(run: RunFacts, step: int) -> _Lack | None:
    """Return what of the page or the task the prompt for the action of a step lacks; None for nothing."""
    abstracted = run.part(step, Abstracted)
    call = next((one for one in run.calls.get(step, ()) if one.purpose in _ASKS_FOR_ACTION), None)
    if abstracted is None or call is None:
        return None
    prompt, task = run.prompt(call), run.row.instruction
    lines = [line.strip() for line in abstracted.clean.text.splitlines() if line.strip()]
    if len(lines) >= _LEAST_LINES and not any(line in prompt for line in lines):
        is_renumbered = any(comparable(line) in comparable(prompt) for line in lines)
        what = "the elements of the page by their own numbers" if is_renumbered else "the page"
    elif not run.frames(step) and not _is_shown(task, prompt):
        what = _TASK
    else:
        return None
    return _Lack(step, what, () if what == _TASK else tuple(lines[:3]), call)


def _is_same(lack: _Lack, other: _Lack | None) -> bool:
    return other is not None and other.what == lack.what


def _place_of(
    shows: re.Pattern[str], names: Sequence[str], facts: FailureFacts, user: str
) -> tuple[str, int]:
    """Return where templates show something, or else where they could, or else the preset's line that names them."""
    texts, now = facts.texts, facts.texts.now
    is_of_turns = any(_OF_TURNS.search(now(name) or "") for name in names if name.startswith("prompts/"))
    fallback = (user, 1) if is_of_turns and user in texts.names else facts.preset_place("prompts", "user")
    around = line_that(OF_PAGE, names, now) if shows is SHOWS_PAGE else None
    return line_that(shows, names, now) or around or fallback


def _is_shown(text: str, prompt: str) -> bool:
    """Return whether a prompt has a text, or most of it where parts of either are hidden."""
    words, there = text.split(), " ".join(prompt.split())
    if " ".join(words) in there or not placeholders_in(text + prompt):
        return " ".join(words) in there
    parts = [" ".join(words[at : at + _WORDS]) for at in range(max(len(words) - _WORDS + 1, 1))]
    return sum(part in there for part in parts) * 2 >= len(parts)


class AbstractionDropped(CauseKind):
    """The clean observation lacks an element that a success used, and the page has it."""

    name = "abstraction-dropped"
    weight = 0.75

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step, instead, success = facts.at, facts.instead, facts.success
        if not step or instead is None or success is None:
            return
        page, abstracted = facts.page(step), facts.part(step, Abstracted)
        acted = success.part(instead.number, Acted)
        if page is None or abstracted is None or acted is None or not acted.target:
            return
        wanted = acted.target
        there = next((one for one in page.elements if f'{one.role} "{one.name}"' == wanted), None)
        kept = {one.ref for one in abstracted.clean.elements}
        if there is None or there.ref in kept or f"[{there.ref}]" in abstracted.clean.text:
            return
        recalled = facts.store.recalled(facts.row.run, step)
        by_exemplar = recalled is not None and recalled.exemplars and "rank" not in abstracted.how
        yield told(
            step,
            f"The page has {wanted}, which the success used; the clean observation lacks it.",
            Evidence(step=step, part="page", text=wanted, ref=there.ref),
            Evidence(step=step, part="prompt", text=abstracted.how or "clean observation"),
            *facts.by_success(f"did {instead.action}", instead.number),
            at=("", 0) if by_exemplar else facts.preset_place("abstraction", "keep"),
            field=f"exemplar {recalled.exemplars[-1]}" if recalled and by_exemplar else "clean observation",
            certainty="sure" if facts.is_first(step, "shown") and not by_exemplar else "likely",
            why="It was read, and was left out before the LLM was asked.",
        )


class ExemplarOfAnother(CauseKind):
    """The exemplars are of another family than the task, or their actions were copied."""

    name = "exemplar"
    weight = 0.55

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step = facts.at
        action = facts.action(step) if step else None
        for exemplar in facts.exemplars(step) if step else ():
            is_other = exemplar.environment not in ("", facts.row.environment)
            copied = action is not None and any(str(action) in one.actions for one in exemplar.steps)
            if is_other or copied:
                why = (
                    f"It is of {exemplar.environment}, and the task of {facts.row.environment}."
                    if is_other
                    else "Its steps have the very action."
                )
                yield told(
                    step,
                    f"The exemplar {exemplar.id} went before this action.",
                    Evidence(step=step, part="exemplar", text=f"{exemplar.task} ({exemplar.family})"),
                    Evidence(step=step, part="action", text=str(action)),
                    field=f"exemplar {exemplar.id}",
                    certainty="likely" if is_other and copied else "possible",
                    why=why,
                )
                return
