"""Shortening a page to the lines that matter, and a program that does so with its HTML."""

import json
import re

from core.llm.word_rules.words import content_words, stem
from core.schema.messages import PromptView

KEPT = 40
"""Lines kept at the most."""
_LINE = re.compile(r"^\s*\[(\d+)\]\s+([a-z]+)")
_TELLS = frozenset(("heading", "alert", "status", "dialog", "alertdialog"))
_USED = frozenset(
    "button textbox searchbox combobox checkbox radio option tab menuitem spinbutton slider listbox switch".split()
)
_NEAR = 0.4
"""What a line is worth for standing beside one with words of the task."""


def shortened(view: PromptView, *, refs: bool) -> str:
    """Return the lines of the view's page that matter for its task, unchanged and in their order.

    With `refs` only lines that begin with the number of an element count.
    """
    lines = [line for line in view.raw.splitlines() if line.strip()]
    if refs:
        lines = [line for line in lines if _LINE.match(line)]
    if len(lines) <= KEPT // 4:
        return "\n".join(lines)
    asked = {stem(word) for word in content_words(f"{view.objective} {view.subtask}")}
    own = [_worth(line, asked) for line in lines]
    rated = [
        worth + _NEAR * max(own[max(place - 2, 0) : place + 3], default=0.0)
        for place, worth in enumerate(own)
    ]
    order = sorted(range(len(lines)), key=lambda place: -rated[place])
    kept = sorted(place for place in order[:KEPT] if rated[place] > 0)
    return "\n".join(lines[place] for place in kept) or "\n".join(lines[:KEPT])


def _worth(line: str, asked: set[str]) -> float:
    words = {stem(word) for word in content_words(line)}
    worth = 2.0 * min(len(words & asked), 4)
    match = _LINE.match(line)
    role = match[2] if match else ""
    if role in _TELLS:
        return worth + 1.0
    return worth + (0.8 if role in _USED else 0.2 if role == "link" else 0.0)


def parser_program(view: PromptView) -> str:
    """Return a reply with a program that keeps what can be used, and the texts near to the task's words."""
    asked = sorted(
        {stem(word) for word in content_words(f"{view.objective} {view.subtask}") if len(word) > 2}
    )
    return _PROGRAM.replace("<words>", json.dumps(asked, ensure_ascii=True)).replace("<most>", str(KEPT))


_PROGRAM = """The program keeps what can be used and the texts that share words with the task.

```python
import re
from bs4 import BeautifulSoup

ASKED = set(<words>)
MOST = <most>
USED = {"a", "button", "input", "select", "textarea", "option", "label", "summary"}
TEXTS = {"h1", "h2", "h3", "h4", "p", "li", "td", "th", "span", "div", "label", "legend", "dt", "dd"}


def stem(word):
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def words_of(text):
    return {stem(word) for word in re.findall(r"[\\w]+", text.casefold())}


def own_text(node):
    if node.name in ("a", "button", "option", "label", "summary"):
        text = node.get_text(" ", strip=True)
    else:
        text = " ".join(part.strip() for part in node.find_all(string=True, recursive=False))
    told = [text] + [str(node.get(name) or "") for name in ("aria-label", "placeholder", "title", "alt")]
    if node.name == "input":
        told.append(str(node.get("value") or ""))
    return " ".join(" ".join(told).split())


def parse(html):
    rows = []
    for node in BeautifulSoup(html, "lxml").select("[data-ref]"):
        text = own_text(node)
        usable = node.name in USED or node.get("role") in ("button", "link", "tab", "checkbox", "option")
        common = len(words_of(text) & ASKED)
        if not usable and not (common and node.name in TEXTS):
            continue
        kind = node.get("role") or node.name
        if node.name == "input":
            kind = "input " + str(node.get("type") or "text")
        marks = "".join(" " + name for name in ("checked", "disabled", "selected") if node.has_attr(name))
        line = "[%s] %s \\"%s\\"%s" % (node["data-ref"], kind, text[:120], marks)
        rows.append((2 * common + (1 if usable else 0), line))
    best = sorted(range(len(rows)), key=lambda place: -rows[place][0])[:MOST]
    lines = [rows[place][1] for place in sorted(best)]
    return "\\n".join(lines) or "(nothing in the page can be used)"
```
"""
