"""The backup strategy: at the budget of transitions, a candidate that was set aside is chosen.

After LASER, with what its published code left open: an empty buffer ends the
run, and says so; nothing that is not in the buffer can be chosen.
"""

from core.agent.spaces.file import Backup, SpaceState, StateSpace
from core.agent.spaces.macros import filled
from core.schema.action import Action, parse_action
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.errors import ActionError, ActionSyntaxError
from core.schema.observation import Observation
from core.schema.progress import SetAside, SpaceMemory

CHOOSE = "choose_candidate"


def choice_of(
    space: StateSpace, state: SpaceState, memory: SpaceMemory, observation: Observation, offered: Permissible
) -> tuple[Permissible, str, str]:
    """Return what is permissible by the budget, a remark on why, and why the run is over where it is.

    Before the budget that is what was `offered`; at it, the choice alone; after
    the choice, the last actions that the space names.
    """
    backup = space.backup
    if backup is None:
        return offered, "", ""
    gone = len(memory.transitions)
    if memory.chosen:
        kept = tuple(one for one in offered.actions if one.name in backup.last_actions)
        if gone >= backup.transitions:
            return Permissible(), "", f"The {backup.transitions} transitions are used up."
        if not kept:
            return (
                Permissible(),
                "",
                f"{memory.chosen} was chosen, but its page offers none of: {', '.join(backup.last_actions)}.",
            )
        return Permissible(actions=kept), f"{memory.chosen} was chosen: only what ends it is left.", ""
    if gone < backup.choose_at:
        return offered, "", ""
    candidates = candidates_of(state, memory, observation)
    if not candidates:
        return (
            Permissible(),
            "",
            f"{gone} transitions are made and nothing was set aside: there is nothing to choose from.",
        )
    choose = PermissibleAction(
        name=CHOOSE,
        description=backup.question or "Choose the best of those that were looked at.",
        parameters=(
            Parameter(
                name="candidate",
                choices=tuple(Choice(value=one.candidate, label=_label(one)) for one in candidates),
            ),
        ),
        origin="state",
    )
    remark = f"{gone} of {backup.transitions} transitions are made: one of those looked at has to be chosen."
    return Permissible(actions=(choose,)), remark, ""


def candidates_of(state: SpaceState, memory: SpaceMemory, observation: Observation) -> tuple[SetAside, ...]:
    """Return what can be chosen: all that was set aside, and what is in view now."""
    seen = memory.remembered.get(state.candidate, "") if state.candidate else ""
    if not seen or memory.entry(seen) is not None:
        return memory.buffer
    in_view = SetAside(candidate=seen, url=observation.url, title=observation.title, reason="in view now")
    return (*memory.buffer, in_view)


def way_back(backup: Backup, entry: SetAside) -> Action:
    """Return the action that goes back to a candidate; raises ActionError where the file's is none."""
    try:
        return parse_action(filled(backup.returns, {"url": entry.url, "candidate": entry.candidate}))
    except ActionSyntaxError as error:
        raise ActionError(f"There is no way back to {entry.candidate}: {error}") from error


def _label(entry: SetAside) -> str:
    return ": ".join(part for part in (entry.title, entry.reason) if part)
