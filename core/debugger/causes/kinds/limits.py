"""Causes in how a run goes on: a loop, a limit, a gate."""

from collections.abc import Iterator, Sequence

from core.agent.run_history import budget_of
from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.kinds.kind import CauseKind, patch_of, told
from core.debugger.causes.records import Cause, Evidence, Patch
from core.debugger.compare.parting import exactly
from core.schema.step import Recognised
from core.settings.toml_layout import layout
from core.trace.records import StepRow

_LONGEST_PERIOD = 4
"""Steps of a loop that is found."""
_MOST_TRANSITIONS = 1000
"""Transitions that a state space allows at most."""
_PATIENT = ("scroll", "wait")
"""Actions that are often meant to be repeated."""


def instruction_place(facts: FailureFacts, step: int) -> tuple[str, int]:
    """Return file and line of the instruction that held at a step: of the policy at work, or else of the state.

    Empty and 0 if the policy is gone.
    """
    for frame in facts.frames(step)[-1:]:
        if name := facts.texts.name_of(frame.file) if frame.file else "":
            text = facts.texts.now(name)
            return ("", 0) if text is None else (name, _line_below_heading(text, "instruction"))
    state = facts.state(facts.state_of(step))
    if state is not None and facts.space_file:
        return facts.space_file, facts.line_in_space("state", state[0], "instruction")
    return "", 0


def _line_below_heading(text: str, heading: str) -> int:
    lines = text.splitlines()
    head = next(
        (at for at, line in enumerate(lines) if line.strip("# ").lower() == heading and "#" in line), 0
    )
    return next((at + 1 for at in range(head + 1, len(lines)) if lines[at].strip()), 1)


def loop_of(steps: Sequence[StepRow]) -> tuple[int, int] | None:
    """Return the first and last step of the first stretch that does the same three times or more at an address."""
    ways = [(exactly(step) if step.action else "", step.url) for step in steps]
    for period in range(1, _LONGEST_PERIOD + 1):
        same = 0
        for at in range(len(ways) - period + 1):
            goes_on = at + period < len(ways) and ways[at] == ways[at + period] and bool(ways[at][0])
            if goes_on:
                same += 1
                continue
            patient = all(way.partition(" ")[0] in _PATIENT for way, _ in ways[at - same : at])
            if same >= period * (5 if patient else 2):
                return steps[at - same].number, steps[at + period - 1].number
            same = 0
    return None


class Looped(CauseKind):
    """The run did the same at the same address again and again."""

    name = "loop"
    weight = 0.5

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        span = loop_of(facts.steps)
        if span is None:
            return
        first, end = span
        step = next(one for one in facts.steps if one.number == first)
        yield told(
            first,
            f"The run did the same from step {first} to step {end}: {step.in_words}.",
            Evidence(step=first, part="action", text=step.action),
            Evidence(step=end, part="action", text=f"the address was the same: {step.url}"),
            at=instruction_place(facts, first),
            why="It repeats the same actions at the same address.",
        )


def _limit_reached(facts: FailureFacts) -> tuple[str, str]:
    """Return which limit of the run was reached, in words, and the setting that it is of."""
    budget = budget_of(facts.store, facts.row.run)
    actions = sum(step.effect == "page action" for step in facts.steps)
    if budget is not None and actions >= budget.page_actions:
        return f"at most {budget.page_actions} page actions", "max_steps of the settings"
    # A step that the calls that are left are too few for is not begun.
    needed = facts.preset.calls if facts.preset is not None else 1
    if budget is not None and budget.llm_calls - facts.row.llm_calls < needed:
        return f"at most {budget.llm_calls} LLM calls", "max_llm_calls of the settings"
    return "which limit was reached is not known", "budget"


def _limit_of_space(recognised: Recognised) -> str:
    """Return the key of the limit that a state space came to."""
    memory, diagram = recognised.memory, recognised.diagram
    if not memory.chosen:
        return "choose_at"
    most = diagram.transitions if diagram is not None else None
    return "transitions" if most is not None and len(memory.transitions) >= most else "last_actions"


def _had(facts: FailureFacts, key: str) -> int:
    """Return a limit of the state space as it was in the success; 0 if that is not known, or it used another."""
    success = facts.success
    parts = [success.part(one.number, Recognised) for one in success.steps] if success is not None else []
    diagrams = [one.diagram for one in parts if one is not None and one.diagram is not None]
    same = [one for one in diagrams if facts.texts.name_of(one.file) == facts.space_file]
    return max((getattr(one, key) or 0 for one in same), default=0)


def _lowered(facts: FailureFacts) -> str:
    """Return the key of a limit of the state space that was higher in the success, or nothing."""
    backup = facts.space.backup if facts.space is not None else None
    keys = ("choose_at", "transitions") if backup is not None else ()
    return next((key for key in keys if _had(facts, key) > getattr(backup, key)), "")


def _raised(facts: FailureFacts, key: str, needed: int) -> Patch | None:
    """Return the change that doubles a limit of the state space, or raises it to what a success had or needed.

    It goes no further than the file allows.
    """
    space = facts.space
    span = layout(space.text).values.get(("backup", key)) if space is not None else None
    if space is None or space.backup is None or span is None or key == "last_actions":
        return None
    now: int = getattr(space.backup, key)
    put = min(
        had if (had := _had(facts, key)) > now else max(2 * now, needed + 1),
        space.backup.transitions if key == "choose_at" else _MOST_TRANSITIONS,
    )
    return patch_of(facts.space_file, space.text, *span, str(put)) if put > now else None


class BudgetSpent(CauseKind):
    """A limit ended the run: page actions, LLM calls, or transitions of the state space."""

    name = "budget"
    weight = 0.6

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        row = facts.row
        last = facts.steps[-1] if facts.steps else None
        if row.outcome != "budget" or last is None:
            return
        recognised = facts.part(last.number, Recognised)
        by_space = recognised is not None and bool(recognised.over)
        needed = facts.success.row.steps if facts.success is not None else 0
        needs_more = needed > row.steps
        file, said, field = "", *_limit_reached(facts)
        limit = lowered = ""
        if by_space and recognised is not None and facts.space_file:
            lowered = _lowered(facts)
            file, limit = facts.space_file, lowered or _limit_of_space(recognised)
            said = recognised.over
        yield told(
            last.number,
            f"The run was out of its budget after {row.steps} steps and {row.llm_calls} LLM calls ({said}).",
            Evidence(step=last.number, part="action", text=last.in_words),
            *facts.by_success(f"took {needed} steps"),
            at=(file, facts.line_in_space("backup", limit) if file else 0),
            field="" if file else field,
            certainty="sure" if needs_more or lowered else "possible" if loop_of(facts.steps) else "likely",
            why=f"In the success, {lowered} was {_had(facts, lowered)}."
            if lowered
            else f"A success took {needed} steps, more than this run was given."
            if needs_more
            else "Whether it was on the right way is not known.",
            # More of the same mends no loop.
            patch=_raised(facts, limit, needed) if file and (lowered or not loop_of(facts.steps)) else None,
        )


class GateRefused(CauseKind):
    """A gate did not let an action pass."""

    name = "gate"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step = facts.steps[-1] if facts.steps else None
        if facts.row.outcome != "gate" or step is None:
            return
        place = facts.space_action(step.state, step.action.partition(" ")[0])
        is_marked = place is not None and place[1].cannot_be_undone
        yield told(
            step.number,
            f"A gate ended the run before {step.in_words}: {facts.row.error or step.message}",
            Evidence(step=step.number, part="action", text=step.action),
            at=(
                facts.space_file if is_marked else "",
                facts.line_in_space(*place[0], "cannot_be_undone") if place is not None and is_marked else 0,
            ),
            field="" if is_marked else "gate",
            certainty="sure",
            why="The run ended there by rule.",
        )
