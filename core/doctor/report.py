"""The doctor: independent looks at all that Backstep stands on, one finding each.

What the checks look at is in `core.doctor.checks`; those that need a window
system are passed in by main.py. A check that fails, raises or hangs never
keeps the others from being made.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Literal

from core.schema.errors import BackstepError
from core.schema.record import Record

Level = Literal["ok", "warn", "fail"]


class CheckNote(Record):
    """What a check found: `warn` for what a user may want to know and can live with."""

    level: Level
    text: str
    """One sentence; unless all is well, with what to do."""


class Finding(CheckNote):
    """A note under the name of its check."""

    name: str


Check = Callable[[], CheckNote | Awaitable[CheckNote]]
"""Looks at one thing. A plain function runs in a thread of its own, a coroutine function in the loop."""


def ok(text: str) -> CheckNote:
    return CheckNote(level="ok", text=text)


def warn(text: str) -> CheckNote:
    return CheckNote(level="warn", text=text)


def fail(text: str) -> CheckNote:
    return CheckNote(level="fail", text=text)


async def examine(checks: Mapping[str, Check], *, seconds: float = 30.0) -> AsyncIterator[Finding]:
    """Make the checks one after the other, each for at most `seconds`, and yield each finding at once.

    An error that a check raises is its finding. A plain function that hangs
    is left behind in its thread, which does not keep the program from ending.
    """
    for name, check in checks.items():
        note = await _made(name, check, seconds)
        yield Finding(name=name, level=note.level, text=note.text)


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 if nothing failed, else 3."""
    return 3 if any(finding.level == "fail" for finding in findings) else 0


async def _made(name: str, check: Check, seconds: float) -> CheckNote:
    try:
        async with asyncio.timeout(seconds) as limit:
            found = check() if inspect.iscoroutinefunction(check) else await _in_thread(check)
            return await found if inspect.isawaitable(found) else found
    except TimeoutError as error:
        if not limit.expired():
            return fail(_sentence(error))
        return fail(f"No answer within {seconds:g} seconds; look at what {name} needs and try again.")
    except Exception as error:
        # The doctor tells of everything that can go wrong, our own mistakes in a check included.
        return fail(_sentence(error))


def _sentence(error: Exception) -> str:
    if isinstance(error, BackstepError):
        return str(error)
    first = (str(error).strip() or "no details").splitlines()[0]
    return f"{type(error).__name__}: {first}"


async def _in_thread(check: Check) -> CheckNote | Awaitable[CheckNote]:
    """Call `check` in a daemon thread: asyncio's own threads are waited for at exit, hung ones too."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[CheckNote | Awaitable[CheckNote]] = loop.create_future()

    def settle(note: CheckNote | Awaitable[CheckNote] | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif note is not None:
            future.set_result(note)

    def work() -> None:
        note: CheckNote | Awaitable[CheckNote] | None = None
        failure: Exception | None = None
        try:
            note = check()
        except Exception as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, note, failure)
        except RuntimeError:
            pass  # the loop has ended: nobody waits for this any more

    threading.Thread(target=work, name="doctor", daemon=True).start()
    return await future
