"""Plans from the parts of an objective, and what is to be learned from a trial that failed."""

import re
from collections.abc import Iterable, Sequence

from core.llm.word_rules.decide import understand
from core.llm.word_rules.deeds import deeds
from core.llm.word_rules.effects import action_of
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.intent import Intent
from core.llm.word_rules.wishing import FILLER, is_wish
from core.llm.word_rules.words import content_words, short, stem
from core.schema.action import Action, Backtrack, NewTrial, Note, Stop
from core.schema.messages import PromptView, Turn
from core.schema.observation import Element

LAST = "See that nothing of the task is left to do"
"""The last subtask of every plan: it is over when the task is."""
_LONGEST = 12
_NAMED = 3
_NOT_AGAIN = "Not again:"
_LISTED = re.compile(rf"{_NOT_AGAIN} (.*?)\.(?= Next time|$)", re.DOTALL)


def subtasks(view: PromptView) -> list[str]:
    """Return the subtasks of the objective in order, at least one.

    Each trial that failed puts one more look before them, a different one
    each time, so that no plan is the one that failed.
    """
    planned = _parts(view.objective) or [f"Do what the task says: {short(view.objective, 160)}"]
    return [*_looks(view), *planned[:_LONGEST], LAST]


def _parts(objective: str) -> list[str]:
    if is_wish(objective):
        return [
            "Search for what is wished for",
            "Open the result that fits best",
            "Choose the options that are asked for",
            "Buy it",
        ]
    facts = Facts(objective)
    if facts.are_given and not facts.is_one_field:
        return _from_facts(facts, objective)
    told: dict[str, None] = {}
    for intent in understand(objective).intents:
        text = _told(intent)
        if text in told:
            # Parts of one clause are told by what each of them acts on.
            text = f"{intent.verb.capitalize()} {', '.join(intent.names) or intent.value}".strip()
        told.setdefault(text)
    return list(told)


def _told(intent: Intent) -> str:
    if intent.kind == "fill" and intent.value and intent.field:
        return f'Enter "{intent.value}" into the {re.sub("^(?:the|a|an|your) ", "", intent.field)}'
    text = (intent.text or intent.verb).strip(" .,;")
    return text[:1].upper() + text[1:]


def _from_facts(facts: Facts, objective: str) -> list[str]:
    """Return the usual way through a desk: find, enter, choose, confirm, as far as the objective gives it."""
    asked = deeds(objective)
    found: list[str] = []
    if facts.code:
        found.append(f"Bring up {facts.code}")
    if facts.route:
        days = " and ".join(one.text for one in facts.dates)
        found.append(f"Search from {facts.route[0]} to {facts.route[1]}" + (f" on {days}" if days else ""))
    elif facts.dates:
        found.append("Search for " + " and ".join(one.text for one in facts.dates))
    found.extend(f"Choose what is at {one.text}" for one in facts.times)
    found.extend(f"Change the {label} to {value}" for label, value in facts.changes.items())
    if facts.person:
        found.append(f"Enter the details of {facts.person[0]}")
    if facts.card:
        found.append(f"Pay with the card {facts.card}")
    if "cancel" in asked:
        found.append("Cancel it and confirm that")
    return found


def _looks(view: PromptView) -> list[str]:
    if not view.experience:
        return []
    names = [word for word in dict.fromkeys(content_words(view.objective)) if word not in FILLER][:_NAMED]
    about = ", ".join(names) or "the task"
    known = (
        f"See what the page has of these before acting: {about}",
        "See what tabs, menus and further pages may hide it",
        "See what the messages of the page say after each action",
    )
    told = [known[min(number, len(known) - 1)] for number in range(len(view.experience))]
    if len(told) > len(known):
        told[-1] = f"See, for the {len(told)}th time, what was not tried yet"
    return list(dict.fromkeys(told))


def lesson(view: PromptView) -> str:
    """Return in two to four sentences what was tried, what is not to be tried again, and what to do otherwise."""
    tried = [turn for turn in view.history if _is_of_page(turn)]
    failed = [turn for turn in tried if not _went_well(turn)]
    useless = [*failed, *_taken_back(view.history), *tried[-1:]]
    told = [
        f"{len(tried)} actions did not bring the task to its end." if tried else "No action was carried out."
    ]
    if failed:
        told.append(
            f"The last that failed: {_said(failed[-1])}, as {short(failed[-1].result, 100).rstrip('.')}."
        )
    if useless:
        told.append(f"{_NOT_AGAIN} {'; '.join(dict.fromkeys(_said(one) for one in useless[-_NAMED:]))}.")
    untried = _untried(view, tried)
    if untried is not None:
        told.append(f'Next time begin with {untried.role} "{short(untried.name, 60)}", which was not tried.')
    else:
        told.append("Next time look for the task's words behind tabs, menus and further pages before acting.")
    return " ".join(told)


def not_again(experience: Iterable[str]) -> set[str]:
    """Return the actions with their targets, in words, that lessons say not to try again."""
    found: set[str] = set()
    for one in experience:
        for match in _LISTED.finditer(one):
            found.update(part.strip() for part in match[1].split("; "))
    return found


def in_a_lesson(action: Action, target: str) -> str:
    """Return an action as a lesson names it: without the number of its element, which the next trial may change."""
    values = [str(getattr(action, name)) for name in action.fields if name not in ("target", "to")]
    values = [value for value in values if value != "None"]
    told = " ".join([action.name, *(f"[{value}]" for value in values)])
    return f"{told} on {target}" if target else told


def _said(turn: Turn) -> str:
    action = action_of(turn.action)
    return in_a_lesson(action, turn.target) if action is not None else turn.action


def _is_of_page(turn: Turn) -> bool:
    action = action_of(turn.action)
    return action is not None and not isinstance(action, Backtrack | NewTrial | Note | Stop)


def _went_well(turn: Turn) -> bool:
    return turn.result.casefold().startswith(("done", "ok", "came back")) or not turn.result


def _taken_back(turns: Sequence[Turn]) -> list[Turn]:
    """Return the steps that the run went back before."""
    found: list[Turn] = []
    for place, turn in enumerate(turns):
        action = action_of(turn.action)
        if isinstance(action, Backtrack):
            found.extend(one for one in turns[:place] if one.number >= action.step and one not in found)
    return [one for one in found if _is_of_page(one)]


def _untried(view: PromptView, tried: list[Turn]) -> Element | None:
    """Return what the page shows that has most of the objective's words and was never acted on."""
    asked = {stem(word) for word in content_words(view.objective)}
    targets = " ".join(turn.target for turn in tried)
    best, most = None, 0
    for one in view.observation.elements:
        if not one.usable or not one.name or f'"{one.name}"' in targets:
            continue
        common = len({stem(word) for word in content_words(one.name)} & asked)
        if common > most:
            best, most = one, common
    return best
