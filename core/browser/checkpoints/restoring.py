"""Goes back to a checkpoint: tries the strategies, cheapest first, until one is verified."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from core.browser.capturer import picture_of
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import (
    Checkpoint,
    NotTried,
    RestoreContext,
    RestoreError,
    RestoreOutcome,
    Strategy,
    WouldRepeat,
)
from core.browser.checkpoints.comparison import compare, kept_otherwise, moving_boxes, not_compared
from core.browser.checkpoints.pictures import PictureDifference, picture_difference
from core.browser.checkpoints.strategies import AsItIs, strategies_for
from core.schema.errors import ActionError, BrowserError, DataError
from core.schema.observation import Observation
from core.schema.restore import (
    PICTURE,
    VERIFIED,
    Attempt,
    Comparison,
    Grade,
    PageDifference,
    Parted,
    Restored,
)

_NEXT_FRAME = """new Promise(drawn => {
  setTimeout(drawn, 500);
  requestAnimationFrame(() => requestAnimationFrame(drawn));
})"""
"""Waits until the page has drawn a frame, so that what it animates has moved. A hidden page draws none: half a second
is enough for a timer."""

_TICK = 1.1
"""Seconds between two pictures that show what changes by itself: what shows the time does so each second."""


async def restore(
    checkpoint: Checkpoint,
    ground: RestoreContext,
    *,
    strategies: Sequence[Strategy] | None = None,
    on_attempt: Callable[[str], None] = lambda name: None,
) -> Restored:
    """Restore the page to `checkpoint`.

    Ends with the first strategy whose page equals the recorded one. Where none
    does, the page stays as the last one left it and the grade says how far
    that is off; but one that only looks different is better than one with other
    elements. Raises BrowserError if the last way
    failed for the browser has ended, and LLMError where an element is asked
    for in vain.
    """
    began = time.perf_counter()
    attempts: list[Attempt] = []
    comparison = Comparison(grade="lost")
    strategy_used = not_repeated = ""
    ended: BrowserError | None = None
    parted: Parted | None = None
    alike: Strategy | None = None

    def ways() -> Iterator[Strategy]:
        yield from strategies_for(ground) if strategies is None else strategies
        if alike is not None and not comparison.only_looks_different:
            yield alike

    for strategy in ways():
        if reason := strategy.unfit(checkpoint):
            attempts.append(Attempt(strategy=strategy.name, reason=reason))
            continue
        on_attempt(strategy.name)
        ended = parted = None
        clock = time.perf_counter()
        try:
            if not isinstance(strategy, AsItIs):
                ground.touch()
            async with _as_loaded(ground):
                brought = await strategy.restore(checkpoint, ground)
            comparison = await _compared(checkpoint, brought, ground)
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
        if comparison.only_looks_different:
            alike = alike or strategy
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


async def _compared(checkpoint: Checkpoint, brought: RestoreOutcome, ground: RestoreContext) -> Comparison:
    """Return the comparison with the page; if it differs, a second reading shows which parts change by themselves."""
    now, kept = brought.seen or await ground.read(), await ground.page_state()
    recorded = checkpoint.observation
    beside = kept_otherwise(checkpoint.page, kept, ground.volatile, own_cookies=ground.own_cookies)
    compared = partial(compare, recorded, now, brought.provenance, ground.volatile, beside=beside)
    comparison = await asyncio.to_thread(compared)
    if comparison.grade == "same page":
        await ground.tabs.current.evaluate(_NEXT_FRAME)
        comparison = await asyncio.to_thread(compared, later=await ground.read())
    comparison = comparison.replace(storage=not_compared(checkpoint.page, kept))
    if brought.remarks and comparison.grade == "exact":
        comparison = comparison.replace(grade="equivalent")
    if comparison.grade in VERIFIED and ground.recorded_picture is not None:
        picture = ground.recorded_picture(checkpoint.step)
        comparison = await _seen(comparison, checkpoint, picture, brought, ground, now)
    return comparison


async def _seen(
    comparison: Comparison,
    checkpoint: Checkpoint,
    picture: bytes,
    brought: RestoreOutcome,
    ground: RestoreContext,
    now: Observation,
) -> Comparison:
    """Return the comparison of a page whose elements are equal, with its picture compared too."""
    recorded, page = checkpoint.observation, ground.tabs.current
    if not picture:
        return comparison.replace(pictures="Pictures were not compared: none was kept of that step.")
    if ground.other_engine:
        return comparison.replace(pictures="Pictures were not compared: the run was made in another browser.")
    if recorded.viewport != now.viewport:
        return comparison.replace(pictures="Pictures were not compared: the window has another size.")
    without = moving_boxes(recorded, now, ground.volatile)

    async def differ(first: bytes, later: bytes = b"") -> tuple[PictureDifference | None, float]:
        return await asyncio.to_thread(picture_difference, picture, first, later=later, without=without)

    try:
        found, uncounted = await differ(await picture_of(page, now.viewport[0]))
        if found is not None:
            # It may be under the pointer that something looks different.
            await page.send("Input.dispatchMouseEvent", {"type": "mouseMoved", **_pointer(checkpoint)})
            await page.evaluate(_NEXT_FRAME)
            first = await picture_of(page, now.viewport[0])
            await asyncio.sleep(_TICK)
            found, uncounted = await differ(first, await picture_of(page, now.viewport[0]))
    except (OSError, ValueError):
        return comparison.replace(pictures="Pictures were not compared: one of them cannot be read.")
    if uncounted:
        left_out = (
            f"{_percent(uncounted)} of the window looks different where it changes by itself or has the text "
            "cursor, which does not count."
        )
        comparison = comparison.replace(pictures=left_out)
    if found is None:
        return comparison
    box = found.box
    where = f"{_percent(found.share)} of the window, at {box.x:.0f}, {box.y:.0f} ({box.width:.0f} × {box.height:.0f})"
    untouched = brought.provenance == "untouched"
    difference = PageDifference(what="changed", part=PICTURE, now=where, volatile=untouched)
    grade: Grade = "same page"
    if untouched:
        grade = "equivalent" if comparison.grade == "exact" else comparison.grade
    return comparison.replace(grade=grade, differences=(*comparison.differences, difference))


def _pointer(checkpoint: Checkpoint) -> dict[str, float]:
    """Return where the pointer was last brought to before the step; outside of the page if nowhere."""
    for done in reversed(checkpoint.inputs):
        if (mark := done.marks.get("to") or done.marks.get("target")) is not None:
            at = checkpoint.observation.element(mark.element.ref) or mark.element
            return dict(zip("xy", at.box.centre, strict=True))
    return {"x": -1, "y": -1}


def _percent(share: float) -> str:
    return f"{max(round(share * 100), 1)} %"
