"""Replies in words alone: a page shortened, a program that does so, an answer, and which element is meant."""

import json
import re

from core.llm.rules.fields import looked_up
from core.llm.rules.moves import Scene
from core.llm.rules.words import alike, stems
from core.schema.action_space import Permissible
from core.schema.messages import PromptView

KEPT = 40
"""Lines kept at most."""
_LINE = re.compile(r"^\s*\[(\d+)\]\s+([a-z]+)")
_TELLS = frozenset(("heading", "alert", "status", "dialog", "alertdialog"))
_NEAR = 0.4
"""What a line is worth for being next to one with words of the task."""
_USED = frozenset(
    "button textbox searchbox combobox checkbox radio option tab menuitem spinbutton slider listbox switch".split()
)


def shortened(view: PromptView, *, refs: bool) -> str:
    """Return the lines of the view's page that matter for its task, unchanged and in their order.

    With `refs` only lines that begin with the number of an element count.
    """
    lines = [line for line in view.raw.splitlines() if line.strip()]
    if refs:
        lines = [line for line in lines if _LINE.match(line)]
    if len(lines) <= KEPT // 4:
        return "\n".join(lines)
    asked = stems(f"{view.objective} {view.subtask}")
    own = [_worth(line, asked) for line in lines]
    rated = [worth + _NEAR * max(own[max(place - 2, 0) : place + 3]) for place, worth in enumerate(own)]
    best = sorted(range(len(lines)), key=lambda place: -rated[place])[:KEPT]
    return "\n".join(lines[place] for place in sorted(best))


def _worth(line: str, asked: set[str]) -> float:
    match = _LINE.match(line)
    role = match[2] if match else ""
    worth = 2.0 * min(len(stems(line) & asked), 4) + (role in _TELLS) + 0.8 * (role in _USED)
    return worth + 0.2 * (role == "link")


def parser_program(view: PromptView) -> str:
    """Return a reply with a program that keeps what can be used, and the texts near to the task's words."""
    asked = sorted(word for word in stems(f"{view.objective} {view.subtask}") if len(word) > 2)
    return _PROGRAM.replace("<words>", json.dumps(asked, ensure_ascii=True)).replace("<most>", str(KEPT))


_PROGRAM = """The program keeps what can be used and the texts that share words with the task.

```python
import re
from bs4 import BeautifulSoup

ASKED = set(<words>)
USED = {"a", "button", "input", "select", "textarea", "option", "label", "summary"}
STATES = ("checked", "disabled", "selected")


def parse(html):
    rows = []
    for node in BeautifulSoup(html, "lxml").select("[data-ref]"):
        own = node.get_text(" ") if node.name in USED else " ".join(node.find_all(string=True, recursive=False))
        named = [str(node.get(name) or "") for name in ("aria-label", "placeholder", "title", "alt")]
        text = " ".join(" ".join([own, *named]).split())
        stems = {re.sub(r"(?<=\\w{3})(ing|ed|(?<!s)s)$", "", word) for word in re.findall(r"\\w+", text.casefold())}
        usable = node.name in USED or node.has_attr("role")
        if usable or stems & ASKED:
            states = "".join(" " + state for state in STATES if node.has_attr(state))
            line = '[%s] %s "%s"%s' % (node["data-ref"], node.get("role") or node.name, text[:120], states)
            rows.append((2 * len(stems & ASKED) + usable, line))
    best = sorted(range(len(rows)), key=lambda place: -rows[place][0])[:<most>]
    return "\\n".join(rows[place][1] for place in sorted(best)) or "(nothing in the page can be used)"
```
"""


# Answers and choices

_NUMBER = re.compile(r"^\s*\[\d+\]\s*")
_LABEL = re.compile(
    r"\b(?:what|which|who|when|where)\s+(?:is|was|are|were)\s+(?:the\s+)?(.+?)(?:\s+(?:of|on|in|for|by)\s+.+)?\s*\?*$",
    re.IGNORECASE,
)
_LEAST = 0.5
"""From which likeness on a candidate is taken for the element."""


def answer(view: PromptView) -> str:
    """Return the answer that the notes or the page give; empty for no question."""
    scene = Scene.of(view, Permissible())
    if not scene.objective.is_question:
        return ""
    if view.notes:
        return max(view.notes, key=lambda note: len(scene.objective.stems & stems(note)))
    label = _LABEL.search(view.objective.strip())
    return (looked_up(scene, label[1]) or "") if label else ""


def chosen(view: PromptView) -> tuple[int, str]:
    """Return the number of the candidate that is the wanted element, from 1, or 0, and the sentence why."""
    wanted = _NUMBER.sub("", view.wanted)
    scores = [alike(wanted, _NUMBER.sub("", line)) for line in view.candidates]
    best = max(scores, default=0.0)
    if best < _LEAST:
        return 0, "None of them has its role and words."
    place = scores.index(best)
    return place + 1, f"{view.candidates[place].strip()} is most like it."
