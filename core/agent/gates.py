"""Gates: actions that going back does not undo stop before they happen."""

import re
import tomllib
from pathlib import Path

from pydantic import ValidationError

from core.action import Action
from core.errors import DataError
from core.model import Record
from core.permissible import Permissible

GATES = Path(__file__).resolve().parents[2] / "resources" / "gates.toml"


class Gate(Record):
    """One pattern of what cannot be undone."""

    kinds: tuple[str, ...]
    pattern: str
    reason: str


class _GateFile(Record):
    except_environments: tuple[str, ...] = ()
    gate: tuple[Gate, ...] = ()


class Gates:
    """Tells whether an action must stop, and why."""

    def __init__(self, gates: tuple[Gate, ...], except_environments: tuple[str, ...] = ()) -> None:
        self._gates = [(gate, re.compile(gate.pattern, re.IGNORECASE)) for gate in gates]
        self._except = frozenset(except_environments)

    def reason(self, action: Action, label: str, permissible: Permissible, environment: str) -> str | None:
        """Return why `action` on what `label` names cannot be undone, or None.

        A permissible action marked so stops in every environment; the patterns
        leave the excepted environments alone.
        """
        allowed = permissible.action(action.kind)
        if allowed is not None and allowed.cannot_be_undone:
            return "it is marked as one that cannot be undone"
        if environment in self._except:
            return None
        for gate, pattern in self._gates:
            if action.kind in gate.kinds and pattern.search(label):
                return gate.reason
        return None


def load_gates(path: Path = GATES) -> Gates:
    """Read the gates; raises DataError with the file and what is wrong in it."""
    try:
        read = _GateFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        return Gates(read.gate, read.except_environments)
    except (OSError, tomllib.TOMLDecodeError, ValidationError, re.error) as error:
        raise DataError(f"{path}: {str(error).splitlines()[0]}") from error
