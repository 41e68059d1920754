"""What is attributed to exemplars, summed over the steps that were asked again without them."""

from collections.abc import Iterable

from core.debugger.ask_again.views import Attribution
from core.schema.record import Record


class AttributionSum(Record):
    """What is attributed to an exemplar at all steps where it was asked about."""

    id: str
    family: str = ""
    steps: int = 0
    total: float = 0.0
    mean: float = 0.0


def sums_of(attributions: Iterable[Attribution]) -> tuple[AttributionSum, ...]:
    """Return the sum for each exemplar, the largest first; steps that nobody could answer do not count."""
    by_id: dict[str, list[tuple[str, float]]] = {}
    for one in attributions:
        if one.share is not None:
            by_id.setdefault(one.id, []).append((one.family, one.share))
    sums = []
    for id, some in by_id.items():
        total = sum(share for _, share in some)
        sums.append(
            AttributionSum(id=id, family=some[-1][0], steps=len(some), total=total, mean=total / len(some))
        )
    return tuple(sorted(sums, key=lambda one: (-one.total, one.id)))
