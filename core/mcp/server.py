"""The server of the Model Context Protocol: its tools and resources answer with what commands print with --json."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate

from core.llm.endpoints import TAKEN
from core.mcp.results import UNTRUSTED, result_of
from core.mcp.tools import READ_ON, TOOLS, tool_named
from core.schema.errors import BackstepError, UsageError, WorldError
from core.storage.resources import RESOURCES
from core.system.program import program_version

_RESOURCES = {
    "backstep://runs/{run}": "A run with its steps, never cut.",
    "backstep://runs/{run}/steps/{step}": "A step with all records, never cut.",
    "backstep://files/{+name}": "A file of an agent.",
}
_TOLD = ("step ", "Back at ", "evaluation ", *"123456789")
"""How the lines begin that are told as progress. Others can be of the browser, such as its address."""


class CommandServer:
    """Serves commands as tools; the runs that it makes are processes, which `close` ends."""

    def __init__(
        self,
        call: Callable[[list[str]], Any],
        picture: Callable[[str], tuple[bytes, str]],
        making: list[str],
        llm: str,
        *,
        allow_keep: bool = False,
    ) -> None:
        """`call` carries out a command and returns what it prints with --json; it raises BackstepError.

        `picture` gives a screenshot by its name, with its media type. `making` are options of each command that
        makes a run, and `llm` is that of new runs. Without `allow_keep` no tool writes the user's files.
        """
        self._tools = tuple(tool for tool in TOOLS if allow_keep or not tool.keeps)
        self._call, self._picture, self._making, self._llm = call, picture, making, llm
        self._running: set[asyncio.Task[Any]] = set()
        self._made: dict[str, tuple[list[str], Any]] = {}
        """The words and the last answer of each tool that makes runs: to read on makes none."""
        self.protocol = Server(
            "backstep",
            title="Backstep",
            version=program_version(),
            instructions=(RESOURCES / "mcp" / "instructions.md").read_text(encoding="utf-8"),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def close(self) -> None:
        """Interrupt the runs in progress, and wait until they have ended in order."""
        for task in self._running:
            if not task.cancelling():
                task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    async def _list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.about,
                    input_schema={
                        "type": "object",
                        "properties": tool.takes | READ_ON,
                        "required": tool.needs,
                        "additionalProperties": False,
                    },
                    annotations=types.ToolAnnotations(read_only_hint=not tool.makes_run),
                )
                for tool in self._tools
            ]
        )

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        try:
            tool = tool_named(params.name, self._tools)
            where, offset = str(given.pop("where", "")), given.pop("offset", 0)
            if tool.makes_run:
                # Others have the LLM of the run.
                new = {"llm": self._llm} if self._llm and "run" not in tool.needs else {}
                words = tool.words(new | given)
                if not where:
                    self._made[tool.name] = (words, await self._make_run(context, [*words]))
                of, made = self._made.get(tool.name, ([], None))
                if of != words:
                    raise UsageError(
                        f"There is no result of this {tool.name} to read on: call it without where."
                    )
                return result_of(made, where, offset)
            answer = await asyncio.to_thread(self._call, tool.words(given))
            asked = given.get("picture") and answer["picture"]
            picture = await asyncio.to_thread(self._picture, asked) if asked else None
            whole = {tool.lists: answer} if tool.lists else answer
            return result_of(whole, where, offset, picture=picture)
        except BackstepError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    async def _list_resources(self, _: Any, __: Any) -> types.ListResourcesResult:
        names = [file["name"] for file in await asyncio.to_thread(self._call, ["files", "--json"])]
        return types.ListResourcesResult(
            resources=[types.Resource(uri=f"backstep://files/{quote(name)}", name=name) for name in names]
        )

    async def _list_templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        named = [
            {"name": uri, "uri_template": uri, "description": about} for uri, about in _RESOURCES.items()
        ]
        return types.ListResourceTemplatesResult(
            resource_templates=list(map(types.ResourceTemplate.model_validate, named))
        )

    async def _read_resource(
        self, _: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        matches = (UriTemplate.parse(template).match(params.uri) for template in _RESOURCES)
        named = next((match for match in matches if match is not None), None)
        try:
            if named is None:
                raise UsageError(f"There is no resource {params.uri}; there are {', '.join(_RESOURCES)}.")
            step = [f"--step={named['step']}"] if "step" in named else []
            command, place = ("files", named["name"]) if "name" in named else ("show", named["run"])
            answer = await asyncio.to_thread(self._call, [command, *step, "--json", "--", str(place)])
        except BackstepError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        text = answer["text"] if command == "files" else json.dumps({"untrusted": UNTRUSTED, **answer})
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=text)])

    async def _make_run(self, context: Any, words: list[str]) -> Any:
        """Carry out a command in a process of its own and return its report, telling steps as progress."""
        from core.debugger.job_process import JobProcess  # It loads the agent.

        said: asyncio.Queue[str | None] = asyncio.Queue()
        out: list[str] = []
        words[1:1] = self._making
        running = asyncio.create_task(JobProcess().run(words, out.append, said.put_nowait, keys=TAKEN))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        running.add_done_callback(lambda _: said.put_nowait(None))
        rest: list[str] = []
        count = 0
        try:
            while (line := await said.get()) is not None:
                rest.append(line)
                if line.startswith(_TOLD):
                    rest.clear()
                    count += 1
                    await context.session.report_progress(count, message=line)
            if running.cancelled():
                raise WorldError("The run was interrupted, because the server was stopped.")
            ended = await running
        except (OSError, ValueError) as error:  # Such as a zero byte in an argument.
            raise WorldError(
                f"The run could not be started: {getattr(error, 'strerror', '') or error}."
            ) from error
        finally:
            running.cancel()  # A run for which nobody waits any more ends in order by itself.
        if not "".join(out).strip():
            raise WorldError("\n".join(filter(None, rest)) or ended.error)
        return json.loads("".join(out))
