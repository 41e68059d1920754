"""Ways to bring a page back, from the cheapest to the dearest."""

from core.browser.checkpoints.loading import HistoryEntry, UrlWithStorage
from core.browser.checkpoints.replaying import ReplayFromNearest, ReplayFromStart
from core.browser.checkpoints.staying import AsItIs, SameDocument
from core.browser.checkpoints.strategy import Strategy

STRATEGIES: tuple[Strategy, ...] = (
    AsItIs(),
    SameDocument(),
    HistoryEntry(),
    UrlWithStorage(),
    ReplayFromNearest(),
    ReplayFromStart(),
)
"""In the order they are tried."""
