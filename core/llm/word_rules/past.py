"""What has been done so far, read from the turns of the prompt."""

import re

from core.schema.action import Action, Backtrack, NewTrial, RefTarget, parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import Turn
from core.schema.observation import Ref

_PART = re.compile(r"^Part (\d+) of \d+:")
_TOWARDS = re.compile(r"^(?:Part|Towards part) (\d+) of \d+:")


class Past:
    """The earlier steps: which parts of the objective they finished, and what was tried."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self.turns = turns
        self.actions: list[tuple[Turn, Action, bool]] = []
        for turn in turns:
            try:
                action = parse_action(turn.action)
            except (ActionSyntaxError, ValueError):
                continue
            if isinstance(action, Backtrack | NewTrial):
                if _went_well(turn):
                    self._take_back(action.step if isinstance(action, Backtrack) else 0)
                continue
            self.actions.append((turn, action, _went_well(turn)))

    def _take_back(self, step: int) -> None:
        """Count the steps from `step` on as failed: the page is as it was before them."""
        self.actions = [(turn, action, ok and turn.number < step) for turn, action, ok in self.actions]

    def finished(self, part: int) -> bool:
        """Tell whether a step that was to finish a part was carried out."""
        return any(
            ok and (match := _PART.match(turn.thought)) is not None and int(match[1]) == part
            for turn, _, ok in self.actions
        )

    def unmarked(self, action: Action) -> int:
        """Return how often this action was carried out by someone who told no part, as a person does."""
        text = str(action)
        return sum(
            1
            for turn, one, ok in self.actions
            if ok and str(one) == text and not _TOWARDS.match(turn.thought)
        )

    def of_part(self, part: int) -> list[tuple[Turn, Action, bool]]:
        """Return the steps that served a part."""
        return [
            entry
            for entry in self.actions
            if (match := _TOWARDS.match(entry[0].thought)) is not None and int(match[1]) == part
        ]

    def times(self, action: Action) -> int:
        """Return how often exactly this action was taken."""
        text = str(action)
        return sum(1 for _, one, _ in self.actions if str(one) == text)

    def failed_now(self, action: Action) -> bool:
        """Tell whether this action failed and nothing has worked since."""
        text = str(action)
        for _, one, ok in reversed(self.actions):
            if ok:
                return False
            if str(one) == text:
                return True
        return False

    def touched(self, ref: Ref, *kinds: str) -> int:
        """Return how often an element was acted on with success, by these kinds of action or any."""
        return sum(
            1
            for _, action, ok in self.actions
            if ok
            and (not kinds or action.kind in kinds)
            and any(isinstance(target, RefTarget) and target.ref == ref for target in action.targets)
        )

    def tried(self, ref: Ref) -> bool:
        """Tell whether an element was acted on at all."""
        return any(
            isinstance(target, RefTarget) and target.ref == ref
            for _, action, _ in self.actions
            for target in action.targets
        )

    def last_thought(self) -> str:
        return self.turns[-1].thought if self.turns else ""


def _went_well(turn: Turn) -> bool:
    result = turn.result.casefold().strip()
    return not result or result.startswith(("done", "ok"))
