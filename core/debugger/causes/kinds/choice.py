"""Causes in what the LLM chose with all that it needed in view, and what the judge of the task said of it."""

import re
from collections.abc import Iterator

from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.kinds.kind import CauseKind, told
from core.debugger.causes.kinds.limits import instruction_place
from core.debugger.causes.records import Cause, Evidence
from core.debugger.evaluations.changed import unchanged_runs
from core.debugger.evaluations.failures import MOST_READ
from core.schema.action import Named
from core.schema.action_space import Choice
from core.schema.step import Acted, Recognised
from core.trace.records import StepRow

_SAME_REPLY = ("rules", "person")
"""LLMs whose replies do not differ by chance."""
_MISSING = re.compile(
    r"missing ([^;)]+)|(\w[\w ]*) (?:was|were|is|are) not\b|expected ([^;,)]+)", re.IGNORECASE
)
_OPTION = re.compile(r"(?:missing|;) (\w+): ([^;)]+)")
"""An option and the value that the judge misses."""


class ChoseOtherwise(CauseKind):
    """The LLM chose something else than a success, which was permissible as well."""

    name = "chose-otherwise"
    weight = 0.45

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        instead, success = facts.instead, facts.success
        recognised = facts.part(facts.at, Recognised) if facts.at else None
        step = next((one for one in facts.steps if one.number == facts.at), None)
        if instead is None or success is None or recognised is None or step is None:
            return
        if recognised.permissible.action(instead.action.partition(" ")[0]) is None:
            return
        if not step.action or instead.in_words == step.in_words:
            return  # It chose nothing, or they differ in what came of it.
        action = success.action(instead.number)
        other_values = isinstance(action, Named) and recognised.permissible.problem(action) is not None
        if other_values and facts.is_same_seed:
            return  # With its values, it was not permissible.
        yield told(
            step.number,
            f"The LLM chose {step.in_words}; {facts.success_in_words}, chose {instead.in_words}.",
            Evidence(step=step.number, part="reply", text=step.thought),
            *facts.by_success(instead.thought, instead.number),
            at=instruction_place(facts, facts.at),
            field="action",
            certainty="likely" if facts.is_same_seed else "possible",
            why="The action of the success was permissible here as well"
            + (", with other values." if other_values else "."),
        )


class SeedsDiffer(CauseKind):
    """The LLM replied otherwise to the prompt that a success at the same seed got: the agent succeeds at times."""

    name = "seeds-differ"
    weight = 0.44

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        row, success = facts.row, facts.success
        if facts.differs is None or success is None or facts.differs[2] != "action" or row.llm in _SAME_REPLY:
            return
        if success.row.llm != row.llm:
            return  # That one was no chance.
        step, other, _ = facts.differs
        alike = [
            run
            for run in unchanged_runs(facts.store, facts.store.runs(task=row.task, limit=MOST_READ), row)
            if (run.seed, run.preset, run.llm, run.parent_run) == (row.seed, row.preset, row.llm, None)
            and run.verdict.success is not None
            and not run.touched
        ]
        good = [run.run for run in alike if run.verdict.success]
        yield told(
            step.number,
            f"The LLM did {step.in_words}, and for the same prompt {other.in_words} in run {success.row.run}. At this "
            f"task and seed {len(good)} of {len(alike)} runs succeeded.",
            Evidence(step=step.number, part="reply", text=step.thought),
            *facts.by_success(other.thought, other.number),
            field="reply",
            why="Pages, states and prompts of both runs are the same up to there, so chance may have decided.",
        )


class JudgesReason(CauseKind):
    """What the judge of the task found missing, and the step that had something with it on offer and chose another."""

    name = "judge"
    weight = 0.5

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        reason = facts.row.verdict.reason
        said = [next(filter(None, groups)).strip() for groups in _MISSING.findall(reason)]
        wanted = {word for phrase in said for word in _words(phrase)}
        for step in facts.steps:
            other = next(
                filter(None, (_chosen_for(facts, step, *option) for option in _OPTION.findall(reason))), ""
            )
            better = self._better(facts, step, wanted) if wanted and not other else []
            if not other and not better:
                continue
            offered = [one.label or one.value for one in better[:3]] or [f"{other} was chosen"]
            yield told(
                step.number,
                f"The judge found {', '.join(said)} missing. Step {step.number} did {step.in_words}"
                f"{f', and had {offered[0]} on offer' if better else f', which chose {other} for it'}.",
                Evidence(step=facts.steps[-1].number, part="judge", text=reason),
                *(Evidence(step=step.number, part="page", text=one) for one in offered),
                Evidence(step=step.number, part="reply", text=step.thought),
                at=instruction_place(facts, step.number),
                field="action",
                why="What was chosen has not what the judge misses.",
            )
            return

    def _better(self, facts: FailureFacts, step: StepRow, wanted: set[str]) -> list[Choice]:
        """Return what could have been chosen in place of what was, and has all that the judge misses."""
        recognised = facts.part(step.number, Recognised)
        action = (
            recognised.permissible.action(step.action.partition(" ")[0]) if recognised is not None else None
        )
        for parameter in action.parameters if action is not None else ():
            chosen = [one for one in parameter.choices or () if f"[{one.value}]" in step.action]
            if not chosen or wanted <= _words(chosen[0].label):
                continue
            return [one for one in parameter.choices or () if wanted <= _words(one.label)]
        return []


def _chosen_for(facts: FailureFacts, step: StepRow, key: str, value: str) -> str:
    """Return what a step chose in a group of choices that is called `key`, if it is not `value`."""
    page, acted = facts.page(step.number), facts.part(step.number, Acted)
    elements = page.elements if page is not None else ()
    groups = {one.ref for one in elements if one.name.casefold() == key.casefold()}
    used = {acted.target, *(one.target for one in acted.primitives)} if acted is not None else set()
    chosen = (one for one in elements if one.parent in groups and f'{one.role} "{one.name}"' in used)
    return next((one.name for one in chosen if one.name.casefold() != value.strip().casefold()), "")


def _words(text: str) -> set[str]:
    """Return the words of a text that tell something, without their endings."""
    return {word[:6] for word in re.findall(r"[a-z]{4,}", text.lower())}


class LastStep(CauseKind):
    """Nothing else is known: the agent ended, or was ended, at its last step."""

    name = "last-step"
    weight = 0.05

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        if not facts.steps:
            return
        step = facts.steps[-1]
        reason = facts.row.verdict.reason or facts.row.error
        yield told(
            step.number,
            f"The run ended {f'with {step.in_words}' if step.action else 'before an action'}"
            f"{f': {reason}' if reason else '.'}",
            Evidence(step=step.number, part="action", text=step.thought or step.action),
            at=instruction_place(facts, step.number),
            field="action",
            certainty="possible",
            why="Nothing else speaks for a step.",
        )
