"""What a rule answers with: a move, or that its part is done; and what every rule gets to see."""

from dataclasses import dataclass
from typing import Any, Literal

from core.llm.word_rules.intent import Objective
from core.llm.word_rules.page import Page
from core.llm.word_rules.past import Past
from core.schema.action import ACTION, Action, RefTarget
from core.schema.observation import Element, Ref


@dataclass(frozen=True)
class Move:
    """An action with the sentence that says why."""

    action: Action
    why: str
    finishes: bool = False
    """Whether the part is done once this action has worked."""


Answer = Move | Literal["done"] | None
"""None: the rule does not know how to go on."""


@dataclass(frozen=True)
class Scene:
    """One moment: the page, what has been done, and the part in hand."""

    objective: Objective
    page: Page
    past: Past
    part: int
    """Counted from 1; 0 beyond all parts."""

    def allowed(self, move: Move) -> bool:
        """Tell whether a move is permissible and not one that has just failed or keeps changing nothing."""
        if self.page.permissible.problem(move.action):
            return False
        if self.past.failed_now(move.action):
            return False
        most = 40 if move.action.kind in ("press", "scroll") else 14 if move.action.kind == "click" else 3
        return self.past.times(move.action) < most


def act(kind: str, element: Element | Ref | None = None, **arguments: Any) -> Action:
    """Return an action; an element becomes its target by ref."""
    if element is not None:
        ref = element.ref if isinstance(element, Element) else element
        arguments["target"] = RefTarget(ref=ref)
    return ACTION.validate_python({"kind": kind, **arguments})


def said(element: Element, *, first: bool = False) -> str:
    """Return an element in a few words for a thought; `first` where they begin the sentence."""
    article = "The" if first else "the"
    name = element.name or element.detail.split(",")[0]
    name = name if len(name) <= 40 else name[:39] + "…"
    return f'{article} {element.role} "{name}"' if name else f"{article} {element.role} [{element.ref}]"
