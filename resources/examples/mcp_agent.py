"""An agent of OpenAI's Agents SDK that uses the browser through Playwright's MCP server.

Tested with openai-agents 0.24.0 and @playwright/mcp 0.0.83:

    python3 main.py attach --task shop/goal-004 -- python resources/examples/mcp_agent.py
"""

import asyncio
import os

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio

SERVER = {
    "command": "npx",
    # The browser's address is in PLAYWRIGHT_MCP_CDP_ENDPOINT, which the server reads by itself.
    "args": ["-y", "@playwright/mcp@0.0.83", "--snapshot-mode", "full"],
    "env": dict(os.environ),
}


async def main() -> None:
    set_tracing_disabled(True)
    async with MCPServerStdio(params=SERVER, client_session_timeout_seconds=120) as server:
        agent = Agent(
            name="shopper",
            instructions="Work in the browser with the tools; look at the page first.",
            model="chosen-in-backstep",
            mcp_servers=[server],
        )
        ended = await Runner.run(agent, os.environ["BACKSTEP_TASK"], max_turns=40)
        print(ended.final_output)


asyncio.run(main())
