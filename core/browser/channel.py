"""Access to the documents of a tab: protocol sessions, our script world in them, and the errors of a question."""

import asyncio
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from playwright.async_api import CDPSession

from core.schema.secrets import SECRET_FIELDS
from core.storage.resources import RESOURCES


class PageGone(Exception):
    """The document went away during a question: it navigated, was closed, or crashed."""


def let_go(question: "asyncio.Future[Any]") -> None:
    """Stop waiting for an answer, and ignore its result or error."""
    question.add_done_callback(lambda done: done.cancelled() or done.exception())
    question.cancel()


@dataclass(eq=False)
class Channel:
    """A protocol session, and what it reported of the documents it reaches."""

    session: CDPSession
    worlds: dict[str, int] = field(default_factory=dict)
    """Frame id to the script world of ours in its document."""
    page_worlds: dict[str, int] = field(default_factory=dict)
    """Frame id to the page's own world."""
    listening: dict[int, "Known"] = field(default_factory=dict)
    """What is known of event listeners, by our world."""

    def forget_world(self, gone: int) -> None:
        for worlds in (self.worlds, self.page_worlds):
            for frame in [frame for frame, world in worlds.items() if world == gone]:
                del worlds[frame]
        self.listening.pop(gone, None)

    def forget_all(self) -> None:
        self.worlds.clear()
        self.page_worlds.clear()
        self.listening.clear()


@dataclass
class Known:
    """What is known of the listeners of one document."""

    document: str = ""
    """The protocol's handle of the document in the page's own world."""
    roots: list[str] = field(default_factory=list)
    """The same of its shadow roots."""
    types: dict[int, frozenset[str]] = field(default_factory=dict)
    """Node to the events it listens to, as the walker was told."""


@dataclass(frozen=True, eq=False)
class FrameLink:
    """A document inside the tab, and the channel that reaches it."""

    id: str
    session: Channel
    url: str
    name: str
    parent: "FrameLink | None"


WORLD = "backstep"
"""The isolated world that every script of ours runs in."""


@cache
def script(name: str) -> str:
    """Return the source of ``resources/scripts/NAME.js``."""
    return (RESOURCES / "scripts" / f"{name}.js").read_text(encoding="utf-8")


_WALKER = (
    *("changes", "elements", "editors", "names", "faces", "traits", "hovering"),
    *("reading", "reaching", "finding", "fields", "gestures", "walker"),
)
"""The scripts of the walker. Each but the last is a constant with its functions, and uses only those before it."""


@cache
def world_script() -> str:
    """Return the source of the walker, which lives in our world of each document, as one function."""
    rules = f"const secretRules = {json.dumps(SECRET_FIELDS)};\n"
    return f"(() => {{\nif (globalThis.__backstep) return;\n{rules}{''.join(map(script, _WALKER))}}})();\n"
