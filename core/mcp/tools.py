"""The tools: each is a command with --json, as ``resources/mcp/tools.toml`` says it."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.user_file import near
from core.storage.resources import RESOURCES

_FLAGS = {"records": ("--records", "--brief"), "offline": ("--offline", "--live")}
"""The words of arguments that are on or off."""


class CommandTool(Record):
    """A command as a tool."""

    name: str
    command: str
    takes: dict[str, dict[str, Any]] = {}
    """The JSON schemas of its arguments."""
    lists: str = ""
    makes_run: bool = False
    keeps: bool = False
    """Whether it writes the user's files: offered only with --allow-keep."""
    about: str

    @property
    def needs(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.command)

    def words(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the command line with these arguments; raises UsageError where one is missing or unknown.

        Each value is in the word of its option, or after ``--``, so that it cannot pass for another option.
        """
        if unknown := [name for name in arguments if name not in self.takes]:
            takes = ", ".join(self.takes) or "none"
            raise UsageError(f"{self.name} has no argument {', '.join(unknown)}. Its arguments are: {takes}.")
        if missing := [name for name in self.needs if arguments.get(name) is None]:
            raise UsageError(f"{self.name} needs {', '.join(missing)}.")
        command, *words = (word.format(**arguments) for word in self.command.split())
        besides = {name: value for name, value in arguments.items() if name not in self.needs}
        place = words.index("--json")  # After what the command always has: the last word counts.
        return [command, *words[:place], *option_words(besides), *words[place:]]


def option_words(given: Mapping[str, Any]) -> list[str]:
    """Return the words of options, by the names of their values; those that are None are left out."""
    words = []
    for name, value in given.items():
        if isinstance(value, bool):
            words += [_FLAGS.get(name, ("", ""))[not value]]
        else:
            for one in value if isinstance(value, list) else [value] * (value is not None):
                words.append(f"--{name.replace('_', '-')}={one}")
    return [word for word in words if word]


_CONTENT = tomllib.loads((RESOURCES / "mcp" / "tools.toml").read_text(encoding="utf-8"))
TOOLS = tuple(map(CommandTool.model_validate, _CONTENT["tool"]))
READ_ON: dict[str, dict[str, Any]] = _CONTENT["read_on"]
"""The JSON schemas of the further arguments of each tool: which part of the result, and from where."""


def tool_named(name: str, tools: Iterable[CommandTool]) -> CommandTool:
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise UsageError(f'There is no tool "{name}"; {near(name, by_name)}')
    return by_name[name]
