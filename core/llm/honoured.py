"""The features that a server supports for one model, and the file that stores them between starts.

Test in the LLM settings finds it out by asking (`core.llm.probes`); refusals
during calls add to it. Replies during calls that do not keep to their JSON
schema show less: they may be odd ones. What they lower holds until the program
ends, or until a test, and is not in the file. The file holds nothing that
could not be found out again: one that cannot be read or written is done
without.
"""

import contextlib
import json
import logging
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from core.llm.repair import ReplyFormat
from core.schema.errors import DataError
from core.schema.record import Record
from core.settings.saving import write_whole

log = logging.getLogger(__name__)

FILE_NAME = "llm-servers.json"

SchemaLevel = Literal["strict", "schema", "object with schema", "object", "none"]
SCHEMA_LEVELS: tuple[SchemaLevel, ...] = ("strict", "schema", "object with schema", "object", "none")
"""How a JSON reply is asked for, the most exact way first."""

Part = Literal[
    "stream_options",
    "tool_choice",
    "response_format",
    "max_tokens",
    "max_completion_tokens",
    "default_limit",
    "seed",
    "temperature",
    "top_p",
    "reasoning_effort",
    "parallel_tool_calls",
    "images",
]
"""A part of a request that can be done without."""


class Honoured(Record):
    """What is known of one model at one server; if nothing was tested, what has not been refused yet."""

    given_up: tuple[Part, ...] = ()
    """Parts that are left out."""
    schema_level: SchemaLevel = "strict"
    """How a JSON reply is asked for."""
    reasons: bool = False
    """Whether a reply spent the default limit on reasoning alone."""
    tested: float = 0.0
    """When it was tested, in seconds since the epoch; 0 if it was not, and the rest then is not known."""
    tools: Literal["", "forced", "offered", "no"] = ""
    """``forced``: calls the tool when it must. ``offered``: only when left the choice."""
    streams: bool | None = None
    counts: bool | None = None
    """Whether it counts tokens."""
    images: Literal["", "seen", "taken", "no"] = ""
    """``taken``: no refusal, but what the picture shows was not known."""
    next_after_cancel: float | None = None
    """Seconds until a short call was answered after a long one was cancelled; None if that was not tested."""

    def without(self, part: Part) -> "Honoured":
        return self.replace(given_up=tuple(sorted({*self.given_up, part})))

    @property
    def reply_format(self) -> ReplyFormat:
        """The form of replies that serves best: tools, even if nothing was tested."""
        if not self.tested or self.tools in ("forced", "offered"):
            return "tools"
        return "json" if self.follows_schema else "lines"

    @property
    def follows_schema(self) -> bool | None:
        """Whether it follows a JSON schema; None if that was not tested, and it has not refused one."""
        follows = self.schema_level in ("strict", "schema", "object with schema")
        return None if follows and not self.tested else follows


_MISSES = 2
"""Replies in a row that do not keep to their schema, from which on it is asked for otherwise."""
_FILE = TypeAdapter(dict[str, Honoured])


class HonouredFile:
    """Stores what is known by address and model; without a path, only in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Honoured] | None = None
        self._lowered: dict[str, SchemaLevel] = {}
        """How a JSON reply is asked for, where replies have shown in passing that it has to be less exact."""
        self._missed: dict[str, int] = {}
        """How many replies in a row did not keep to what they were asked for with."""

    def of(self, base_url: str, model: str) -> Honoured:
        """Return what is known; the file is read at the first question."""
        key = _key(base_url, model)
        known = self._stored(key)
        return known.replace(schema_level=self._lowered.get(key, known.schema_level))

    def keep(self, base_url: str, model: str, honoured: Honoured) -> None:
        """Keep what a test has found."""
        key = _key(base_url, model)
        self._lowered.pop(key, None)
        self._missed.pop(key, None)
        self._write(key, honoured)

    def add(self, base_url: str, model: str, honoured: Honoured) -> None:
        """Keep what refusals have shown; where replies have lowered the schema level before, that is not stored."""
        key = _key(base_url, model)
        if key in self._lowered:
            self._lowered[key] = honoured.schema_level
            honoured = honoured.replace(schema_level=self._stored(key).schema_level)
        if honoured != self._stored(key):
            self._write(key, honoured)

    def missed(self, base_url: str, model: str, *, kept: bool) -> bool:
        """Note whether a reply kept to its schema, and return whether too many in a row did not."""
        key = _key(base_url, model)
        self._missed[key] = 0 if kept else self._missed.get(key, 0) + 1
        return self._missed[key] >= _MISSES

    def lower(self, base_url: str, model: str, level: SchemaLevel) -> None:
        """Go by this level as long as this lives, or until a test."""
        key = _key(base_url, model)
        self._lowered[key] = level
        self._missed.pop(key, None)

    def _stored(self, key: str) -> Honoured:
        if self._known is None:
            self._known = self._read()
        return self._known.get(key, Honoured())

    def _write(self, key: str, honoured: Honoured) -> None:
        # Another program may have tested another LLM meanwhile.
        self._known = {**(self._known or {}), **self._read(), key: honoured}
        if self._path is None:
            return
        known = {
            name: one.model_dump(mode="json", exclude_defaults=True) for name, one in self._known.items()
        }
        try:
            write_whole(self._path, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        except DataError as error:
            log.warning("The known features of LLM servers cannot be stored: %s", error)

    def _read(self) -> dict[str, Honoured]:
        if self._path is not None:
            with contextlib.suppress(OSError, ValidationError):
                return _FILE.validate_json(self._path.read_bytes())
        return {}


def _key(base_url: str, model: str) -> str:
    return f"{base_url.rstrip('/')} {model}"
