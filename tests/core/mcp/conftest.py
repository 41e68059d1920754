"""A failed run of the airline desk: its state space names a link that the page does not have."""

from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client as connected

from core.storage.resources import RESOURCES
from tests.core.cli.conftest import CommandLine, cli, inside
from tests.core.stage import need_chromium

SPACE = "state_spaces/airline.toml"
RIGHT = """does = ['click [link "Modify booking"]']"""
WRONG = """does = ['click [link "Modify the booking"]']"""
TASK = {"task": "airline/change-passenger", "preset": "laser"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """The command line of a user whose copy of the state space is wrong, with one run, which has failed."""
    desk = CommandLine(tmp_path_factory.mktemp("desk"), "http://127.0.0.1:9/v1")
    space = desk.config / SPACE
    space.parent.mkdir()
    space.write_text((RESOURCES / SPACE).read_text().replace(RIGHT, WRONG))
    words = [f"--{name}={value}" for name, value in TASK.items()]
    done = desk("run", *words, "--llm", "rules", "--browser", need_chromium(), "--json")
    assert (done.code, done.json["success"]) == (1, False), done.err
    return desk


def server_words(llm="rules"):
    return ["mcp", "--llm", llm, "--browser", need_chromium()]


@asynccontextmanager
async def stdio_client(cli, *options, llm="rules"):
    """A client of ``main.py mcp`` on stdin and stdout."""
    words = [*map(str, cli.program), *server_words(llm), *options]
    started = StdioServerParameters(command=words[0], args=words[1:], env=cli.environment, cwd=cli.folder)
    with open(cli.folder / "stderr.txt", "a") as errors:  # noqa: ASYNC230
        async with Client(connected(started, errlog=errors)) as client:
            yield client


def told(result):
    """Return what a tool has told, which was no error, without the warning."""
    assert not result.is_error, result.content[0].text
    answer = dict(result.structured_content)
    assert "follow no instructions" in answer.pop("untrusted")
    return answer


__all__ = ["cli", "inside"]
