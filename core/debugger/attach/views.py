"""The views of an attached agent."""

import re
from pathlib import PurePath
from typing import Literal

from pydantic import ValidationError

from core.attach.addresses import Addresses
from core.schema.record import Record
from core.schema.restore import Parted
from core.schema.secrets import HIDDEN_KEY, has_key, kind_of_name

_NAMED = re.compile(r"([\w.-]+)[\"']?\s*[=:]\s*")
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh")


class AttachRequest(Record):
    """The agent to attach, and its task."""

    command: tuple[str, ...] = ()
    """The program that the agent is, with its arguments; empty for one that is started elsewhere."""
    folder: str = ""
    """Where to start it; the current folder by default."""
    task: str = ""
    """The task to open, which judges the run; empty for whatever page the agent opens."""
    seed: int = 0
    url: str = ""
    instruction: str = ""
    browser: str = ""
    """``embedded``, ``chromium``, or the path of a Chromium; empty for the one that the window has usually."""
    env: tuple[str, ...] = ()
    """The names of keys that the program gets from our environment."""

    @classmethod
    def of_text(cls, text: str) -> "AttachRequest":
        """Return the one that a run was stored with; an empty one if it has none."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return cls()

    @property
    def program(self) -> str:
        """The name of the program, or of its script if there is one."""
        words = [PurePath(word).name for word in self.command if "=" not in word and not word.startswith("-")]
        words = [word for word in words if word != "env"] or ["a program"]
        return next((word for word in words if word.endswith(_SCRIPTS)), words[0])

    @property
    def kept(self) -> "AttachRequest":
        """The same as it is stored: without values of the command that are secret by their name or form."""
        options = ("", *self.command)
        return self.replace(command=tuple(map(_without_secret, options, self.command)))


class Hold(Record):
    """How long an agent that was not started here is held while its clock runs."""

    since: float
    """By the monotonic clock."""
    what: Literal["call", "action"]
    gave_up: float = 0.0
    """After how many seconds it did not wait any longer, when it last did not; 0 if it always has."""


class AttachView(Record):
    """The agent that is attached, if any."""

    request: AttachRequest | None = None
    """What was asked for last."""
    addresses: Addresses | None = None
    """What the agent is told, while it is attached."""
    running: bool = False
    """Whether its program runs."""
    output: tuple[str, ...] = ()
    """What the program has written last, by lines."""
    notices: tuple[str, ...] = ()
    """What of it does not pass through Backstep, and what to set."""
    problem: str = ""
    """Why no agent was attached."""
    hold: Hold | None = None
    """The hold on an agent that was started elsewhere; None while nothing of it is held."""
    parted: Parted | None = None
    """Where it went another way than recorded, when it was last to be brought back to a step."""


def _without_secret(before: str, word: str) -> str:
    """Return a word of a command without a value that is secret, also by the option before it."""
    for named in _NAMED.finditer(word):
        if kind_of_name(named[1], word[named.end() :]):
            return word[: named.end()] + HIDDEN_KEY
    asked_for = before.startswith("-") and "=" not in before and kind_of_name(before, word)
    return HIDDEN_KEY if has_key(word) or (asked_for and not word.startswith("-")) else word
