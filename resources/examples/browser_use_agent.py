"""An agent of browser-use.

Tested with browser-use 0.13.14:

    python3 main.py attach --task shop/goal-004 -- python resources/examples/browser_use_agent.py
"""

import asyncio
import os
from contextlib import suppress

from browser_use import Agent, BrowserSession, ChatOpenAI


async def main() -> None:
    agent = Agent(
        task=os.environ["BACKSTEP_TASK"],
        llm=ChatOpenAI(model="chosen-in-backstep"),
        browser_session=BrowserSession(cdp_url=os.environ["BACKSTEP_CDP_URL"]),
        use_vision=False,
    )
    with suppress(ImportError):  # It runs without this too; then Backstep infers its steps.
        from backstep_sdk.browser_use import watch

        watch(agent)
    history = await agent.run(max_steps=20)
    print(history.final_result())


asyncio.run(main())
