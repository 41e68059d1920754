"""BrowserGym's own step on the same pages, where browsergym-miniwob is installed: as shipped, and without its waits."""

import importlib.util
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any


def browsergym_medians(pages: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """Return milliseconds a click step by page; empty where BrowserGym or its browser is not there.

    Its observation is another one (accessibility tree, DOM snapshot and
    picture by the protocol), so the figures compare whole steps only.
    """
    if importlib.util.find_spec("browsergym.miniwob") is None if importlib.util.find_spec("browsergym") else True:
        return {}
    if "MINIWOB_URL" not in os.environ:
        return {}
    results: dict[str, dict[str, float]] = {}
    for page in pages:
        shipped = _median(page, rounds, pre_observation_delay=0.5)
        quick = _median(page, rounds, pre_observation_delay=0.0)
        results[page] = {"shipped": shipped, "without waits": quick}
    return results


def _median(page: str, rounds: int, **options: Any) -> float:
    import browsergym.miniwob
    import gymnasium

    assert browsergym.miniwob
    environment = gymnasium.make(f"browsergym/miniwob.{page}", headless=True, **options)
    took = []
    for seed in range(rounds):
        environment.reset(seed=seed)
        started = time.perf_counter()
        environment.step("noop(0)")
        environment.step("mouse_click(5, 5)")
        took.append((time.perf_counter() - started) * 500)
    environment.close()
    return statistics.median(took)
