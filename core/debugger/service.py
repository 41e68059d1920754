"""What a window asks of a desk: a piece of work whose failure is a sentence, not an end."""

from collections.abc import Awaitable, Callable

from core.schema.errors import BackstepError


async def telling(work: Callable[[], Awaitable[None]], complain: Callable[[str], None]) -> None:
    """Do the work; `complain` is told why it could not be done."""
    try:
        await work()
    except BackstepError as error:
        complain(str(error))
