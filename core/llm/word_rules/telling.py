"""Replies in words alone: the answer a task asks for, and which of several elements is meant."""

import re
from difflib import SequenceMatcher

from core.llm.word_rules.answering import counted, looked_up
from core.llm.word_rules.decide import ASKS, understand
from core.llm.word_rules.move import Scene
from core.llm.word_rules.page import Page
from core.llm.word_rules.past import Past
from core.llm.word_rules.words import alike, content_words, stem
from core.schema.action_space import Permissible
from core.schema.messages import PromptView

_LINE = re.compile(r'^\s*(?:\[\d+\]\s+)?([\w-]+)(?:\s+"(.*?)"(?=\s|$))?(.*)$', re.DOTALL)
_LABEL = re.compile(
    r"\b(?:what|which|who|when|where)\s+(?:is|was|are|were)\s+(?:the\s+)?(.+?)(?:\s+(?:of|on|in|for|by)\s+.+)?\s*\?*$",
    re.IGNORECASE,
)
_LEAST = 0.5
"""From which likeness on a candidate is taken for the element."""


def answer(view: PromptView) -> str:
    """Return the answer that the notes, the page or the last words of the run give; empty for no question."""
    if not ASKS.search(view.objective.strip()):
        return ""
    if view.notes:
        asked = {stem(word) for word in content_words(view.objective)}
        return max(view.notes, key=lambda note: len(asked & {stem(word) for word in content_words(note)}))
    scene = Scene(understand(view.objective), Page(view, Permissible()), Past(view.history), 0)
    number = counted(scene)
    if number is not None:
        return str(number)
    label = _LABEL.search(view.objective.strip())
    return (looked_up(scene, label[1]) or "") if label else ""


def chosen(view: PromptView) -> tuple[int, str]:
    """Return the number of the candidate that is the wanted element, from 1, or 0, and the sentence why."""
    scores = [_likeness(view.wanted, line) for line in view.candidates]
    best = max(scores, default=0.0)
    if best < _LEAST:
        return 0, "None of them has its role and words."
    place = scores.index(best)
    return place + 1, f"{view.candidates[place].strip()} is most like it."


def _likeness(wanted: str, line: str) -> float:
    first, second = _LINE.match(wanted), _LINE.match(line)
    if first is None or second is None:
        return 0.0
    name = alike(first[2] or "", second[2] or "") if first[2] or second[2] else 0.6
    role = 0.2 if first[1] == second[1] else -0.2
    rest = 0.1 * SequenceMatcher(None, first[3], second[3]).ratio()
    return name + role + rest if name > 0 else 0.0
