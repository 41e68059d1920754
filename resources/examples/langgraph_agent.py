"""An agent of LangGraph with tools of Playwright.

Tested with langgraph 1.2.22, langchain 1.4.7 and langchain-openai 1.7.3:

    python3 main.py attach --task shop/goal-004 -- python resources/examples/langgraph_agent.py
"""

import asyncio
import os

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from playwright.async_api import async_playwright


async def main() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"])
        page = browser.contexts[0].pages[0]

        async def look() -> str:
            return f"{await page.title()}\n{await page.locator('body').aria_snapshot()}"

        @tool
        async def click(role: str, name: str) -> str:
            """Click the element with this ARIA role and name."""
            await page.get_by_role(role, name=name, exact=True).first.click()
            return await look()

        @tool
        async def fill(role: str, name: str, text: str) -> str:
            """Put a text into the field with this ARIA role and name."""
            await page.get_by_role(role, name=name, exact=True).first.fill(text)
            return await look()

        agent = create_agent(ChatOpenAI(model="chosen-in-backstep"), [click, fill])
        words = f"{os.environ['BACKSTEP_TASK']}\n\nThe page:\n{await look()}"
        answer = await agent.ainvoke({"messages": [("user", words)]}, {"recursion_limit": 50})
        print(answer["messages"][-1].content)


asyncio.run(main())
