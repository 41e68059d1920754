"""The views of an attached agent."""

import re
from pathlib import PurePath
from typing import Literal

from pydantic import ValidationError

from core.attach.addresses import Addresses
from core.schema.record import Record
from core.schema.restore import Parted
from core.schema.secrets import HIDDEN_KEY, is_key, kind_of_name, without_forms

_SCRIPT = re.compile(r"-\w*c")
"""The option of a shell or of Python before a whole script."""
_WHOLE = re.compile(r"([\w.-]+)=(.+)", re.DOTALL)
_GIVEN = re.compile(
    r"""(?:(?<=[?&])(?P<field>[\w.-]+)=              # in an address
        |(?<![\w.-])(?P<name>[\w.-]+)(?:=|\s=\s)
        |(?<!\S)(?P<option>--[\w.-]+)\s+(?!-)
        |(?:^|(?<=["'{]))(?P<header>[\w.-]+)\\*["']?\s*:\s*)
        (?=(?:(?:bearer|basic)\s+)?(?P<quote>\\*["'])?
        (?P<value>(?(quote).*?(?=(?P=quote))|(?(field)[^\s"'&\#]+|[^\s"'\\][^\s"']*))))""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A name with its value, up to the next space or quote."""
_NOT_STORED = re.compile(rf"""(?<![^\s=:/"']){re.escape(HIDDEN_KEY)}(?![^\s@&#"'\\])""")
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

    @property
    def lacks_value(self) -> bool:
        """Whether a value of the command was not stored."""
        return any(map(_NOT_STORED.search, self.command))


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
    """Return a word of a command without what is secret in it, by its name, form or the option before it."""
    is_option = word.startswith("--") or (word.startswith("-") and not is_key(word))
    if before.startswith("-") and "=" not in before and not is_option and _is_secret(before, word):
        return HIDDEN_KEY
    whole = None if _SCRIPT.fullmatch(before) else _WHOLE.fullmatch(word)
    if whole and _is_secret(*whole.groups()):
        return f"{whole[1]}={HIDDEN_KEY}"
    parts, at = [], 0
    for given in _GIVEN.finditer(word):
        name = given["field"] or given["name"] or given["option"] or given["header"]
        if given.start("value") >= at and _is_secret(name, given["value"], in_address=bool(given["field"])):
            parts += [word[at : given.start("value")], HIDDEN_KEY]
            at = given.end("value")
    return without_forms("".join((*parts, word[at:])))


def _is_secret(name: str, value: str, *, in_address: bool = False) -> bool:
    name = name.lower()
    if not value or (value.isdigit() and len(value) < 4) or name.endswith(("file", "path", "store", "dir")):
        return False
    is_pair = "credential" in name and ":" in value and "://" not in value
    return name.endswith("pw") or is_pair or kind_of_name(name, value, in_address=in_address) is not None
