"""Ways to bring a page back, from the cheapest to the dearest."""

from core.browser.checkpoints.checkpoint import RestoreContext
from core.browser.checkpoints.in_place import AsItIs, SameDocument
from core.browser.checkpoints.reloading import HistoryEntry, UrlWithStorage
from core.browser.checkpoints.replaying import (
    ReplayFromNearest,
    ReplayFromStart,
    ReplayInPlace,
    ReplayRecorded,
)
from core.browser.checkpoints.strategy import Strategy

STRATEGIES: tuple[Strategy, ...] = (
    AsItIs(),
    SameDocument(),
    HistoryEntry(),
    UrlWithStorage(),
    ReplayRecorded(),
    ReplayFromNearest(),
    ReplayInPlace(),
    ReplayFromStart(),
)
"""In the order they are tried."""

_LEAVING_NOTHING_OUT = (AsItIs, ReplayFromNearest, ReplayInPlace, ReplayFromStart)
_OFFLINE = (AsItIs, ReplayRecorded)


def strategies_for(ground: RestoreContext) -> tuple[Strategy, ...]:
    """Return the ways that are tried there: what scripts hide in memory, only doing again brings back.

    Where no server is reached, only its recorded answers in their order do.
    """
    if ground.tabs.closed_off:
        return tuple(one for one in STRATEGIES if isinstance(one, _OFFLINE))
    if ground.begin_here is None:
        return STRATEGIES
    return tuple(one for one in STRATEGIES if isinstance(one, _LEAVING_NOTHING_OUT))
