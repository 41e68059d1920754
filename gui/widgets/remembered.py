"""What the window remembers between starts."""

from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Literal, TypeVar, get_args

from pydantic import TypeAdapter
from PySide6.QtCore import QByteArray, QSettings

from core.debugger.attach.views import AttachRequest
from core.debugger.evaluations.records import (
    LEAST_PAIRS,
    MOST_PAIRS,
    BisectRequest,
    EvalRequest,
    WorthRequest,
)
from core.debugger.exemplars.analyses.views import BenchQuery
from core.debugger.exemplars.library.views import Query
from core.debugger.timeline.views import Speed
from core.schema.changes import Changes
from core.schema.record import Record

_RECENT = 8
_QUERIES = 12
_FOUND = 30
_LONGEST = 40_000
"""Maximum number of characters of a page remembered with a lookup; for a longer page, only the task is remembered."""
_FOLDED = TypeAdapter(dict[str, bool])
T = TypeVar("T")
R = TypeVar("R", bound=Record)


class OpenedTask(Record):
    """A task as it was opened."""

    task: str
    seed: int = 0
    url: str = ""
    instruction: str = ""
    profile: str = ""
    """The browser profile that keeps logins; empty for a clean one."""


class FoundBefore(Record):
    """An entry that was chosen in the command palette."""

    kind: str
    name: str
    text: str = ""
    detail: str = ""


class _Kept(Generic[T]):
    """An attribute of `Remembered` that is stored as text under a key; `default` if it cannot be read."""

    def __init__(
        self, key: str, default: T, read: Callable[[str], T], write: Callable[[T], str] = str
    ) -> None:
        """`read` raises a ValueError for invalid text."""
        self._key, self._default = key, default
        self._read, self._write = read, write

    def __get__(self, remembered: "Remembered", owner: type["Remembered"]) -> T:
        try:
            return self._read(str(remembered.settings.value(self._key, "")))
        except ValueError:
            return self._default

    def __set__(self, remembered: "Remembered", value: T) -> None:
        remembered.settings.setValue(self._key, self._write(value))


def _to_json(record: Record | None) -> str:
    return "" if record is None else record.model_dump_json(exclude_defaults=True)


def _to_word(on: bool) -> str:
    return "true" if on else "false"


ShownPage = Literal["live", "before", "after", "restored"]
"""Which page of a step is in view: the live one, a recorded one, or a recorded one with the one that was restored."""
CoverMode = Literal["one", "side", "slider"]
"""How a recorded step shows the page before and after it."""
_COVER_MODES: tuple[CoverMode, ...] = get_args(CoverMode)


def _cover_mode(text: str) -> CoverMode:
    return next((mode for mode in _COVER_MODES if mode == text), "one")


def _speed(text: str) -> Speed:
    speeds: tuple[Speed, ...] = get_args(Speed)
    return next((speed for speed in speeds if speed == text), "1")


class Remembered:
    """Reads and writes `settings`; invalid values count as not remembered."""

    layout_name = _Kept("layout/name", "", str)
    preset = _Kept("last/preset", "", str)
    llm = _Kept("last/llm", "", str)
    folding = _Kept("tree/folding", "", str)
    """Which runs of the tree are open, and which branches are folded."""
    fork = _Kept("last/fork", Changes(), Changes.model_validate_json, _to_json)
    """The choices of the last fork."""
    attach = _Kept(
        "last/attach",
        AttachRequest(),
        AttachRequest.model_validate_json,
        lambda request: _to_json(request.kept),
    )
    """The last attached agent."""
    bisect = _Kept[BisectRequest | None]("last/bisect", None, BisectRequest.model_validate_json, _to_json)
    """The settings of the last bisection."""
    worth = _Kept[WorthRequest | None]("last/worth", None, WorthRequest.model_validate_json, _to_json)
    """The settings of the last evaluation of exemplars."""
    evaluation = _Kept("last/evaluation", EvalRequest(), EvalRequest.model_validate_json, _to_json)
    """The settings of the last evaluation."""
    library_query = _Kept("library/query", Query(), Query.model_validate_json, _to_json)
    """The last search in the library, and its order."""
    duplicates_within = _Kept("duplicates/within", 0.15, lambda text: min(2.0, max(0.0, float(text))))
    """The distance up to which exemplars counted as near duplicates."""
    map_shown = _Kept("retrieval/map", True, lambda text: text != "false", _to_word)
    """Whether the map is shown beside a lookup."""
    fix_pairs = _Kept("fix/pairs", 8, lambda text: min(MOST_PAIRS, max(LEAST_PAIRS, int(text))))
    """The number of pairs of runs that a proof makes at most."""
    pace = _Kept("last/pace", 0.0, lambda text: max(0.0, float(text)))
    """Seconds to wait between the steps of a run."""
    downloads = _Kept("browser/downloads", "", str)
    """The folder in which downloads are saved; empty for the system's folder."""
    state_details = _Kept("state/details", False, lambda text: text == "true", _to_word)
    """Whether the panel State shows what is remembered, the states tried and the instruction."""
    front_page = _Kept("layout/page", "", str)
    """The name of the panel that is in front below the live page."""
    waits_folded = _Kept("time/folded", True, lambda text: text != "false", _to_word)
    """Whether the time bar draws waits short."""
    film_shown = _Kept("time/film", True, lambda text: text != "false", _to_word)
    """Whether the filmstrip is shown, and not folded to a line."""
    time_shown = _Kept("time/shown", False, lambda text: text == "true", _to_word)
    """Whether the time bar is shown below the filmstrip."""
    film_height = _Kept("time/film_height", 72, lambda text: min(280, max(64, int(text))))
    """Height of the filmstrip in pixels."""
    cover_mode = _Kept[CoverMode]("page/before_after", "one", _cover_mode)
    page_fitted = _Kept("page/fitted", True, lambda text: text != "false", _to_word)
    """Whether the page is drawn scaled to fit; otherwise at its own size with scrolling."""
    play_speed = _Kept[Speed]("time/speed", "1", _speed)
    """The playback speed of a run."""
    notifies = _Kept("notifications", True, lambda text: text != "false", _to_word)
    """Whether the desktop notifies the person of finished work while another window is in front."""
    welcome_seen = _Kept("welcome/seen", False, lambda text: text == "true", _to_word)

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings

    @property
    def bench_queries(self) -> tuple[BenchQuery, ...]:
        """The last lookups on the bench, newest first."""
        return self._records("bench/last", BenchQuery)[:_QUERIES]

    def add_bench_query(self, query: BenchQuery) -> None:
        if len(query.observation) > _LONGEST:
            query = query.replace(observation="", source="")
        looked_up = (query.task, query.observation)
        others = [one for one in self.bench_queries if (one.task, one.observation) != looked_up]
        self.settings.setValue("bench/last", [_to_json(one) for one in (query, *others)][:_QUERIES])

    @property
    def recent(self) -> tuple[OpenedTask, ...]:
        """The last opened tasks, newest first, without duplicates."""
        return self._records("last/tasks", OpenedTask)[:_RECENT]

    def add_recent(self, opened: OpenedTask) -> None:
        others = [one for one in self.recent if (one.task, one.url) != (opened.task, opened.url)]
        self.settings.setValue("last/tasks", [one.model_dump_json() for one in (opened, *others)][:_RECENT])

    @property
    def found_before(self) -> tuple[FoundBefore, ...]:
        """The last entries chosen in the command palette, newest first, without duplicates."""
        return self._records("palette/last", FoundBefore)[:_FOUND]

    def add_found(self, found: FoundBefore) -> None:
        others = [one for one in self.found_before if (one.kind, one.name) != (found.kind, found.name)]
        self.settings.setValue("palette/last", [_to_json(one) for one in (found, *others)][:_FOUND])

    @property
    def last_task(self) -> OpenedTask | None:
        return next(iter(self.recent), None)

    def part(self, name: str) -> QByteArray | None:
        """Return the stored state of a window or a part of one, for example column widths."""
        value = self.settings.value(name)
        return value if isinstance(value, QByteArray) else None

    def keep_part(self, name: str, state: QByteArray) -> None:
        self.settings.setValue(name, state)

    def layout(self, name: str, version: int) -> QByteArray | None:
        """Return the stored docks of a layout, or None if an older version stored them."""
        if str(self.settings.value("layout/version")) != str(version):
            return None
        return self.part(_layout_key(name))

    def keep_layout(self, name: str, state: QByteArray, version: int) -> None:
        self.keep_part(_layout_key(name), state)
        self.settings.setValue("layout/version", str(version))

    def folded(self, layout: str) -> dict[str, bool]:
        """For each dock that the person folded or unfolded in a layout, return whether it is folded."""
        with suppress(ValueError):
            return _FOLDED.validate_json(str(self.settings.value(f"layout/{layout}/folded", "")))
        return {}

    def keep_folded(self, layout: str, by_hand: dict[str, bool]) -> None:
        self.settings.setValue(f"layout/{layout}/folded", _FOLDED.dump_json(by_hand).decode())

    def _records(self, key: str, kind: type[R]) -> tuple[R, ...]:
        stored = self.settings.value(key, [])
        found = []
        for text in [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []:
            with suppress(ValueError):
                found.append(kind.model_validate_json(text))
        return tuple(found)


def _layout_key(name: str) -> str:
    """Return the key under which a layout is stored; at first, that of debugging was the only one."""
    return "layout/state" if name == "debug" else f"layout/{name}/state"
