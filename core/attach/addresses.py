"""The addresses of an agent's LLM and browser, and its environment variables."""

import os
from collections.abc import Mapping

from core.attach.clock import HOOKS, HeldClock
from core.attach.stand_in import StandIn
from core.schema.record import Record
from core.system.program import ROOT

SDK = ROOT / "sdk"
"""The folder of `backstep_sdk`: programs import it without having it installed."""
_LOCAL = ("127.0.0.1", "localhost")


class Addresses(Record):
    """An agent's addresses; they are valid while it is attached."""

    llm: str
    """The base URL of the LLM gateway."""
    key: str
    """The gateway's key."""
    browser: str
    """The address of the browser's protocol."""
    sdk: str
    """Where `backstep_sdk` says what the agent says of itself."""
    requests: str = ""
    """Where the hook of Playwright asks before it sends a request beside the page."""

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that tell them."""
        return {
            "OPENAI_BASE_URL": self.llm,
            "OPENAI_API_KEY": self.key,
            "BACKSTEP_CDP_URL": self.browser,
            "BACKSTEP_SDK_URL": self.sdk,
        }


def environment_of(
    addresses: Addresses,
    clock: HeldClock,
    stand_in: StandIn,
    *,
    instruction: str,
    url: str,
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment of an agent's program: `given`, by default ours, and what it is told."""
    given = os.environ if given is None else given
    beside = [one for name in ("NO_PROXY", "no_proxy") for one in given.get(name, "").split(",") if one]
    told = {**given, **clock.environment(given)}
    told |= stand_in.environment(told)
    return {
        **told,
        "NODE_OPTIONS": f'{told["NODE_OPTIONS"]} --require "{HOOKS / "requests.js"}"',
        "BACKSTEP_REQUESTS": addresses.requests,
        # Last: what the agent has of that name goes before ours.
        "PYTHONPATH": os.pathsep.join((told["PYTHONPATH"], str(SDK))),
        **addresses.variables,
        "OPENAI_API_BASE": addresses.llm,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",  # Traces go to OpenAI's own address, whose key this is not.
        "PLAYWRIGHT_MCP_CDP_ENDPOINT": addresses.browser,
        "BACKSTEP_TASK": instruction,
        "BACKSTEP_START_URL": url,
        "NO_PROXY": ",".join(dict.fromkeys((*beside, *_LOCAL))),
    }
