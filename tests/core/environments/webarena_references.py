"""What WebArena's 812 tasks compare with, and how its own evaluators take near and far misses of it.

``webarena_references.json`` holds what the published tasks are judged by (github.com/web-arena-x/webarena,
``config_files/test.raw.json``, Apache License 2.0), and beside it what the published ``evaluators.py`` says of each
text that the functions here make of it: ``1`` for a match, in order. Single characters were looked for among the
words of NLTK's tokenizer, without its parting of sentences.
"""

import html
import json
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("webarena_references.json")


def tasks() -> list[dict[str, Any]]:
    return list(json.loads(TABLE.read_text(encoding="utf-8"))["tasks"])


def _like(text: str) -> list[str]:
    return [
        text,
        f"  {text}\n",
        f'"{text}"',
        f"'{text}'",
        f"' {text} '",
        f"\"'{text}'\"",
        f"'{text}\"",
        text.upper(),
        f"{text}.",
        f"The answer is {text}, I think.",
        f"{text}0",
        text[:-1],
    ]


def answers(references: dict[str, Any]) -> list[str]:
    """Return answers that are right, nearly right and wrong."""
    wanted = references.get("must_include") or ()
    whole = references.get("exact_match") or " and ".join(wanted)
    found = [*_like(whole), "", "'", " ", "N/A"]
    if len(wanted) > 1:
        found += [", ".join(reversed(wanted)), " and ".join(wanted[1:])]
    return found


def urls(reference: str) -> list[str]:
    """Return addresses that lead to the same page, to a part of it, and elsewhere."""
    found = []
    for one in reference.split(" |OR| "):
        base, mark, query = one.partition("?")
        more = f"{mark}{query}"
        found += [
            one,
            f"{one}/",
            f"{base.rstrip('/')}/{more}",
            f"{base.rstrip('/')}{more}",
            f"{base.rstrip('/')}//{more}",
            f"{base}/more{more}",
            f"{base[:-1]}{more}",
            f"{one}{'&' if mark else '?'}further=1",
            f"{base}?{query}0" if query else f"{base}?x=1",
            base,
            one.replace("__", "https://__", 1),
            one.upper(),
        ]
    return found


def contents(required: dict[str, Any]) -> list[str]:
    """Return what a page could give in that place."""
    if required.get("exact_match") is not None:
        return [*_like(required["exact_match"]), "None", ""]
    wanted = [one.split(" |OR| ") for one in required["must_include"]]
    whole = " | ".join(one[0] for one in wanted)
    return [
        *_like(whole),
        " ".join(one[-1] for one in wanted),
        html.escape(whole),
        " | ".join(one[0] for one in wanted[1:]),
        "None",
        "",
    ]
