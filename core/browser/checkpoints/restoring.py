"""Going back to a checkpoint: ways tried from the cheapest to the dearest until one is verified."""

import time
from collections.abc import Callable, Sequence

from core.browser.checkpoints.checkpoint import Checkpoint, Ground
from core.browser.checkpoints.comparing import GRADES, Comparison, Volatile, compare, kept_otherwise
from core.browser.checkpoints.outcome import Attempt, Restored
from core.browser.checkpoints.staying import AsItIs
from core.browser.checkpoints.strategies import STRATEGIES
from core.browser.checkpoints.strategy import RestoreError, Strategy
from core.browser.page import PageGone
from core.errors import ActionError


async def restore(
    checkpoint: Checkpoint,
    ground: Ground,
    *,
    strategies: Sequence[Strategy] = STRATEGIES,
    volatile: Volatile | None = None,
    on_attempt: Callable[[str], None] = lambda name: None,
) -> Restored:
    """Bring the page back to `checkpoint`.

    Ends with the first strategy whose page is at least equivalent to the
    recorded one. Where none is, the page stays as the last one left it and the
    grade says how far that is off. Raises BrowserError where the browser has ended.
    """
    began = time.perf_counter()
    volatile = volatile or Volatile()
    attempts: list[Attempt] = []
    comparison = Comparison(grade="lost")
    strategy_used = ""
    for strategy in strategies:
        if reason := strategy.unfit(checkpoint):
            attempts.append(Attempt(strategy=strategy.name, reason=reason))
            continue
        on_attempt(strategy.name)
        clock = time.perf_counter()
        try:
            if not isinstance(strategy, AsItIs):
                ground.touch()
            brought = await strategy.restore(checkpoint, ground)
            now, kept = await ground.read(), await ground.page_state()
        except (RestoreError, ActionError, PageGone) as error:
            reason = str(error) or "The page went away meanwhile."
            attempts.append(
                Attempt(strategy=strategy.name, reason=reason, seconds=time.perf_counter() - clock)
            )
            comparison, strategy_used = Comparison(grade="lost"), strategy.name
            continue
        beside = kept_otherwise(checkpoint.page, kept, volatile, own_cookies=ground.own_cookies)
        comparison = compare(checkpoint.observation, now, brought.provenance, volatile, beside=beside)
        if brought.remarks and comparison.grade == "exact":
            comparison = comparison.model_copy(update={"grade": "equivalent"})
        strategy_used = strategy.name
        attempts.append(
            Attempt(
                strategy=strategy.name,
                grade=comparison.grade,
                remarks=brought.remarks,
                seconds=time.perf_counter() - clock,
            )
        )
        if GRADES.index(comparison.grade) <= GRADES.index("equivalent"):
            break
    return Restored(
        step=checkpoint.step,
        grade=comparison.grade,
        strategy=strategy_used,
        comparison=comparison,
        attempts=tuple(attempts),
        seconds=time.perf_counter() - began,
    )
