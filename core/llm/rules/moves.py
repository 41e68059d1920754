"""Moves: what a rule answers with, what was done before, and all that a rule gets to see."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.llm.rules.objective import Objective
from core.llm.rules.page import RulesPage
from core.schema.action import ACTION, ACTIONS, Action, Backtrack, Named, NewTrial, RefTarget
from core.schema.action_space import Permissible
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import PromptView, Turn
from core.schema.observation import Element, Ref

PART = re.compile(r"^(?P<towards>Towards part|Part) (?P<number>\d+) of \d+:\s*")
"""How the thought of a step begins that serves a part of the objective: ``Part`` where the step finishes it."""


@dataclass(frozen=True)
class Move:
    """An action with the sentence that says why."""

    action: Action
    why: str
    finishes: bool = False
    """Whether the part is done once this action has worked."""


Answer = Move | Literal["done"] | None
"""What a rule says of a part; None if it does not know how to continue."""


def act(kind: str, element: Element | Ref | None = None, **arguments: Any) -> Action:
    """Return an action; an element becomes its target by ref."""
    if element is not None:
        ref = element.ref if isinstance(element, Element) else element
        arguments["target"] = RefTarget(ref=ref)
    return ACTION.validate_python({"kind": kind, **arguments})


def described(element: Element, *, first: bool = False) -> str:
    """Return an element in a few words for a thought; `first` where they begin the sentence."""
    article = "The" if first else "the"
    name = element.name or element.detail.split(",")[0]
    name = name if len(name) <= 40 else name[:39] + "…"
    return f'{article} {element.role} "{name}"' if name else f"{article} {element.role} [{element.ref}]"


def first(moves: Iterable[Move | None]) -> Move | None:
    """Return the first move that can be made."""
    return next((move for move in moves if move is not None), None)


def action_of(text: str) -> Action | None:
    """Return the action that a text writes, of the page or with a name of its own; None for no action."""
    name = text.split(" ", 1)[0]
    try:
        return parse_action(text, () if name in ACTIONS else [name])
    except (ActionSyntaxError, ValueError):
        return None


def target_of(action: Action) -> Ref | None:
    """Return the ref of the first element that an action acts on."""
    return next((target.ref for target in action.targets if isinstance(target, RefTarget)), None)


def part_of(thought: str) -> int:
    """Return the part of the objective that a thought names, or 0."""
    match = PART.match(thought)
    return int(match["number"]) if match else 0


def went_well(turn: Turn) -> bool:
    result = turn.result.casefold().strip()
    return not result or result.startswith(("done", "ok", "came back"))


class Done(NamedTuple):
    """An earlier action of the page, and whether it went well."""

    turn: Turn
    action: Action
    ok: bool

    @property
    def part(self) -> int:
        """The part of the objective that it served, or 0."""
        return part_of(self.turn.thought)


class MoveHistory:
    """The earlier steps: which parts of the objective they finished, and what was tried."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self.turns = turns
        self.actions: list[Done] = []
        self.named: list[tuple[Named, bool]] = []
        """Actions with names of their own, each with whether it was carried out."""
        for turn in turns:
            action = action_of(turn.action)
            if isinstance(action, Backtrack | NewTrial):
                # The page is as it was before the steps that were taken back.
                step = action.step if isinstance(action, Backtrack) else 0
                if went_well(turn):
                    self.actions = [
                        one._replace(ok=one.ok and one.turn.number < step) for one in self.actions
                    ]
            elif isinstance(action, Named):
                self.named.append((action, went_well(turn)))
            elif action is not None and action.name in ACTIONS:
                self.actions.append(Done(turn, action, went_well(turn)))

    @property
    def last(self) -> Action | None:
        return self.actions[-1].action if self.actions else None

    def finished(self, part: int) -> bool:
        """Return whether a step that was to finish a part was carried out."""
        return any(one.part == part and one.turn.thought.startswith("Part") for one in self.of_part(part))

    def of_part(self, part: int) -> list[Done]:
        """Return the steps that served a part and went well."""
        return [action for action in self.actions if action.ok and action.part == part]

    def unmarked(self, action: Action) -> int:
        """Return how often this action was carried out without a part in its thought, as a person does."""
        return sum(one.ok and one.action == action and not one.part for one in self.actions)

    def times(self, action: Action) -> int:
        """Return how often exactly this action was taken."""
        return sum(one.action == action for one in self.actions)

    def failed_now(self, action: Action) -> bool:
        """Return whether this action failed and nothing has worked since."""
        for one in reversed(self.actions):
            if one.ok or one.action == action:
                return not one.ok
        return False

    def touched(self, ref: Ref, *kinds: str) -> int:
        """Return how often an element was acted on with success, by these kinds of action or any."""
        return sum(
            action.ok and (not kinds or action.action.name in kinds) and target_of(action.action) == ref
            for action in self.actions
        )

    def clicked(self) -> set[str]:
        """Return what was clicked with success, in words."""
        return {action.turn.target for action in self.actions if action.ok and action.action.name == "click"}


def stopped(why: str, *, finishes: bool = False) -> Move:
    return Move(act("stop"), why, finishes)


@dataclass(frozen=True)
class Scene:
    """One moment: the page, what has been done, and the part in hand."""

    objective: Objective
    page: RulesPage
    history: MoveHistory
    part: int = 0
    """Counted from 1; 0 beyond all parts."""

    @staticmethod
    def of(view: PromptView, permissible: Permissible) -> "Scene":
        return Scene(Objective(view.objective), RulesPage(view, permissible), MoveHistory(view.history))

    def move(
        self, kind: str, element: Element | Ref | None, why: str, *, finishes: bool = False, **arguments: Any
    ) -> Move | None:
        """Return a move; None if it is not permissible, has just failed, or was made too often."""
        action = act(kind, element, **arguments)
        if self.page.permissible.problem(action) or self.history.failed_now(action):
            return None
        most = {"press": 40, "scroll": 40, "click": 14}.get(kind, 3)
        return Move(action, why, finishes) if self.history.times(action) < most else None

    def click(self, elements: Iterable[Element], why: str, *, finishes: bool = False) -> Move | None:
        """Return the first click of some that can be made; ``{}`` in the sentence stands for the element."""
        return first(
            self.move(
                "click",
                element,
                why.replace("{}", described(element, first=why.startswith("{}")), 1),
                finishes=finishes,
            )
            for element in elements
        )
