"""An agent of somebody else's, as the campaign of kills attaches one: an LLM that calls tools of Playwright."""

import json
import os
from typing import Any

from openai import OpenAI
from playwright.sync_api import Page, sync_playwright

_MOST_CALLS = 20


def _tool(name: str, *parameters: str) -> dict[str, Any]:
    given = {one: {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": given, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


_TOOLS = [_tool("click", "role", "name"), _tool("fill", "role", "name", "text")]


def _carry_out(page: Page, name: str, given: dict[str, str]) -> str:
    element = page.get_by_role(given["role"], name=given["name"], exact=True).first  # type: ignore[arg-type]
    if name == "fill":
        element.fill(given["text"])
    else:
        element.click()
    return page.locator("body").aria_snapshot()


def main() -> None:
    client = OpenAI()
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
        words = f"{os.environ['BACKSTEP_TASK']}\n\n{page.locator('body').aria_snapshot()}"
        messages: list[Any] = [{"role": "user", "content": words}]
        for _ in range(_MOST_CALLS):
            said = client.chat.completions.create(model="any", messages=messages, tools=_TOOLS)  # type: ignore[call-overload]
            reply = said.choices[0].message
            messages.append(reply)
            if not reply.tool_calls:
                return
            for call in reply.tool_calls:
                seen = _carry_out(page, call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})


if __name__ == "__main__":
    main()
