"""How far replaying several exemplars has come, as a record that travels."""

from collections import Counter

from core.debugger.proving.records import Replayed
from core.model import Record


class ReplayTally(Record):
    """What came of those that were replayed so far."""

    wanted: int
    results: tuple[Replayed, ...] = ()

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def sentence(self) -> str:
        counts = Counter((bool(one.task), one.success) for one in self.results)
        parts = [
            f"{counts[(True, True)]} of {self.wanted} still succeed",
            f"{counts[(True, False)]} do not",
            f"{counts[(True, None)]} could not be judged",
            f"{sum(count for (tried, _), count in counts.items() if not tried)} were not tried",
        ]
        told = [parts[0], *(part for part in parts[1:] if not part.startswith("0 "))]
        return f"{', '.join(told)}."

    def with_result(self, result: Replayed) -> "ReplayTally":
        return self.model_copy(update={"results": (*self.results, result)})
