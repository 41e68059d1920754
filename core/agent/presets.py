"""Presets: which mechanisms an agent uses, as files that a user can copy and change."""

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from core.errors import DataError, UsageError
from core.llm.protocol import Purpose, Sampling
from core.llm.repair import ReplyFormat
from core.model import Record

PRESETS = Path(__file__).resolve().parents[2] / "resources" / "presets"


class PromptFiles(Record):
    """The templates a preset renders, below the prompts folder."""

    system: str
    user: str
    rationale: str = ""
    function: str = ""
    one_call: str = ""


class Preset(Record):
    """One agent: how it sees, what it may do, how it is asked."""

    name: str
    text: str = Field(default="", repr=False)
    """The file as it was read."""
    title: str
    description: str = ""
    space: Literal["none", "general"]
    calls: Literal[1, 2] = 1
    """2: a rationale first, then the action."""
    reply_format: ReplyFormat = "tools"
    several_actions: bool = False
    """Whether one reply may hold several actions."""
    history: int = Field(default=20, ge=0, le=1000)
    """Earlier steps told in the prompt."""
    pictures: Literal["none", "plain", "outlines"] = "none"
    """The screenshot sent along, where the LLM takes pictures."""
    prompts: PromptFiles
    sampling: dict[Purpose, Sampling] = {}


class Presets:
    """The presets of the installation and of the user's folder, which wins; read anew when asked for."""

    def __init__(self, folders: Iterable[Path] = (PRESETS,)) -> None:
        self._folders = tuple(folders)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({path.stem for path in self._files()}, key=lambda name: (name != "plain", name)))

    def get(self, name: str) -> Preset:
        """Read a preset; raises UsageError for an unknown name, DataError for a wrong file."""
        for path in reversed(self._files()):
            if path.stem == name:
                return read_preset(path)
        close = get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(self.names())}."
        raise UsageError(f'There is no preset "{name}"; {hint}')

    def _files(self) -> list[Path]:
        return [path for folder in self._folders for path in sorted(folder.glob("*.toml"))]


def read_preset(path: Path) -> Preset:
    """Read one preset file; raises DataError with file, key and nearest valid key."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}.") from error
    try:
        return Preset.model_validate({**values, "name": path.stem, "text": text})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        line = next((n for n, row in enumerate(text.splitlines(), 1) if row.split("=")[0].strip() == key.split(".")[-1]), 0)
        where = f"{path}, line {line}" if line else str(path)
        close = get_close_matches(key, list(Preset.model_fields), n=1)
        hint = f" Did you mean {close[0]}?" if first["type"] == "extra_forbidden" and close else ""
        raise DataError(f"{where}: {key}: {first['msg']}.{hint}") from error
