"""What Playwright's MCP server does in a page is held: `python -m tests.campaigns.adapters mcp` runs this."""

import asyncio
import json
import os
import re
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest

from core.attach.agent_connection import ActMessage, Refused
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.test_attach import served
from tests.gui.live.test_escapes import PAGE, state_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not os.environ.get("BACKSTEP_ADAPTERS"), reason="python -m tests.campaigns.adapters mcp runs it"
    ),
]
COMMAND = os.environ.get("BACKSTEP_MCP", "npx -y @playwright/mcp@latest").split()


class Server:
    """The server as a client of its protocol sees it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._number = 0

    async def begin(self) -> None:
        about = {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        await self._ask("initialize", about)
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def tool(self, name: str, **given: object) -> str:
        answer = await self._ask("tools/call", {"name": name, "arguments": given})
        return "\n".join(one.get("text", "") for one in answer["result"]["content"])

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while (answer := json.loads(await self._process.stdout.readline())).get("id") != self._number:
            pass
        return dict(answer)

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()


@in_browser
async def test_what_its_tools_do_is_held_and_its_snapshots_are_not(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    held: list[str] = []

    async def refuse(message: ActMessage) -> None:
        if message.part.act.kind != "goto":
            held.append(str(message.part.act))
            raise Refused("Refused by the person.")

    url = site.page(PAGE)
    escaped: list[str] = []
    async with served(browser, refuse) as address:
        command = (*COMMAND, "--cdp-endpoint", address)
        # It writes its snapshots where it is started.
        process = await asyncio.create_subprocess_exec(
            *command, cwd=tmp_path, stdin=PIPE, stdout=PIPE, limit=1 << 24
        )
        server = Server(process)
        await server.begin()
        await server.tool("browser_navigate", url=url)
        text = await server.tool("browser_snapshot")
        assert held == []
        refs = {
            role: re.search(rf"{role}.*?\[ref=(\w+)\]", text)[1] for role in ("button", "combobox", "textbox")
        }  # type: ignore[index]
        acts: tuple[tuple[str, dict[str, object]], ...] = (
            ("browser_click", {"role": "button"}),
            ("browser_evaluate", {"function": "() => document.querySelector('button').click()"}),
            ("browser_evaluate", {"function": "e => e.click()", "role": "button"}),
            ("browser_select_option", {"role": "combobox", "values": ["b"]}),
            ("browser_type", {"role": "textbox", "text": "Ada"}),
            ("browser_press_key", {"key": "Tab"}),
            ("browser_run_code_unsafe", {"code": "async (page) => { await page.evaluate(() => order()); }"}),
        )
        for name, given in acts:
            role = given.pop("role", "")
            where = {"element": role, "target": refs[str(role)], "ref": refs[str(role)]} if role else {}
            before = await state_of(browser)
            held.clear()
            said = await server.tool(name, **given, **where)
            if not held or await state_of(browser) != before:
                escaped.append(f"{name}: {said[:300]}")
            await server.tool("browser_snapshot")
        process.terminate()
        await process.wait()
    assert escaped == []
