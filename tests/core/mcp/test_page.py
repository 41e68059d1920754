"""The page about coding agents names what there is, and the tools take options that their commands have."""

import re

from mcp import Client

from core.cli.app import make_app
from core.mcp.server import CommandServer
from core.mcp.tools import TOOLS, option_words
from core.storage.resources import RESOURCES

PAGE = (RESOURCES / "docs" / "coding-agents.md").read_text(encoding="utf-8")
COMMANDS = make_app(open_window=print, with_embedded=print).commands


def rows(title):
    """Return the cells of the table below a heading, row by row."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]


def flags_of(command):
    return {flag for option in COMMANDS[command].params for flag in (*option.opts, *option.secondary_opts)}


async def test_the_page_names_each_tool_each_resource_and_each_option():
    async with Client(CommandServer(print, print, making=[], llm="", allow_keep=True).protocol) as client:
        tools = (await client.list_tools()).tools
        templates = (await client.list_resource_templates()).resource_templates
    assert [row[0].strip("`") for row in rows("Tools")] == [tool.name for tool in tools]
    assert {row[0].strip("`") for row in rows("Resources")} == {
        template.uri_template for template in templates
    }
    assert {flag for row in rows("Options") for flag in re.findall(r"--[a-z-]+", row[0])} == flags_of("mcp")
    for name, command, _ in rows("Tools"):
        assert set(re.findall(r"--[a-z-]+", command)) <= flags_of(command.strip("`").split()[0]), name


def test_a_tool_takes_options_that_its_command_has_and_each_is_described():
    for tool in TOOLS:
        words = tool.command.split()
        for name, schema in tool.takes.items():
            assert schema["description"]
            values = [True, False] if schema["type"] == "boolean" else [1]
            words += [
                word for value in values for word in option_words({name: value}) if name not in tool.needs
            ]
        flags = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--"}
        assert flags <= flags_of(words[0]), tool.name
        assert set(tool.needs) <= set(tool.takes)
