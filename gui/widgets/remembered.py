"""What the window remembers from one start to the next."""

from PySide6.QtCore import QByteArray, QSettings

from core.debugger.exemplars.analyses.views import BenchQuery, DuplicatesView, LeaveOneOutView
from core.debugger.exemplars.library.views import Query
from core.debugger.experiments.bisect import BisectRequest
from core.debugger.experiments.evaluation_records import EvaluationRequest
from core.schema.changes import Changes
from core.schema.record import Record

_RECENT = 8
_QUERIES = 12
_LONGEST = 40_000
"""Characters of a page that is remembered with a lookup; of a longer one only the task is."""


class OpenedTask(Record):
    """A task as it was opened."""

    task: str
    seed: int = 0
    url: str = ""
    instruction: str = ""
    profile: str = ""
    """The browser profile that keeps logins; empty is a clean one."""


class Remembered:
    """Reads and writes `settings`; what is damaged there counts as not remembered."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    @property
    def preset(self) -> str:
        return self._text("last/preset")

    @preset.setter
    def preset(self, name: str) -> None:
        self._settings.setValue("last/preset", name)

    @property
    def llm(self) -> str:
        return self._text("last/llm")

    @llm.setter
    def llm(self, name: str) -> None:
        self._settings.setValue("last/llm", name)

    @property
    def fork(self) -> Changes:
        """What was chosen for the last fork."""
        try:
            return Changes.model_validate_json(self._text("last/fork") or "{}")
        except ValueError:
            return Changes()

    @fork.setter
    def fork(self, changes: Changes) -> None:
        self._settings.setValue("last/fork", changes.model_dump_json(exclude_defaults=True))

    @property
    def bisect(self) -> BisectRequest | None:
        """What was asked of the last bisection."""
        try:
            return BisectRequest.model_validate_json(self._text("last/bisect"))
        except ValueError:
            return None

    @bisect.setter
    def bisect(self, request: BisectRequest) -> None:
        self._settings.setValue("last/bisect", request.model_dump_json())

    @property
    def worth(self) -> EvaluationRequest | None:
        """What was asked of the last evaluation of exemplars."""
        try:
            return EvaluationRequest.model_validate_json(self._text("last/worth"))
        except ValueError:
            return None

    @worth.setter
    def worth(self, request: EvaluationRequest) -> None:
        self._settings.setValue("last/worth", request.model_dump_json())

    @property
    def duplicates_within(self) -> float:
        """The distance up to which exemplars counted as near duplicates."""
        try:
            return min(2.0, max(0.0, float(self._text("duplicates/within"))))
        except ValueError:
            return DuplicatesView().within

    @duplicates_within.setter
    def duplicates_within(self, distance: float) -> None:
        self._settings.setValue("duplicates/within", str(distance))

    @property
    def leaving_votes(self) -> int:
        """How many voted when exemplars were left out."""
        try:
            return min(50, max(1, int(self._text("leaving/votes"))))
        except ValueError:
            return LeaveOneOutView().votes

    @leaving_votes.setter
    def leaving_votes(self, votes: int) -> None:
        self._settings.setValue("leaving/votes", str(votes))

    @property
    def bench_queries(self) -> tuple[BenchQuery, ...]:
        """What was looked up last on the bench, the latest first."""
        found = []
        for text in self._texts("bench/last"):
            try:
                found.append(BenchQuery.model_validate_json(text))
            except ValueError:
                continue
        return tuple(found[:_QUERIES])

    def add_bench_query(self, query: BenchQuery) -> None:
        if len(query.observation) > _LONGEST:
            query = query.replace(observation="", source="")
        others = [
            one
            for one in self.bench_queries
            if (one.task, one.observation) != (query.task, query.observation)
        ]
        kept = [query, *others][:_QUERIES]
        self._settings.setValue("bench/last", [one.model_dump_json(exclude_defaults=True) for one in kept])

    @property
    def library_query(self) -> Query:
        """What was looked for in the library, and in which order."""
        try:
            return Query.model_validate_json(self._text("library/query") or "{}")
        except ValueError:
            return Query()

    @library_query.setter
    def library_query(self, query: Query) -> None:
        self._settings.setValue("library/query", query.model_dump_json(exclude_defaults=True))

    def part(self, name: str) -> QByteArray | None:
        """Return how a part of a window was left, such as the widths of columns."""
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else None

    def keep_part(self, name: str, state: QByteArray) -> None:
        self._settings.setValue(name, state)

    @property
    def folding(self) -> str:
        """Which runs of the tree are open, and which branches folded."""
        return self._text("tree/folding")

    @folding.setter
    def folding(self, words: str) -> None:
        self._settings.setValue("tree/folding", words)

    @property
    def pace(self) -> float:
        """Seconds to wait between the steps of a run."""
        try:
            return max(0.0, float(self._text("last/pace") or 0))
        except ValueError:
            return 0.0

    @pace.setter
    def pace(self, seconds: float) -> None:
        self._settings.setValue("last/pace", str(seconds))

    @property
    def waits_folded(self) -> bool:
        """Whether the time bar draws waits short."""
        return self._text("time/folded") != "false"

    @waits_folded.setter
    def waits_folded(self, on: bool) -> None:
        self._settings.setValue("time/folded", "true" if on else "false")

    @property
    def recent(self) -> tuple[OpenedTask, ...]:
        """The tasks opened last, newest first, each once."""
        found = []
        for text in self._texts("last/tasks"):
            try:
                found.append(OpenedTask.model_validate_json(text))
            except ValueError:
                continue
        return tuple(found[:_RECENT])

    def add_recent(self, opened: OpenedTask) -> None:
        others = [one for one in self.recent if (one.task, one.url) != (opened.task, opened.url)]
        texts = [one.model_dump_json() for one in (opened, *others)][:_RECENT]
        self._settings.setValue("last/tasks", texts)

    @property
    def last_task(self) -> OpenedTask | None:
        return next(iter(self.recent), None)

    @property
    def welcome_seen(self) -> bool:
        return self._text("welcome/seen") == "true"

    @welcome_seen.setter
    def welcome_seen(self, seen: bool) -> None:
        self._settings.setValue("welcome/seen", "true" if seen else "false")

    def layout(self, version: int) -> tuple[QByteArray, QByteArray] | None:
        """Return the window's geometry and state, or None where an older version stored them."""
        geometry, state = self._settings.value("layout/geometry"), self._settings.value("layout/state")
        if self._text("layout/version") != str(version):
            return None
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def keep_layout(self, geometry: QByteArray, state: QByteArray, version: int) -> None:
        self._settings.setValue("layout/geometry", geometry)
        self._settings.setValue("layout/state", state)
        self._settings.setValue("layout/version", str(version))
        self._settings.sync()

    def geometry(self, window: str) -> QByteArray | None:
        """Return where a window beside the main one was when it was closed."""
        geometry = self._settings.value(f"windows/{window}")
        return geometry if isinstance(geometry, QByteArray) else None

    def keep_geometry(self, window: str, geometry: QByteArray) -> None:
        self._settings.setValue(f"windows/{window}", geometry)

    def _text(self, key: str) -> str:
        value = self._settings.value(key, "")
        return value if isinstance(value, str) else str(value)

    def _texts(self, key: str) -> list[str]:
        stored = self._settings.value(key, [])
        return [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
