"""The choice at the end of the budget (LASER's backup strategy): when, among which candidates, and by rule if
no reply can be used.
"""

import re
from collections.abc import Collection, Sequence

from core.agent.abstraction import telling_words
from core.agent.spaces.file import Backup, SpaceState, StateSpace, filled
from core.agent.spaces.reading import cut_to
from core.llm.costs import count_tokens
from core.schema.action import Action
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionError, ActionSyntaxError
from core.schema.observation import Observation
from core.schema.progress import SetAside, SpaceMemory

CHOOSE = "choose_candidate"
TOLD_TOKENS = 3000
"""Tokens of all that was read of the candidates and is told at most; each has the same share."""
REASON_TOKENS = 120
"""Tokens of the reason that a candidate was left for, at most."""


def is_due(space: StateSpace, memory: SpaceMemory) -> bool:
    """Return whether the budget has the choice made, or has had it made."""
    backup = space.backup
    return backup is not None and (bool(memory.chosen) or len(memory.transitions) >= backup.choose_at)


def as_instructed(
    space: StateSpace, state: SpaceState, memory: SpaceMemory, permissible: Permissible
) -> SpaceState:
    """Return the state with what the agent is told in it: of the choice, if it is due, instead of the page.

    The instruction for after the choice is given if `permissible`, from `choice_of`, has one of the last actions.
    """
    backup = space.backup
    if backup is None or not is_due(space, memory):
        return state
    ends = memory.chosen and any(action.name in backup.last_actions for action in permissible.actions)
    return state.replace(instruction=backup.last_instruction if ends else backup.instruction, layout="")


def choice_of(
    space: StateSpace, state: SpaceState, memory: SpaceMemory, observation: Observation, offered: Permissible
) -> tuple[Permissible, str, str]:
    """Return what is permissible by the budget, a remark on why, and why the run is over where it is.

    Before the budget that is what was `offered`; at it, the choice alone; after
    the choice, the last actions that the space names. Where the page of what
    was chosen has none of these, another one has to be chosen.
    """
    backup = space.backup
    if backup is None or not is_due(space, memory):
        return offered, "", ""
    gone = len(memory.transitions)
    remark = (
        f"{gone} of {backup.transitions} transitions were made: one of the candidates has to be chosen now."
    )
    candidates = candidates_of(state, memory, observation)
    if memory.chosen:
        kept = tuple(action for action in offered.actions if action.name in backup.last_actions)
        if gone >= backup.transitions:
            return Permissible(), "", f"The {backup.transitions} transitions are used up."
        if kept:
            return (
                Permissible(actions=kept),
                f"{memory.chosen} was chosen: only the last actions are left.",
                "",
            )
        lacks = f"{memory.chosen} was chosen, but its page offers none of: {', '.join(backup.last_actions)}."
        candidates = tuple(candidate for candidate in candidates if candidate.candidate != memory.chosen)
        if not candidates:
            return Permissible(), "", lacks
        remark = f"{lacks} Another candidate has to be chosen."
    elif not candidates:
        over = f"{gone} transitions were made, and no candidate was set aside to choose from."
        return Permissible(), "", over
    tokens = TOLD_TOKENS // len(candidates)
    choose = PermissibleAction(
        name=CHOOSE,
        description=backup.question or "Choose the best of those that were looked at.",
        parameters=(
            Parameter(
                name="candidate",
                choices=tuple(
                    Choice(
                        value=candidate.candidate,
                        label=_label(candidate),
                        detail=_detail(candidate.candidate, memory, tokens),
                    )
                    for candidate in candidates
                ),
            ),
        ),
        origin="state",
    )
    return Permissible(actions=(choose,)), remark, ""


def candidates_of(state: SpaceState, memory: SpaceMemory, observation: Observation) -> tuple[SetAside, ...]:
    """Return what can be chosen: all that was set aside, and what is in view now."""
    seen = memory.remembered.get(state.candidate, "") if state.candidate else ""
    if not seen or memory.entry(seen) is not None:
        return memory.buffer
    in_view = SetAside(candidate=seen, url=observation.url, title=observation.title, reason="in view now")
    return (*memory.buffer, in_view)


def _label(entry: SetAside) -> str:
    reason, cut = cut_to(" ".join(entry.reason.split()), REASON_TOKENS)
    return ": ".join(part for part in (entry.title, f"{reason} …" if cut else reason) if part)


def _detail(candidate: str, memory: SpaceMemory, tokens: int) -> tuple[str, ...]:
    """Return a line for each thing that is kept of a candidate, all of them within so many tokens."""
    kept = memory.kept_of(candidate)
    lines: list[str] = []
    for number, one in enumerate(kept):
        text, cut = cut_to(one.text, tokens // (len(kept) - number))
        tokens -= count_tokens(text)
        lines.append(f"{one.name.replace('_', ' ')}: {one.replace(text=text, cut=one.cut + cut).told}")
    return tuple(lines)


def way_back(backup: Backup, entry: SetAside) -> Action:
    """Return the action that goes back to a candidate; raises ActionError if the file's is none."""
    try:
        return parse_action(filled(backup.returns, {"url": entry.url, "candidate": entry.candidate}))
    except ActionSyntaxError as error:
        raise ActionError(f"Cannot go back to {entry.candidate}: {error}") from error


# By rule

_CLAUSE = re.compile(r"[.;:!?\n]+|\b(?:but|however|although|though|yet|while|whereas)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|lacks?|lacking|without|missing|misses|too|cannot|instead|wrong"
    r"|unlike|unclear|\w+n['’]t)\b",
    re.IGNORECASE,
)


def best_candidate(
    task: str,
    candidates: Sequence[SetAside],
    memory: SpaceMemory,
    *,
    thought: str = "",
    but: Collection[str] = (),
) -> tuple[str, str]:
    """Return a candidate, and how it was picked, where the LLM gave no usable choice; needs one at least.

    The one that `thought`, the LLM's last, names and no other. Else the one
    for which most words of the task are in its title, in what was read of it
    and in the reason it was left for; words that the reason denies it ("not of
    jute") do not count. Of equal ones the one looked at last. Those in `but`
    are only picked if there is no other.
    """
    left = [candidate for candidate in candidates if candidate.candidate not in but] or list(candidates)
    named = [one for one in left if re.search(rf"(?<!\w){re.escape(one.candidate)}(?!\w)", thought)]
    if len(named) == 1:
        return named[0].candidate, "it is the only candidate named in the LLM's thought"
    wanted = telling_words(task)
    scores = [len(_words_for(one, memory, wanted)) for one in left]
    best = max(range(len(left)), key=lambda place: (scores[place], place))
    how = (
        f"{scores[best]} of the {len(wanted)} words of the task are in its title, in what was read of "
        "it and in the reason why it was set aside"
    )
    if len(left) > 1:
        how += f", the most of {len(left)} candidates; of equal ones, the last is chosen"
    return left[best].candidate, how


def _words_for(entry: SetAside, memory: SpaceMemory, wanted: set[str]) -> set[str]:
    said = telling_words(
        " ".join([entry.title, *(candidate.text for candidate in memory.kept_of(entry.candidate))])
    )
    denied: set[str] = set()
    for clause in _CLAUSE.split(entry.reason):
        (denied if _DENIES.search(clause) else said).update(telling_words(clause))
    return wanted & (said - denied)
