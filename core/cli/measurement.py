"""What the commands `bisect` and `exemplars worth` have in common: a measurement carried out, stored and printed."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.output import LineTeller
from core.debugger.experiments.measurement import Measurement
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.registry import LLMs, open_llms
from core.schema.errors import Interrupted, LibraryError, TraceError, UsageError
from core.settings.settings import Settings, config_folder
from core.trace.replay_llm import ReplayLLM

M = TypeVar("M", bound=Measurement)


def open_unattended(settings: Settings, name: str) -> LLMs:
    """Return the LLMs of the settings; raises UsageError where `name` is none of them, or is the person."""
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    llms.routed(name)
    if name == "person":
        raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    return llms


def measure(
    began: M,
    work: Callable[[Services, M], AsyncIterator[M]],
    save: Callable[[Services, M], int],
    settings: Settings,
    environments: Environments,
    llms: LLMs,
    *,
    as_lines: bool,
    with_embedded: WithEmbedded[M],
    with_loop: WithLoop[M],
) -> M:
    """Store and return what `work` makes of a measurement, after each of its steps and at its end.

    `save` stores it and returns its number, which is 0 before. With `as_lines`
    each change is printed as a line of JSON. Raises Interrupted where it was
    cancelled, and what ends the work.
    """

    async def in_host(host: BrowserHost) -> M:
        services = await open_services(
            settings, host, llms=llms, environments=environments, config=config_folder()
        )
        teller = LineTeller(as_lines=as_lines)
        current = began

        def keep(changed: M) -> None:
            nonlocal current
            current = changed.replace(number=save(services, changed))
            teller.tell(current)

        try:
            keep(began)
            async for changed in work(services, current):
                keep(changed)
            keep(current.ended())
        except BaseException as error:
            with contextlib.suppress(TraceError, LibraryError):
                keep(current.failed(error))
            raise
        finally:
            await services.close()
        if current.state == "cancelled":
            raise Interrupted("Interrupted.")
        return current

    return in_browser(in_host, settings, with_embedded=with_embedded, with_loop=with_loop)
