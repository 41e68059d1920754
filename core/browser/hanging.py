"""Distinguishes a page that hangs from one that works for long, waits for its server, or gets no processor time.

It measures the page's processor time, not the clock. Chromium reports the time while a script runs, and
interrupts the script to do so.
"""

import asyncio
import math
import os
import time
from collections.abc import Callable

from playwright.async_api import Error

from core.browser.channel import Channel, let_go
from core.browser.network import Requests
from core.schema.events import ScriptWait
from core.schema.signal import Signal
from core.system.memory import resident_bytes
from core.system.patience import Limit, within

_ALIVE_SECONDS = 2.0
"""So long a page that is asked for a sign of life may take to give it."""
_ASKED_SECONDS = 7.0
"""By then a page has been waited for when it is asked whether it hangs."""
_SILENT_SECONDS = 15.0
"""How long a page may neither answer nor report its processor time, as during a large layout."""
_SERVER_SECONDS = 30.0
"""The same where a request of it is open, whose answer its script may be waiting for."""
FLOOD_WAIT = 180.0
"""Seconds in which a flood of messages that has an end is read at most."""
_FLOOD_BYTES = 800_000_000
"""By so much it may make this process grow meanwhile: the embedded browser keeps in it what is not read yet."""
_FLOOD_UNMEASURED = 45.0
"""Seconds instead of both where the system does not tell how much memory a process takes."""
_LOOK_SECONDS = 0.25


class ScriptPatience:
    """How long a script may block a page, and what the person decides meanwhile."""

    seconds: float = 15.0
    """Of the processor, after which its script is ended; browsers ask people then."""

    def __init__(self) -> None:
        self.waiting: Signal[ScriptWait | None] = Signal()
        """How long a page has not answered, each second; None once it does, or its script is ended."""
        self.kept = False
        self.given_up = False

    def keep_waiting(self) -> None:
        """Wait for the page that does not answer now until it does, or until `end_script`."""
        self.kept = True

    def end_script(self) -> None:
        """End the script of the page that does not answer now."""
        self.given_up = True


async def answers(channel: Channel, method: str = "Runtime.evaluate") -> bool:
    """Return whether a page answers a question that asks for nothing; an error is an answer, too."""
    try:
        async with within(_ALIVE_SECONDS):
            await channel.session.send(method, {"expression": "1"} if method == "Runtime.evaluate" else {})
    except TimeoutError:
        return False
    except Error:
        return True
    return True


async def hangs(
    channel: Channel, requests: Requests, patience: ScriptPatience, url: str, over: Callable[[], bool]
) -> bool:
    """Wait until a page answers, and return False; True once it is shown to loop, or stood still for too long.

    Returns False as soon as `over` says that it is not worth waiting for.
    """
    patience.kept = patience.given_up = False
    told: ScriptWait | None = None
    began = time.monotonic()
    asked = asyncio.ensure_future(channel.session.send("Runtime.evaluate", {"expression": "1"}))
    first = last = await _used(channel)
    still, at_server = Limit(_SILENT_SECONDS), Limit(_SERVER_SECONDS)
    try:
        while not asked.done() and not over():
            used = await _used(channel)
            if used is not None and (last is None or used > last):
                first, last = used if first is None else first, used
                left = patience.seconds - _ASKED_SECONDS - max(last[0] - first[0], last[1] - first[1])
                still, at_server = Limit(_SILENT_SECONDS), Limit(_SERVER_SECONDS)
            else:
                left = (at_server if requests.open_since(0) else still).left()
            if patience.given_up or (left <= 0 and not patience.kept):
                return not asked.done()
            seconds = round(time.monotonic() - began + _ASKED_SECONDS)
            wait = ScriptWait(url=url, seconds=seconds, left=None if patience.kept else math.ceil(left))
            if wait != told:
                told = wait
                patience.waiting.send(wait)
            await asyncio.wait({asked}, timeout=_LOOK_SECONDS)
        return False
    finally:
        let_go(asked)
        if told is not None:
            patience.waiting.send(None)


async def outlasts(
    channel: Channel,
    patience: ScriptPatience,
    url: str,
    flood_is_read: Callable[[], bool],
    over: Callable[[], bool],
) -> bool:
    """Wait while a flood of messages is read before a page's answer can come, and return whether one came.

    True also as soon as `over` says that it is not worth waiting for.
    """
    patience.kept = patience.given_up = False
    told = 0
    before = resident_bytes()
    began, limit = time.monotonic(), Limit(FLOOD_WAIT if before else _FLOOD_UNMEASURED)
    asked = asyncio.ensure_future(channel.session.send("Runtime.evaluate", {"expression": "1"}))
    try:
        while not (asked.done() or over()):
            left = limit.left()
            small = (resident_bytes() or 0) - (before or 0) < _FLOOD_BYTES
            if patience.given_up or not small or not (patience.kept or (left > 0 and flood_is_read())):
                return False
            seconds = round(time.monotonic() - began)
            if seconds > max(told, _ASKED_SECONDS):
                told = seconds
                wait = ScriptWait(
                    url=url, seconds=seconds, left=None if patience.kept else max(math.ceil(left), 0)
                )
                patience.waiting.send(wait)
            await asyncio.wait({asked}, timeout=_LOOK_SECONDS)
        return True
    finally:
        let_go(asked)
        if told:
            patience.waiting.send(None)


async def _used(channel: Channel) -> tuple[float, float] | None:
    """Return the processor time of the page's main thread, and that of all its threads by processor.

    The second is what counts where its own workers keep the main thread from
    running. In seconds; None if the page does not tell.
    """
    try:
        async with within(_ALIVE_SECONDS):
            found = (await channel.session.send("Performance.getMetrics"))["metrics"]
    except (TimeoutError, Error):
        return None
    metrics = {one["name"]: one["value"] for one in found}
    if "ThreadTime" not in metrics:
        return None
    return metrics["ThreadTime"], metrics["ProcessTime"] / (os.cpu_count() or 1)
