"""Goes back to a checkpoint: tries the strategies, cheapest first, until one is verified."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import (
    Brought,
    Checkpoint,
    NotTried,
    RestoreContext,
    RestoreError,
    Strategy,
    WouldRepeat,
)
from core.browser.checkpoints.comparison import Volatile, compare, kept_otherwise
from core.browser.checkpoints.strategies import AsItIs, strategies_for
from core.schema.errors import ActionError, BrowserError, DataError
from core.schema.restore import VERIFIED, Attempt, Comparison, Parted, Restored

_NEXT_FRAME = """new Promise(drawn => {
  setTimeout(drawn, 500);
  requestAnimationFrame(() => requestAnimationFrame(drawn));
})"""
"""Waits until the page has drawn a frame, so that what it animates has moved. A hidden page draws none: half a second
is enough for a timer."""


async def restore(
    checkpoint: Checkpoint,
    ground: RestoreContext,
    *,
    strategies: Sequence[Strategy] | None = None,
    volatile: Volatile | None = None,
    on_attempt: Callable[[str], None] = lambda name: None,
) -> Restored:
    """Restore the page to `checkpoint`.

    Ends with the first strategy whose page equals the recorded one. Where none
    does, the page stays as the last one left it and the grade says how far
    that is off. Raises BrowserError if the last way
    failed for the browser has ended, and LLMError where an element is asked
    for in vain.
    """
    began = time.perf_counter()
    volatile = volatile or Volatile()
    attempts: list[Attempt] = []
    comparison = Comparison(grade="lost")
    strategy_used = not_repeated = ""
    ended: BrowserError | None = None
    parted: Parted | None = None
    for strategy in strategies_for(ground) if strategies is None else strategies:
        if reason := strategy.unfit(checkpoint):
            attempts.append(Attempt(strategy=strategy.name, reason=reason))
            continue
        on_attempt(strategy.name)
        ended = None
        clock = time.perf_counter()
        try:
            if not isinstance(strategy, AsItIs):
                ground.touch()
            async with _as_loaded(ground):
                brought = await strategy.restore(checkpoint, ground)
            comparison = await _compared(checkpoint, brought, ground, volatile)
        except NotTried as error:
            not_repeated = str(error) if isinstance(error, WouldRepeat) else not_repeated
            attempts.append(
                Attempt(strategy=strategy.name, reason=str(error), seconds=time.perf_counter() - clock)
            )
            continue
        except (RestoreError, ActionError, DataError, BrowserError, PageGone) as error:
            ended = error if isinstance(error, BrowserError) else None
            parted = error.parted if isinstance(error, RestoreError) else None
            reason = str(error) or "The page went away meanwhile."
            attempts.append(
                Attempt(strategy=strategy.name, reason=reason, seconds=time.perf_counter() - clock)
            )
            comparison, strategy_used = Comparison(grade="lost"), strategy.name
            continue
        strategy_used = strategy.name
        attempts.append(
            Attempt(
                strategy=strategy.name,
                grade=comparison.grade,
                remarks=brought.remarks,
                seconds=time.perf_counter() - clock,
            )
        )
        if comparison.grade in VERIFIED:
            break
    if ended is not None:
        raise ended
    return Restored(
        step=checkpoint.step,
        grade=comparison.grade,
        strategy=strategy_used,
        comparison=comparison,
        attempts=tuple(attempts),
        seconds=time.perf_counter() - began,
        sent=ground.sent,
        not_repeated=not_repeated,
        parted=parted,
    )


@asynccontextmanager
async def _as_loaded(ground: RestoreContext) -> AsyncGenerator[None, None]:
    """Keep the browser's cache out of it, where a page is to be live and something was sent since."""
    if not (ground.live and ground.sent):
        yield
        return
    page = ground.tabs.current
    await page.send("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        yield
    finally:
        with suppress(PageGone, BrowserError, ActionError):  # In a profile that was started again it is gone.
            await page.send("Network.setCacheDisabled", {"cacheDisabled": False})


async def _compared(
    checkpoint: Checkpoint, brought: Brought, ground: RestoreContext, volatile: Volatile
) -> Comparison:
    """Return the comparison with the page; if it differs, a second reading shows which parts change by themselves."""
    now, kept = brought.seen or await ground.read(), await ground.page_state()
    recorded = checkpoint.observation
    beside = kept_otherwise(checkpoint.page, kept, volatile, own_cookies=ground.own_cookies)
    comparison = compare(recorded, now, brought.provenance, volatile, beside=beside)
    if comparison.grade == "same page":
        await ground.tabs.current.evaluate(_NEXT_FRAME)
        later = await ground.read()
        comparison = compare(recorded, now, brought.provenance, volatile, beside=beside, later=later)
    if brought.remarks and comparison.grade == "exact":
        comparison = comparison.replace(grade="equivalent")
    return comparison
