"""Gates: actions that going back does not undo stop before they happen."""

import re
from pathlib import Path

from pydantic import field_validator

from core.schema.action import ACTIONS, Action
from core.schema.action_space import Permissible
from core.schema.expression import compiled
from core.schema.pattern import Expression
from core.schema.record import Record
from core.settings.user_file import near, read_model
from core.storage.resources import RESOURCES

GATES = RESOURCES / "gates.toml"


class Gate(Record):
    """One pattern of actions that cannot be undone."""

    kinds: tuple[str, ...]
    pattern: Expression
    reason: str

    @field_validator("kinds")
    @classmethod
    def _known(cls, kinds: tuple[str, ...]) -> tuple[str, ...]:
        for kind in kinds:
            if kind not in ACTIONS:
                raise ValueError(f'there is no action "{kind}"; {near(kind, ACTIONS)}'.rstrip("."))
        return kinds


class _GateFile(Record):
    except_environments: tuple[str, ...] = ()
    gate: tuple[Gate, ...] = ()
    hints: tuple[Expression, ...] = ()


class Gates:
    """Decides whether an action must stop at a gate, and why."""

    def __init__(
        self,
        gates: tuple[Gate, ...],
        except_environments: tuple[str, ...] = (),
        hints: tuple[str, ...] = (),
    ) -> None:
        self._gates = [(gate, compiled(gate.pattern, re.IGNORECASE)) for gate in gates]
        self._except = frozenset(except_environments)
        self._hints = [compiled(hint, re.IGNORECASE) for hint in hints]

    def reason(self, action: Action, label: str, permissible: Permissible, environment: str) -> str | None:
        """Return why `action` on what `label` names cannot be undone, or None.

        A permissible action marked so stops in every environment; the patterns
        leave the excepted environments alone.
        """
        allowed = permissible.action(action.name)
        if allowed is not None and allowed.cannot_be_undone:
            return "it is marked as an action that cannot be undone"
        if environment in self._except:
            return None
        for gate, pattern in self._gates:
            if action.kind in gate.kinds and pattern.search(label):
                return gate.reason
        return None

    def hint(self, thought: str, environment: str) -> str:
        """Return the words by which the LLM itself says that its action cannot be undone, or nothing."""
        if environment in self._except:
            return ""
        found = next((match for hint in self._hints if (match := hint.search(thought))), None)
        return found.text if found is not None else ""


def load_gates(path: Path = GATES) -> Gates:
    """Read the gates; raises DataError with file, line, what is wrong and the nearest valid name."""
    read = read_model(path, _GateFile)
    return Gates(read.gate, read.except_environments, read.hints)


def gates_of(config: Path) -> Gates:
    """Return the gates of the user's folder, or those of the installation; raises DataError."""
    own = config / "gates.toml"
    return load_gates(own if own.exists() else GATES)
