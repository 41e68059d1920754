"""Causes in policies: one that came back without what it was called for, or was not called at all."""

import re
from collections.abc import Iterator

from core.agent.policies.stack import NOTHING
from core.debugger.causes.facts import FailureFacts, RunFacts
from core.debugger.causes.kinds.kind import CauseKind, patch_of, told
from core.debugger.causes.kinds.limits import instruction_place
from core.debugger.causes.records import Cause, Evidence, Patch
from core.schema.step import FrameRecord, Recognised
from core.trace.records import StepRow


def _finished(facts: FailureFacts) -> Iterator[tuple[StepRow, FrameRecord]]:
    """Yield each frame that came back, with the last step at which it was at work."""
    seen: set[int] = set()
    for step, after in zip(facts.steps, facts.steps[1:], strict=False):
        recognised = facts.part(after.number, Recognised)
        for frame in (
            recognised.stack.finished if recognised is not None and recognised.stack is not None else ()
        ):
            if frame.number not in seen:
                seen.add(frame.number)
                yield step, frame


class PolicyCameBack(CauseKind):
    """A policy lacked something, or returned nothing."""

    name = "policy-returned"
    weight = 0.6

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step, frame in _finished(facts):
            lacked = frame.state == "lacked"
            if frame.caller is None or not (lacked or frame.outcome == NOTHING):
                continue
            said = f"lacked something: {frame.outcome}" if lacked else "returned nothing"
            name = facts.texts.name_of(frame.file) if frame.file else ""
            yield told(
                step.number,
                f"The policy {frame.written} {said}.",
                Evidence(
                    step=step.number, part="policy", text=f"{frame.policy}: {frame.outcome or 'nothing'}"
                ),
                Evidence(step=step.number, part="action", text=step.action),
                at=(name, instruction_place(facts, step.number)[1]) if name in facts.texts.names else ("", 0),
                why="It is the first that came back without what it was called for.",
            )
            return


def line_of_key(facts: FailureFacts, file: str, key: str) -> int:
    """Return the line of a key between the +++ lines of a policy's file; 0 if it is not there."""
    lines = (facts.texts.now(file) or "").splitlines()
    lines = lines[: next((at for at, line in enumerate(lines) if at and line.strip() == "+++"), len(lines))]
    return next((at for at, line in enumerate(lines, 1) if re.match(rf"{key}\s*=", line)), 0)


def with_listed(facts: FailureFacts, file: str, line: int, *names: str) -> Patch | None:
    """Return the change that adds names to the list in a line of a policy's file."""
    if not file or not line:
        return None
    text = facts.texts.now(file) or ""
    start = sum(len(one) for one in text.splitlines(keepends=True)[: line - 1])
    at = text.find("[", start) + 1
    following = text[at : text.find("]", at)].strip() if at else ""
    new = [quoted for name in names if (quoted := f'"{name}"') not in following]
    is_list = at and text.find("\n", start) >= at and new
    return patch_of(file, text, at, at, ", ".join(new + [""] * bool(following))) if is_list else None


class PolicyNotCalled(CauseKind):
    """A success called a policy where this run did something else."""

    name = "policy-not-called"
    weight = 0.5

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        instead, success = facts.instead, facts.success
        recognised = facts.part(facts.at, Recognised) if facts.at else None
        if instead is None or success is None or recognised is None or instead.effect != "push":
            return
        tops = [run.frames(at)[:1] for run, at in ((facts, facts.at), (success, instead.number))]
        if [frame.policy for frame in tops[0]] != [frame.policy for frame in tops[1]]:
            return  # The run began with another policy.
        name = instead.action.partition(" ")[0]
        there = recognised.permissible.action(name) is not None
        file, line = instruction_place(facts, facts.at)
        caller = file
        if not there:
            file, line = self._where_not(facts, success, name, file, line)
        yield told(
            facts.at,
            f"The success called {name} here; this run did not."
            if there
            else f"The success called {name} here, which was not permissible in this run.",
            *facts.by_success(f"did {instead.action}", instead.number),
            Evidence(step=facts.at, part="policy", text=file or "no policy"),
            at=(file, line),
            certainty="sure" if not there and facts.is_first(facts.at, "offered") else "likely",
            why="The policy that was at work decides which others it may call.",
            patch=with_listed(facts, file, line_of_key(facts, file, "policies"), name)
            if not there and file == caller
            else None,
            weight=self.weight if there else 0.8,
        )

    def _where_not(
        self, facts: FailureFacts, success: RunFacts, name: str, file: str, line: int
    ) -> tuple[str, int]:
        """Return where it is said that a policy cannot be called: in the caller's list, or else in its own file."""
        key = line_of_key(facts, file, "policies")
        if not key and (actions := line_of_key(facts, file, "actions")):
            return file, actions  # They leave it out.
        listed = (facts.texts.now(file) or "").splitlines()[key - 1] if key else f'"{name}"'
        if f'"{name}"' not in listed:
            return file, key
        for step in success.steps:
            for frame in success.frames(step.number):
                own = facts.texts.name_of(frame.file)
                if frame.policy.rpartition("/")[2] == name and own in facts.texts.names:
                    return own, line_of_key(facts, own, "environments") or 1
        return file, key or line
